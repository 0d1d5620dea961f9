// Jobs that wait for a batch scheduler, in the order of a queue policy.
//
// Jobs that ask for the same (equal groups of pods, and the same tenant and priority where that
// matters) form a class. What holds for the first of a class holds for all of it: if it does not
// fit, none does. A pass over the line therefore costs what there are classes, not what there are
// jobs.
#ifndef DRASIM_SIM_CORE_WAITING_LINE_H_
#define DRASIM_SIM_CORE_WAITING_LINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

class WaitingLine {
 public:
  struct Entry {
    JobKey key;
    JobId job;
    auto operator<=>(const Entry&) const = default;
  };
  using Jobs = absl::btree_set<Entry>;
  struct Class {
    uint64_t kind = 0;
    TenantId tenant;        // of all its jobs; invalid when tenants do not matter
    int64_t gpu_milli = 0;  // of each of its jobs
    Jobs jobs;
  };

  // `kind` says what jobs of one class have in common. O(log jobs). A job waits in one place at a
  // time (CHECKed).
  void Add(JobId job, JobKey key, uint64_t kind, TenantId tenant, int64_t gpu_milli);
  // False when the job is not here. O(log jobs).
  bool Remove(JobId job);
  bool Contains(JobId job) const {
    return job.value() < place_.size() && place_[job.value()].class_index != kNowhere;
  }

  size_t size() const { return size_; }
  // In order of first appearance; some may be empty.
  const std::vector<Class>& classes() const { return classes_; }
  // All jobs, first to last by key and id, whatever their class. O(jobs log jobs).
  std::vector<JobId> Sorted() const;

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  struct Place {
    uint32_t class_index = kNowhere;
    JobKey key;
  };

  std::vector<Class> classes_;
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> index_;
  std::vector<Place> place_;  // by job
  size_t size_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_WAITING_LINE_H_
