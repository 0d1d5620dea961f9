// The pods of a run that have ended, in the order of their ends. Tables of any moment share it:
// those that had ended by then are its first rows.
//
//   auto archive = std::make_shared<PodArchive>(PodTexts::Of(cluster));
//   archive->Append(row, "pod-0000017");       // for each ended pod, then no more:
//   const PodTable pods(now, archive, ended);  // the first `ended` rows
#ifndef DRASIM_GUI_VIEW_POD_ARCHIVE_H_
#define DRASIM_GUI_VIEW_POD_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/live_state.h"
#include "sim/record/pod_history.h"

namespace drasim::view {

// A pod's history up to the moment of the table.
struct PodRow : PodCourse {
  using FirstAnswer = drasim::FirstAnswer;

  SimTime arrival;
  SimTime ended;        // when it has ended
  uint32_t number = 0;  // place in the run's order of arrivals
  uint32_t shape = 0;
  uint32_t tenant = 0;   // PodTable::tenants()
  uint32_t verdict = 0;  // of tables and archives, which set it; 0: never refused
  PodPhase phase = PodPhase::kPending;

  bool has_ended() const { return phase >= PodPhase::kSucceeded; }
  bool operator==(const PodRow&) const = default;
};

// The last refusal of a pod.
struct PodVerdict {
  std::string text;
  WaitKind kind = WaitKind::kUntried;
};

// The texts that rows refer to by number.
struct PodTexts {
  // The texts of the cluster's shapes and nodes.
  static PodTexts Of(const ClusterState& cluster);

  std::vector<std::string> wants;           // by shape
  std::vector<int64_t> gpu_milli;           // by shape: requested, before lowering
  std::vector<std::string> nodes;           // by NodeId
  std::vector<std::string> tenants = {""};  // tenant 0 is that of pods without one
  // Only those that some pod has last: a run may have hundreds of thousands of others.
  std::vector<PodVerdict> verdicts = {PodVerdict()};
};

// Numbers the last refusals of pods, in the order of their first use. 0 is none.
class VerdictNumbers {
 public:
  // `first`: the number of the first new text.
  explicit VerdictNumbers(uint32_t first) : next_(first) {}

  // A new one goes to the end of `verdicts`. REQUIRES: a summary of the table.
  uint32_t Number(const PodCourse& pod, const VerdictSummaryTable& summaries,
                  std::vector<PodVerdict>* verdicts);
  // Absent if the refusal has no number yet.
  std::optional<uint32_t> Find(const PodCourse& pod) const;

 private:
  uint32_t next_;
  absl::flat_hash_map<uint32_t, uint32_t> numbers_ = {{0, 0}};  // by VerdictKey
};

// About 130 bytes a pod, and its name. Immutable once it is shared.
class PodArchive {
 public:
  explicit PodArchive(PodTexts texts) : texts_(std::move(texts)) {}

  void Reserve(size_t pods);
  // REQUIRES: the pod has ended, its number is new; shape, tenant and summary exist. Amortised
  // O(1).
  void Append(PodRow row, absl::string_view name, const VerdictSummaryTable& summaries);
  // The number of a tenant, perhaps a new one.
  uint32_t InternTenant(absl::string_view name);

  size_t size() const { return rows_.size(); }
  const PodRow& row(size_t index) const { return rows_[index]; }
  absl::string_view name(size_t index) const {
    return absl::string_view(names_).substr(name_begin_[index],
                                            name_begin_[index + 1] - name_begin_[index]);
  }
  const PodTexts& texts() const { return texts_; }
  const VerdictNumbers& verdict_numbers() const { return verdict_numbers_; }
  // The row of the pod with that place in the order of arrivals; absent if it never ends. O(1).
  std::optional<size_t> Find(uint64_t number) const;

 private:
  static constexpr uint32_t kNoRow = ~uint32_t{0};

  PodTexts texts_;
  std::vector<PodRow> rows_;
  std::string names_;  // one behind the other
  std::vector<size_t> name_begin_ = {0};
  std::vector<uint32_t> row_of_number_;
  absl::flat_hash_map<std::string, uint32_t> tenant_index_ = {{"", 0}};
  VerdictNumbers verdict_numbers_{1};
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_POD_ARCHIVE_H_
