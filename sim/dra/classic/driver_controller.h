// The control-plane controller of a driver: the library common to all drivers
// (k8s.io/dynamic-resource-allocation v0.29 controller/controller.go) around a ClaimDriver, which
// decides.
//
// Outcomes of a sync: done (forget); silent retry with the rate limit; retry after 30 s (periodic:
// refreshes the lists of unsuitable nodes); failure (an event "Failed", retry with the rate limit).
// Its own writes of claims enter a mutation cache at once.
//
// A decision takes effect at the end of its latency, with the driver's knowledge at that time; a
// deallocation in the meantime cancels it. Upstream's quirks under strict_upstream: a pod's entry
// whose claim does not exist is skipped, although the code calls it an error; a truncated list of
// unsuitable nodes is written every time; own writes of contexts are not remembered; an allocation
// for a claim that disappears before its status is written stays allocated. Without strict_upstream
// none of these occurs.
#ifndef DRASIM_SIM_DRA_CLASSIC_DRIVER_CONTROLLER_H_
#define DRASIM_SIM_DRA_CLASSIC_DRIVER_CONTROLLER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/claim_journal.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {

struct DriverControllerOptions {
  DraBehaviour behaviour;
  int workers = 10;
  bool set_reserved_for = true;  // the driver reserves the claim for the triggering pod
  SimDuration recheck = SimDuration::Seconds(30);
  std::optional<Distribution> decision_latency;  // seconds per Allocate or UnsuitableNodes call
  uint64_t seed = 0;
  // A periodic sync without new findings is not repeated until something has changed. Skipped syncs
  // are counted (skipped_syncs), but load neither the network nor the rate limiter.
  bool sleep_when_idle = false;
  ClaimJournal* journal = nullptr;  // hears the driver's words; null: nobody
};

class DriverController : public Actor {
 public:
  static constexpr uint32_t kWatches = WatchBit(ObjectKind::kResourceClass) |
                                       WatchBit(ObjectKind::kResourceClaim) |
                                       WatchBit(ObjectKind::kPodSchedulingContext);

