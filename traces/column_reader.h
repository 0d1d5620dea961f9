// Reads the values of one column as proto::Column describes it: units, missing values, defaults,
// translations and clamping, compiled once so that reading a plain number takes a few nanoseconds.
//
// A text is read in this order: a missing one (empty, or one of `missing`) gives the default, if
// there is one; a text that `values` translates gives the translation; anything else is read as it
// is. The default is treated as if it stood in the file. A text translated to the empty one is
// missing. Where `or_column` names further columns, all this holds for each of them; TableReader
// looks for the first that has a value.
#ifndef DRASIM_TRACES_COLUMN_READER_H_
#define DRASIM_TRACES_COLUMN_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/text/shown_text.h"
#include "traces/decimal.h"

namespace drasim {

namespace proto {
class Column;
}

// The meaning of a numeric column: its units, its base unit and its range.
enum class ColumnKind {
  // Amounts; each may have the unit quantity instead, and is then text such as "500m" or "100Gi"
  // (see quantity.h).
  kCpu,       // milli, cores, percent -> milli-CPU; 0 or more
  kMemory,    // bytes, KiB, MiB, GiB -> bytes; 0 or more
  kGpuShare,  // milli, percent, fraction -> milli of one GPU; 0 to 1000
  // GPUs as one number: fraction (which no unit means, too), milli, percent -> milli; 0 to 2^31 - 1
  // GPUs.
  kGpuAmount,
  // A point of time: ns, us, ms, s, min, h -> nanoseconds; 0 or more. Or datetime (see
  // date_time.h) -> nanoseconds from 1970; not before that.
  kTime,
  kLength,    // of time: as kTime without datetime
  kCount,     // a whole number, 0 to 2^31 - 1
  kDevices,   // a whole number, 0 to kMaxDevicesPerNode
  kFlag,      // 0 or 1
  kUnits,     // a whole number, or a quantity; 0 to kMaxUnits
  kPriority,  // a whole number of 32 bits
  kLimit,     // the same
};

// The most of an extended resource that one pod or node may have. A sum over thousands of them fits
// 64 bits.
inline constexpr int64_t kMaxUnits = 1'000'000'000'000'000;

// Why a text is not a value.
struct ColumnError {
  absl::string_view
      kind;  // a few words, the same for all errors of a kind; lives as long as the program
  std::string expected;  // the expected form of the value
};

// A column of numbers. A value type.
class NumberColumn {
 public:
  enum class Result {
    kValue,
    kNone,  // missing, which the column allows
    kBad,   // Explain says why
  };

  // Reads nothing: a column without a name.
  NumberColumn() = default;
  // Does not look at or_column. InvalidArgument: "unit: found ..., expected ...", relative to the
  // Column message.
  static absl::StatusOr<NumberColumn> Make(const proto::Column& column, ColumnKind kind);

  // Reads `text` into `*value`, in base units; amounts are rounded up to them. `*value` is set only
  // with kValue.
  Result Read(absl::string_view text, int64_t* value) const {
    int64_t number = 0;
    if (plain_ && ParseDigits(text, &number) && number <= plain_max_) {
      *value = number * scale_;
      return Result::kValue;
    }
    return ReadSlow(text, value);
  }
  // After kBad. O(length of the text).
  ColumnError Explain(absl::string_view text) const;

  const std::string& name() const { return name_; }

 private:
  absl::Status SetUnit(const proto::Column& column, ColumnKind kind);
  absl::Status SetFactor(const proto::Column& column);
  absl::Status ReadOwnTexts(const proto::Column& column);
  Result ReadSlow(absl::string_view text, int64_t* value) const;
  bool IsMissing(absl::string_view text) const;
  DecimalError Parse(absl::string_view text, int64_t* value) const;
  // `text` as a value that the mapping itself contains: translated, then parsed.
  DecimalError Resolve(absl::string_view text, int64_t* value) const;
  // A number of the file in base units, ahead of bounds.
  DecimalError ParseNumber(absl::string_view text, int64_t* value) const;
  DecimalError ParseTime(absl::string_view text, int64_t* value) const;
  std::string Expected(DecimalError error) const;
  std::string Hint(absl::string_view text, DecimalError error) const;
  // A number of base units in the column's unit, as messages say it.
  int64_t InUnit(int64_t base_units) const;

  std::string name_;
  std::string noun_;  // the unit in words; empty for counts
  // A number of the file is worth scale_ / divisor_ base units, the factor included.
  int64_t scale_ = 1;
  int64_t divisor_ = 1;
  std::string factor_;  // as messages show it; empty: none
  int64_t min_ = 0;
  int64_t max_ = std::numeric_limits<int64_t>::max();
  int64_t clamp_ = std::numeric_limits<int64_t>::max();
  bool has_clamp_ = false;
  bool whole_ = false;
  bool nearest_ = false;  // times
  bool optional_ = false;
  std::vector<std::string> missing_;
  bool has_default_ = false;
  int64_t default_ = 0;
  std::vector<std::pair<std::string, int64_t>> values_;  // sorted
  bool quantity_ = false;                                // "100Gi" in place of a number
  bool milli_ = false;                                   // a quantity is wanted in thousandths
  bool datetime_ = false;                                // a date and time in place of a number ...
  int64_t zone_s_ = 0;                                   // ... with this zone, unless it names one
  bool plain_ = false;     // digits need no look at missing_ and values_ ...
  int64_t plain_max_ = 0;  // ... and are what they seem up to this, in the column's unit
};

// A column of texts. A value type.
class TextColumn {
 public:
  TextColumn() = default;
  // As NumberColumn::Make.
  static absl::StatusOr<TextColumn> Make(const proto::Column& column);

  // True when there is a value; `*value` points into `text` or into this column. False when it is
  // missing.
  bool Read(absl::string_view text, absl::string_view* value) const {
    if (!plain_ || text.empty()) return ReadSlow(text, value);
    *value = text;
    return true;
  }
  // Whether a value may be missing.
  bool optional() const { return optional_; }
  const std::string& name() const { return name_; }

 private:
  bool ReadSlow(absl::string_view text, absl::string_view* value) const;
  absl::string_view Translate(absl::string_view text) const;

  std::string name_;
  bool optional_ = false;
  std::vector<std::string> missing_;
  bool has_default_ = false;
  std::string default_;
  std::vector<std::pair<std::string, std::string>> values_;  // sorted
  bool plain_ = false;  // texts need no look at missing_ and values_
};

}  // namespace drasim

#endif  // DRASIM_TRACES_COLUMN_READER_H_
