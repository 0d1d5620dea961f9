// Jobs that wait for a batch scheduler, in the order of a queue policy.
//
// Jobs with the same request (equal groups of pods, and the same tenant and priority where that
// matters) form a class. If the first job of a class does not fit, none of the class does. The cost
// of a pass over the line is therefore proportional to the number of classes, not of jobs, and
// usually lower: the first jobs of all classes are kept in order, too (LineWalk goes along them).
#ifndef DRASIM_SIM_CORE_WAITING_LINE_H_
#define DRASIM_SIM_CORE_WAITING_LINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"
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
  // The first job of a class that is not empty.
  struct Head {
    Entry entry;
    uint32_t class_index = 0;
    auto operator<=>(const Head&) const = default;
  };
  using Heads = absl::btree_set<Head>;
  struct Class {
    uint64_t kind = 0;
    TenantId tenant;        // of all its jobs; invalid when tenants do not matter
    int64_t gpu_milli = 0;  // of each of its jobs
    Jobs jobs;
    // The same jobs by their expected run time; kept on demand.
    absl::btree_set<std::pair<SimDuration, Entry>> by_length;
  };
  struct Options {
    bool per_tenant = false;    // one line for each tenant
    bool keep_lengths = false;  // Class::by_length
  };

  explicit WaitingLine(Options options) : options_(options) {}

  // Jobs of one class have the same `kind`. O(log jobs). A job waits in one place at a time
  // (CHECKed).
  void Add(JobId job, JobKey key, uint64_t kind, TenantId tenant, int64_t gpu_milli,
           SimDuration length);
  // False when the job is not here. O(log jobs).
  bool Remove(JobId job);
  bool Contains(JobId job) const {
    return job.value() < place_.size() && place_[job.value()].class_index != kNowhere;
  }

  size_t size() const { return size_; }
  // Calls of Add and Remove that changed the line.
  uint64_t operations() const { return operations_; }
  // In order of first appearance; some may be empty.
  const std::vector<Class>& classes() const { return classes_; }
  // The smallest request in GPU milli above 0; 0 if there is none.
  int64_t SmallestNeedMilli() const { return needs_.empty() ? 0 : needs_.begin()->first; }

  // Lines are numbered by tenant; without per_tenant there is line 0 alone.
  size_t lines() const { return heads_.size(); }
  const Heads& heads(size_t line) const { return heads_[line]; }
  // Lines that a job was added to, or the last one left, since the last call.
  std::vector<uint32_t> TakeTouched();

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  struct Place {
    uint32_t class_index = kNowhere;
    JobKey key;
    SimDuration length;
  };

  size_t LineOf(const Class& c) const { return options_.per_tenant ? c.tenant.value() : 0; }
  void Touch(size_t line);
  void CountNeed(int64_t gpu_milli, int sign);

  Options options_;
  std::vector<Class> classes_;
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> index_;
  std::vector<Place> place_;  // by job
  size_t size_ = 0;
  uint64_t operations_ = 0;
  std::vector<Heads> heads_;                // by line
  std::vector<bool> is_touched_;            // by line
  std::vector<uint32_t> touched_;           // lines
  absl::btree_map<int64_t, size_t> needs_;  // GPU milli -> classes with jobs
};

// All jobs of some classes in the order of their entries: a merge of the classes' own orders.
// The line must not change but for the removal of jobs that have been passed. O(log classes) a job.
class LineMerge {
 public:
  // Every class that is not empty.
  explicit LineMerge(const WaitingLine* line);
  // The next job in order; false at the end.
  bool Next(WaitingLine::Entry* entry, uint32_t* class_index);
  // The rest of the class that the last job belongs to is left out.
  void LeaveOutClass() { last_is_left_out_ = true; }

 private:
  struct Later {
    bool operator()(const WaitingLine::Head& a, const WaitingLine::Head& b) const { return b < a; }
  };

  const WaitingLine* line_;
  std::vector<WaitingLine::Head> heap_;  // the next of each class
  WaitingLine::Head last_;
  bool has_last_ = false;
  bool last_is_left_out_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_WAITING_LINE_H_
