// The pods of a run at one moment, as a table (PodTable); and a fold over the records of a ledger
// that makes one (PodFold).
//
//   PodFold fold;
//   while (*reader->Next(&record)) fold.Add(record, reader->cluster());
//   const PodTable pods = fold.Table(now, reader->cluster(), reader->summaries());
//
// Without a look at the records: the archive of the ended pods, and a row for each live one.
//
//   PodTable pods(now, archive, ended);
//   pods.AddLive(row, name, summaries);
#ifndef DRASIM_GUI_VIEW_POD_TABLE_H_
#define DRASIM_GUI_VIEW_POD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/pod_archive.h"
#include "gui/view/pod_filter.h"
#include "gui/view/table_model.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/pod_history.h"

namespace drasim::view {

// First the pods that have ended, in the order of their ends, then the others in order of arrival.
// A fold's table has all pods in order of arrival: a row's index is the pod's number.
class PodTable : public TableSource {
 public:
  enum Column : size_t {
    kName,
    kWants,
    kTenant,
    kState,
    kNode,
    kArrived,
    kWaits,
    kTries,
    kStarted,
    kEnded,
    kVerdict,
    kColumns,
  };

  // Empty.
  PodTable();
  // The first `ended` rows of the archive; live pods are added. REQUIRES: ended <= archive->size().
  PodTable(SimTime now, std::shared_ptr<const PodArchive> archive, size_t ended);
  // The same as another one, in the memory of this.
  void Restart(SimTime now, std::shared_ptr<const PodArchive> archive, size_t ended);
  // Behind the rows so far. REQUIRES: numbers ascend; shape, tenant and summary exist. Amortised
  // O(1).
  void AddLive(const PodRow& row, absl::string_view name, const VerdictSummaryTable& summaries);
  // Reserves memory for `pods` calls of AddLive.
  void ReserveLive(size_t pods);

  // TableSource.
  absl::Span<const TableColumn> columns() const override;
  size_t rows() const override { return ended_ + rows_.size(); }
  // Pods that have ended, the first rows; 0 in a table of a fold, which may have some anywhere.
  size_t ended() const { return ended_; }
  int64_t Number(size_t row, size_t column) const override;
  absl::string_view Text(size_t row, size_t column) const override;
  std::string Shown(size_t row, size_t column) const override;
  std::string Exact(size_t row, size_t column) const override;

  // The moment of the table.
  SimTime now() const { return now_; }
  const PodRow& row(size_t pod) const {
    return pod < ended_ ? archive_->row(pod) : rows_[pod - ended_];
  }
  absl::string_view name(size_t pod) const;
  const std::string& wants(size_t pod) const { return texts().wants[row(pod).shape]; }
  // Requested GPUs in thousandths, before lowering.
  int64_t gpu_milli(size_t pod) const { return texts().gpu_milli[row(pod).shape]; }
  const std::string& tenant(size_t pod) const { return texts().tenants[row(pod).tenant]; }
  // Empty for a pod that has never been on a node.
  absl::string_view node(size_t pod) const;
  // The scheduler's last refusal, or the node's; "not tried yet" for a waiting pod without one.
  absl::string_view verdict(size_t pod) const;
  // The kind of it, by the name that the plot of waiting pods has for it: "driver's answer". Empty
  // for a pod that was never refused and does not wait.
  absl::string_view short_verdict(size_t pod) const;
  // The sum of its waits up to now().
  SimDuration WaitOf(size_t pod) const;
  // From arrival to its first start, or to now() if it waits for that. None for a pod that ended
  // without a start.
  std::optional<SimDuration> FirstWaitOf(size_t pod) const;
  // For a PodFilter. Valid as long as the table.
  PodFacts Facts(size_t pod) const;

  // Tenant 0 is "", that of pods without one.
  const std::vector<std::string>& tenants() const { return texts().tenants; }
  const std::vector<std::string>& nodes() const { return texts().nodes; }
  // The row of the pod of that name; none if there is none. The first one to arrive of several.
  // O(pods).
  std::optional<size_t> Find(absl::string_view name) const;
  // The row of the pod with that place in the order of arrivals; none if it has not arrived.
  // O(log pods).
  std::optional<size_t> FindNumber(uint64_t number) const;

 private:
  const PodTexts& texts() const { return archive_->texts(); }
  // REQUIRES: the pod has one.
  const PodVerdict& LastVerdict(const PodRow& row) const;

  SimTime now_;
  std::shared_ptr<const PodArchive> archive_;
  size_t ended_ = 0;
  std::vector<PodRow> rows_;
  std::string names_;  // one behind the other
  std::vector<size_t> name_begin_ = {0};
  // Behind those of the archive.
  std::vector<PodVerdict> verdicts_;
  VerdictNumbers verdict_numbers_;
};

class PodFold {
 public:
  // After the record was applied to `cluster`. Times that go back, which only a damaged ledger has,
  // count as the latest one. A failed attempt of a pod that has ended says nothing of it. Amortised
  // O(1).
  void Add(const Record& record, const ClusterState& cluster);
  // The owner of a pod that has arrived. Pods of which this is not called have the tenant "".
  void SetTenant(PodId pod, absl::string_view tenant);
  const std::vector<PodRow>& rows() const { return rows_; }
  const std::vector<std::string>& tenants() const { return tenants_; }
  // Pods that hold nothing and have not ended.
  int64_t waiting() const { return waiting_; }

  // O(pods + shapes). The copy depends on none of the arguments.
  PodTable Table(SimTime now, const ClusterState& cluster,
                 const VerdictSummaryTable& summaries) const;

 private:
  std::vector<PodRow> rows_;  // without their verdicts
  int64_t waiting_ = 0;
  DropReason drop_reason_;
  SimTime latest_;
  std::vector<std::string> tenants_ = {""};
  absl::flat_hash_map<std::string, uint32_t> tenant_index_ = {{"", 0}};
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_POD_TABLE_H_
