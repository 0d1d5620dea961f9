#include "gui/app/decision_table.h"

#include "absl/strings/str_cat.h"
#include "gui/view/unit_text.h"
#include "model/check.h"

namespace drasim::gui {

DecisionTable::DecisionTable(const PodDecision* decision) : decision_(decision) {
  using Kind = view::TableColumn::Kind;
  columns_ = {{"node", Kind::kText}, {"result", Kind::kText}, {"total", Kind::kNumber}};
  for (const std::string& plugin : decision->decision.plugins)
    columns_.push_back({plugin, Kind::kNumber});
}

int64_t DecisionTable::Number(size_t row, size_t column) const {
  const auto& node = decision_->decision.nodes[row];
  // The only candidate may have no scores.
  if (!node.candidate || node.scores.empty()) return kNoNumber;
  if (column == kTotal) return node.total;
  DRASIM_CHECK(column >= kFirstPlugin);
  const size_t plugin = column - kFirstPlugin;
  return plugin < node.scores.size() ? node.scores[plugin] : kNoNumber;
}

absl::string_view DecisionTable::Text(size_t row, size_t column) const {
  const auto& node = decision_->decision.nodes[row];
  if (column == kNode) return node.node;
  DRASIM_CHECK(column == kResult);
  if (node.chosen) return "chosen";
  return node.candidate ? absl::string_view("candidate") : absl::string_view(node.verdict);
}

std::string DecisionTable::Shown(size_t row, size_t column) const {
  if (column < kTotal) return std::string(Text(row, column));
  const int64_t number = Number(row, column);
  return number == kNoNumber ? std::string() : view::CommaText(number);
}

std::string DecisionTable::Exact(size_t row, size_t column) const {
  if (column < kTotal) return std::string(Text(row, column));
  const int64_t number = Number(row, column);
  return number == kNoNumber ? std::string() : absl::StrCat(number);
}

}  // namespace drasim::gui
