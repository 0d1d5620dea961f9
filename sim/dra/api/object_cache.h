// Object tables by uid and by name: the server's own table, and each client's informer cache.
#ifndef DRASIM_SIM_DRA_API_OBJECT_CACHE_H_
#define DRASIM_SIM_DRA_API_OBJECT_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "model/kube/objects.h"

namespace drasim {

// Objects of one kind. All calls are amortised O(1) except Sorted.
//
// If two objects have the same name, it refers to the younger one, with the higher uid: the
// deletion of the older one has not been reported yet.
template <typename T>
class ObjectTable {
 public:
  // Null if unknown. References are valid until the next change of the table.
  const Ref<T>& Find(Uid uid) const {
    const auto found = by_uid_.find(uid);
    return found == by_uid_.end() ? None() : found->second;
  }
  const Ref<T>& Find(Name ns, Name name) const {
    const auto found = by_name_.find(std::make_pair(ns, name));
    return found == by_name_.end() ? None() : Find(found->second);
  }
  // Inserts it or replaces the state with the same uid; returns the former state.
  Ref<T> Put(Ref<T> object) {
    Ref<T>& slot = Slot(object->meta);
    std::swap(slot, object);
    return object;
  }
  // The same, unless the table has this state or a newer one. `*before` becomes the former state;
  // false if it is newer.
  bool PutNewer(const Ref<T>& object, Ref<T>* before) {
    Ref<T>& slot = Slot(object->meta);
    if (slot != nullptr && slot->meta.version >= object->meta.version) {
      *before = slot;
      return slot->meta.version == object->meta.version;
    }
    *before = std::move(slot);
    slot = object;
    return true;
  }
  // Returns its last state; null if unknown. Another object with the name is left alone.
  Ref<T> Erase(Uid uid) {
    const auto found = by_uid_.find(uid);
    if (found == by_uid_.end()) return nullptr;
    Ref<T> object = std::move(found->second);
    by_uid_.erase(found);
    const auto name = by_name_.find(std::make_pair(object->meta.ns, object->meta.name));
    if (name != by_name_.end() && name->second == uid) by_name_.erase(name);
    return object;
  }
  size_t size() const { return by_uid_.size(); }
  // By uid, the order of creation. O(n log n); for restarts, reports and checks.
  std::vector<Ref<T>> Sorted() const {
    std::vector<Ref<T>> objects;
    objects.reserve(by_uid_.size());
    absl::c_for_each(by_uid_, [&objects](const auto& entry) { objects.push_back(entry.second); });
    std::sort(objects.begin(), objects.end(),
              [](const Ref<T>& a, const Ref<T>& b) { return a->meta.uid < b->meta.uid; });
    return objects;
  }

  // For checkpoints (plane_archive.h). An object is named unless a younger one had its name.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& table) {
    if constexpr (Archive::kLoads) {
      table = ObjectTable();
      std::vector<std::pair<Ref<T>, bool>> objects;
      a(objects);
      for (const auto& [object, named] : objects) {
        if (object == nullptr) return a.Fail("a table has no object where one should be");
        table.by_uid_[object->meta.uid] = object;
        if (named)
          table.by_name_[std::make_pair(object->meta.ns, object->meta.name)] = object->meta.uid;
      }
    } else {
      std::vector<std::pair<Ref<T>, bool>> objects;
      for (const Ref<T>& object : table.Sorted()) {
        const auto named = table.by_name_.find(std::make_pair(object->meta.ns, object->meta.name));
        objects.emplace_back(object,
                             named != table.by_name_.end() && named->second == object->meta.uid);
      }
      a(objects);
    }
  }

 private:
  static const Ref<T>& None() {
    static const Ref<T>& none = *new Ref<T>();
    return none;
  }
  // Null for a new object.
  Ref<T>& Slot(const ObjectMeta& meta) {
    const auto [found, is_new] = by_uid_.try_emplace(meta.uid);
    if (is_new) {
      Uid& named = by_name_[std::make_pair(meta.ns, meta.name)];
      named = std::max(named, meta.uid);
    }
    return found->second;
  }

  absl::flat_hash_map<Uid, Ref<T>> by_uid_;
  absl::flat_hash_map<std::pair<Name, Name>, Uid> by_name_;
};

class ObjectCache {
 public:
  template <typename T>
  const ObjectTable<T>& of() const {
    return std::get<ObjectTable<T>>(tables_);
  }
  template <typename T>
  ObjectTable<T>& of() {
    return std::get<ObjectTable<T>>(tables_);
  }
  const Ref<Pod>& pod(Uid uid) const { return of<Pod>().Find(uid); }
  const Ref<ResourceClaim>& claim(Name ns, Name name) const {
    return of<ResourceClaim>().Find(ns, name);
  }
  const Ref<PodSchedulingContext>& context(Name ns, Name name) const {
    return of<PodSchedulingContext>().Find(ns, name);
  }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& cache) {
    std::apply([&a](auto&... tables) { a(tables...); }, cache.tables_);
  }

 private:
  std::tuple<ObjectTable<Pod>, ObjectTable<ResourceClass>, ObjectTable<ResourceClaim>,
             ObjectTable<ResourceClaimTemplate>, ObjectTable<PodSchedulingContext>,
             ObjectTable<ParametersObject>, ObjectTable<DeviceClassObject>,
             ObjectTable<ResourceSliceObject>, ObjectTable<DeviceTaintRuleObject>>
      tables_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_OBJECT_CACHE_H_
