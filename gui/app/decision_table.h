// The nodes of one scheduling decision, with their scores by plugin, as a table.
#ifndef DRASIM_GUI_APP_DECISION_TABLE_H_
#define DRASIM_GUI_APP_DECISION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/session/decision_job.h"
#include "gui/view/table_model.h"

namespace drasim::gui {

class DecisionTable : public view::TableSource {
 public:
  // The columns of the plugins' scores follow.
  enum Column : size_t { kNode, kResult, kTotal, kFirstPlugin };

  // `decision` must outlive the table.
  explicit DecisionTable(const PodDecision* decision);

  // TableSource.
  absl::Span<const view::TableColumn> columns() const override { return columns_; }
  size_t rows() const override { return decision_->decision.nodes.size(); }
  int64_t Number(size_t row, size_t column) const override;
  absl::string_view Text(size_t row, size_t column) const override;
  std::string Shown(size_t row, size_t column) const override;
  std::string Exact(size_t row, size_t column) const override;

 private:
  const PodDecision* decision_;
  std::vector<view::TableColumn> columns_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_DECISION_TABLE_H_
