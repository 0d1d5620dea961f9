// The extension points of the scheduling framework, an interface for each.
//
// Names, order and meaning follow kube-scheduler's framework (kubernetes/kubernetes
// pkg/scheduler/framework interface, release 1.34): PreEnqueue, QueueSort, PreFilter, Filter,
// PostFilter, PreScore, Score, NormalizeScore, Reserve, Permit, PreBind, Bind, PostBind, and the
// events after which a rejected pod is tried again. Three differences:
//  * Filter and Score are batched for speed: one call covers many nodes.
//  * A plugin keeps what upstream puts into CycleState in its own members, from PreFilter to the
//  end
//    of the attempt. Attempts never overlap.
//  * Reserve and later points have no side effects outside of the simulator. They return intents,
//    which the engine carries out in virtual time (an API write takes time) before it goes on with
//    the next point.
//
// A plugin is created for one run and owned by its profile. It sees the cluster through const
// references only. An example:
//
//   // FreeSlots: prefers nodes with many free pod slots.
//   class FreeSlots : public ScorePlugin {
//    public:
//     absl::string_view name() const override { return "FreeSlots"; }
//     void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
//                absl::Span<int64_t> scores) override {
//       for (size_t i = 0; i < nodes.size(); ++i) {
//         scores[i] = std::min<int64_t>(cluster.node(nodes[i]).pods_idle, kMaxNodeScore);
//       }
//     }
//   };
//
// registry.h registers it under a name that scenarios and KubeSchedulerConfigurations can use. A
// plugin with several points derives from several interfaces.
#ifndef DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_
#define DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/pod_counts.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/cluster_change.h"
#include "policies/framework/reason.h"

namespace drasim {

inline constexpr int64_t kMaxNodeScore = 100;

// The pod of one scheduling attempt. `pod` is invalid where a shape is evaluated without a pod.
struct PodContext {
  ShapeId shape_id;
  const PodShape* shape = nullptr;
  PodId pod;
  SimTime now;
};

class Plugin;

// --- Results ---

// kube-scheduler's status codes.
enum class StepCode : uint8_t {
  kSuccess,
  kReject,        // Unschedulable: pods that leave may help
  kUnresolvable,  // UnschedulableAndUnresolvable: they do not
  kError,
  kPending,  // waits for another component, which will wake the pod
  kSkip,     // PreFilter, PreScore: the plugin's Filter, or Score, is not asked in this attempt
  kWait,  // Reserve, PreBind and PostBind: work is under way; the step is called again at its end
};
// "UnschedulableAndUnresolvable".
absl::string_view StepCodeName(StepCode code);

// Actions that Reserve and later points request from the engine.
enum class IntentKind : uint8_t {
  kApiWrite,  // write to the API server
  kWait,      // let time pass
};
struct Intent {
  IntentKind kind = IntentKind::kWait;
  SimDuration latency;
};

// Result of PreFilter, PreScore, Reserve, Permit, PreBind and Bind.
struct StepResult {
  StepCode code = StepCode::kSuccess;
  ReasonIndex reason = kFits;  // of reasons()
  // Upstream's words where they differ from pod to pod; empty: the reason's text.
  std::string message;
  std::vector<Intent> intents;  // carried out in order
  // PreFilter: the pod may only use `nodes` (ascending), as NodeAffinity says for metadata.name.
  // Without any: the names are those of nodes that the cluster lacks.
  bool names_nodes = false;
  std::vector<NodeId> nodes;
};

// Why a node was rejected.
struct NodeStatus {
  const Plugin* plugin = nullptr;  // null: no single plugin
  StepCode code = StepCode::kReject;
  std::vector<std::string> reasons;  // in the plugin's order
  NodeId node;
};

// The victims of a preemption, and the node on which they make room for the pod.
struct PostFilterResult {
  // kSuccess: the pod is tried again when victims are gone and intents are carried out. kPending:
  // as kSuccess, but the component that acts wakes the pod. kReject: nothing helps; the next
  // PostFilter plugin is asked. kUnresolvable and kError end the chain.
  StepCode code = StepCode::kReject;
  // The pod's nominated node afterwards: upstream's ModeOverride with `nominated` (invalid:
  // cleared), or ModeNoop if true.
  bool keeps_nomination = false;
  NodeId nominated;            // the node on which it would fit; nothing is reserved there
  std::vector<PodId> victims;  // to be evicted; may be empty
  // Pods of lower priority that lose their nomination for that node.
  std::vector<PodId> cleared_nominations;
  std::vector<Intent> intents;  // carried out before the pod is tried again
  std::string message;          // upstream's words
};

// --- The plugin as such ---

class DeviceAllocator;

// The base of all extension points.
class Plugin {
 public:
  virtual ~Plugin() = default;
  // In CamelCase, as kube-scheduler or the paper calls it. For registration and messages: no
  // decision depends on it.
  virtual absl::string_view name() const = 0;
  // The reasons that its Filter and its later points may give. Verdict r of Filter is 1 + index
  // here.
  virtual std::vector<Reason> reasons() const { return {}; }
  // The allocator of a plugin that also chooses devices; null for others.
  virtual DeviceAllocator* device_allocator() { return nullptr; }

