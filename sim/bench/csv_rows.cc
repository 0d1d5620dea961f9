#include "sim/bench/csv_rows.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/record/pod_log.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"

namespace drasim::bench {
namespace {

constexpr size_t kMaxBytes = 256u << 20;

absl::Status At(const std::string& path, const CsvPosition& at, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", at.line, ":", at.column, ": ", what));
}

}  // namespace

std::string CsvRow::Text() const {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ",";
    AppendCsvField(fields[i], &text);
  }
  return text;
}

absl::StatusOr<std::vector<CsvRow>> ReadCsvRows(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*file, kMaxBytes));
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenMemory(path, text));
  CsvSplitter splitter(source.get(), CsvOptions());
  std::vector<CsvRow> rows;
  while (true) {
    const CsvSplitter::Result next = splitter.Next();
    if (next == CsvSplitter::Result::kFailed) return splitter.status();
    if (next == CsvSplitter::Result::kBadRow)
      return At(path, splitter.error().at, splitter.error().what);
    if (next == CsvSplitter::Result::kEnd) break;
    CsvRow row;
    row.line = splitter.line();
    for (size_t i = 0; i < splitter.size(); ++i) row.fields.emplace_back(splitter.field(i));
    if (!rows.empty() && row.fields.size() != rows[0].fields.size()) {
      return At(
          path, splitter.end_position(),
          absl::StrCat("found ", row.fields.size(), " fields, expected ", rows[0].fields.size()));
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return At(path, {1, 1}, "found no header, expected one");
  if (text.back() != '\n')
    return At(path, {rows.back().line, 1}, "found no end of the last line (it may be cut off)");
  return rows;
}

}  // namespace drasim::bench
