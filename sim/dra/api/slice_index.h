// SliceIndex: finds the ResourceSlice that publishes a device, among the API server's objects.
#ifndef DRASIM_SIM_DRA_API_SLICE_INDEX_H_
#define DRASIM_SIM_DRA_API_SLICE_INDEX_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/kube/objects.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {

class SliceIndex {
 public:
  // `objects` is the server's state, and outlives the index.
  explicit SliceIndex(const ObjectCache* objects) : objects_(objects) {}

  // Every change that the server commits. O(slices of the pool).
  void OnCommit(const WatchEvent& event);

  // The slice of the pool's latest generation that has the device; null if there is none. `*place`
  // becomes the device's index in it. The first call is O(all slices), others O(devices of the
  // pool).
  Ref<ResourceSliceObject> Find(absl::string_view driver, absl::string_view pool,
                                absl::string_view device, int* place);

 private:
  using Key = std::pair<std::string, std::string>;  // driver, pool
  void Put(const Ref<ResourceSliceObject>& slice);
  void Remove(const ResourceSliceObject& slice);

  const ObjectCache* objects_;
  bool filled_ = false;
  absl::flat_hash_map<Key, std::vector<Ref<ResourceSliceObject>>> pools_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_SLICE_INDEX_H_
