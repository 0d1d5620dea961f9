// The scheduler plugin DynamicResources (pkg/scheduler/framework/plugins/dynamicresources, releases
// 1.26 to 1.31): classic DRA's side of kube-scheduler.
//
// It reads objects from the scheduler's informer cache, which may be stale, and calls the API
// server through the scheduler's client. Points with calls may return kWaiting; Resume continues
// the step on the reply (the caller routes replies by the cycle's token). Until 1.29, PostFilter,
// Reserve and a following Unreserve block the scheduling thread during their calls. From 1.30 on,
// Reserve writes nothing, and PreBind waits off that thread.
#ifndef DRASIM_SIM_DRA_CLASSIC_DYNAMIC_RESOURCES_H_
#define DRASIM_SIM_DRA_CLASSIC_DYNAMIC_RESOURCES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "policies/framework/reason.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/dra_release.h"

namespace drasim {

class DynamicResources {
 public:
  // framework.Code; kWaiting is an addition.
  enum class Code : uint8_t {
    kSuccess,
    kSkip,  // PreFilter: the pod has no claims
    kUnschedulable,
    kUnresolvable,  // UnschedulableAndUnresolvable
    kPending,       // waits for a driver; before 1.29 kUnschedulable
    kError,
    kWaiting,  // a call is in progress
  };
  enum class Reason : uint8_t {
    kNone,
    kClaimMissing,  // the claim does not exist (yet)
    kClaimBeingDeleted,
    kClaimOfAnotherPod,  // the generated name belongs to another owner's claim
    kUnallocatedImmediate,
    kMustBeReallocated,  // deallocation has been requested
    kClaimInUse,
    kClassMissing,
    kClassExcludesNode,   // Filter: class.suitableNodes
    kNodeUnsuitable,      // Filter: rejected by a driver
    kNotAvailableOnNode,  // Filter: allocation.availableOnNodes
    kDeallocating,        // PostFilter has begun a deallocation
    kStillNotSchedulable,
    kWaitsForAllocation,  // Reserve: "waiting for resource driver to allocate resource"
    kWaitsForInformation,
    kConflict,    // an API call failed with 409
    kInvalid,     // with 422
    kCallFailed,  // with another error
  };
  struct Status {
    Code code = Code::kSuccess;
    Reason reason = Reason::kNone;
    Name object;  // the claim or class concerned
    bool ok() const { return code == Code::kSuccess || code == Code::kSkip; }
    bool operator==(const Status&) const = default;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.code, s.reason, s.object);
    }
  };
  // The effect of an event on a pod that the plugin rejected. kQueue: queued after its backoff, or
  // at once after kPending. kQueueImmediately: queued at once; only in 1.28, which lacks kPending.
  enum class Hint : uint8_t { kSkip, kQueue, kQueueImmediately };

  enum class Step : uint8_t { kNone, kPostFilter, kReserve, kUnreserve, kPreBind, kPostBind };

  // The state of one scheduling cycle of one pod and of its binding (CycleState).
  struct Cycle {
    struct Claim {
      Name entry;
      // As cached at PreFilter, then as last written. DraBehaviour::unreserves_own decides whether
      // it includes a reservation of this cycle.
      Ref<ResourceClaim> claim;
      NodeSet available;  // allocation.availableOnNodes, or the class's suitableNodes
      // Index of its entry in the context's status, or kNoEntry.
      size_t context_entry = 0;
      template <typename Archive, typename Self>
      static void Fields(Archive& a, Self& c) {
        a(c.entry, c.claim, c.available, c.context_entry);
      }
    };
    static constexpr size_t kNoEntry = ~size_t{0};

    Uid pod_uid = 0;
    uint64_t token = 0;  // of its API calls; chosen by the caller
    Ref<Pod> pod;
    std::vector<Claim> claims;  // in the order of pod.spec.resourceClaims
    Ref<PodSchedulingContext> context;
    // Unpublished changes of the context.
    bool selects = false;
    NodeId selected;  // with `selects`, invalid: to be cleared
    bool has_potential = false;
    std::vector<NodeId> potential;
    bool pre_scored = false;
    // Claims that exclude nodes (state.unavailableClaims), ascending.
    std::vector<size_t> unavailable;
    // The step that waits for a reply, and its progress.
    Step step = Step::kNone;
    uint32_t stage = 0;
    size_t next = 0;
    NodeId node;
    Status result;  // the step's result, when its calls are done
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& c) {
      a(c.pod_uid, c.token, c.pod, c.claims, c.context, c.selects, c.selected, c.has_potential,
        c.potential, c.pre_scored, c.unavailable, c.step, c.stage, c.next, c.node, c.result);
    }
  };

  // Equivalent to Filter over all nodes: a node fits if it is in `allowed` and not in `excluded`.
  struct Restriction {
    NodeSet allowed;
    std::vector<NodeId> excluded;  // ascending
  };

  // The client watches pods, claims, classes, templates and contexts, and must outlive the plugin.
  DynamicResources(ApiClient* client, const DraBehaviour& behaviour, uint64_t seed);

  // Decides whether the pod may enter the queue. O(claims).
  Status PreEnqueue(const Pod& pod) const;

  // Fills `*cycle` except its token. kSkip when the pod has no claims.
  Status PreFilter(const Ref<Pod>& pod, Cycle* cycle) const;
  // For a node accepted by every other plugin. Notes unavailable claims in the cycle.
  Status Filter(Cycle* cycle, NodeId node) const;
  Restriction RestrictionOf(const Cycle& cycle) const;
  // Called when Filter has rejected every node.
  Status PostFilter(Cycle* cycle);
  // Called only with at least two feasible nodes; `feasible` is ascending.
  void PreScore(Cycle* cycle, absl::Span<const NodeId> feasible);
  Status Reserve(Cycle* cycle, NodeId node);
  Status Unreserve(Cycle* cycle, NodeId node);
  Status PreBind(Cycle* cycle, NodeId node);
  Status PostBind(Cycle* cycle);
  // Continues cycle->step.
  Status Resume(Cycle* cycle, const ApiReply& reply);

  // Kinds and texts of the reasons, in the order of Reason from kClaimMissing on.
  static std::vector<drasim::Reason> Reasons();

  // Queueing hints (isSchedulableAfterClaimChange, isSchedulableAfterPodSchedulingContextChange).
  // `before` is null for an added object, `after` for a deleted one.
  Hint AfterClaimChange(const Pod& pod, const ResourceClaim* before,
                        const ResourceClaim* after) const;
  Hint AfterContextChange(const Pod& pod, const PodSchedulingContext* before,
                          const PodSchedulingContext* after) const;

  // Name of an entry's claim: given, or (template) from the pod's status, or, before 1.28, derived
  // from the pod's name. Empty: not known yet.
  Name ClaimNameOf(const Pod& pod, const PodClaim& entry) const;

  const DraBehaviour& behaviour() const { return behaviour_; }
  uint64_t draws() const { return draws_; }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& r) {
    a(r.choices_, r.draws_);
  }

 private:
  // Stages of a step with calls, for Cycle::stage.
  enum Stage : uint32_t { kBegin, kWriteContext, kApplyContext, kWriteClaim, kReadClaim };

  // The claims of the pod's entries, in order; `claims` may be null. Rejects the pod at the first
  // entry whose claim is missing, in deletion, or another pod's. The pointers are valid until the
  // cache changes.
  using FoundClaims = absl::InlinedVector<const Ref<ResourceClaim>*, 4>;
  Status FindClaims(const Pod& pod, FoundClaims* claims) const;
  // PreFilter's checks of one claim. Fills the nodes on which it is or may become available.
  Status CheckClaim(const Pod& pod, Cycle::Claim* claim) const;
  void KeepRefused(Cycle* cycle) const;
  // A random subset of the nodes, as large as a context can hold, in order. O(limit + nodes / 64).
  std::vector<NodeId> DrawNodes(absl::Span<const NodeId> nodes);

  Status Begin(Cycle* cycle, Step step, NodeId node);
  Status Continue(Cycle* cycle, const ApiReply* reply);
  // The reply, kept in `*here`; null while it is outstanding.
  const ApiReply* Send(const Cycle& cycle, ApiRequest request, std::optional<ApiReply>* here);
  Status WaitsFor(Reason reason) const;
  // The hint for events after which kPending pods skip their backoff since 1.29.
  Hint ImmediateHint() const;
  // Chooses the nodes to publish for the pod on cycle->node, and Reserve's result.
  Status Decide(Cycle* cycle) const;

  Status Publish(Cycle* cycle, const ApiReply* reply);
  // Adds the pod to reservedFor of each allocated claim, or removes it. Until 1.29 by a PUT, which
  // fails if the claim is stale; from 1.30 on by a patch of the single entry, which does not. 1.31
  // reserves by a PUT again, and repeats it after a conflict with the claim that a GET returns.
  Status ChangeReservations(Cycle* cycle, bool reserve, const ApiReply* reply);
  // The same for claims[cycle->next].
  Status ChangeReservation(Cycle* cycle, bool reserve, const ApiReply* reply);
  Status ContinuePostFilter(Cycle* cycle, const ApiReply* reply);
  Status ContinueReserve(Cycle* cycle, const ApiReply* reply);
  Status ContinueUnreserve(Cycle* cycle, const ApiReply* reply);
  Status ContinuePreBind(Cycle* cycle, const ApiReply* reply);
  Status ContinuePostBind(Cycle* cycle, const ApiReply* reply);

  ApiClient* client_;
  DraBehaviour behaviour_;
  Random choices_;  // PostFilter's claim, PreScore's 128 nodes
  uint64_t draws_ = 0;
  Name pods_;  // "pods", as consumers name it
  // Scratch of DrawNodes, of the size of its largest call: 0, 1, 2, ..., and zeros.
  std::vector<uint32_t> places_;
  std::vector<uint64_t> chosen_;
};

// The text of a condition: "resourceclaim in use", with the object's name where upstream has it.
std::string StatusText(const DynamicResources::Status& status);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_DYNAMIC_RESOURCES_H_
