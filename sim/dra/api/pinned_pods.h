// PinnedPods: counts pods whose claims are all allocated although the pod is not bound.
//
// Such a pod can only go to the node of its claims, whatever is free elsewhere. With
// WaitForFirstConsumer this lasts for one scheduling cycle; with Immediate, until the node has
// room.
#ifndef DRASIM_SIM_DRA_API_PINNED_PODS_H_
#define DRASIM_SIM_DRA_API_PINNED_PODS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"

namespace drasim {

class PinnedPods {
 public:
  // The claim name for a pod's entry; empty: not known yet.
  using ClaimNameOf = std::function<Name(const Pod&, const PodClaim&)>;
  explicit PinnedPods(ClaimNameOf name_of) : name_of_(std::move(name_of)) {}

  // A change committed by the server; every change, in order. O(1), except for a claim that has
  // just gained or lost its allocation: O(pods that wait with it).
  void OnCommit(const WatchEvent& event, SimTime now);

  int64_t count() const { return count_; }
  // The largest number at one time, in the whole run.
  int64_t most() const { return most_; }
  // Average from time zero to `end`, which is not before the last change; 0 for an empty time.
  double Mean(SimTime end) const;

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  using Key = std::pair<Name, Name>;  // of a claim: namespace, name
  struct Waiting {
    absl::InlinedVector<Key, 1> claims;
    uint32_t missing = 0;  // claims unallocated or unknown
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& w) {
      a(w.claims, w.missing);
    }
  };

  void OnPod(const Pod& pod, bool deleted);
  void OnClaim(const ResourceClaim& claim, bool deleted);
  void Forget(Uid pod);
  void Count(int64_t change);

  ClaimNameOf name_of_;
  absl::flat_hash_map<Uid, Waiting> waiting_;                    // unbound pods with claims
  absl::flat_hash_map<Key, absl::InlinedVector<Uid, 1>> users_;  // these pods by claim
  absl::flat_hash_set<Key> allocated_;
  SimTime now_;
  SimTime since_;  // when the count last changed
  int64_t count_ = 0;
  int64_t most_ = 0;
  double pod_seconds_ = 0;  // until since_
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_PINNED_PODS_H_
