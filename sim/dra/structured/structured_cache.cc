#include "sim/dra/structured/structured_cache.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "policies/dra/claim_rules.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/structured_objects.h"

namespace drasim {
namespace {

std::string CacheKey(absl::string_view ns, absl::string_view name) {
  return absl::StrCat(ns, "/", name);
}

}  // namespace

const ClaimRef& StructuredCache::Entry::claim() const {
  if (v1 == nullptr) v1 = ClaimToV1(*object);
  return v1;
}

bool StructuredCache::Entry::allocated() const {
  return object != nullptr ? object->status.allocation != nullptr : IsAllocatedClaim(*v1);
}

ClaimRef StructuredCache::FindClaim(absl::string_view ns, absl::string_view name) const {
  const auto found = claims_.find(CacheKey(ns, name));
  return found == claims_.end() ? nullptr : found->second.claim();
}

void StructuredCache::ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const {
  for (const auto& [key, entry] : claims_) visit(entry.claim());
}

const proto::kube::DeviceClass* StructuredCache::FindClass(absl::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &*found->second;
}

ClaimRef StructuredCache::FindExtendedClaim(const proto::kube::Pod& pod) const {
  Uid uid = 0;
  if (!absl::SimpleAtoi(pod.metadata().uid(), &uid)) return nullptr;
  const auto owned = extended_.find(uid);
  return owned == extended_.end() ? nullptr : claims_.find(*owned->second.begin())->second.claim();
}

void StructuredCache::Put(const std::string& key, Entry entry) {
  Entry& known = claims_[key];
  Count(known.uid == 0 ? nullptr : &known, &entry);
  known = std::move(entry);
}

void StructuredCache::Count(const Entry* before, const Entry* after) {
  const bool was = before != nullptr && before->allocated();
  const bool is = after != nullptr && after->allocated();
  if (was == is) return;
  allocated_.OnClaim(was ? before->claim().get() : nullptr, is ? after->claim().get() : nullptr);
}

// Only a claim that is cached can be assumed: it may have been deleted in the meantime.
void StructuredCache::Assume(const ClaimRef& claim) {
  const proto::kube::ObjectMeta& metadata = claim->metadata();
  Entry entry;
  DRASIM_CHECK(absl::SimpleAtoi(metadata.uid(), &entry.uid));
  DRASIM_CHECK(absl::SimpleAtoi(metadata.resource_version(), &entry.version));
  entry.v1 = claim;
  const std::string key = CacheKey(metadata.namespace_(), metadata.name());
  const auto known = claims_.find(key);
  const bool is_news = known != claims_.end() && known->second.uid == entry.uid &&
                       known->second.version < entry.version;
  if (is_news) Put(key, std::move(entry));
}

void StructuredCache::OnClaim(const Ref<ResourceClaim>& object, bool deleted) {
  const ResourceClaim& claim = *object;
  if (!claim.spec.is_structured()) return;
  const std::string key = CacheKey(claim.meta.ns.text(), claim.meta.name.text());
  const auto known = claims_.find(key);
  if (deleted) {
    // A younger claim of that name is another one.
    if (known == claims_.end() || known->second.uid != claim.meta.uid) return;
    Count(&known->second, nullptr);
    claims_.erase(known);
    if (!claim.for_extended_resources) return;
    const auto owned = extended_.find(claim.meta.owner);
    owned->second.erase(key);
    if (owned->second.empty()) extended_.erase(owned);
    return;
  }
  if (known != claims_.end() &&
      (known->second.uid > claim.meta.uid || known->second.version >= claim.meta.version)) {
    return;
  }
  if (claim.for_extended_resources) extended_[claim.meta.owner].insert(key);
  Put(key, {claim.meta.uid, claim.meta.version, object, nullptr});
}

void StructuredCache::OnClass(const DeviceClassObject& device_class, bool deleted) {
  const std::string name(device_class.meta.name.text());
  if (deleted) {
    classes_.erase(name);
  } else {
    classes_.insert_or_assign(name, device_class.object);
  }
}

void StructuredCache::Clear() {
  for (const auto& [key, entry] : claims_) Count(&entry, nullptr);
  claims_.clear();
  extended_.clear();
  allocated_ = AllocatedDevices(cluster_);
  classes_.clear();
}

// --- Checkpoints ---

void StructuredCache::Archive(const ObjectCache& objects, PlaneWriter& archive) const {
  archive(allocated_, claims_.size());
  for (const auto& [key, entry] : claims_) {
    const Ref<ResourceClaim> known = objects.of<ResourceClaim>().Find(entry.uid);
    const bool is_assumed = known == nullptr || known->meta.version != entry.version;
    archive(entry.uid, entry.version, is_assumed ? entry.claim() : nullptr);
  }
}

void StructuredCache::Archive(const ObjectCache& objects, PlaneReader& archive) {
  claims_.clear();
  extended_.clear();
  classes_.clear();
  archive(allocated_);
  for (size_t left = archive.state().Count(); left > 0 && archive.ok(); --left) {
    Entry entry;
    archive(entry.uid, entry.version, entry.v1);
    if (entry.v1 == nullptr) {
      entry.object = objects.of<ResourceClaim>().Find(entry.uid);
      if (entry.object == nullptr) {
        return archive.Fail("a claim of the scheduler is not in its cache");
      }
    }
    const auto& metadata = entry.claim()->metadata();
    const std::string key = CacheKey(metadata.namespace_(), metadata.name());
    Uid owner = 0;
    if (IsExtendedResourceClaim(*entry.claim()) && metadata.owner_references_size() > 0 &&
        absl::SimpleAtoi(metadata.owner_references(0).uid(), &owner)) {
      extended_[owner].insert(key);
    }
    claims_[key] = std::move(entry);
  }
  for (const Ref<DeviceClassObject>& device_class : objects.of<DeviceClassObject>().Sorted()) {
    OnClass(*device_class, /*deleted=*/false);
  }
}

}  // namespace drasim
