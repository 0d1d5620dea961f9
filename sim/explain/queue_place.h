// Where a waiting job stands: which place of kube-scheduler's queue it is in, or how far up a batch
// queue's line, and what keeps it there that is no lack of room.
#ifndef DRASIM_SIM_EXPLAIN_QUEUE_PLACE_H_
#define DRASIM_SIM_EXPLAIN_QUEUE_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/time.h"
#include "sim/core/quotas.h"
#include "sim/run/simulation.h"

namespace drasim {

// What a tenant's quota has left for a job. All three in the units of ResourceAmounts.
struct QuotaLimit {
  std::string tenant;
  std::string resource;  // "cpu", "memory" or "GPU": the first that does not suffice
  int64_t held = 0;
  int64_t limit = 0;
  int64_t wanted = 0;
  int64_t missing() const { return held + wanted - limit; }
};
// "tenant a holds 46 of 56 GPUs, the job wants 16, 6 too many".
std::string QuotaText(const QuotaLimit& quota);

// The first resource of which the tenant, which holds `held`, may not have what the job asks for
// beside it; nothing if it may have all.
absl::optional<QuotaLimit> OverQuota(const Quotas& quotas, absl::string_view tenant, SimTime now,
                                     const ResourceAmounts& held, const ResourceAmounts& wanted);

struct QueuePlace {
  enum class Where : uint8_t {
    kNowhere,    // no dispatcher has it: its pods have not been made anew yet
    kActive,     // kube-scheduler's activeQ
    kBackoff,    // backoffQ: something that may help happened, but it failed too recently
    kAsleep,     // unschedulable: until something that may help happens
    kOverQuota,  // its tenant's quota has no room; it is outside any queue, or passed over
    kHeld,       // PreEnqueue keeps it out of the queue
    kNominated,  // pods have been evicted for it, and have not gone yet
    kInLine,     // of a batch queue
    kUntried,    // it has just come, and is tried in this instant
    kPending,    // never tried: a pod says what is not simulated (PodHold)
  };
  Where where = Where::kNowhere;
  size_t place = 0;   // kActive, kInLine: 1 is next
  size_t length = 0;  // of that queue
  // kBackoff: the end. kAsleep: it is tried then in any case. kNominated: not before.
  absl::optional<SimTime> until;
  std::vector<std::string> ahead;    // kInLine: the jobs before it, the first kAheadShown
  JobId head;                        // kInLine: who is first
  bool in_order = false;             // kInLine: nobody is tried behind one that does not fit ...
  std::string backfill;              // ... but "easy" or "conservative", which delays no one
  std::vector<std::string> victims;  // kNominated
  absl::optional<QuotaLimit> quota;  // kOverQuota, where the amounts are known
};
inline constexpr size_t kAheadShown = 3;

// Looks jobs up in the dispatcher of a simulation that has started. What dispatchers keep they tell
// nobody; what they save for a checkpoint is their one account of it, so that is what is read here,
// by the classes that wrote it.
class QueueViewer {
 public:
  // The simulation must outlive it.
  explicit QueueViewer(const Simulation* sim);

  // REQUIRES: the job waits. O(jobs that wait).
  QueuePlace Find(JobId job) const;

  // The name of a job: of its pod, or what the names of its pods begin with.
  std::string NameOf(JobId job) const;

 private:
  QueuePlace FindInLine(JobId job) const;
  QueuePlace FindInKubernetes(JobId job) const;
  QueuePlace FindInLoss(JobId job) const;
  absl::optional<QuotaLimit> QuotaOf(JobId job, const ResourceAmounts& held) const;

  const Simulation* sim_;
  Quotas quotas_;
  bool quotas_known_ = true;  // false: they follow a table by days, of which time zero is not known
};

// "NAME" of a gang's first pod "NAME-0"; the name itself for a job of one pod.
std::string JobName(const ClusterState& cluster, const JobRow& job);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_QUEUE_PLACE_H_
