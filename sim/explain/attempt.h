// Why a pod found no node: the explanation of one failed attempt of a run, made from the state of
// the cluster at that moment.
//
// The run itself records for a failed attempt only how many nodes each reason rejected. The rest is
// found while the run is simulated again: the profile's filters are asked about every node once
// more, and for nodes that lack an amount the arithmetic of node_room.h says how much, who holds it
// and when it will be free. Nothing here changes the run.
//
//   const AttemptExplainer explainer(&sim.cluster(), &sim.jobs(), &sim.summaries(),
//                                    sim.profiles(), ClaimHooksOf(sim));
//   // In a sink, at a record of the kind kAttemptFailed:
//   const AttemptExplanation why =
//       explainer.OfFailure(record.pod, SummaryId(record.detail), record.time);
//   why.summary;               // "0/2 nodes are available: 2 Insufficient cpu."
//   why.rejections[0].object;  // "cpu"
#ifndef DRASIM_SIM_EXPLAIN_ATTEMPT_H_
#define DRASIM_SIM_EXPLAIN_ATTEMPT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/record.h"
#include "policies/allocator/device_story.h"
#include "policies/framework/profile.h"
#include "sim/explain/node_survey.h"
#include "sim/run/simulation.h"

namespace drasim {

// The knowledge of components beside the scheduler about a pod's resource claims.
struct ClaimHooks {
  // The state of the pod's claims, a line each. Unset: the run has no claims.
  std::function<std::vector<std::string>(PodId)> claims;
  // Holders of the devices that its claims wait for when a driver refuses every node: a line for
  // each of a few nodes.
  std::function<std::vector<std::string>(PodId)> claim_holders;
  // Structured DRA: why nodes have no devices for its claims; see StructuredClaims::Explain.
  std::function<std::optional<DeviceStory>(PodId, absl::Span<const NodeId>)> devices;
};

struct AttemptExplanation {
  SimTime time;
  std::string pod;      // the one that found no place
  uint32_t pods = 1;    // of its job
  uint32_t placed = 0;  // of these, before it in the same attempt
  // Pods of the job for which the nodes have room together; known for jobs of like pods.
  std::optional<uint32_t> room_for;
  uint32_t nodes = 0;      // that were looked at
  uint32_t nodes_out = 0;  // not part of the cluster at present
  std::string summary;     // as kube-scheduler writes it
  // OfNow, for a pod with claims: nodes that all filters accept; the claims decide.
  uint32_t nodes_by_claims = 0;
  // A step behind the choice of a node refused it (Reserve, Permit, PreBind, Bind), or one ahead of
  // any look at nodes (PreFilter).
  bool by_step = false;
  std::vector<Rejection> rejections;  // most nodes first
  // From ClaimHooks: the API server's state at this moment. The rejections are the scheduler's,
  // whose view may be older.
  std::vector<std::string> claims;
  std::vector<std::string> claim_holders;  // not of a brief one
  // Why the nodes that the filters accept have no devices for the pod's claims.
  std::optional<DeviceStory> devices;
  // Whether the rejections agree with the record of the attempt; false is a defect.
  bool agrees = true;

  // Every rejection is complete, and there is one.
  bool complete() const;
  std::string key() const;
};

// Whether a pod of the shape has claims, or an extended resource that claims serve.
bool NeedsClaims(const ClusterState& cluster, const PodShape& shape);

class AttemptExplainer {
 public:
  // All must outlive it. `profiles`: the run's.
  AttemptExplainer(const ClusterState* cluster, const JobTable* jobs,
                   const VerdictSummaryTable* summaries, Profiles profiles, ClaimHooks hooks);

  // Explains an attempt that failed just now. `pod` and `why` are those of its record. REQUIRES:
  // nothing has changed since. `brief`: without `near`, which costs most. O(nodes x filters +
  // residents of near nodes).
  AttemptExplanation OfFailure(PodId pod, SummaryId why, SimTime now, bool brief = false) const;

  // Why the waiting job would fail if it were tried now; absent if every pod by itself, and all
  // together as far as that is known, would fit. A gang is explained by its first pod that finds no
  // node, or else by its first pod. The verdicts of claims are told in words, for all nodes at
  // once.
  std::optional<AttemptExplanation> OfNow(JobId job, SimTime now) const;

  // The nodes that will first have room for the pod if nothing else comes, earliest first, `most`
  // at most. Only known ends count. O(residents x devices).
  struct Prospect {
    std::string node;
    SimTime at;
    std::vector<std::string> after;
  };
  std::vector<Prospect> Prospects(PodId pod, SimTime now, size_t most) const;

  // From the hooks; empty if the pod or the run has no claims.
  std::vector<std::string> ClaimsOf(PodId pod) const;
  std::vector<std::string> ClaimHoldersOf(PodId pod) const;

 private:
  AttemptExplanation Begin(PodId pod, SimTime now) const;
  void TakeGroups(PodId pod, SimTime now, bool brief, NodeSurveyor::Survey* survey,
                  AttemptExplanation* out) const;
  void AddOwnPods(PodId pod, const VerdictSummaryTable::Row& row,
                  const NodeSurveyor::Survey& survey, AttemptExplanation* out) const;
  void AddSteps(PodId pod, const VerdictSummaryTable::Row& row, AttemptExplanation* out) const;
  std::optional<uint32_t> RoomFor(JobId job) const;
  // Explains the nodes that claims rejected, among those that filters accept, and compares their
  // number with the attempt's.
  void AddDevices(PodId pod, const VerdictSummaryTable::Row& row,
                  const NodeSurveyor::Survey& survey, AttemptExplanation* out) const;
  // The filter of the pod's profile that gives the reason; null if it comes from another extension
  // point, or from what only one policy or the pod's claims decide.
  const Profile::FilterEntry* FilterOf(PodId pod, ReasonIndex reason) const;

  const ClusterState* cluster_;
  const JobTable* jobs_;
  const VerdictSummaryTable* summaries_;
  NodeSurveyor surveyor_;
  ClaimHooks hooks_;
};

// The hooks into the simulation's control plane; unset if it has none.
ClaimHooks ClaimHooksOf(const Simulation& sim);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_ATTEMPT_H_
