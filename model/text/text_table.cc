#include "model/text/text_table.h"

#include <algorithm>
#include <utility>

#include "model/check.h"

namespace drasim {

TextTable::TextTable(std::vector<std::string> header) { AddRow(std::move(header)); }

void TextTable::AddRow(std::vector<std::string> cells) {
  std::vector<Cell> row;
  for (std::string& text : cells) row.push_back({std::move(text), false});
  rows_.push_back(std::move(row));
}

void TextTable::Bold(size_t column) {
  DRASIM_CHECK_LT(column, rows_.back().size());
  rows_.back()[column].bold = true;
}

std::string TextTable::Render(bool ansi) const {
  std::vector<size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].text.size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - row[i].text.size(), ' ');
      const bool escape = ansi && row[i].bold;
      if (i > 0) line += "  " + pad;
      if (escape) line += "\033[1m";
      line += row[i].text;
      if (escape) line += "\033[0m";
      if (i == 0) line += pad;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

}  // namespace drasim
