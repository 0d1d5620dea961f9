// Complaints of readers about rows: bad rows, and peculiar ones worth knowing of.
//
//   Complaints complaints(input.lenient, kLenientAdvice);
//   while (NextRow()) {
//     complaints.CountRow();
//     if (!IsTime(text)) complaints.Reject("not a time", "start", "a.csv:3:5: start: found ...");
//   }
//   RETURN_IF_ERROR(complaints.Error());       // strict: one report on all bad rows
//   for (const std::string& line : complaints.Lines()) Print(line);
//
// A strict reader goes on behind a bad row, for the sake of the report, but must not use what it
// reads from then on. A lenient reader skips bad rows.
#ifndef DRASIM_TRACES_COMPLAINTS_H_
#define DRASIM_TRACES_COMPLAINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

// A count of rows, and the message of the first one.
struct RowTally {
  int64_t count = 0;
  std::string first;
  bool operator==(const RowTally&) const = default;
};
using RowTallies = absl::btree_map<std::string, RowTally>;  // by kind

// Ends the report on bad rows where the user may choose to skip them.
inline constexpr absl::string_view kLenientAdvice = "; --lenient leaves them out and counts them";

class Complaints {
 public:
  // `advice` ends the strict report; it must outlive the object and may be empty.
  Complaints(bool lenient, absl::string_view advice) : lenient_(lenient), advice_(advice) {}

  // Every row counts, whether it is good or not.
  void CountRow() { ++rows_; }
  // A bad row. `message` begins with its place. Lenient readers count by kind, strict ones by kind
  // and column; `column` is not shown.
  void Reject(absl::string_view kind, absl::string_view column, absl::string_view message);
  // A row that was used, or left out, in a way worth knowing. The second form composes its message
  // for the first row of a kind only.
  void Warn(absl::string_view kind, absl::string_view message);
  void Warn(absl::string_view kind, absl::FunctionRef<std::string()> message);
  // Adds the rows of `more` that were skipped or warned of.
  void Merge(const Complaints& more);

  int64_t rows() const { return rows_; }
  // Strict readers only: whether a row was bad.
  bool has_bad_rows() const { return bad_rows_ > 0; }
  // Strict readers only. The report on all bad rows: InvalidArgument, with the first message of
  // each kind and column and the number of rows like it; a single bad row is its message alone. It
  // is followed by `damage`, the error that ended the reading early, and has its code then. OK when
  // there is neither.
  absl::Status Error(const absl::Status& damage = absl::OkStatus()) const;

  const RowTallies& skipped() const { return skipped_; }
  int64_t skipped_rows() const;
  const RowTallies& warnings() const { return warnings_; }
  // A line for each kind: skipped rows, then warnings, each part sorted by kind.
  std::vector<std::string> Lines() const;

 private:
  // The bad rows of one kind and column.
  struct Collected {
    std::string key;
    RowTally tally;
  };

  const bool lenient_;
  const absl::string_view advice_;
  int64_t rows_ = 0;
  int64_t bad_rows_ = 0;              // of strict readers
  std::vector<Collected> collected_;  // in the order of their first rows
  RowTallies skipped_;
  RowTallies warnings_;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_COMPLAINTS_H_
