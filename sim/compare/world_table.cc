#include "sim/compare/world_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"

namespace drasim {
namespace {

constexpr size_t kMostFailures = 3;

// The text of a cell in two parts, each of which is aligned on its own.
struct WorldCell {
  std::string value;
  std::string delta;
};

// "-0.00" says no more than "0.00".
std::string PlainText(double value, int decimals) {
  std::string text = FixedText(value, decimals);
  if (text[0] == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

WorldCell CellOf(const CellMetric& metric, const WorldColumn& column, const WorldColumn& first,
                 size_t m, size_t seeds) {
  WorldCell cell;
  if (!column.defined[m]) return {"-", ""};
  const MeanInterval& v = column.metrics[m];
  cell.value = PlainText(v.mean, metric.decimals);
  if (seeds > 1) absl::StrAppend(&cell.value, " ±", FixedText(v.half_width, metric.decimals));
  if (&column == &first || !first.defined[m]) return cell;
  const double delta = v.mean - first.metrics[m].mean;
  cell.delta =
      delta == 0 ? "(=)"
                 : absl::StrCat("(", delta > 0 ? "+" : "", FixedText(delta, metric.decimals), ")");
  return cell;
}

// Columns on a screen: a continuation byte of UTF-8 takes none.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string PadLeft(const std::string& text, size_t width) {
  return std::string(width - std::min(width, WidthOf(text)), ' ') + text;
}
std::string PadRight(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, WidthOf(text)), ' ');
}

// Numbers under numbers, brackets under brackets.
std::vector<std::string> Aligned(const std::vector<WorldCell>& cells) {
  size_t values = 0;
  size_t deltas = 0;
  for (const WorldCell& cell : cells) {
    values = std::max(values, WidthOf(cell.value));
    deltas = std::max(deltas, WidthOf(cell.delta));
  }
  std::vector<std::string> texts;
  for (const WorldCell& cell : cells) {
    std::string text = PadLeft(cell.value, values);
    if (deltas > 0) text += " " + PadRight(cell.delta, deltas);
    texts.push_back(std::move(text));
  }
  return texts;
}

// The column with the best mean of a row, or -1 when there is none or no two differ.
int BestColumn(absl::Span<const WorldColumn> columns, size_t m, bool more_is_better) {
  int best = -1;
  bool differ = false;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].defined[m]) continue;
    const double v = columns[c].metrics[m].mean;
    if (best < 0) {
      best = static_cast<int>(c);
      continue;
    }
    const double leader = columns[static_cast<size_t>(best)].metrics[m].mean;
    differ = differ || v != leader;
    if (more_is_better ? v > leader : v < leader) best = static_cast<int>(c);
  }
  return differ ? best : -1;
}

// The first column to the left, the others to the right; `bold`: by row, the place among the
// others.
std::string Rendered(const std::vector<std::vector<std::string>>& grid,
                     const std::vector<int>& bold) {
  std::vector<size_t> widths(grid[0].size());
  for (const std::vector<std::string>& row : grid) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < grid.size(); ++r) {
    std::string line = PadRight(grid[r][0], widths[0]);
    for (size_t i = 1; i < grid[r].size(); ++i) {
      const bool escape = bold[r] == static_cast<int>(i) - 1;
      absl::StrAppend(&line, "  ", escape ? "\033[1m" : "", PadLeft(grid[r][i], widths[i]),
                      escape ? "\033[0m" : "");
    }
    while (line.back() == ' ') line.pop_back();
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace

std::string WorldTable(absl::Span<const CellMetric> metrics, absl::Span<const WorldColumn> columns,
                       size_t seeds, bool ansi) {
  std::vector<std::vector<std::string>> grid = {{"world"}, {""}};
  for (const CellMetric& metric : metrics) grid.emplace_back().emplace_back(RowLabel(metric));
  bool variants = false;
  for (const WorldColumn& column : columns) {
    const size_t colon = column.name.find(':');
    grid[0].push_back(column.name.substr(0, colon));
    grid[1].push_back(colon == std::string::npos ? "" : column.name.substr(colon + 1));
    variants = variants || colon != std::string::npos;
    std::vector<WorldCell> parts;
    for (size_t m = 0; m < metrics.size(); ++m) {
      parts.push_back(CellOf(metrics[m], column, columns[0], m, seeds));
    }
    const std::vector<std::string> texts = Aligned(parts);
    for (size_t m = 0; m < metrics.size(); ++m) grid[m + 2].push_back(texts[m]);
  }
  std::vector<int> bold(grid.size(), -1);
  for (size_t m = 0; m < metrics.size() && ansi; ++m) {
    bold[m + 2] = BestColumn(columns, m, metrics[m].more_is_better);
  }
  if (!variants) {
    grid.erase(grid.begin() + 1);
    bold.erase(bold.begin() + 1);
  }
  return Rendered(grid, bold);
}

std::string FailureLines(absl::Span<const WorldColumn> columns) {
  std::string text;
  for (const WorldColumn& column : columns) {
    const size_t n = std::min(kMostFailures, column.failures.size());
    if (n == 0) continue;
    absl::StrAppend(&text, "failures in ", column.name, ":\n");
    for (size_t i = 0; i < n; ++i) {
      absl::StrAppend(&text, "  ", column.failures[i].count, " x ", column.failures[i].reason,
                      "\n");
    }
    const size_t more = column.failures.size() - n;
    if (more > 0) absl::StrAppend(&text, "  and ", more, " more reason", more > 1 ? "s" : "", "\n");
  }
  return text;
}

}  // namespace drasim
