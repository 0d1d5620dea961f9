// The extension points of the scheduling framework.
//
// Names, order and meaning follow kube-scheduler's framework (kubernetes/kubernetes
// pkg/scheduler/framework interface): PreEnqueue, QueueSort, PreFilter, Filter, PostFilter,
// PreScore, Score, NormalizeScore, Reserve, Permit, PreBind, Bind, PostBind. Three differences, for
// speed and virtual time:
//  * Filter and Score are batched: one call for many nodes of one pod shape. What depends on the
//    pod itself (the claims it has) is a NodeRestriction on top.
//  * The later points do nothing to the outside world themselves. They return intents, which the
//    engine carries out in virtual time (an API write takes time) before it goes on with the next
//    point.
//
// A plugin is created for one run and owned by its profile. It sees the cluster through const
// references only.
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
#include "model/run_streams.h"
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

// The pod of one scheduling attempt. `pod` is invalid while a shape is evaluated ahead of a
// particular pod.
struct PodContext {
  ShapeId shape_id;
  const PodShape* shape = nullptr;
  PodId pod;
  SimTime now;
};

// How a score depends on other nodes, and so what may be cached.
enum class Normalize : uint8_t {
  kNone,             // raw scores are final, in [0, 100]
  kOrderPreserving,  // NormalizeScore never changes which of two nodes is ahead, nor makes or
                     // breaks a tie
  kGeneral,          // NormalizeScore may do anything
};

// What later points ask the engine to do.
enum class IntentKind : uint8_t {
  kApiWrite,  // a write to the API server
  kWait,      // nothing but time
};
struct Intent {
  IntentKind kind = IntentKind::kWait;
  SimDuration latency;
};
// kError is treated as kReject, and so is kPending (the pod waits for a component that will say
// when it may go on). kWait, of Reserve, PreBind and PostBind: something is under way; whoever
// knows of its end has the engine call the step again.
enum class StepCode : uint8_t { kSuccess, kReject, kError, kPending, kWait };
// Result of PostFilter, Reserve, Permit, PreBind, Bind. Intents are carried out one after the
// other.
struct StepResult {
  StepCode code = StepCode::kSuccess;
  ReasonIndex reason = kFits;
  std::vector<Intent> intents;
};

// What happens in the cluster that may let a waiting pod fit (kube_scheduler's cluster events), as
// bits.
enum ClusterEvent : uint32_t {
  kPodRemoved = 1u << 0,       // a pod that held something on a node is gone
  kNodeAdded = 1u << 1,        // a node was added, or is ready again
  kNodeSchedulable = 1u << 2,  // a node was uncordoned
  kNodeAllocatable = 1u << 3,  // a node reports more of an extended resource
  kClaimChanged = 1u << 4,     // an object that claims go by was added or changed; no node
};

// What PostFilter decides: whom to evict, and where that makes room for the pod.
struct PostFilterResult {
  // kSuccess: something is done about it. kPending: the same, and whoever does it will wake the
  // pod.
  StepCode code = StepCode::kReject;
  NodeId nominated;             // where it would fit; informative: nobody reserves it
  std::vector<PodId> victims;   // to be evicted; they may be none
  std::vector<Intent> intents;  // carried out before the pod is tried again
};

// Which nodes a pod may use at all, whatever their state: a node passes if it is in `allowed` (with
// `only_allowed`) and not in `excluded`. Both ascending, good until the plugin is called again.
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

// What a PostFilter plugin may ask, and try out: nothing it does to the cluster lasts.
class PostFilterHandle {
 public:
  virtual ~PostFilterHandle() = default;
  virtual const ClusterState& cluster() const = 0;
  virtual const JobTable& jobs() const = 0;
  // Nodes that rejected the pod for a reason that the removal of pods can lift, in node order.
  virtual absl::Span<const NodeId> candidates() const = 0;
  // Whether every Filter plugin accepts the node, in the state as tried out so far.
  virtual bool Fits(NodeId node) = 0;
  // Takes a bound pod off its node, and puts it back where it was.
  virtual void Remove(PodId pod) = 0;
  virtual void Restore(PodId pod) = 0;
  // Whether the job has been evicted and only has its grace period left.
  virtual bool IsLeaving(JobId) const { return false; }
  // A number in [0, n), from a stream of the run.
  virtual uint64_t Draw(uint64_t n) = 0;
};

// A pod in the scheduling queue, as QueueSort sees it.
struct QueuedPod {
  PodId pod;
  int32_t priority = 0;
  SimTime queued_at;      // when it entered the queue, last
  uint64_t sequence = 0;  // unique; later means entered later
};

