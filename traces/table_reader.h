// A delimited table with a header, read by the column names of a mapping. Readers of jobs and of
// nodes share it.
//
// Every complaint has the form "FILE:LINE:COLUMN: column_name: found '...', expected ...", or "row"
// in place of the name where no column is to blame. A strict reader fails at the end of the input,
// with one report on all bad rows; a lenient reader skips bad rows and counts them by kind.
#ifndef DRASIM_TRACES_TABLE_READER_H_
#define DRASIM_TRACES_TABLE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/complaints.h"
#include "traces/csv_splitter.h"

namespace drasim {

namespace proto {
class Column;
class ExtendedColumn;
class RowFilter;
class TableMapping;
}  // namespace proto

// A column and its place in the row.
struct NumberField {
  NumberColumn column;
  int index = -1;  // below 0: not in the table, and each row gets the same
  // Columns to look at in turn while there is no value; `column` then reads a missing value as
  // none, and whether that is allowed is said here.
  std::vector<int> others;
  bool required = false;
  // The value of a row in which none is found.
  bool fixed_has = false;
  int64_t fixed = 0;
};
struct TextField {
  TextColumn column;
  int index = -1;  // below 0: as above
  std::vector<int> others;
  bool required = false;
  bool fixed_has = false;
  std::string fixed;
};
// An extended resource and the column of its amounts.
struct ExtendedField {
  std::string resource;
  NumberField amount;
};

// Not thread-safe.
class TableReader {
 public:
  enum class Result { kRow, kEnd, kFailed };

  struct Options {
    bool lenient = false;
    bool use_filters = true;
    // Ends the strict report on bad rows; may be empty.
    absl::string_view advice = kLenientAdvice;
  };

  // Reads the header. `mapping` must be valid (see mapping.h); it is not kept. Errors as of the
  // source and of the header; these do not depend on `lenient`.
  static absl::StatusOr<std::unique_ptr<TableReader>> Open(std::unique_ptr<ByteSource> bytes,
                                                           const proto::TableMapping& mapping,
                                                           const Options& options);
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Finds the columns of the table that `column` names. Does nothing when `mapped` is false. Errors
  // are in status(), which keeps the first.
  void Bind(bool mapped, const proto::Column& column, ColumnKind kind, NumberField* field);
  void Bind(bool mapped, const proto::Column& column, TextField* field);
  // Sorted by resource.
  void Bind(const std::vector<proto::ExtendedColumn>& columns, std::vector<ExtendedField>* fields);

  // From now on, complaints go to `complaints`, which must outlive the reader and be as lenient as
  // the reader. Bad rows no longer make Next fail: their owner reports them. For formats of several
  // tables.
  void ReportTo(Complaints* complaints) { complaints_ = complaints; }

  // Goes to the next row that has as many fields as the header and passes the filters. A strict
  // reader goes on behind a bad row, with a good status() and complaints().has_bad_rows(), and
  // fails at the end.
  Result Next();
  // Calls `read_row()` for every row that Next finds. Returns status().
  template <typename ReadRow>
  absl::Status ForEachRow(const ReadRow& read_row) {
    while (status_.ok()) {
      const Result result = Next();
      if (result == Result::kEnd) break;
      if (result == Result::kRow) read_row();
    }
    return status_;
  }
  // The error of Bind or Next that ended reading.
  const absl::Status& status() const { return status_; }

  // The line on which the current row begins.
  int64_t line() const { return splitter_.line(); }
  // One value of the current row; `*has` tells whether there is one (`*value` is 0 or empty if
  // not). False: the row is bad, and was rejected.
  bool Read(const NumberField& field, int64_t* value, bool* has) {
    if (field.index < 0) {
      *has = field.fixed_has;
      *value = field.fixed;
      return true;
    }
    *has = true;
    if (field.column.Read(splitter_.field(static_cast<size_t>(field.index)), value) ==
        NumberColumn::Result::kValue) [[likely]] {
      return true;
    }
    return ReadRest(field, value, has);
  }
  // A text is good until the next row. Missing and not optional makes the row bad.
  bool Read(const TextField& field, absl::string_view* value, bool* has) {
    if (field.index < 0) {
      *has = field.fixed_has;
      *value = field.fixed;
      return true;
    }
    *has = field.column.Read(splitter_.field(static_cast<size_t>(field.index)), value);
    return *has || ReadRest(field, value, has);
  }
  // One amount for each field; a missing one is 0.
  bool Read(const std::vector<ExtendedField>& fields, std::vector<int64_t>* amounts);

  // Complains about the current row: the value of the field (or of the row, when the field is not
  // in the table) is not as expected.
  void Reject(absl::string_view kind, const NumberField& field, absl::string_view expected);
  void Reject(absl::string_view kind, const TextField& field, absl::string_view expected);
  // The same for the column at `index` (below 0: the row).
  void Reject(absl::string_view kind, int index, absl::string_view column,
              absl::string_view expected);
  // Counts a peculiarity of a row: one that is used nevertheless, or left out on purpose.
  void Warn(absl::string_view kind, const NumberField& field, absl::string_view what);
  void Warn(absl::string_view kind, const TextField& field, absl::string_view what);
  void Warn(absl::string_view kind, int index, absl::string_view column, absl::string_view what);

  // The rows so far, without the header, and complaints about them.
  const Complaints& complaints() const { return *complaints_; }

 private:
  struct Filter {
    std::string column;
    int index = -1;
    std::vector<std::string> equals;
    std::vector<std::string> not_equals;
    bool has_min = false;
    double min = 0;
    bool has_max = false;
    double max = 0;
  };

  TableReader(std::unique_ptr<ByteSource> bytes, const CsvOptions& csv, const Options& options);

  absl::Status ReadHeader(const proto::TableMapping& mapping);
  void BindFilter(const proto::RowFilter& filter);
  // The index of a column, or -1 when it is optional and not there.
  int Find(absl::string_view column, bool optional);
  // Sets the field's places. True when there are several.
  template <typename Field>
  bool FindPlaces(const proto::Column& column, Field* field);
  bool ReadRest(const NumberField& field, int64_t* value, bool* has);
  bool ReadRest(const TextField& field, absl::string_view* value, bool* has);
  absl::string_view TextAt(int index) const { return splitter_.field(static_cast<size_t>(index)); }
  // The column that the current row's value comes from, even if it is a bad one; the first when it
  // has none.
  int UsedIndex(const NumberField& field) const;
  int UsedIndex(const TextField& field) const;
  absl::string_view NameAt(int index, absl::string_view mapped) const;
  bool PassesFilters();
  void RejectAt(absl::string_view kind, absl::string_view column, CsvPosition at,
                absl::string_view what);
  void RejectWidth();
  CsvPosition PositionOf(int index) const;
  std::string At(CsvPosition at, absl::string_view what) const;

  std::unique_ptr<ByteSource> bytes_;
  CsvSplitter splitter_;
  Complaints own_complaints_;
  Complaints* complaints_ = &own_complaints_;
  absl::Status status_;
  std::vector<std::string> header_;
  std::vector<CsvPosition> header_positions_;
  std::vector<Filter> filters_;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_TABLE_READER_H_
