// The garbage collector of kube-controller-manager, for dependents of pods (claims from templates
// and PodSchedulingContexts): deletes the dependents of a deleted owner, one DELETE each. It finds
// dependents through its own watches; finalizers delay them as usual. An owner whose deletion it
// has not seen may be too new for its cache, so it asks the server (GET) before it deletes.
#ifndef DRASIM_SIM_DRA_API_GARBAGE_COLLECTOR_H_
#define DRASIM_SIM_DRA_API_GARBAGE_COLLECTOR_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "model/kube/objects.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {

class GarbageCollector : public Actor {
 public:
  static constexpr uint32_t kWatches = WatchBit(ObjectKind::kPod) |
                                       WatchBit(ObjectKind::kResourceClaim) |
                                       WatchBit(ObjectKind::kPodSchedulingContext);

  GarbageCollector();
  void Start(ApiClient* client);

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  void OnRestart() override;
  bool idle() const;

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  using Key = WorkQueue::Key;

  void QueueAll();
  // `before`: the former cached state; null: none.
  void Consider(const ObjectRef& dependent, const ObjectMeta* before);
  void Forget(const ObjectRef& dependent);
  ObjectRef Find(Key key) const;
  // Handles one dependent, until it waits or is done.
  void Collect(Key key);
  void Finish(Key key, const ApiReply& reply);
  // The reply about the owner's existence.
  void FinishOwner(Key key, const ApiReply& reply);
  void Delete(Key key, const ObjectRef& dependent);
  void Done(Key key);
  void Pump();

  ApiClient* client_ = nullptr;
  WorkQueue queue_;                   // keys: uid << 1 | is a context; tokens of timers too
  uint64_t retries_ = 0;              // pending timers
  absl::flat_hash_set<Key> orphans_;  // owner's deletion seen, or confirmed by the server
  // Owner -> keys of cached dependents, ascending.
  absl::flat_hash_map<Uid, absl::InlinedVector<Key, 2>> dependents_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_GARBAGE_COLLECTOR_H_