enum class QueueOrder : uint8_t {
  kByLess,      // only Less knows
  kByPriority,  // by priority, highest first, then by queued_at, then by sequence
};

class DeviceAllocator;

class Plugin {
 public:
  virtual ~Plugin() = default;
  // kube-scheduler's or the paper's name, CamelCase.
  virtual absl::string_view name() const = 0;
  // Which extension points it implements: bits of ExtensionPoint.
  virtual uint32_t points() const = 0;

  // QueueSort: true when a goes before b. A strict weak order.
  virtual bool Less(const QueuedPod& a, const QueuedPod& b) const;
  // Which order that is. A queue keeps pods in a known one by key, without calls of Less.
  virtual QueueOrder queue_order() const { return QueueOrder::kByLess; }

  // The reasons that its Filter and its later points may give. Verdict r of Filter is 1 + index
  // here.
  virtual std::vector<Reason> reasons() const { return {}; }

  // Filter, for many nodes: verdicts[i] is for nodes[i]. Must depend on nothing but the shape and
  // the node's row, specification and devices, so that verdicts can be cached per shape and node
  // epoch.
  virtual void Filter(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const;

  // Whether a node rejected for reason `local` (1-based) could take the pod if other pods left it;
  // kube-scheduler's Unschedulable, as opposed to UnschedulableAndUnresolvable.
  virtual bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                            ReasonIndex local) const;
  // Which events (bits of ClusterEvent) may let a pod fit that this plugin rejected.
  virtual uint32_t requeue_events() const {
    return kPodRemoved | kNodeAdded | kNodeSchedulable | kNodeAllocatable;
  }
  // A closer look at such an event (kube-scheduler's queueing hint): false when it cannot help pods
  // of the shape.
  virtual bool MayHelp(ClusterEvent event, NodeId node, const PodShape& shape,
                       const ClusterState& cluster) const;

  // Whether such an event brings a pod to the active queue without its backoff. True for pods whose
  // last attempt this plugin ended with kPending (kube-scheduler's PendingPlugins). Asked only of
  // plugins with kNodeRestriction.
  virtual bool SkipsBackoff(PodId /*pod*/, SimTime /*now*/) { return false; }

  // True when Score depends on nothing but what Filter may read.
  virtual bool score_is_cacheable() const { return true; }
  // True when Score draws random numbers of the run.
  virtual bool score_draws() const { return false; }
  virtual Normalize normalize(const ClusterState&) const { return Normalize::kNone; }
  // Score, for many feasible nodes. Not const: randomised policies draw.
  virtual void Score(const PodContext& pod, const ClusterState& cluster,
                     absl::Span<const NodeId> nodes, absl::Span<int64_t> scores);
  // NormalizeScore over all feasible nodes' raw scores, in place.
  virtual void NormalizeScore(absl::Span<int64_t> scores) const;

  // A plugin that chooses devices as well: its policy then needs no device allocator of its own.
  virtual DeviceAllocator* device_allocator() { return nullptr; }

  // PreEnqueue: whether the pod may enter the queue. Asked when it is created, and whenever
  // somebody says that the answer may have changed.
  virtual bool PreEnqueue(const PodContext&) { return true; }
  // After PreFilter (kNodeRestriction).
  virtual NodeRestriction Restriction(const PodContext&) { return {}; }
  // No node is left: why not this one, which Filter accepts? kFits if the restriction lets it pass.
  // Called for every such node, in order, before PostFilter.
  virtual ReasonIndex WhyRestricted(const PodContext&, NodeId) { return kFits; }
  // At least two nodes are feasible; these, ascending.
  virtual void PreScore(const PodContext&, absl::Span<const NodeId>) {}

  // PreFilter, once per attempt, before any node is looked at: kReject fails the attempt for all
  // nodes, with a reason.
  virtual StepResult PreFilter(const PodContext& pod, const ClusterState& cluster);
  // PostFilter: no node fits (replay only). kSuccess: something is done about it (preemption); when
  // the victims are gone and the intents carried out, the pod is tried again. kReject: nothing to
  // be done. What it did to the handle is undone by the caller.
  virtual PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle);
  // False when PostFilter would do nothing for any pod of that priority in the present state; it is
  // not called then. O(1): asked after every failed attempt.
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

  // Everything that influences later decisions. A plugin without state writes nothing.
  virtual void Save(StateWriter&) const {}
  virtual absl::Status Load(StateReader&) { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_
