// A table for people: aligned columns, optionally with bold cells on a terminal.
#ifndef DRASIM_MODEL_TEXT_TEXT_TABLE_H_
#define DRASIM_MODEL_TEXT_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace drasim {

class TextTable {
 public:
  // The first column is left-aligned, the others right-aligned.
  explicit TextTable(std::vector<std::string> header);
  void AddRow(std::vector<std::string> cells);
  // Marks a cell of the last row added.
  void Bold(size_t column);
  // `ansi`: bold cells carry terminal escapes.
  std::string Render(bool ansi) const;

 private:
  struct Cell {
    std::string text;
    bool bold = false;
  };
  std::vector<std::vector<Cell>> rows_;  // the header first
};

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_TEXT_TABLE_H_
