// The extension points of the scheduling framework.
//
// Names, order and meaning follow kube-scheduler's framework (kubernetes/kubernetes
// pkg/scheduler/framework interface): PreEnqueue, QueueSort, PreFilter, Filter, PostFilter,
// PreScore, Score, NormalizeScore, Reserve, Permit, PreBind, Bind, PostBind. Two differences:
//  * Filter and Score are batched for speed: one call covers many nodes and one pod shape. A
//    NodeRestriction adds what depends on the single pod, such as its claims.
//  * Reserve and later points have no side effects outside of the simulator. They return intents,
//    which the engine carries out in virtual time (an API write takes time) before it goes on with
//    the next point.
//
// A plugin is created for one run and owned by its profile. It sees the cluster through const
// references only. An example:
//
//   // FreeSlots (Score): prefers nodes with many free pod slots.
//   class FreeSlots : public Plugin {
//    public:
//     absl::string_view name() const override { return "FreeSlots"; }
//     uint32_t points() const override { return kScore; }
//     void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
//                absl::Span<int64_t> scores) override {
//       for (size_t i = 0; i < nodes.size(); ++i) {
//         scores[i] = std::min<int64_t>(cluster.node(nodes[i]).pods_idle, kMaxNodeScore);
//       }
//     }
//   };
//
// registry.h registers it under a name that scenarios can use.
#ifndef DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_
#define DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/reason.h"

namespace drasim {

// Extension points as bits of Plugin::points().
enum ExtensionPoint : uint32_t {
  kQueueSort = 1u << 0,
  kPreFilter = 1u << 1,
  kFilter = 1u << 2,
  kPostFilter = 1u << 3,
  kPreScore = 1u << 4,
  kScore = 1u << 5,
  kReserve = 1u << 6,
  kPermit = 1u << 7,
  kPreBind = 1u << 8,
  kBind = 1u << 9,
  kPostBind = 1u << 10,
  kPreEnqueue = 1u << 11,
  kNodeRestriction = 1u << 12,  // ours: Filter for one pod rather than a shape
};

inline constexpr int64_t kMaxNodeScore = 100;

// The pod of one scheduling attempt. `pod` is invalid where a shape is evaluated without a pod.
struct PodContext {
  ShapeId shape_id;
  const PodShape* shape = nullptr;
  PodId pod;
  SimTime now;
};

// The effect of NormalizeScore, on which the caching of scores depends.
enum class Normalize : uint8_t {
  kNone,             // none: raw scores are final, in [0, 100]
  kOrderPreserving,  // keeps the order of nodes, and neither makes nor breaks ties
  kGeneral,          // any
};

// Actions that Reserve and later points request from the engine.
enum class IntentKind : uint8_t {
  kApiWrite,  // write to the API server
  kWait,      // let time pass
};
struct Intent {
  IntentKind kind = IntentKind::kWait;
  SimDuration latency;
};
// The engine treats kError and kPending as kReject. kPending says that the pod waits for another
// component, which will wake it. kWait (Reserve, PreBind and PostBind only) says that work is under
// way; when it ends, the step is called again.
enum class StepCode : uint8_t { kSuccess, kReject, kError, kPending, kWait };
// Result of PreFilter, Reserve, Permit, PreBind and Bind. Intents are carried out in order.
struct StepResult {
  StepCode code = StepCode::kSuccess;
  ReasonIndex reason = kFits;
  std::vector<Intent> intents;
};

// Changes of the cluster that may make room for a waiting pod (kube-scheduler's cluster events), as
// bits.
enum ClusterEvent : uint32_t {
  kPodRemoved = 1u << 0,       // a pod left its node
  kNodeAdded = 1u << 1,        // a node was added, or is ready again
  kNodeSchedulable = 1u << 2,  // a node was uncordoned
  kNodeAllocatable = 1u << 3,  // a node reports more of an extended resource
  kClaimChanged = 1u << 4,     // an object that decides about claims was added or changed; no node
};

// The victims of a preemption, and the node on which they make room for the pod.
struct PostFilterResult {
  // kSuccess: the pod is tried again when victims are gone and intents are carried out. kPending:
  // as kSuccess, but the component that acts wakes the pod. kReject: nothing helps.
  StepCode code = StepCode::kReject;
  NodeId nominated;             // where the pod would fit; nothing is reserved for it there
  std::vector<PodId> victims;   // to be evicted; may be empty
  std::vector<Intent> intents;  // carried out before the pod is tried again
};

// The nodes that a pod may use, regardless of their state: a node passes if it is in `allowed`
// (with `only_allowed`) and not in `excluded`. Both are ascending, and valid until the next call of
// the plugin.
struct NodeRestriction {
  bool only_allowed = false;
  absl::Span<const NodeId> allowed;
  absl::Span<const NodeId> excluded;
  bool wants_feasible = false;  // PreScore is to be called

