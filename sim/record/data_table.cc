#include "sim/record/data_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "sim/record/pod_log.h"

namespace drasim {

DataTable& DataTable::AddRow() {
  rows_.emplace_back();
  return *this;
}

DataTable& DataTable::Add(Cell::Kind kind, absl::string_view text) {
  DRASIM_CHECK(!rows_.empty());
  Cell cell;
  cell.kind = kind;
  cell.text = std::string(text);
  rows_.back().push_back(std::move(cell));
  return *this;
}

DataTable& DataTable::Text(absl::string_view text) { return Add(Cell::Kind::kText, text); }
DataTable& DataTable::Int(int64_t value) { return Add(Cell::Kind::kLiteral, absl::StrCat(value)); }
DataTable& DataTable::Bool(bool value) {
  return Add(Cell::Kind::kLiteral, value ? "true" : "false");
}
DataTable& DataTable::Number(absl::string_view digits) { return Add(Cell::Kind::kLiteral, digits); }
DataTable& DataTable::Empty() { return Add(Cell::Kind::kEmpty, ""); }

std::string DataTable::Csv() const {
  std::string text;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) text += ",";
    AppendCsvField(columns_[c], &text);
  }
  text += "\n";
  for (const std::vector<Cell>& row : rows_) {
    DRASIM_CHECK_EQ(row.size(), columns_.size());
    for (size_t c = 0; c < row.size(); ++c) {
      if (c > 0) text += ",";
      AppendCsvField(row[c].text, &text);
    }
    text += "\n";
  }
  return text;
}

void DataTable::WriteKeys(size_t row, JsonWriter* json) const {
  DRASIM_CHECK_LT(row, rows_.size());
  DRASIM_CHECK_EQ(rows_[row].size(), columns_.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    const Cell& cell = rows_[row][c];
    json->Key(columns_[c]);
    switch (cell.kind) {
      case Cell::Kind::kText:
        json->String(cell.text);
        break;
      case Cell::Kind::kLiteral:
        json->Number(cell.text);
        break;
      case Cell::Kind::kEmpty:
        json->Null();
        break;
    }
  }
}

void DataTable::WriteRows(JsonWriter* json) const {
  json->BeginArray();
  for (size_t r = 0; r < rows_.size(); ++r) {
    json->BeginObject();
    WriteKeys(r, json);
    json->EndObject();
  }
  json->EndArray();
}

std::string DocumentOf(absl::string_view kind, const DataTable& table, OutputFormat format) {
  if (format == OutputFormat::kCsv) return table.Csv();
  JsonWriter json;
  json.BeginDocument(kind);
  table.WriteKeys(0, &json);
  json.EndObject();
  return json.text();
}

std::string RowsIn(absl::string_view kind, absl::string_view key, const DataTable& table,
                   OutputFormat format) {
  if (format == OutputFormat::kCsv) return table.Csv();
  JsonWriter json;
  json.BeginDocument(kind).Key(key);
  table.WriteRows(&json);
  json.EndObject();
  return json.text();
}

}  // namespace drasim
