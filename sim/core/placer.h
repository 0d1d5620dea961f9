// Places jobs: a node, and devices of it, for every pod of a job, or for none.
//
// A job of one pod takes one decision of the scheduling cycle. A gang takes one for each pod, which
// sees the pods before it as placed; when one fails, all are taken back.
//
// A failure is remembered until the cluster changes: an equal job gets the same answer in O(1). The
// same attempt gives the same answer (the cycle's caches guarantee that), so remembering never
// changes a decision.
//
// Usage, in a dispatcher:
//   const std::optional<Placer::Failure> failure = placer->Place(job, control->now());
//   if (!failure.has_value()) return control->StartPlaced(job);  // its pods are assumed
//   control->RecordFailure(job, *failure);                       // failure->why: nodes per reason
#ifndef DRASIM_SIM_CORE_PLACER_H_
#define DRASIM_SIM_CORE_PLACER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/record.h"
#include "policies/framework/profile.h"
#include "sim/core/attempt_result.h"
#include "sim/core/placement_failure.h"
#include "sim/core/profiles.h"
#include "sim/core/scheduling_cycle.h"

namespace drasim {

class KubeCycle;

class Placer {
 public:
  // All must outlive the placer. With `remember` off, every attempt asks the cycle.
  Placer(const Profile* profile, ClusterState* cluster, const JobTable* jobs,
         SchedulingCycle* cycle, VerdictSummaryTable* summaries, bool remember);

  using Failure = PlacementFailure;

  // Assumes every pod of the waiting job and returns nothing, or changes nothing and says why.
  // `now` is for plugins. O(pods x decision).
  std::optional<Failure> Place(JobId job, SimTime now);

  // Nodes are chosen by kube-scheduler's search from now on, and nothing is remembered: the search
  // begins where the last one ended. Each pod goes by its own profile, and by the cycle at the same
  // place of `cycles`; one without a profile is rejected by all nodes. The placer's own profile is
  // the first. All must outlive it.
  void set_kube(std::vector<KubeCycle*> cycles, Profiles* profiles);
  // With set_kube: assumes the waiting pod on the node, which has room for it, and chooses devices.
  void AssumeOn(const PodContext& pod, NodeId node);
  // A failure without a verdict of any node.
  Failure WithoutVerdict(PodId pod);
  // The last attempt of Place, with set_kube: of the pod that failed, if one did.
  const AttemptResult& kube_attempt() const { return kube_attempt_; }
  // Number of waits for extenders in the last Place, over all its pods.
  int64_t extender_waits() const { return extender_waits_; }

  // Whether Place would succeed, as far as drasim itself decides: extenders are not asked. Changes
  // nothing, and remembers nothing.
  bool WouldFit(JobId job, SimTime now);
  // The reason why the job cannot be placed now, if so, by nodes and quotas. Plugins that restrict
  // single pods, such as claims, are not asked, because their answers change all the time. Changes
  // nothing.
  std::optional<Failure> WhyNever(JobId job, SimTime now);

  // The scheduler's message, as the cluster stands, about a job that waits or was given up:
  // kube-scheduler's words, or the number of nodes by reason of rejection. Empty: Place would
  // succeed, or extenders, who are not asked, have a say. Changes nothing but the table of
  // summaries.
  std::string MessageNow(JobId job, SimTime now);

  // The key of remembered answers: jobs with equal groups of pods share a number.
  // O(pods of the job) on the first call for a job, then O(1).
  uint32_t SignatureOf(JobId job);
  // The failure of an equal job, if nothing has changed since.
  const Failure* KnownFailure(JobId job);

  // False when the job could not be placed even if the cluster were empty and all nodes available.
  // Exact for jobs of like pods; a gang of several shapes is only refused when one of its groups
  // alone, or its sum, is too large. O(1) for a signature seen before, else O(nodes x pods).
  bool CouldEverFit(JobId job);
  // The extended resources that nodes report may grow during the run: a job that asks for some may
  // then fit later, whatever they report now.
  void set_amounts_may_grow(bool may) { amounts_may_grow_ = may; }

  void Save(StateWriter& out) const;
  // Expects jobs and cluster to be loaded already.
  absl::Status Load(StateReader& in);

 private:
  struct Memory {
    Failure failure;
    uint64_t version = 0;
    bool valid = false;
    int8_t fits_empty = -1;  // not known yet
  };

  // The plugins that are asked about a pod: all, or only those that restrict no single pods.
  enum class Ask : uint8_t { kEveryone, kUnrestricted };

  std::optional<Failure> PlaceAll(JobId job, SimTime now, Ask ask);
  std::optional<Failure> TryPlace(JobId job, SimTime now, Ask ask);
  std::optional<Failure> PlacePod(PodId pod, SimTime now, Ask ask);
  std::optional<Failure> PlaceByKube(const PodContext& pod);
  // The profile that pods of the shape run under; the placer's own if there is none.
  const Profile& ProfileOf(ShapeId shape) const;
  VerdictSummaryTable::Row Rejections(const PodContext& pod,
                                      absl::Span<NodeRestrictionPlugin* const> restricting);
  bool GroupFitsEmpty(ShapeId shape, uint32_t pods);

  const Profile* profile_;
  ClusterState* cluster_;
  const JobTable* jobs_;
  SchedulingCycle* cycle_;
  std::vector<KubeCycle*> kube_;    // by profile; empty: `cycle_` decides
  Profiles* profiles_ = nullptr;    // with `kube_`
  ReasonIndex no_profile_ = kFits;  // why a pod without a profile is rejected
  AttemptResult kube_attempt_;
  int64_t extender_waits_ = 0;
  bool trial_ = false;
  bool wants_message_ = false;  // of KubeCycle, even of a trial
  bool only_asks_ = false;      // the pod at hand may be one that cannot be placed any more
  VerdictSummaryTable* summaries_;
  bool remember_;
  bool amounts_may_grow_ = false;
  bool draws_;  // decisions depend on random numbers
  struct PreFilterEntry {
    PreFilterPlugin* plugin;
    uint64_t filter;  // its bit among the profile's filters; 0: it does not filter
    bool restricts;   // single pods
  };
  std::vector<PreFilterEntry> pre_filters_;
  // Restrictions on the current pod: beside the profile's restrictions(), then that of PreFilter.
  std::vector<NodeRestriction> restrictions_;
  std::vector<NodeId> named_nodes_;  // by PreFilter of the attempt at hand
  std::vector<NodeId> feasible_;     // scratch
  std::vector<uint32_t> signature_;  // by job; kUnknown until asked
  absl::flat_hash_map<std::vector<std::pair<uint32_t, uint32_t>>, uint32_t> signatures_;
  std::vector<Memory> memory_;    // by signature
  std::vector<uint32_t> single_;  // by shape: the signature of a job of one such pod
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_PLACER_H_
