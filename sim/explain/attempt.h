// Why a pod found no node: the explanation of one failed attempt, made from the state of the
// cluster at that moment.
//
// The run itself records of a failed attempt no more than how many nodes each reason rejected. The
// rest is found out here, while the run is simulated again: the profile's filters are asked about
// every node once more, and for nodes that lack an amount the arithmetic of explain_room.h says how
// much, who holds it and when it will be free. Nothing here changes the run.
#ifndef DRASIM_SIM_EXPLAIN_ATTEMPT_H_
#define DRASIM_SIM_EXPLAIN_ATTEMPT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/job_table.h"
#include "model/record.h"
#include "policies/framework/profile.h"
#include "sim/explain/node_room.h"
#include "sim/run/simulation.h"

namespace drasim {

// What is known beside the scheduler.
struct ExplainHooks {
  // How the pod stands with its resource claims, a line each; empty: nobody knows of claims.
  std::function<std::vector<std::string>(PodId)> claims;
  // Holders of the devices that its claims wait for, where a driver refuses every node: a line for
  // each of a few nodes.
  std::function<std::vector<std::string>(PodId)> claim_holders;
};

struct Holder {
  std::string pod;
  int64_t amount = 0;            // of what is lacking
  std::string devices;           // which GPUs, or parts of them; empty where that says nothing
  absl::optional<SimTime> ends;  // nothing: not known
  absl::string_view state;       // of its job: "running", "starting"
};

// A node that comes close to fitting.
struct NearNode {
  std::string node;
  Shortfall lack;
  std::vector<Holder> holders;  // the largest first; kHoldersShown at most
  size_t more_holders = 0;
  std::string layout;               // MIG instances by GPU, where these are what is lacking
  absl::optional<SimTime> room_at;  // if nothing else comes; nothing: not by ends that are known
  std::vector<std::string> room_after;  // the pods that have ended by then
};

// The nodes that one plugin rejected for one reason, lacking the same thing.
struct Rejection {
  enum class Kind : uint8_t {
    kAmount,   // too little of something is idle
    kState,    // something is not as the pod wants it, whatever is idle
    kOwnPods,  // one pod would fit, but others of its job take the place
  };
  Kind kind = Kind::kState;
  std::string plugin;                // "NodeResourcesFit"
  std::string reason;                // "Insufficient cpu"
  ReasonIndex reason_index = kFits;  // of the run's profile; kFits: none of its reasons
  std::string object;  // what is lacking or in the way: "cpu", "taint gpu=yes:NoSchedule"
  std::string state;   // kState: what is wrong with it
  uint32_t nodes = 0;
  std::vector<std::string> examples;  // the closest to fitting first; kExamplesShown at most

  // kAmount: of one pod, on each of the nodes. kOwnPods: pods of the job.
  LackKind lack = LackKind::kCpu;
  int64_t wanted = 0;
  int64_t least_missing = 0;
  int64_t most_missing = 0;
  int64_t idle_on_one = 0;                             // the most of use to one pod on one node
  int64_t idle_all = 0;                                // on all of the nodes
  bool fragmented = false;                             // enough is idle, but in pieces
  uint32_t too_small_nodes = 0;                        // could not take the pod if they were empty
  std::vector<std::pair<std::string, uint32_t>> also;  // lacking as well: what, nodes
  std::vector<NearNode> near;

  // Whether it names a resource or an object, and a shortfall or a state.
  bool complete() const;
  // What two attempts have in common that failed for the same reasons.
  std::string key() const;
};

struct Explanation {
  SimTime time;
  std::string pod;      // the one that found no place
  uint32_t pods = 1;    // of its job
  uint32_t placed = 0;  // of these, before it in the same attempt
  // How many pods of the job the nodes have room for together; known for jobs of like pods.
  absl::optional<uint32_t> room_for;
  uint32_t nodes = 0;      // that were looked at
  uint32_t nodes_out = 0;  // not part of the cluster at present
  std::string summary;     // as kube-scheduler writes it
  // OfNow, of a pod with claims: nodes that fit as far as filters can tell; the claims decide.
  uint32_t nodes_by_claims = 0;
  // A step behind the choice of a node refused it (Reserve, Permit, PreBind, Bind), or one ahead of
  // any look at nodes (PreFilter).
  bool by_step = false;
  std::vector<Rejection> rejections;  // most nodes first
  // From ExplainHooks: what the API server has at this moment. The rejections are the scheduler's,
  // whose view may be older.
  std::vector<std::string> claims;
  std::vector<std::string> claim_holders;  // not of a brief one
  // What was found agrees with what the attempt recorded; false would be a defect.
  bool agrees = true;

  // Every rejection is complete, and there is one.
  bool complete() const;
  std::string key() const;
};

inline constexpr size_t kExamplesShown = 3;
inline constexpr size_t kHoldersShown = 3;
inline constexpr size_t kNearShown = 2;

class Explainer {
 public:
  // All must outlive it. `profile`: the run's.
  Explainer(const ClusterState* cluster, const JobTable* jobs, const VerdictSummaryTable* summaries,
            const Profile* profile, ExplainHooks hooks);