  // The result of a sync; for tests of single steps.
  enum class Outcome : uint8_t { kDone, kRequeue, kPeriodic, kFailed };
  struct SyncResult {
    Outcome outcome = Outcome::kDone;
    std::string error;  // of kFailed
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& r) {
      a(r.outcome, r.error);
    }
  };

  DriverController(ClaimDriver* driver, const DriverControllerOptions& options);
  ~DriverController() override;
  // Call once, before anything else; queues the cached objects.
  void Start(ApiClient* client);

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  // The driver relearns its allocations from the claims.
  void OnRestart() override;

  // Name and kind of a driver's object for a node, in the namespace named after the driver; its
  // content is the driver's memory.
  static std::string NodeObjectName(NodeId node);
  static constexpr char kNodeObjectKind[] = "NodeAllocationState";

  // "<driver>/deletion-protection"
  Name finalizer() const { return finalizer_; }
  // Skipped syncs, each a GET of a pod.
  uint64_t skipped_syncs() const;
  // Nodes and claims that the driver was asked to find devices for.
  uint64_t allocator_calls() const { return allocator_calls_; }
  bool idle() const;
  // Ended syncs, by outcome, and the latest error.
  uint64_t outcomes(Outcome outcome) const { return outcomes_[static_cast<size_t>(outcome)]; }
  const SyncResult& last_result() const { return last_result_; }

  // Work-queue keys: upstream's "claim:" and "schedulingCtx:".
  static WorkQueue::Key ClaimKey(Uid claim) { return claim << 1; }
  static WorkQueue::Key ContextKey(Uid context) { return (context << 1) | 1; }
  // For tests: runs the sync of this key as soon as a worker is free.
  void Queue(WorkQueue::Key key);

  // For checkpoints (plane_archive.h), without the driver.
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  // Continuation of a sync: with the next stage, on a reply or timer, or not at all.
  enum class Move : uint8_t { kNext, kWait, kOver };
  // The next action of a sync. Past participles: on the reply to that call.
  enum class Stage : uint8_t {
    kBegin,
    kReleaseRead,
    kReleaseWritten,
    kAllocationCleared,
    kRequestCleared,
    kFinalizerRemoved,
    kPodRead,
    kNextEntry,
    kClassParametersRead,
    kClaimParametersRead,
    kProbe,
    kNodeObjectRead,
    kChoose,
    kFinalizers,
    kFinalizerAdded,
    kDecisionRead,
    kDecide,
    kDecisionWritten,
    kStatuses,
    kStatusWritten,
    kReport,
    kReported,
  };
  // A claim to allocate in the sync.
  struct Pending {
    Name entry;
    Ref<ResourceClaim> claim;  // as cached at its look-up, then as last written
    Ref<ResourceClass> resource_class;
    Ref<ParametersObject> class_parameters;
    Ref<ParametersObject> claim_parameters;
    std::vector<NodeId> unsuitable;
    Ref<Allocation> allocation;
    bool stopped = false;  // deallocated since its look-up
    std::string error;     // empty: none so far
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& p) {
      a(p.entry, p.claim, p.resource_class, p.class_parameters, p.claim_parameters, p.unsuitable,
        p.allocation, p.stopped, p.error);
    }
  };
  // A sync in progress. Its slot is the token of its calls.
  struct Sync {
    bool active = false;
    uint32_t slot = 0;
    WorkQueue::Key key = 0;
    Stage stage = Stage::kBegin;
    std::optional<ApiReply> reply;      // to the call of the stage
    Ref<ResourceClaim> claim;           // of a claim's sync
    Ref<PodSchedulingContext> context;  // of a context's
    Ref<Pod> pod;
    std::vector<Pending> claims;
    size_t next = 0;            // entry of the pod, then position in `nodes` or `claims`
    std::vector<NodeId> nodes;  // to probe
    // The part of `claims` to allocate in one call.
    size_t batch_begin = 0;
    size_t batch_end = 0;
    SyncResult result;
    uint64_t epoch = 0;            // of the controller, at the start
    bool changes_nothing = false;  // same findings as reported before
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.active, s.slot, s.key, s.stage, s.reply, s.claim, s.context, s.pod, s.claims, s.next,
        s.nodes, s.batch_begin, s.batch_end, s.result, s.epoch, s.changes_nothing);
    }
  };

  void Restore();
  void WakeSleepers();
  uint64_t SkippedSince(SimTime since) const;
  void Later(WorkQueue::Key key, SimDuration delay);
  // Starts syncs while there are keys and workers.
  static constexpr uint64_t kPumpToken = ~uint64_t{0};

  void Pump();
  void PumpSoon();
  // Continues a sync until it waits or ends.
  void Run(uint32_t slot);
  Move Step(Sync& sync);
  void Finish(uint32_t slot);
  Move Over(Sync& sync, Outcome outcome, std::string error = std::string()) const;
  Move Fail(Sync& sync, std::string error) const;
  Move Send(Sync& sync, ApiRequest request, Stage then);
  static ApiReply TakeReply(Sync& sync);
  // The latency of a decision.
  Move Think(Sync& sync, Stage then);

  bool HasFinalizer(const ResourceClaim& claim) const;
  Ref<ResourceClass> FindClass(const ResourceClaim& claim) const;

  // syncClaim.
  Move BeginClaim(Sync& sync);
  Move BeginRelease(Sync& sync);
  Move Free(Sync& sync);
  Move ClearAllocation(Sync& sync);
  Move ContinueRelease(Sync& sync);
  void StopAllocations(Uid claim);

  // syncPodSchedulingContext.
  Move BeginContext(Sync& sync);
  Move CheckPod(Sync& sync);
  Move CheckEntry(Sync& sync);
  // Fills `*pending` except the parameters; leaves its claim null if the entry needs nothing.
  absl::Status FindPending(const Pod& pod, const PodClaim& entry, Pending* pending) const;
  Move Probe(Sync& sync);
  // Node by node, with the node's object (ClaimDriver::keeps_node_objects).
  Move ProbeNodes(Sync& sync);
  Move Choose(Sync& sync);
  Move Report(Sync& sync);
  // The journal records the refused nodes of answers, and failed syncs.
  bool TellsJournal() const { return options_.journal != nullptr && options_.journal->active(); }
  void TellRefusal(const Pending& pending) const;
  void TellFailure(const Sync& sync) const;

  // The parameters of the latest entry in sync.claims.
  Move ReadClassParameters(Sync& sync);
  Move ReadClaimParameters(Sync& sync);
  Move TakeParameters(Sync& sync);

  // Step 3.2 of both: finalizers, the decision, statuses.
  Move BeginAllocate(Sync& sync);
  Move AddFinalizers(Sync& sync);
  // For each claim without an error, reads the node's object before the decision and writes it
  // afterwards.
  Move ReadForDecision(Sync& sync);
  // Takes the reply if the stage is `answered`. False when no claim of the batch is left to call
  // for.
  static bool HasNodeObjectCall(Sync& sync, Stage answered);
  Move Decide(Sync& sync);
  Move WriteDecision(Sync& sync);
  Move WriteStatuses(Sync& sync);
  Move EndBatch(Sync& sync);

  // A claim in the driver's terms.
  static ClaimToAllocate ToAllocate(const Pending& pending);
  static std::vector<ClaimToAllocate> ToAllocate(absl::Span<const Pending> claims);
  static ApiRequest PutClaim(Verb verb, ResourceClaim claim);
  ApiRequest GetNodeObject(NodeId node) const;
  ApiRequest PutNodeObject(NodeId node) const;
  static std::string ErrorText(const ApiReply& reply);
  static std::string MissingClassText(const ResourceClaim& claim);

  ClaimDriver* driver_;
  DriverControllerOptions options_;
  Random decisions_;
  ApiClient* client_ = nullptr;
  Name finalizer_;
  Name driver_name_;
  Name pods_;  // "pods"
  bool pumps_soon_ = false;
  WorkQueue queue_;
  std::vector<Sync> syncs_;
  std::vector<uint32_t> free_syncs_;
  // Keys that a timer will add, with the earliest time; later timers are void.
  absl::flat_hash_map<WorkQueue::Key, SimTime> delayed_;
  std::array<uint64_t, 4> outcomes_ = {};
  uint64_t allocator_calls_ = 0;
  SyncResult last_result_;
  // Contexts whose periodic sync would have the same findings as at that time. In order of keys.
  absl::btree_map<WorkQueue::Key, SimTime> sleepers_;
  uint64_t epoch_ = 0;    // changes that may affect a sync
  uint64_t skipped_ = 0;  // skipped syncs of contexts no longer asleep
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_DRIVER_CONTROLLER_H_
