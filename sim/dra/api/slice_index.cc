#include "sim/dra/api/slice_index.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "model/proto/resource.pb.h"

namespace drasim {
namespace {

std::pair<std::string, std::string> KeyOf(const ResourceSliceObject& slice) {
  const proto::kube::ResourceSliceSpec& spec = slice.object->spec();
  return {spec.driver(), spec.pool().name()};
}

}  // namespace

void SliceIndex::Put(const Ref<ResourceSliceObject>& slice) {
  pools_[KeyOf(*slice)].push_back(slice);
}

void SliceIndex::Remove(const ResourceSliceObject& slice) {
  const auto pool = pools_.find(KeyOf(slice));
  if (pool == pools_.end()) return;
  std::erase_if(pool->second, [&slice](const Ref<ResourceSliceObject>& known) {
    return known->meta.uid == slice.meta.uid;
  });
  if (pool->second.empty()) pools_.erase(pool);
}

void SliceIndex::OnCommit(const WatchEvent& event) {
  const auto* slice = std::get_if<Ref<ResourceSliceObject>>(&event.object);
  if (!filled_ || slice == nullptr) return;
  if (const auto* before = std::get_if<Ref<ResourceSliceObject>>(&event.before);
      before != nullptr && *before != nullptr) {
    Remove(**before);
  }
  Remove(**slice);
  if (event.type != WatchEvent::Type::kDeleted) Put(*slice);
}

Ref<ResourceSliceObject> SliceIndex::Find(absl::string_view driver, absl::string_view pool,
                                          absl::string_view device, int* place) {
  if (!filled_) {
    for (const Ref<ResourceSliceObject>& slice : objects_->of<ResourceSliceObject>().Sorted()) {
      Put(slice);
    }
    filled_ = true;
  }
  const auto slices = pools_.find(Key(driver, pool));
  if (slices == pools_.end()) return nullptr;
  Ref<ResourceSliceObject> found;
  int64_t generation = 0;
  for (const Ref<ResourceSliceObject>& slice : slices->second) {
    const proto::kube::ResourceSliceSpec& spec = slice->object->spec();
    if (found != nullptr && spec.pool().generation() <= generation) continue;
    const auto& devices = spec.devices();
    const auto named = std::find_if(
        devices.begin(), devices.end(),
        [device](const proto::kube::Device& candidate) { return candidate.name() == device; });
    if (named == devices.end()) continue;
    found = slice;
    generation = spec.pool().generation();
    *place = static_cast<int>(named - devices.begin());
  }
  return found;
}

}  // namespace drasim