  // The state that influences later decisions; nothing for a plugin without any.
  virtual void Save(StateWriter&) const {}
  virtual absl::Status Load(StateReader&) { return absl::OkStatus(); }
};

// The part of the cluster that a verdict or raw score depends on: the contract of the caches.
enum class Reach : uint8_t {
  // The shape without its topology, identity and volumes, and the node's row, specification,
  // devices and residents: cached per such shape and node until the node changes.
  kNode,
  // The whole shape, other nodes, pods or objects, too: computed again in every attempt, after
  // PreFilter.
  kCluster,
};

// --- Queue ---

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

class QueueSortPlugin : public virtual Plugin {
 public:
  // True when a goes before b. A strict weak order.
  virtual bool Less(const QueuedPod& a, const QueuedPod& b) const = 0;
  // The kind of that order. A queue keeps pods in a known order by key, without calls of Less.
  virtual QueueOrder queue_order() const { return QueueOrder::kByLess; }
};

class PreEnqueuePlugin : public virtual Plugin {
 public:
  // Whether the pod may enter the queue: kSuccess, or kUnresolvable with a message. Called when the
  // pod is created, and again when its answer may have changed.
  virtual StepResult PreEnqueue(const PodContext& pod) = 0;
};

// Upstream's EnqueueExtensions: every plugin that may reject a pod has it.
class RequeuePlugin : public virtual Plugin {
 public:
  // Changes (bits of ClusterEvent) after which a pod that this plugin rejected may fit.
  virtual uint32_t requeue_events() const {
    return kPodRemoved | kNodeAdded | kNodeSchedulable | kNodeAllocatable;
  }
  // Queueing hint for such a change: false when it cannot help pods of the shape. `pod.pod` may be
  // invalid: a hint about a shape.
  virtual bool MayHelp(const ClusterChange& change, const PodContext& pod,
                       const ClusterState& cluster) const;
  // Whether such a change moves the pod to the active queue without its backoff: true if this
  // plugin ended the pod's last attempt with kPending (kube-scheduler's PendingPlugins). Called for
  // plugins with a NodeRestriction only.
  virtual bool SkipsBackoff(PodId /*pod*/, SimTime /*now*/) { return false; }
  // Whether a pod that this plugin rejected hears of every bound pod of its namespace that was
  // added or changed. Others hear only of those that their affinity terms mean
  // (scheduling_queue.go, getUnschedulablePodsWithCrossTopologyTerm).
  virtual bool HearsOfNamespace() const { return false; }
};

// --- Filter ---

class PreFilterPlugin : public virtual Plugin {
 public:
  // Once per attempt, before Filter. kReject, kUnresolvable and kError fail the attempt for all
  // nodes. The Filter of a plugin of Reach::kNode must reject the same nodes by itself: a search
  // that remembers verdicts does not call its PreFilter, unless it is a NodeRestrictionPlugin.
  virtual StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) = 0;
};

// A condition on the topology domain of a node: it has at most `most` of the counted pods.
struct DomainLimit {
  const DomainCounts* counts = nullptr;
  int64_t most = 0;
  bool needs_domain = false;  // a node without the label is rejected; else it passes
};

class FilterPlugin : public virtual RequeuePlugin {
 public:
  virtual Reach filter_reach() const { return Reach::kNode; }
  // For many nodes: verdicts[i] is that of nodes[i], and stays as it is unless kFits. With
  // Reach::kCluster it is called after PreFilter of the same attempt (if the plugin has one, and it
  // did not skip).
  virtual void Filter(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const = 0;
  // Filter's verdicts as limits, for searches that look at many nodes at once: a node passes Filter
  // exactly if it passes all limits that this appends. False if limits cannot express them. Called
  // in place of Filter, for plugins of Reach::kCluster only.
  virtual bool ListLimits(std::vector<DomainLimit>* /*limits*/) const { return false; }
  // Upstream's error of Filter in a profile that runs it without the plugin's PreFilter; empty: it
  // needs none. Filter is not called there.
  virtual absl::string_view WithoutPreFilter() const { return {}; }
  // Whether a node rejected for reason `local` (1-based) could take the pod after other pods have
  // left it: kube-scheduler's Unschedulable rather than UnschedulableAndUnresolvable.
  virtual bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                            ReasonIndex local) const;
  // kube-scheduler's words for such a rejection, in its order. By default the reason's text. Called
  // for messages only, in the same attempt.
  virtual std::vector<std::string> ReasonTexts(const PodContext& pod, const ClusterState& cluster,
                                               NodeId node, ReasonIndex local) const;

