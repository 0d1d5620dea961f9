// Objects by uid and by name: the server's own table, and the informer cache of each client.
#ifndef DRASIM_SIM_DRA_OBJECT_CACHE_H_
#define DRASIM_SIM_DRA_OBJECT_CACHE_H_

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "model/kube/objects.h"

namespace drasim {

// Objects of one kind. All calls O(log n) but Sorted.
template <typename T>
class ObjectTable {
 public:
  // Null if unknown.
  Ref<T> Find(Uid uid) const {
    const auto found = by_uid_.find(uid);
    return found == by_uid_.end() ? nullptr : found->second;
  }
  Ref<T> Find(Name ns, Name name) const {
    const auto found = by_name_.find({ns, name});
    return found == by_name_.end() ? nullptr : Find(found->second);
  }
  // Inserts it or replaces the state of the same uid; returns the former state.
  Ref<T> Put(Ref<T> object) {
    const ObjectMeta& meta = object->meta;
    by_name_[{meta.ns, meta.name}] = meta.uid;
    Ref<T>& slot = by_uid_[meta.uid];
    std::swap(slot, object);
    return object;
  }
  // Returns its last state; null if unknown. Another object of the name is left alone.
  Ref<T> Erase(Uid uid) {
    const auto found = by_uid_.find(uid);
    if (found == by_uid_.end()) return nullptr;
    Ref<T> object = std::move(found->second);
    by_uid_.erase(found);
    const auto name = by_name_.find({object->meta.ns, object->meta.name});
    if (name != by_name_.end() && name->second == uid) by_name_.erase(name);
    return object;
  }
  size_t size() const { return by_uid_.size(); }
  // By uid, that is in order of creation. O(n); for restarts, reports and checks.
  std::vector<Ref<T>> Sorted() const {
    std::vector<Ref<T>> objects;
    objects.reserve(by_uid_.size());
    for (const auto& entry : by_uid_) objects.push_back(entry.second);
    return objects;
  }

 private:
  absl::btree_map<Uid, Ref<T>> by_uid_;
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
  Ref<Pod> pod(Uid uid) const { return of<Pod>().Find(uid); }
  Ref<ResourceClaim> claim(Name ns, Name name) const { return of<ResourceClaim>().Find(ns, name); }
  Ref<PodSchedulingContext> context(Name ns, Name name) const {
    return of<PodSchedulingContext>().Find(ns, name);
  }

 private:
  std::tuple<ObjectTable<Pod>, ObjectTable<ResourceClass>, ObjectTable<ResourceClaim>,
             ObjectTable<ResourceClaimTemplate>, ObjectTable<PodSchedulingContext>,
             ObjectTable<ParametersObject>>
      tables_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_OBJECT_CACHE_H_
