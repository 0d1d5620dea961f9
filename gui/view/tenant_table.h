// The tenants of a run at one moment, as a table over a PodTable.
#ifndef DRASIM_GUI_VIEW_TENANT_TABLE_H_
#define DRASIM_GUI_VIEW_TENANT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/pod_table.h"
#include "gui/view/table_model.h"
#include "model/time.h"

namespace drasim::view {

// Waits of a group of pods from their arrival to their first start; a pod that waits counts with
// its wait so far, one that ended without a start not at all. Percentiles are nearest-rank.
struct WaitFigures {
  int64_t pods = 0;
  SimDuration mean;  // rounded down
  SimDuration p50;
  SimDuration p95;
  SimDuration longest;
};
// O(n log n); sorts the waits.
WaitFigures WaitFiguresOf(std::vector<SimDuration>* waits);

struct TenantTableRow {
  std::string name;  // "(none)" for pods without a tenant
  int64_t pods = 0;
  int64_t waiting = 0;  // starting pods included
  int64_t running = 0;
  int64_t ended = 0;
  int64_t attempts_failed = 0;
  int64_t evictions = 0;
  int64_t gpu_milli = 0;  // requested by its running pods
  double gpu_hours = 0;   // requested GPUs x time on nodes, so far
  WaitFigures waits;
};

// Only tenants with pods, in order of first appearance; pods without one come first. Independent of
// the table of pods that it was made from.
class TenantTable : public TableSource {
 public:
  enum Column : size_t {
    kName,
    kPods,
    kWaiting,
    kRunning,
    kEnded,
    kGpus,
    kGpuHours,
    kWaitP50,
    kWaitP95,
    kLongestWait,
    kTries,
    kEvictions,
    kColumns,
  };

  // O(pods log pods).
  explicit TenantTable(const PodTable& pods);

  const TenantTableRow& row(size_t index) const { return rows_[index]; }
  // PodRow::tenant of a row.
  uint32_t tenant(size_t index) const { return tenants_[index]; }

  // TableSource.
  absl::Span<const TableColumn> columns() const override;
  size_t rows() const override { return rows_.size(); }
  int64_t Number(size_t row, size_t column) const override;
  absl::string_view Text(size_t row, size_t column) const override;
  std::string Shown(size_t row, size_t column) const override;
  std::string Exact(size_t row, size_t column) const override;

 private:
  std::vector<TenantTableRow> rows_;
  std::vector<uint32_t> tenants_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_TENANT_TABLE_H_
