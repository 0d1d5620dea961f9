#include "sim/outputs/markdown_output.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace drasim {
namespace {

std::string CellText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"|", "\\|"}, {"<", "&lt;"}, {">", "&gt;"}, {"\r", ""}, {"\n", "<br>"}});
}

void AppendLine(const std::vector<std::string>& cells, std::string* out) {
  for (const std::string& cell : cells) absl::StrAppend(out, "| ", CellText(cell), " ");
  *out += "|\n";
}

void AppendTable(const ResultTable& table, std::string* out) {
  if (!table.title.empty()) absl::StrAppend(out, "### ", CellText(table.title), "\n\n");
  AppendLine(table.columns, out);
  for (size_t c = 0; c < table.columns.size(); ++c) *out += "|---";
  *out += "|\n";
  for (const std::vector<std::string>& row : table.rows) AppendLine(row, out);
  *out += "\n";
}

absl::string_view OutcomeWord(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return "passed";
    case CheckOutcome::kChanged:
      return "changed";
    case CheckOutcome::kFailed:
      return "failed";
    case CheckOutcome::kMissing:
      return "missing";
  }
  return "";
}

}  // namespace

std::string MarkdownOutput(const ResultSet& results) {
  std::string out = absl::StrCat("## drasim ", results.command, "\n\n");
  if (!results.summary.empty()) absl::StrAppend(&out, CellText(results.summary), "\n\n");
  ResultTable open{"", {"check", "outcome", "why"}, {}};
  for (const ResultCheck& check : results.checks) {
    if (check.outcome == CheckOutcome::kPassed) continue;
    open.rows.push_back({check.name, std::string(OutcomeWord(check.outcome)), check.message});
  }
  if (!open.rows.empty()) AppendTable(open, &out);
  for (const ResultTable& table : results.tables) AppendTable(table, &out);
  if (!results.text.empty()) {
    // A fence longer than any in the text.
    std::string fence = "```";
    while (absl::StrContains(results.text, fence)) fence += "`";
    absl::StrAppend(&out, fence, "text\n", results.text,
                    absl::EndsWith(results.text, "\n") ? "" : "\n", fence, "\n\n");
  }
  return out;
}

}  // namespace drasim
