// DraRules: the scheduler's rules about claims, classic or structured, behind one interface.
//
// SchedulerActor, the plugin of the framework, drives them: it keeps a cycle for each pod, calls
// the points in the framework's order, and routes replies and timers to Resume. Points with calls
// may return kWaiting; the step then goes on with Resume.
//
//   std::unique_ptr<DraRules::Cycle> cycle = rules.PreFilter(pod, token, now, &status);
//   if (status.ok()) restriction = rules.Restriction(*cycle);
//   ...
//   status = rules.PreBind(*cycle, node);  // kWaiting
//   status = rules.Resume(*cycle, &reply);
#ifndef DRASIM_SIM_DRA_API_DRA_RULES_H_
#define DRASIM_SIM_DRA_API_DRA_RULES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "policies/framework/plugin.h"
#include "policies/framework/reason.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"

namespace drasim {

class PlaneReader;
class PlaneWriter;

class DraRules {
 public:
  // Tokens of the rules' timers: this and the token of the cycle.
  static constexpr uint64_t kTimerTokens = uint64_t{1} << 62;

  // framework.Code; kWaiting is an addition.
  enum class Code : uint8_t {
    kSuccess,
    kSkip,  // PreFilter: the pod has no claims
    kUnschedulable,
    kUnresolvable,  // UnschedulableAndUnresolvable
    kPending,       // waits for a driver, which will wake the pod
    kError,
    kWaiting,  // a call or a wait is in progress
  };
  struct Status {
    Code code = Code::kSuccess;
    ReasonIndex reason = kFits;  // of Reasons()
    std::string message;         // upstream's words where they differ from pod to pod
    bool ok() const { return code == Code::kSuccess || code == Code::kSkip; }
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.code, s.reason, s.message);
    }
  };
  // The effect of an event on a pod that the plugin rejected. kQueue: queued after its backoff, or
  // at once after kPending.
  enum class Hint : uint8_t { kSkip, kQueue, kQueueImmediately };

  // One scheduling cycle of a pod, and its binding (CycleState).
  class Cycle {
   public:
    virtual ~Cycle() = default;
    Uid pod_uid = 0;
    uint64_t token = 0;  // of its calls and timers
    Ref<Pod> pod;
    NodeId node;  // argument of the latest step
    // The pod needs devices; otherwise the plugin has nothing to do after PreFilter.
    bool has_claims = false;
    bool undoes = false;  // the latest step is Unreserve
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& c) {
      a(c.pod_uid, c.token, c.pod, c.node, c.has_claims, c.undoes);
    }
  };

  // Behaviour of the plugin as such.
  struct Traits {
    // PreEnqueue keeps pods with missing claims out of the queue; else PreFilter rejects them.
    bool pre_enqueue = true;
    // Changes are judged pod by pod (AfterChange); else every change wakes all rejected pods.
    bool hints = true;
    // Calls of Reserve and Unreserve block the single scheduling thread. Those of PostFilter always
    // do.
    bool reserve_blocks = false;
    // PostFilter's deallocation ends the chain of PostFilter plugins.
    bool deallocation_ends_post_filter = false;
    // The pods of an incomplete gang keep the claims that they have (gang_claims.h).
    bool gangs_keep_claims = false;
    // A pod is woken by a change of its own reservation.
    bool wakes_itself = false;
    // Something scores nodes, so that the plugin takes part in Score, with this weight.
    bool scores = false;
    int64_t score_weight = 0;
  };

  // Figures of a policy that chooses among solutions on a node.
  struct PolicyCounts {
    int64_t choices = 0;    // nodes for which it chose, attempt by attempt
    int64_t solutions = 0;  // that it looked at
    int64_t steps = 0;      // devices that it tried
    int64_t exhausted = 0;  // choices whose budget ended early
  };

  // Work of the scheduler's search for devices (policies/allocator/search_counts.h).
  struct SearchWork {
    uint64_t searches = 0;
    uint64_t steps = 0;
    uint64_t candidates = 0;
    uint64_t cel_evaluations = 0;
  };

  virtual ~DraRules() = default;
  // None: drivers allocate.
  virtual std::optional<SearchWork> search_work() const { return std::nullopt; }
  // Call once, before anything but traits() and Reasons(). The client watches watches() and
  // outlives the rules.
  virtual void Start(ApiClient* client) = 0;
  virtual uint32_t watches() const = 0;  // WatchBits, besides pods and claims
  virtual Traits traits() const = 0;
  // Kinds and texts of the reasons.
  virtual std::vector<Reason> Reasons() const = 0;
  // The reason of a failed call, for steps whose process was lost.
  virtual ReasonIndex CallFailed() const = 0;

  // Whether the pod may enter the queue.
  virtual Status PreEnqueue(const Pod& pod) const = 0;
  // Nullopt: there is no policy.
  virtual std::optional<PolicyCounts> policy_counts() const { return std::nullopt; }

  // Null unless *status is ok.
  virtual std::unique_ptr<Cycle> PreFilter(const Ref<Pod>& pod, uint64_t token, Status* status) = 0;
  // Filter over all nodes; valid until the next call.
  virtual NodeRestriction Restriction(Cycle& cycle) = 0;
  // Filter for one node that every other plugin accepts, for its reason and side effects.
  virtual ReasonIndex WhyRejected(Cycle& cycle, NodeId node) = 0;
  // Called only with at least two feasible nodes, ascending, and if the restriction asks for it.
  virtual void PreScore(Cycle& cycle, absl::Span<const NodeId> feasible) = 0;
  // Raw scores of feasible nodes; with Traits::scores.
  virtual void Score(const Cycle& /*cycle*/, absl::Span<const NodeId> /*nodes*/,
                     absl::Span<int64_t> /*scores*/) const {}
  virtual void NormalizeScore(absl::Span<int64_t> /*scores*/) const {}
  // kSuccess and kWaiting: it acts.
  virtual Status PostFilter(Cycle& cycle) = 0;
  // Whether that step, which has just returned, has begun to release or delete a claim and may have
  // woken no pod by it.
  virtual bool HasCleared(const Cycle&) const { return false; }
  virtual Status Reserve(Cycle& cycle, NodeId node) = 0;
  virtual Status Unreserve(Cycle& cycle, NodeId node) = 0;
  virtual Status PreBind(Cycle& cycle, NodeId node) = 0;
  virtual Status PostBind(Cycle& cycle) = 0;
  // Continues the step that waits. `reply`: null after a timer.
  virtual Status Resume(Cycle& cycle, const ApiReply* reply) = 0;
  // The step that waits is given up: its process is gone.
  virtual void Abort(Cycle& cycle) = 0;
  // The cycle ends here, whatever it has reserved in memory.
  virtual void Forget(Cycle& /*cycle*/) {}

  // The claim of an entry; empty: none is known.
  virtual Name ClaimNameOf(const Pod& pod, const PodClaim& entry) const = 0;

  // --- Watches; called with every event of the scheduler, before any hint is asked for ---
  virtual void OnWatch(const WatchEvent& /*event*/) {}
  // The process has restarted: all but the client's cache is forgotten.
  virtual void OnRestart() {}
  // The effect of the event on a pod that names the claim, or that the context belongs to.
  virtual Hint AfterChange(const Pod& pod, const WatchEvent& event) const = 0;
  // Whether the event may help every pod that the plugin rejected.
  virtual bool HelpsAll(const WatchEvent& event) const = 0;

  // --- Checkpoints (plane_archive.h); the client and the cluster are loaded before ---
  virtual void Save(PlaneWriter& archive) const = 0;
  virtual void Load(PlaneReader& archive) = 0;
  virtual void SaveCycle(const Cycle& cycle, PlaneWriter& archive) const = 0;
  virtual std::unique_ptr<Cycle> LoadCycle(PlaneReader& archive) const = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_DRA_RULES_H_
