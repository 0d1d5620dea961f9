// Tables of named values as JSON or CSV, for programs.
#ifndef DRASIM_SIM_RECORD_DATA_TABLE_H_
#define DRASIM_SIM_RECORD_DATA_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"

namespace drasim {

// The forms of --format: text for people, JSON and CSV for programs.
enum class OutputFormat : uint8_t { kText, kJson, kCsv };

// Rows of named values.
//
//   DataTable table({"node", "gpus"});
//   table.AddRow().Text("n-0").Int(8);
//   table.Csv();  // "node,gpus\nn-0,8\n"
//
// Every row has a value for each column (CHECKed when it is written).
class DataTable {
 public:
  explicit DataTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  DataTable& AddRow();
  DataTable& Text(absl::string_view text);
  DataTable& Int(int64_t value);
  DataTable& Bool(bool value);
  DataTable& Number(absl::string_view digits);
  DataTable& Empty();  // null in JSON

  // A header and a line for each row.
  std::string Csv() const;
  // An array of objects.
  void WriteRows(JsonWriter* json) const;
  // The columns of one row as keys of an object that is open.
  void WriteKeys(size_t row, JsonWriter* json) const;

 private:
  struct Cell {
    enum class Kind : uint8_t { kText, kLiteral, kEmpty };
    Kind kind = Kind::kEmpty;
    std::string text;
  };
  DataTable& Add(Cell::Kind kind, absl::string_view text);

  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// In JSON or CSV. A table of one row as a document: the keys beside the schema, or two lines.
std::string DocumentOf(absl::string_view kind, const DataTable& table, OutputFormat format);
// A table of any number of rows: an array under `key` beside the schema, or a line each.
std::string RowsIn(absl::string_view kind, absl::string_view key, const DataTable& table,
                   OutputFormat format);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_DATA_TABLE_H_