  // Upstream's AddPod and RemovePod of PreFilterExtensions, and the copy of CycleState around them:
  // within a trial, pods are added to nodes and removed from them after PreFilter (nominated pods,
  // victims of a preemption). The cluster has changed already when one of them is called. EndTrial
  // restores the state of BeginTrial. Trials nest. Not called for plugins of Reach::kNode, nor
  // after kSkip.
  virtual void BeginTrial() {}
  virtual void EndTrial() {}
  virtual void OnPodAdded(const PodContext& /*pod*/, const ClusterState&, PodId /*other*/,
                          NodeId /*node*/) {}
  virtual void OnPodRemoved(const PodContext& /*pod*/, const ClusterState&, PodId /*other*/,
                            NodeId /*node*/) {}
};

// The nodes that a pod may use, regardless of their state: a node passes if it is in `allowed`
// (with `only_allowed`) and not in `excluded`. Both are ascending, and valid until the next call of
// the plugin.
struct NodeRestriction {
  bool only_allowed = false;
  absl::Span<const NodeId> allowed;
  absl::Span<const NodeId> excluded;
  bool wants_feasible = false;  // ListFeasible is to be called

  bool restricts() const { return only_allowed || !excluded.empty(); }
  // O(log size).
  bool Passes(NodeId node) const {
    return (!only_allowed || std::binary_search(allowed.begin(), allowed.end(), node)) &&
           !std::binary_search(excluded.begin(), excluded.end(), node);
  }
};

// Ours: Filter for one pod rather than a shape.
class NodeRestrictionPlugin : public virtual RequeuePlugin {
 public:
  // The nodes that this pod may use. Called after PreFilter.
  virtual NodeRestriction Restriction(const PodContext&) = 0;
  // The reason why the restriction keeps out a node that Filter accepts; kFits if it does not. When
  // no node is left, called for every such node, in order, before PostFilter.
  virtual ReasonIndex WhyRestricted(const PodContext&, NodeId) { return kFits; }
  // The feasible nodes, ascending, if `wants_feasible` and there are at least two.
  virtual void ListFeasible(const PodContext&, absl::Span<const NodeId>) {}
};

// The course of a preemption, for explanations and comparisons.
struct PreemptionReport {
  struct Candidate {
    NodeId node;
    std::vector<PodId> victims;  // the most important first
    int64_t budget_violations = 0;
  };
  bool ran = false;
  bool eligible = false;
  std::string not_eligible;           // why
  std::vector<NodeId> potential;      // nodes where removals may help
  std::vector<Candidate> candidates;  // those tried where they do
  std::vector<NodeStatus> rejected;   // and where not
  std::vector<NodeId> best;           // equal by all rules
};

// The cluster as a PostFilter plugin sees it. Changes are for trial: the caller takes them back.
class PostFilterHandle {
 public:
  virtual ~PostFilterHandle() = default;
  virtual const ClusterState& cluster() const = 0;
  // Null where there are none: every pod is for itself.
  virtual const JobTable* jobs() const = 0;
  // Nodes that may take the pod once pods are removed from them (IsResolvable), in the scheduler's
  // node order.
  virtual absl::Span<const NodeId> candidates() const = 0;
  // Whether every Filter plugin accepts the node in its present trial state, with and without the
  // pods that are nominated to it.
  virtual bool Fits(NodeId node) = 0;
  // Removes a bound pod from its node; puts it back.
  virtual void Remove(PodId pod) = 0;
  virtual void Restore(PodId pod) = 0;
  // All removed pods have been put back: what follows is another trial.
  virtual void EndTrial() {}
  // False when PreFilter of the same attempt ended before that plugin's turn.
  virtual bool RanPreFilter(const PreFilterPlugin& /*plugin*/) const { return true; }
  // Whether the job has been evicted and runs on in its grace period.
  virtual bool IsLeaving(JobId) const { return false; }
  // A number in [0, n), from a stream of the run.
  virtual uint64_t Draw(uint64_t n) = 0;

  // The following have no effect in searches without nominations or kube-scheduler's words.

