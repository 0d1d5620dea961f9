// The verdicts of a profile's filters on every node, in groups by reason and by shortfall: the
// first half of the explanation of a failed attempt.
#ifndef DRASIM_SIM_EXPLAIN_NODE_SURVEY_H_
#define DRASIM_SIM_EXPLAIN_NODE_SURVEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/reason_kind.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/profiles.h"
#include "sim/explain/node_room.h"

namespace drasim {

struct Holder {
  std::string pod;
  int64_t amount = 0;           // of the lacking resource
  std::string devices;          // which GPUs, or parts of them; empty where that says nothing
  std::optional<SimTime> ends;  // absent: not known
  absl::string_view state;      // of its job: "running", "starting"
};

// A node that comes close to fitting.
struct NearNode {
  std::string node;
  Shortfall lack;
  std::vector<Holder> holders;  // the largest first; kHoldersShown at most
  size_t more_holders = 0;
  std::string layout;              // MIG instances by GPU, where these are what is lacking
  std::optional<SimTime> room_at;  // if nothing else comes; absent: the known ends are not enough
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
  std::string object;                // the lack or obstacle: "cpu", "taint gpu=yes:NoSchedule"
  std::string state;                 // kState: the problem
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
  // Equal for the same rejection in two attempts that failed for the same reasons.
  std::string key() const;
};

inline constexpr size_t kExamplesShown = 3;
inline constexpr size_t kHoldersShown = 3;
inline constexpr size_t kNearShown = 2;

// Asks the filters of a profile about every available node, once per call. Changes nothing.
class NodeSurveyor {
 public:
  // Distance of nodes that could not take the pod if they were empty: farther than all others.
  static constexpr int64_t kOutOfReach = int64_t{1} << 61;

  // One rejection in the making.
  struct Group {
    Rejection rejection;
    std::vector<std::pair<int64_t, NodeId>> members;  // distance from fitting, node
    std::vector<std::string> found;                   // distinct values that nodes have instead
  };
  struct Survey {
    std::vector<Group> groups;
    std::vector<NodeId> fitting;
    uint32_t available = 0;
  };

  // All must outlive it. `profiles`: the run's, whose numbers of reasons are used throughout.
  NodeSurveyor(const ClusterState* cluster, const JobTable* jobs, Profiles profiles);

  const Profiles& profiles() const { return profiles_; }
  // The place of the pod's profile; the first for a pod that has none.
  size_t ProfileOf(PodId pod) const;
  // The kind of one of the profiles' reasons; kOther for kFits and for indices beyond them.
  ReasonKind KindOf(ReasonIndex reason) const;

  // O(nodes x filters).
  Survey Look(PodId pod, SimTime now) const;
  // Completes the rejection of a group: nodes, examples, values found, and, unless `brief`, the
  // nearest nodes with their holders, which costs most. O(residents x devices of these).
  void Finish(PodId pod, SimTime now, bool brief, Group* group) const;

 private:
  void AddNode(PodId pod, const Profile::FilterEntry& filter, ReasonIndex reason, NodeId node,
               Survey* survey) const;
  void AddState(const PodShape& shape, NodeId node, Group* group) const;
  // The object of a reason without an amount: "taint gpu=yes:NoSchedule".
  std::string ObjectOf(const Profile::FilterEntry& filter, ReasonKind kind, const PodShape& shape,
                       NodeId node) const;
  Group* FindGroup(const Profile::FilterEntry& filter, ReasonIndex reason,
                   const std::string& object, Survey* survey) const;
  void AddNear(PodId pod, SimTime now, Group* group) const;
  NearNode Near(PodId pod, NodeId node, const Shortfall& lack, SimTime now) const;

  const ClusterState* cluster_;
  const JobTable* jobs_;
  mutable Profiles profiles_;  // remembers the profiles of shapes
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_NODE_SURVEY_H_
