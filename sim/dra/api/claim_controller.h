// The resource claim controller of kube-controller-manager (pkg/controller/resourceclaim, releases
// 1.29 and, for structured claims, 1.37): creates claims from templates, removes finished pods from
// reservedFor, deallocates idle claims or requests that of their drivers, and deletes the claims of
// finished pods.
//
// Every sync is a chain of API calls, and state may change between two of them. Up to `workers`
// syncs run concurrently. An error requeues the key with the queue's rate limit.
#ifndef DRASIM_SIM_DRA_API_CLAIM_CONTROLLER_H_
#define DRASIM_SIM_DRA_API_CLAIM_CONTROLLER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {

struct ClaimControllerOptions {
  DraBehaviour behaviour;
  int workers = 10;
  size_t remembered_uids = 500;  // of deleted pods
};

class ClaimController : public Actor {
 public:
  // Its client must watch pods, claims, templates and contexts (`watches` below).
  static constexpr uint32_t kWatches =
      WatchBit(ObjectKind::kPod) | WatchBit(ObjectKind::kResourceClaim) |
      WatchBit(ObjectKind::kResourceClaimTemplate) | WatchBit(ObjectKind::kPodSchedulingContext);

  explicit ClaimController(const ClaimControllerOptions& options);
  ~ClaimController() override;
  // Call once, before anything else; queues the cached objects.
  void Start(ApiClient* client);

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  void OnRestart() override;

  // True when nothing is queued or in progress.
  bool idle() const;
  // Events that it reported, "FailedResourceClaimCreation" for example: reason -> number.
  uint64_t failed_creations() const { return failed_creations_; }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  using Key = WorkQueue::Key;

  enum class Stage : uint8_t {
    kStart,
    // Sync of a pod: creates its claims, writes them into its status, and serves pods bound by
    // hand.
    kMakeClaims,
    kWriteNames,
    kServe,
    kContext,
    // Sync of a claim: checks its consumers, writes the rest back, deletes the claim.
    kConsumers,
    kRelease,
    kUnprotect,  // a structured claim without an allocation loses its finalizer
    kDelete,
  };

  // A sync in progress. Its slot is the token of its calls.
  struct Sync {
    Key key = 0;
    Stage stage = Stage::kStart;
    bool failed = false;
    size_t next = 0;  // entry of the pod, or consumer of the claim
    Ref<Pod> pod;     // as at the start, then as last written
    std::vector<Pod::ClaimName> made;
    Ref<ResourceClaim> claim;
    std::vector<Consumer> kept;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.key, s.stage, s.failed, s.next, s.pod, s.made, s.claim, s.kept);
    }
  };

  // The claim of an entry. Empty name: the entry needs none; absent: none has been created yet.
  std::optional<Name> ClaimOf(const Pod& pod, const PodClaim& entry) const;
  Name PlainName(const Pod& pod, const PodClaim& entry) const;
  bool NeedsWork(const Pod& pod) const;
  bool NeedsServing(const Pod& pod, const ResourceClaim& claim) const;
  // Upstream ignores a pod's phase: claims of ended pods are created, reserved and released again,
  // as fast as the client's rate limit permits (kubernetes/kubernetes issue 141274). Without
  // strict_upstream such pods need nothing. Nor do they without a rate limit, where the loop would
  // never slow down.
  bool ServesEndedPods() const;
  // True when the mutation cache still has a claim created for a pod with a single template. The
  // cache then reports a deleted claim as existing.
  bool RemembersClaimOf(const Pod& pod) const;

  void QueueAll();
  void QueuePod(const Pod& pod, bool deleted);
  void QueueClaim(const ResourceClaim& claim, bool deleted);
  void RememberDeleted(const Pod& pod);
  // The indexes follow the cache; null: not cached.
  void IndexPod(const Pod* before, const Pod* after);
  void IndexClaim(const ResourceClaim& claim, bool deleted);
  // Puts the result of its own write into the cache.
  void Learn(const ObjectRef& object);

  void Pump();
  // Continues until the sync waits or ends.
  void Step(uint32_t slot, const ApiReply* reply);
  void Finish(uint32_t slot);

  // Each takes the reply to the previous call, if any, and returns the next call; none: the sync
  // ends.
  std::optional<ApiRequest> NextOfPod(Sync* sync, const ApiReply* reply);
  std::optional<ApiRequest> NextOfClaim(Sync* sync, const ApiReply* reply);
  // False: the sync ends.
  bool TakePodReply(Sync* sync, const ApiReply& reply);
  bool TakeClaimReply(Sync* sync, const ApiReply& reply);
  std::optional<ApiRequest> MakeNextClaim(Sync* sync);
  std::optional<ApiRequest> ServeNextClaim(Sync* sync);
  std::optional<ApiRequest> CheckNextConsumer(Sync* sync);
  Ref<ResourceClaim> FindOrphan(const Pod& pod, const PodClaim& entry) const;
  ApiRequest CreateClaim(const Pod& pod, const PodClaim& entry, const ClaimSpec& spec) const;
  ApiRequest WriteNames(const Sync& sync) const;
  std::optional<ApiRequest> WriteContext(const Pod& pod) const;
  ApiRequest Release(const Sync& sync) const;
  // Structured: whether the claim is to be deallocated although no consumer has left it.
  static bool IsLeftAllocated(const Sync& sync);
  bool IsProtected(const ResourceClaim& claim) const;
  ApiRequest Unprotect(const ResourceClaim& claim) const;
  bool OwnerNeedsItNoMore(const Sync& sync) const;

  ClaimControllerOptions options_;
  ApiClient* client_ = nullptr;
  Name pods_;        // "pods"
  Name finalizer_;   // kStructuredClaimFinalizer
  WorkQueue queue_;  // keys: uid << 1 of a pod, uid << 1 | 1 of a claim
  std::vector<Sync> syncs_;
  std::vector<uint32_t> free_syncs_;
  absl::flat_hash_map<Key, SimTime> retries_;  // valid timers
  // Claim -> pods that use it; pod -> claims that it owns. Cached objects only.
  using Uids = absl::InlinedVector<Uid, 2>;  // ascending
  absl::flat_hash_map<std::pair<Name, Name>, Uids> users_;
  absl::flat_hash_map<Uid, Uids> owned_;
  absl::flat_hash_map<Uid, std::pair<Name, Name>> deleted_pods_;  // their names
  std::deque<Uid> deleted_order_;
  uint64_t failed_creations_ = 0;
  uint64_t claims_made_ = 0;
  absl::flat_hash_map<Uid, uint64_t> last_made_;  // by pod: claims_made_ after its last one
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_CLAIM_CONTROLLER_H_
