// The place of a waiting job: the part of kube-scheduler's queue it is in, or its position in a
// batch queue's line, and any cause other than a lack of room that keeps it there.
#ifndef DRASIM_SIM_EXPLAIN_QUEUE_PLACE_H_
#define DRASIM_SIM_EXPLAIN_QUEUE_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/time.h"
#include "sim/core/quotas.h"
#include "sim/run/simulation.h"

namespace drasim {

// A tenant's quota that a job exceeds. Amounts are in the units of ResourceAmounts.
struct QuotaLimit {
  enum class Resource : uint8_t { kGpu, kCpu, kMemory };
  std::string tenant;
  Resource resource = Resource::kGpu;  // the first that does not suffice, in this order
  int64_t held = 0;
  int64_t limit = 0;
  int64_t wanted = 0;
  int64_t missing() const { return held + wanted - limit; }
};
// "GPU", "cpu" or "memory".
absl::string_view QuotaResourceName(QuotaLimit::Resource resource);
// "tenant a holds 46 of 56 GPUs, the job wants 16, 6 too many".
std::string QuotaText(const QuotaLimit& quota);

// The first resource whose quota would be exceeded by `held`, which the tenant has, and `wanted`
// together; absent if there is none.
std::optional<QuotaLimit> OverQuota(const Quotas& quotas, absl::string_view tenant, SimTime now,
                                    const ResourceAmounts& held, const ResourceAmounts& wanted);

struct QueuePlace {
  enum class Where : uint8_t {
    kNowhere,    // no dispatcher has it: its pods have not been re-created yet
    kActive,     // kube-scheduler's activeQ
    kBackoff,    // backoffQ: something that may help happened, but it failed too recently
    kAsleep,     // unschedulable: until something that may help happens
    kOverQuota,  // its tenant's quota has no room; it is outside any queue, or passed over
    kHeld,       // PreEnqueue keeps it out of the queue
    kNominated,  // pods have been evicted for it, and have not gone yet
    kInLine,     // of a batch queue
    kUntried,    // it has just arrived and is tried in this instant
    kPending,    // never tried: a pod asks for something that is not simulated (PodHold)
  };
  Where where = Where::kNowhere;
  size_t place = 0;   // kActive, kInLine: 1 is next
  size_t length = 0;  // of that queue
  // kBackoff: the end. kAsleep: it is tried then in any case. kNominated: not before.
  std::optional<SimTime> until;
  std::vector<std::string> ahead;    // kInLine: the jobs before it, the first kAheadShown
  JobId head;                        // kInLine: the first job
  bool in_order = false;             // kInLine: the pass stops at the first job that does not fit,
  std::string backfill;              // except for backfilling: "easy" or "conservative"
  std::vector<std::string> victims;  // kNominated
  std::optional<QuotaLimit> quota;   // kOverQuota, where the amounts are known
};
inline constexpr size_t kAheadShown = 3;

// Finds jobs in the dispatcher of a simulation that has started. Dispatchers have no interface to
// their queues, so this reads the state that they save for a checkpoint, with the classes that
// wrote it.
class QueueViewer {
 public:
  // The simulation must outlive it.
  explicit QueueViewer(const Simulation* sim);

  // REQUIRES: the job waits. O(jobs that wait).
  QueuePlace Find(JobId job) const;

  // The name of a job: that of its only pod, or the common prefix of its pods' names.
  std::string NameOf(JobId job) const;

 private:
  QueuePlace FindInLine(JobId job) const;
  QueuePlace FindInKubernetes(JobId job) const;
  QueuePlace FindInLoss(JobId job) const;
  std::optional<QuotaLimit> QuotaOf(JobId job, const ResourceAmounts& held) const;

  const Simulation* sim_;
  Quotas quotas_;
  bool quotas_known_ = true;  // false: a table by days, whose relation to time zero is not known
};

// "NAME" of a gang's first pod "NAME-0"; the name itself for a job of one pod.
std::string JobName(const ClusterState& cluster, const JobRow& job);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_QUEUE_PLACE_H_