  // Of an attempt that failed just now: `pod` and `why` as in its record, and nothing has changed
  // since. `brief`: without `near`, which costs most. O(nodes x filters + residents of near nodes).
  Explanation OfFailure(PodId pod, SummaryId why, SimTime now, bool brief = false) const;

  // Why the waiting job would fail if it were tried now; nothing if every pod by itself, and all
  // together as far as that is known, would fit. A gang is explained by the first pod that finds
  // no node, or else by its first. What claims say of nodes is told for all of them, in words.
  absl::optional<Explanation> OfNow(JobId job, SimTime now) const;

  // The nodes on which the pod will first have room if nothing else comes, the earliest first; at
  // most `most`. Only ends that are known count. O(residents x devices).
  struct Prospect {
    std::string node;
    SimTime at;
    std::vector<std::string> after;
  };
  std::vector<Prospect> Prospects(PodId pod, SimTime now, size_t most) const;

  // From the hooks; none if the pod has no claims, or nobody knows of them.
  std::vector<std::string> ClaimsOf(PodId pod) const;
  std::vector<std::string> ClaimHoldersOf(PodId pod) const;

 private:
  // Nodes that could not take the pod if they were empty are farther from fitting than all others.
  static constexpr int64_t kOutOfReach = int64_t{1} << 61;
  // One rejection in the making.
  struct Group {
    Rejection rejection;
    std::vector<std::pair<int64_t, NodeId>> members;  // how far from fitting, node
    std::vector<std::string> found;                   // distinct values that nodes have instead
  };
  struct Survey {
    std::vector<Group> groups;
    std::vector<NodeId> fitting;
    uint32_t available = 0;
  };

  Survey Look(PodId pod, SimTime now) const;
  void AddNode(PodId pod, const Profile::FilterEntry& filter, ReasonIndex reason, NodeId node,
               Survey* survey) const;
  void AddState(const PodShape& shape, NodeId node, Group* group) const;
  // The object of a reason without an amount: "taint gpu=yes:NoSchedule".
  std::string ObjectOf(const Profile::FilterEntry& filter, ReasonKind kind, const PodShape& shape,
                       NodeId node) const;
  Group* FindGroup(const Profile::FilterEntry& filter, ReasonIndex reason,
                   const std::string& object, Survey* survey) const;
  void Finish(PodId pod, SimTime now, bool brief, Group* group) const;
  void AddNear(PodId pod, SimTime now, Group* group) const;
  NearNode Near(PodId pod, NodeId node, const Shortfall& lack, SimTime now) const;
  Explanation Begin(PodId pod, SimTime now) const;
  void TakeGroups(PodId pod, SimTime now, bool brief, Survey* survey, Explanation* out) const;
  void AddOwnPods(const VerdictSummaryTable::Row& row, const Survey& survey,
                  Explanation* out) const;
  void AddSteps(PodId pod, const VerdictSummaryTable::Row& row, Explanation* out) const;
  absl::optional<uint32_t> RoomFor(JobId job) const;
  ReasonKind KindOf(ReasonIndex reason) const;
  // The filter that gives the reason; null if it comes from another extension point, or from what
  // only one policy or the pod's claims decide.
  const Profile::FilterEntry* FilterOf(ReasonIndex reason) const;

  const ClusterState* cluster_;
  const JobTable* jobs_;
  const VerdictSummaryTable* summaries_;
  const Profile* profile_;
  ExplainHooks hooks_;
};

// Which of the node's GPUs, or what parts of them, the pod holds: "GPU 0,1", "GPU 0:3g.40gb@4".
// Empty when it holds none.
std::string DevicesText(const ClusterState& cluster, PodId pod, NodeId node);

// The same of a list of grants, none of them a MIG instance where the node has no table of them.
std::string GrantsText(const ClusterState& cluster, NodeId node,
                       absl::Span<const DeviceGrant> grants);

// What is known of the simulation's claims.
ExplainHooks HooksOf(const Simulation& sim);

// How many failed attempts of a run can be explained.
struct ExplanationStats {
  uint64_t attempts = 0;
  uint64_t complete = 0;  // name a resource or object, and a shortfall or state, for all nodes
  uint64_t agreeing = 0;  // found the very counts that the attempt recorded
  uint64_t distinct = 0;  // different ones
  std::vector<std::string> incomplete;  // what the first few of the others came to
  bool operator==(const ExplanationStats&) const = default;
};

// Runs the simulation, which has been built but not started, and explains every failed attempt as
// it happens. The cost is that of a look at all nodes per distinct (shape, failure, state).
absl::StatusOr<ExplanationStats> CountExplanations(Simulation& sim);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_ATTEMPT_H_
