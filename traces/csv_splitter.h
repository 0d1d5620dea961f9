// Splits delimited text into rows and fields, fast and without copying.
//
// Format (RFC 4180 and what files in the wild do beyond it):
//   * rows end with LF or CRLF; the last one may end with the input. Blank lines are skipped.
//   * fields are divided by one separator byte. A field that begins with '"' is quoted: it may hold
//     separators and line breaks, and '""' stands for one quote. Elsewhere a quote is an ordinary
//     character.
//   * separator ' ' means any run of spaces and tabs, ignored at both ends of a line. There are no
//     quotes then (Standard Workload Format, whitespace tables).
//   * lines that begin with the comment prefix are skipped, as is a UTF-8 byte order mark at the
//     start.
// The rows do not depend on how the source cuts the input into chunks.
//
// Speed: separators, line ends and quotes are found 64 bytes at a time with SSE2 compares where
// there is SSE2, and byte by byte elsewhere. Rows with quoted fields and blank-separated rows take
// a slower path. Memory is constant: a few times the longest row, at least
// CsvOptions::buffer_bytes.
#ifndef DRASIM_TRACES_CSV_SPLITTER_H_
#define DRASIM_TRACES_CSV_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "traces/byte_source.h"

namespace drasim {

struct CsvOptions {
  char separator = ',';  // none of '"', CR, LF
  std::string comment;   // prefix of lines to skip; empty = there are none. No LF, no leading '"'
  // Longest row, line ends not counted but a CR before the LF is. At most 2^28.
  size_t max_row_bytes = size_t{1} << 20;
  // First size of the buffer, 1 to 2^28 bytes; it grows when a row needs more.
  size_t buffer_bytes = size_t{256} << 10;
};

// Both count from 1; columns are bytes. A byte order mark does not count.
struct CsvPosition {
  int64_t line = 1;
  int64_t column = 1;
  bool operator==(const CsvPosition&) const = default;
};

// Why a row cannot be split.
struct CsvError {
  absl::string_view kind;  // one of the three below
  CsvPosition at;
  std::string what;  // "found ..., expected ..."
};
inline constexpr absl::string_view kCsvRowTooLong = "row too long";
inline constexpr absl::string_view kCsvUnclosedQuote = "unclosed quote";
inline constexpr absl::string_view kCsvTextAfterQuote = "text after a closing quote";

// Not thread-safe.
class CsvSplitter {
 public:
  enum class Result {
    kRow,     // a row is there
    kEnd,     // there are no more rows, now and at every further call
    kBadRow,  // error() says why; the next call goes on with the line after the one on which the
              // bad row begins
    kFailed,  // the source failed behind the rows so far: status(), now and at every further call
  };

  // `source` must outlive the splitter. A separator or comment that CsvOptions forbids is a failed
  // check.
  CsvSplitter(ByteSource* source, const CsvOptions& options);
  CsvSplitter(const CsvSplitter&) = delete;
  CsvSplitter& operator=(const CsvSplitter&) = delete;

  // Amortised O(bytes of the row).
  Result Next();

  // The current row, after kRow and until the next call. Views point into the splitter's buffers.
  size_t size() const { return count_; }
  absl::string_view field(size_t i) const {
    if (sliced_) [[unlikely]] {
      return slices_[i].text;
    }
    const uint32_t begin = starts_[i];
    return absl::string_view(buffer_.data() + begin, starts_[i + 1] - 1 - begin);
  }
  // The line on which the row begins.
  int64_t line() const { return row_line_; }
  // The positions at which field `i` begins (the opening quote of a quoted one) and the row ends.
  // O(bytes of the row).
  CsvPosition position(size_t i) const;
  CsvPosition end_position() const;

  const CsvError& error() const { return error_; }        // after kBadRow
  const absl::Status& status() const { return status_; }  // after kFailed

 private:
  // The result of a scan from pos_.
  enum class Scan { kRow, kSkipped, kNeedMore, kBad };
  // The reason why a field of a row with quotes ended.
  enum class Stop { kSeparator, kRowEnd, kOutOfBytes, kBadText };
  // A field of a row that is not split by starts_ alone. Offsets into buffer_.
  struct Slice {
    size_t raw_begin = 0;
    size_t begin = 0;  // without quotes
    size_t end = 0;
    size_t raw_end = 0;
    bool escaped = false;  // holds '""'
    absl::string_view text;
  };

  bool Resume();
  bool DiscardLine();
  bool Refill();
  void ResetScan();
  Scan ScanLine();
  Scan ScanComment();
  Scan ScanRow();
  Scan ScanBlanks();
  Scan ScanQuoted();
  Stop ScanPlainField(size_t limit, Slice* slice, size_t* next) const;
  Stop ScanQuotedField(size_t limit, Slice* slice, size_t* next) const;
  Scan FinishRow(size_t row_end, size_t next, size_t count);
  Scan FinishSlices(size_t raw_end, size_t next);
  Scan Bad(absl::string_view kind, size_t at, absl::string_view what);
  Scan TooLong();
  size_t ScanLimit() const;
  bool EndsAt(size_t limit) const;
  CsvPosition PositionOf(size_t row_begin, int64_t row_line, size_t offset) const;

  ByteSource* const source_;
  const CsvOptions options_;
  std::vector<char> buffer_;  // data, then padding of one block
  size_t pos_ = 0;            // the beginning of the next row
  size_t end_ = 0;            // end of the data
  int64_t line_ = 1;          // of pos_
  bool eof_ = false;
  // One of: not started, after a bad row, failed. Keeps these off the usual path of Next.
  bool special_ = true;
  bool started_ = false;
  bool bad_ = false;
  absl::Status source_status_;  // the error of the source, perhaps ahead of rows still to come
  absl::Status status_;
  CsvError error_;

  size_t block_ = 0;   // ScanRow's place: a multiple of the block size ...
  uint64_t mask_ = 0;  // ... and the structural bytes of that block which are still to be looked at

  size_t row_begin_ = 0;
  size_t row_end_ = 0;
  int64_t row_line_ = 1;
  size_t count_ = 0;
  bool sliced_ = false;  // the row is in slices_, not in starts_
  // Offsets of the fields; [count_] is one past the byte that ends the last field.
  std::vector<uint32_t> starts_;
  std::vector<Slice> slices_;
  std::string scratch_;  // fields with '""', undone
};

namespace internal {

// Bit i is set when block[i] is the separator, LF or '"', for the 64 bytes at `block`. The second
// one is the plain version of the first; they agree.
uint64_t StructuralMask(const char* block, char separator);
uint64_t StructuralMaskPortable(const char* block, char separator);

}  // namespace internal
}  // namespace drasim

#endif  // DRASIM_TRACES_CSV_SPLITTER_H_
