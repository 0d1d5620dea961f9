// StructuredCache: the scheduler's informers of claims and classes, and its assume cache of claims,
// as the rules of structured DRA read them. Claims of classic DRA are not in it.
#ifndef DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_CACHE_H_
#define DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_CACHE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/allocated_devices.h"
#include "policies/dra/claim_port.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {

class PlaneReader;
class PlaneWriter;

class StructuredCache : public ClaimCache {
 public:
  // The cluster, whose inventory has the claims' devices, must outlive it.
  explicit StructuredCache(ClusterState* cluster) : cluster_(cluster), allocated_(cluster) {}

  // --- ClaimCache ---
  ClaimRef FindClaim(absl::string_view ns, absl::string_view name) const override;
  // In the order of "namespace/name". O(n log n).
  void ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const override;
  // O(log claims).
  ClaimRef FindExtendedClaim(const ClaimingPod& pod) const override;
  const AllocatedDevices& allocated() const override { return allocated_; }
  const proto::kube::DeviceClass* FindClass(absl::string_view name) const override;
  void Assume(const ClaimRef& claim) override;

  // --- Events ---
  // A claim as an informer delivers it; one that is older than an assumed state is dropped.
  void OnClaim(const Ref<ResourceClaim>& claim, bool deleted);
  void OnClass(const DeviceClassObject& device_class, bool deleted);
  // Forgets everything.
  void Clear();

  // For checkpoints. What the client's cache, which is loaded before, has as well is not written.
  void Archive(const ObjectCache& objects, PlaneWriter& archive) const;
  void Archive(const ObjectCache& objects, PlaneReader& archive);

 private:
  struct Entry {
    Uid uid = 0;
    ResourceVersion version = 0;
    ClaimRef claim;
  };
  // Namespace and name.
  using Key = std::pair<std::string, std::string>;
  using KeyView = std::pair<absl::string_view, absl::string_view>;
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const { return absl::Hash<KeyView>()(key); }
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& left, const KeyView& right) const { return left == right; }
  };

  void Put(const KeyView& key, Entry entry);
  // Holds and releases devices.
  void Count(const Entry* before, const Entry* after);

  // The claims in the order of "namespace/name". O(n log n).
  std::vector<const Entry*> Sorted() const;

  absl::flat_hash_map<Key, Entry, KeyHash, KeyEqual> claims_;
  std::map<Uid, std::set<Key>> extended_;  // claims for extended resources, by owner
  ClusterState* cluster_;
  AllocatedDevices allocated_;
  std::map<std::string, SharedMessage<proto::kube::DeviceClass>, std::less<>> classes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_CACHE_H_
