// The idle amounts of a node for one kind of pod, and the pod's shortfalls: the arithmetic behind
// explanations.
//
// A NodeRoom is a copy of the idle amounts that one shape asks for. Residents can leave it and
// further pods of the shape can come. It answers "when would it fit" and "how many would fit"
// without a change to the cluster, which an explanation only reads. Code that decides uses what-ifs
// of the cluster instead (sim/core/what_if.h): they ask the scheduler's own filters, but answer
// only yes or no, and not how much is missing.
#ifndef DRASIM_SIM_EXPLAIN_NODE_ROOM_H_
#define DRASIM_SIM_EXPLAIN_NODE_ROOM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/mig_table.h"
#include "model/time.h"

namespace drasim {

// The kinds of things that a pod may lack on a node, with the unit of the amounts.
enum class LackKind : uint8_t {
  kCpu,        // milli-CPU
  kMemory,     // bytes
  kPodSlots,   // pods
  kExtended,   // units of an extended resource
  kGpus,       // whole GPUs with nothing on them
  kGpuShare,   // milli of one GPU
  kGpuShares,  // GPUs with the wanted milli idle on each
  kMig,        // places for MIG instances of a profile
  kMigJoint,   // the instances of all profiles together, each of which would fit alone
  kGroup,      // pods of a group on one node
};

struct Shortfall {
  LackKind kind = LackKind::kCpu;
  std::string name;        // "cpu", "memory", "nvidia.com/gpu", "3g.20gb", ...
  int64_t wanted = 0;      // by one pod
  int64_t idle = 0;        // of use to one pod: of a share, the largest idle part of one GPU
  int64_t idle_all = 0;    // on the node together; more than `idle` where it lies in pieces
  bool in_pieces = false;  // on this node enough is idle, but not in one piece
  int64_t missing() const { return wanted - idle; }
  bool operator==(const Shortfall&) const = default;
};

// The amount in words with its resource: "0.5 CPUs", "16Gi of memory", ...
std::string LackAmountText(LackKind kind, absl::string_view name, int64_t amount);
// Without the resource: "0.5", "16Gi", "2".
std::string LackNumberText(LackKind kind, int64_t amount);

class NodeRoom {
 public:
  // The node's current amounts. REQUIRES: some pod of the shape was added. O(devices of the node).
  NodeRoom(const ClusterState& cluster, NodeId node, ShapeId shape);

  // All pods leave the node; of extended resources it then has what it reports.
  void Clear();
  // A resident leaves. REQUIRES: it is on the node.
  void Release(PodId pod);
  // One more pod of the shape comes, onto the first devices that fit. Returns false, without any
  // change, if it does not fit.
  bool Take();

  // The pod's shortfalls, in the order of the scheduler's filters; empty if the amounts suffice.
  // Labels, taints and GPU models do not matter here, except that a node with several models has
  // only its GPUs of acceptable ones.
  std::vector<Shortfall> Lacks() const;

 private:
  void LackOfGpus(std::vector<Shortfall>* lacks) const;
  void LackOfMig(std::vector<Shortfall>* lacks) const;
  // The shortfall on the GPUs of one model. REQUIRES: the model has all profiles of the shape.
  std::vector<Shortfall> LackOfMigOn(const GpuModelGroup& group) const;
  // The models that may serve the shape's instances.
  GpuModelGroups MigModels() const;
  DeviceSet UsableForMig() const;

  struct Extended {
    size_t column;  // kNoColumn: no node has it
    int64_t wanted;
    int64_t idle;
  };

  const ClusterState* cluster_;
  const ResourceRequest* request_;
  const PodConstraints* constraints_;
  NodeId node_;
  ShapeId shape_id_;
  DeviceSet gpus_ = DeviceSet::All();  // of acceptable models, if the node has several
  int64_t cpu_milli_;
  int64_t memory_bytes_;
  int64_t pods_;
  int64_t group_pods_ = 0;  // of the shape's group
  absl::InlinedVector<int16_t, 8> gpu_milli_;
  absl::InlinedVector<MigState, 8> mig_;  // empty unless the shape wants instances of these GPUs
  absl::InlinedVector<Extended, 4> extended_;
};

// The amount that the pod, a resident of the node, holds of the thing that is lacked.
int64_t HeldOf(const ClusterState& cluster, PodId pod, const Shortfall& lack);

// When the job's pods will leave their nodes by themselves; absent if the job does not run or has
// no end.
std::optional<SimTime> ExpectedEnd(const JobTable& jobs, JobId job, SimTime now);

// When a node will have room for the shape if nothing else comes: the residents with a known end
// leave one after the other.
struct RoomForecast {
  SimTime at;
  std::vector<PodId> after;  // the pods that have left by then, in order
};
// Absent if these do not make enough room. O(residents x devices).
std::optional<RoomForecast> ForecastRoom(const ClusterState& cluster, const JobTable& jobs,
                                         NodeId node, ShapeId shape, SimTime now);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_NODE_ROOM_H_
