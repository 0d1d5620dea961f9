#include "sim/dra/structured/pool_sync.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace drasim {

namespace kube = ::drasim::proto::kube;

std::vector<ApiRequest> PoolCalls(std::vector<kube::ResourceSlice> wanted,
                                  absl::Span<const Ref<ResourceSliceObject>> present,
                                  NamePool& names) {
  int64_t latest = 0;
  for (const Ref<ResourceSliceObject>& slice : present) {
    latest = std::max(latest, slice->object->spec().pool().generation());
  }
  std::vector<ApiRequest> calls;
  std::map<std::string, Ref<ResourceSliceObject>> kept;
  for (const Ref<ResourceSliceObject>& slice : present) {
    if (slice->object->spec().pool().generation() == latest) {
      kept.emplace(slice->object->metadata().name(), slice);
    } else {
      calls.push_back(DeleteRequest(ObjectKind::kResourceSlice, slice->meta));
    }
  }
  // Pairs of a wanted slice and the one that it replaces; null: it is new.
  std::vector<Ref<ResourceSliceObject>> before(wanted.size());
  size_t added = 0;
  std::vector<size_t> changed;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = kept.find(wanted[i].metadata().name());
    if (found == kept.end()) {
      ++added;
      continue;
    }
    before[i] = found->second;
    kept.erase(found);
    wanted[i].mutable_spec()->mutable_pool()->set_generation(latest);
    const bool same = SharedMessage<kube::ResourceSlice>(wanted[i]) == before[i]->object;
    if (!same) changed.push_back(i);
  }
  for (const auto& [name, slice] : kept) {
    calls.push_back(DeleteRequest(ObjectKind::kResourceSlice, slice->meta));
  }
  const auto write = [&](size_t i) {
    auto object = std::make_shared<ResourceSliceObject>();
    const Verb verb = before[i] == nullptr ? Verb::kCreate : Verb::kUpdate;
    if (before[i] != nullptr) object->meta = before[i]->meta;
    object->meta.name = names.Intern(wanted[i].metadata().name());
    object->object = SharedMessage<kube::ResourceSlice>(std::move(wanted[i]));
    calls.push_back(WriteRequest(verb, Ref<ResourceSliceObject>(std::move(object))));
  };
  if (added == 0 && changed.size() <= 1) {
    for (const size_t i : changed) write(i);
    return calls;
  }
  for (kube::ResourceSlice& slice : wanted) {
    kube::ResourcePool* const pool = slice.mutable_spec()->mutable_pool();
    // A pool that is new begins as its driver says.
    if (!present.empty()) pool->set_generation(latest + 1);
  }
  for (const bool is_new : {false, true}) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if ((before[i] == nullptr) == is_new) write(i);
    }
  }
  return calls;
}

}  // namespace drasim