  bool restricts() const { return only_allowed || !excluded.empty(); }
  // O(log size).
  bool Passes(NodeId node) const {
    return (!only_allowed || std::binary_search(allowed.begin(), allowed.end(), node)) &&
           !std::binary_search(excluded.begin(), excluded.end(), node);
  }
};

// The cluster as a PostFilter plugin sees it. Changes are for trial: the caller takes them back.
class PostFilterHandle {
 public:
  virtual ~PostFilterHandle() = default;
  virtual const ClusterState& cluster() const = 0;
  virtual const JobTable& jobs() const = 0;
  // Nodes that may take the pod once pods are removed from them (IsResolvable), in node order.
  virtual absl::Span<const NodeId> candidates() const = 0;
  // Whether every Filter plugin accepts the node in its present trial state.
  virtual bool Fits(NodeId node) = 0;
  // Removes a bound pod from its node; puts it back.
  virtual void Remove(PodId pod) = 0;
  virtual void Restore(PodId pod) = 0;
  // Whether the job has been evicted and runs on in its grace period.
  virtual bool IsLeaving(JobId) const { return false; }
  // A number in [0, n), from a stream of the run.
  virtual uint64_t Draw(uint64_t n) = 0;
};

// A pod in the scheduling queue, as QueueSort sees it.
struct QueuedPod {
  PodId pod;
  int32_t priority = 0;
  SimTime queued_at;      // time of its last entry into the queue
  uint64_t sequence = 0;  // unique, in order of entry
};

enum class QueueOrder : uint8_t {
  kByLess,      // only Less knows
  kByPriority,  // by priority, highest first, then by queued_at, then by sequence
};

class DeviceAllocator;

// One interface for all extension points. A plugin overrides the functions of the points that
// points() names; the profile calls no others.
class Plugin {
 public:
  virtual ~Plugin() = default;
  // In CamelCase, as kube-scheduler or the paper calls it. For registration and messages: no
  // decision depends on it.
  virtual absl::string_view name() const = 0;
  // The extension points that it implements: bits of ExtensionPoint.
  virtual uint32_t points() const = 0;

  // QueueSort: true when a goes before b. A strict weak order.
  virtual bool Less(const QueuedPod& a, const QueuedPod& b) const;
  // The kind of that order. A queue keeps pods in a known order by key, without calls of Less.
  virtual QueueOrder queue_order() const { return QueueOrder::kByLess; }

  // The reasons that its Filter and its later points may give. Verdict r of Filter is 1 + index
  // here.
  virtual std::vector<Reason> reasons() const { return {}; }

  // Filter, for many nodes: verdicts[i] is that of nodes[i], and stays as it is unless kFits.
  // Verdicts are cached per shape and node epoch, so they may depend only on the shape and the
  // node's row, specification and devices.
  virtual void Filter(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const;

  // Whether a node rejected for reason `local` (1-based) could take the pod after other pods have
  // left it: kube-scheduler's Unschedulable rather than UnschedulableAndUnresolvable.
  virtual bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                            ReasonIndex local) const;
  // Events (bits of ClusterEvent) after which a pod that this plugin rejected may fit.
  virtual uint32_t requeue_events() const {
    return kPodRemoved | kNodeAdded | kNodeSchedulable | kNodeAllocatable;
  }
  // Queueing hint for such an event: false when it cannot help pods of the shape.
  virtual bool MayHelp(ClusterEvent event, NodeId node, const PodShape& shape,
                       const ClusterState& cluster) const;

  // Whether such an event moves the pod to the active queue without its backoff: true if this
  // plugin ended the pod's last attempt with kPending (kube-scheduler's PendingPlugins). Called for
  // plugins with kNodeRestriction only.
  virtual bool SkipsBackoff(PodId /*pod*/, SimTime /*now*/) { return false; }

  // Whether Score depends only on what Filter may read.
  virtual bool score_is_cacheable() const { return true; }
  // Whether Score draws random numbers of the run.
  virtual bool score_draws() const { return false; }
  virtual Normalize normalize(const ClusterState&) const { return Normalize::kNone; }
  // Score, for many feasible nodes. Not const, because randomised policies draw.
  virtual void Score(const PodContext& pod, const ClusterState& cluster,
                     absl::Span<const NodeId> nodes, absl::Span<int64_t> scores);
  // NormalizeScore over all feasible nodes' raw scores, in place.
  virtual void NormalizeScore(absl::Span<int64_t> scores) const;

  // The allocator of a plugin that also chooses devices; null for others.
  virtual DeviceAllocator* device_allocator() { return nullptr; }

  // PreEnqueue: whether the pod may enter the queue. Called when the pod is created, and again when
  // a component reports that the answer may have changed.
  virtual bool PreEnqueue(const PodContext&) { return true; }
  // kNodeRestriction: the nodes that this pod may use. Called after PreFilter.
  virtual NodeRestriction Restriction(const PodContext&) { return {}; }
  // The reason why the restriction keeps out a node that Filter accepts; kFits if it does not. When
  // no node is left, called for every such node, in order, before PostFilter.
  virtual ReasonIndex WhyRestricted(const PodContext&, NodeId) { return kFits; }
  // PreScore, with the feasible nodes, ascending. Called if there are at least two.
  virtual void PreScore(const PodContext&, absl::Span<const NodeId>) {}

  // PreFilter, once per attempt, before Filter: kReject fails the attempt for all nodes, with a
  // reason.
  virtual StepResult PreFilter(const PodContext& pod, const ClusterState& cluster);
  // PostFilter: no node fits (replay only). Preemption is decided here.
  virtual PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle);
  // False when PostFilter would reject every pod of that priority in the present state; PostFilter
  // is then not called. O(1), because it follows every failed attempt.
  virtual bool PostFilterMayHelp(int32_t /*priority*/, const JobTable& /*jobs*/) const {
    return true;
  }
  virtual StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node);
  // Undoes Reserve after a later point failed. Must not fail.
  virtual void Unreserve(const PodContext& pod, const ClusterState& cluster, NodeId node);
  virtual StepResult Permit(const PodContext& pod, const ClusterState& cluster, NodeId node);
  virtual StepResult PreBind(const PodContext& pod, const ClusterState& cluster, NodeId node);
  virtual StepResult Bind(const PodContext& pod, const ClusterState& cluster, NodeId node);
  virtual void PostBind(const PodContext& pod, const ClusterState& cluster, NodeId node);

  // The state that influences later decisions; nothing for a plugin without any.
  virtual void Save(StateWriter&) const {}
  virtual absl::Status Load(StateReader&) { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_
