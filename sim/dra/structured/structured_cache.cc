#include "sim/dra/structured/structured_cache.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "policies/dra/claim_rules.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/structured_objects.h"

namespace drasim {
ClaimRef StructuredCache::FindClaim(absl::string_view ns, absl::string_view name) const {
  const auto found = claims_.find(KeyView(ns, name));
  return found == claims_.end() ? nullptr : found->second.claim;
}

void StructuredCache::ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const {
  for (const Entry* entry : Sorted()) visit(entry->claim);
}

const proto::kube::DeviceClass* StructuredCache::FindClass(absl::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &*found->second;
}

ClaimRef StructuredCache::FindExtendedClaim(const ClaimingPod& pod) const {
  Uid uid = 0;
  if (!absl::SimpleAtoi(pod.uid, &uid)) return nullptr;
  const auto owned = extended_.find(uid);
  return owned == extended_.end() ? nullptr : claims_.find(*owned->second.begin())->second.claim;
}

std::vector<const StructuredCache::Entry*> StructuredCache::Sorted() const {
  std::vector<std::pair<std::string, const Entry*>> claims;
  claims.reserve(claims_.size());
  absl::c_for_each(claims_, [&claims](const auto& claim) {
    const auto& [ns, name] = claim.first;
    claims.emplace_back(absl::StrCat(ns, "/", name), &claim.second);
  });
  absl::c_sort(claims);
  std::vector<const Entry*> entries;
  entries.reserve(claims.size());
  for (const auto& [text, entry] : claims) entries.push_back(entry);
  return entries;
}

void StructuredCache::Put(const KeyView& key, Entry entry) {
  const auto found = claims_.find(key);
  Entry& known = found != claims_.end() ? found->second : claims_[Key(key.first, key.second)];
  Count(known.uid == 0 ? nullptr : &known, &entry);
  known = std::move(entry);
}

void StructuredCache::Count(const Entry* before, const Entry* after) {
  allocated_.OnClaim(before == nullptr ? nullptr : before->claim,
                     after == nullptr ? nullptr : after->claim);
}

// Only a claim that is cached can be assumed: it may have been deleted in the meantime.
void StructuredCache::Assume(const ClaimRef& claim) {
  Entry entry;
  entry.claim = claim;
  if (const Ref<ResourceClaim> object = ObjectOf(claim); object != nullptr) {
    entry.uid = object->meta.uid;
    entry.version = object->meta.version;
  } else {
    const proto::kube::ObjectMeta& metadata = claim->metadata();
    DRASIM_CHECK(absl::SimpleAtoi(metadata.uid(), &entry.uid));
    DRASIM_CHECK(absl::SimpleAtoi(metadata.resource_version(), &entry.version));
  }
  const KeyView key(claim.ns(), claim.name());
  const auto known = claims_.find(key);
  const bool is_news = known != claims_.end() && known->second.uid == entry.uid &&
                       known->second.version < entry.version;
  if (is_news) Put(key, std::move(entry));
}

void StructuredCache::OnClaim(const Ref<ResourceClaim>& object, bool deleted) {
  const ResourceClaim& claim = *object;
  if (!claim.spec.is_structured()) return;
  const KeyView key(claim.meta.ns.text(), claim.meta.name.text());
  const auto known = claims_.find(key);
  if (deleted) {
    // A younger claim of that name is another one.
    if (known == claims_.end() || known->second.uid != claim.meta.uid) return;
    Count(&known->second, nullptr);
    claims_.erase(known);
    if (!claim.for_extended_resources) return;
    const auto owned = extended_.find(claim.meta.owner);
    owned->second.erase(Key(key.first, key.second));
    if (owned->second.empty()) extended_.erase(owned);
    return;
  }
  if (known != claims_.end() &&
      (known->second.uid > claim.meta.uid || known->second.version >= claim.meta.version)) {
    return;
  }
  if (claim.for_extended_resources) extended_[claim.meta.owner].emplace(key.first, key.second);
  Put(key, {claim.meta.uid, claim.meta.version, ClaimToV1(object)});
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
  for (const Entry* entry : Sorted()) Count(entry, nullptr);
  claims_.clear();
  extended_.clear();
  allocated_ = AllocatedDevices(cluster_);
  classes_.clear();
}

// --- Checkpoints ---

void StructuredCache::Archive(const ObjectCache& objects, PlaneWriter& archive) const {
  archive(allocated_, claims_.size());
  for (const Entry* entry : Sorted()) {
    const Ref<ResourceClaim> known = objects.of<ResourceClaim>().Find(entry->uid);
    const bool is_assumed = known == nullptr || known->meta.version != entry->version;
    archive(entry->uid, entry->version, is_assumed ? entry->claim : ClaimRef());
  }
}

void StructuredCache::Archive(const ObjectCache& objects, PlaneReader& archive) {
  claims_.clear();
  extended_.clear();
  classes_.clear();
  archive(allocated_);
  for (size_t left = archive.state().Count(); left > 0 && archive.ok(); --left) {
    Entry entry;
    archive(entry.uid, entry.version, entry.claim);
    if (entry.claim == nullptr) {
      Ref<ResourceClaim> object = objects.of<ResourceClaim>().Find(entry.uid);
      if (object == nullptr) return archive.Fail("a claim of the scheduler is not in its cache");
      entry.claim = ClaimToV1(std::move(object));
    }
    const auto& metadata = entry.claim->metadata();
    Key key(metadata.namespace_(), metadata.name());
    Uid owner = 0;
    if (IsExtendedResourceClaim(*entry.claim) && metadata.owner_references_size() > 0 &&
        absl::SimpleAtoi(metadata.owner_references(0).uid(), &owner)) {
      extended_[owner].insert(key);
    }
    claims_[std::move(key)] = std::move(entry);
  }
  for (const Ref<DeviceClassObject>& device_class : objects.of<DeviceClassObject>().Sorted()) {
    OnClass(*device_class, /*deleted=*/false);
  }
}

}  // namespace drasim