  // The pod's present nomination; invalid: none.
  virtual NodeId nominated_node() const { return NodeId(); }
  // Whether the node's status of this attempt is UnschedulableAndUnresolvable.
  virtual bool IsUnresolvable(NodeId) const { return false; }
  // The pods that are nominated to the node.
  virtual absl::Span<const PodId> NominatedOn(NodeId) const { return {}; }
  // All candidates() are to be tried, rather than until there are enough.
  virtual bool tries_all() const { return false; }
  // Pods of equal importance stand as Go's unstable sort leaves them, rather than in the order of
  // the node's pods.
  virtual bool sorts_as_go() const { return false; }
  // Whether PostFilterResult::message and the report are read.
  virtual bool wants_texts() const { return false; }
  // Why the last call of Fits said no. REQUIRES: wants_texts().
  virtual NodeStatus WhyNot() const { return {}; }
  // Whether any scheduler extender has a say in this preemption.
  virtual bool extenders_preempt() const { return false; }
  // Lets extenders drop candidates and replace victims. Every candidate that is left has some.
  virtual absl::Status AskExtenders(std::vector<PreemptionReport::Candidate>* /*candidates*/) {
    return absl::OkStatus();
  }
  // Null: not wanted.
  virtual PreemptionReport* report() { return nullptr; }
};

class PostFilterPlugin : public virtual Plugin {
 public:
  // No node fits (replay only). Preemption is decided here.
  virtual PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) = 0;
  // False when PostFilter would reject every pod of that priority in the present state; PostFilter
  // is then not called. O(1), because it follows every failed attempt.
  virtual bool PostFilterMayHelp(int32_t /*priority*/, const JobTable& /*jobs*/) const {
    return true;
  }
};

// --- Score ---

// The effect of NormalizeScore, on which the caching of scores depends.
enum class Normalize : uint8_t {
  kNone,             // none: raw scores are final, in [0, 100]
  kOrderPreserving,  // keeps the order of nodes, and neither makes nor breaks ties
  kGeneral,          // any
};

class ScorePlugin : public virtual Plugin {
 public:
  virtual Reach score_reach() const { return Reach::kNode; }
  // Whether Score draws random numbers of the run.
  virtual bool score_draws() const { return false; }
  virtual Normalize normalize(const ClusterState&) const { return Normalize::kNone; }
  // PreScore, with the feasible nodes in the order of the later calls: kSuccess, kSkip or kError.
  // Called if there are at least two. A search that caches scores of Reach::kNode calls it with the
  // nodes whose scores it renews; so the answer for such a plugin may depend on the shape alone.
  virtual StepResult PreScore(const PodContext& /*pod*/, const ClusterState&,
                              absl::Span<const NodeId> /*feasible*/) {
    return {};
  }
  // False if PreScore ignores `feasible`; a search may then pass an empty list.
  virtual bool PreScoreReadsNodes(const PodContext& /*pod*/, const ClusterState&) const {
    return true;
  }
  // The topology whose domains alone determine the pod's score; null if other properties of a node
  // count. Contract: PreScore, Score and NormalizeScore over one node of each domain with feasible
  // nodes give this node the score that each feasible node of its domain gets over all of them.
  virtual const TopologyDomains* ScoredDomains(const PodContext& /*pod*/,
                                               const ClusterState&) const {
    return nullptr;
  }
  // Upstream's error of Score in a profile that runs it without the plugin's PreScore; empty: it
  // needs none. Score is not called there.
  virtual absl::string_view WithoutPreScore() const { return {}; }
  // For many feasible nodes. Not const, because randomised policies draw. Any other error of
  // upstream's Score is PreScore's here.
  virtual void Score(const PodContext& pod, const ClusterState& cluster,
                     absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) = 0;
  // True when Score would give all nodes the same, so that it need not be asked. Called after
  // PreScore, of plugins of Reach::kCluster without draws.
  virtual bool ScoresAlike(const PodContext& /*pod*/, const ClusterState&) { return false; }
  // NormalizeScore over all feasible nodes' raw scores, in place. If all are equal, they stay so;
  // with Reach::kNode a search may leave them out then.
  virtual void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const;
};

// --- From the decision to the running pod ---

class ReservePlugin : public virtual Plugin {
 public:
  virtual StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) = 0;
  // Undoes Reserve after a later point failed. Must not fail.
  virtual void Unreserve(const PodContext& pod, const ClusterState& cluster, NodeId node) = 0;
};
class PermitPlugin : public virtual Plugin {
 public:
  virtual StepResult Permit(const PodContext& pod, const ClusterState& cluster, NodeId node) = 0;
};
class PreBindPlugin : public virtual Plugin {
 public:
  virtual StepResult PreBind(const PodContext& pod, const ClusterState& cluster, NodeId node) = 0;
};
class BindPlugin : public virtual Plugin {
 public:
  virtual StepResult Bind(const PodContext& pod, const ClusterState& cluster, NodeId node) = 0;
};
class PostBindPlugin : public virtual Plugin {
 public:
  virtual void PostBind(const PodContext& pod, const ClusterState& cluster, NodeId node) = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_PLUGIN_H_
