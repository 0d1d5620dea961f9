#include "policies/dra/claim_store.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "policies/dra/claim_rules.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// Removes the consumer; false if it was none.
bool RemoveConsumer(const std::string& uid, kube::ResourceClaimV1* claim) {
  auto* const consumers = claim->mutable_status()->mutable_reserved_for();
  const int before = consumers->size();
  consumers->erase(std::remove_if(consumers->begin(), consumers->end(),
                                  [&](const auto& consumer) { return consumer.uid() == uid; }),
                   consumers->end());
  return consumers->size() < before;
}

kube::AllocatedDeviceStatus* DeviceStatusOf(const kube::DeviceRequestAllocationResult& result,
                                            kube::ResourceClaimStatusV1* status) {
  for (kube::AllocatedDeviceStatus& device : *status->mutable_devices()) {
    if (device.driver() == result.driver() && device.pool() == result.pool() &&
        device.device() == result.device()) {
      return &device;
    }
  }
  kube::AllocatedDeviceStatus* const device = status->add_devices();
  device->set_driver(result.driver());
  device->set_pool(result.pool());
  device->set_device(result.device());
  return device;
}

}  // namespace

// --- Caches ---

ClaimRef ClaimStore::FindClaim(absl::string_view ns, absl::string_view name) const {
  const auto found = claims_.find(absl::StrCat(ns, "/", name));
  return found == claims_.end() ? nullptr : found->second;
}

void ClaimStore::ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const {
  for (const auto& [key, claim] : claims_) visit(claim);
}

ClaimRef ClaimStore::FindExtendedClaim(const ClaimingPod& pod) const {
  if (extended_.count(pod.uid) == 0) return nullptr;
  return ClaimCache::FindExtendedClaim(pod);
}

const kube::DeviceClass* ClaimStore::FindClass(absl::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

// --- Objects ---

void ClaimStore::AddClass(kube::DeviceClass device_class) {
  std::string name = device_class.metadata().name();
  classes_.insert_or_assign(std::move(name), std::move(device_class));
}

ClaimRef ClaimStore::AddClaim(kube::ResourceClaimV1 claim) { return Keep(std::move(claim)).claim; }

// --- Calls ---

void ClaimStore::Index(const kube::ResourceClaimV1& claim, bool there) {
  if (!IsExtendedResourceClaim(claim)) return;
  for (const kube::OwnerReference& owner : claim.metadata().owner_references()) {
    int64_t& claims = extended_[owner.uid()];
    claims += there ? 1 : -1;
    if (claims == 0) extended_.erase(owner.uid());
  }
}

void ClaimStore::Changed(const ClaimRef& before, const ClaimRef& after) {
  if (before != nullptr) Index(*before, /*there=*/false);
  if (after != nullptr) Index(*after, /*there=*/true);
  allocated_.OnClaim(before, after);
  OnChange(before, after);
}

ClaimReply ClaimStore::Keep(kube::ResourceClaimV1 claim) {
  claim.mutable_metadata()->set_resource_version(absl::StrCat(++version_));
  std::string key = absl::StrCat(claim.metadata().namespace_(), "/", claim.metadata().name());
  const auto kept = std::make_shared<const kube::ResourceClaimV1>(std::move(claim));
  ClaimRef& stored = claims_[std::move(key)];
  const ClaimRef before = std::exchange(stored, kept);
  Changed(before, kept);
  return {absl::OkStatus(), kept};
}

ClaimReply ClaimStore::Make(const kube::ResourceClaimV1& claim) {
  kube::ResourceClaimV1 made = claim;
  kube::ObjectMeta* const metadata = made.mutable_metadata();
  metadata->set_name(absl::StrCat(metadata->generate_name(), made_.size()));
  metadata->set_uid(absl::StrCat("claim-uid-", metadata->name()));
  made_.insert(absl::StrCat(metadata->namespace_(), "/", metadata->name()));
  OnWrite("create", "resourceclaims", metadata->name());
  return Keep(std::move(made));
}

ClaimReply ClaimStore::Write(const ClaimCall& call, const kube::ResourceClaimV1& stored) {
  kube::ResourceClaimV1 written = stored;
  if (call.verb == ClaimVerb::kRemoveReservation) {
    RemoveConsumer(call.consumer_uid, &written);
    OnWrite("patch", "resourceclaims/status", stored.metadata().name());
    return Keep(std::move(written));
  }
  if (call.claim->metadata().resource_version() != stored.metadata().resource_version()) {
    return {absl::AbortedError("the object has been modified; please apply your changes to the "
                               "latest version and try again"),
            nullptr};
  }
  if (call.verb == ClaimVerb::kUpdate) {
    *written.mutable_metadata() = call.claim->metadata();
    *written.mutable_spec() = call.claim->spec();
    OnWrite("update", "resourceclaims", stored.metadata().name());
  } else {
    *written.mutable_status() = call.claim->status();
    OnWrite("update", "resourceclaims/status", stored.metadata().name());
  }
  return Keep(std::move(written));
}

ClaimReply ClaimStore::Do(const ClaimCall& call) {
  if (call.verb == ClaimVerb::kCreate) return Make(*call.claim);
  if (call.verb == ClaimVerb::kPatchPodStatus) return {PatchPod(call), nullptr};
  const kube::ObjectMeta& metadata = call.claim->metadata();
  const auto found = claims_.find(absl::StrCat(metadata.namespace_(), "/", metadata.name()));
  if (found == claims_.end()) {
    return {absl::NotFoundError(
                absl::StrCat("resourceclaims.resource.k8s.io \"", metadata.name(), "\" not found")),
            nullptr};
  }
  if (call.verb == ClaimVerb::kGet) return {absl::OkStatus(), found->second};
  if (call.verb == ClaimVerb::kDelete) {
    OnWrite("delete", "resourceclaims", metadata.name());
    const ClaimRef deleted = found->second;
    claims_.erase(found);
    Changed(deleted, nullptr);
    return {absl::OkStatus(), nullptr};
  }
  const ClaimRef stored = found->second;
  return Write(call, *stored);
}

bool ClaimStore::Release(const std::string& key, const std::string& consumer_uid) {
  const auto found = claims_.find(key);
  if (found == claims_.end()) return false;
  kube::ResourceClaimV1 freed = *found->second;
  if (!RemoveConsumer(consumer_uid, &freed)) return false;
  const std::string name = freed.metadata().name();
  const bool unused = freed.status().reserved_for().empty();
  if (unused) freed.clear_status();
  OnWrite("update", "resourceclaims/status", name);
  Keep(freed);
  if (!unused || freed.metadata().finalizers().empty()) return true;
  freed.mutable_metadata()->clear_finalizers();
  OnWrite("update", "resourceclaims", name);
  Keep(std::move(freed));
  return true;
}

void ClaimStore::SetConditions(const std::string& ns, const std::string& claim,
                               const std::string& device,
                               absl::Span<const kube::Condition> conditions) {
  const ClaimRef stored = FindClaim(ns, claim);
  if (stored == nullptr || !IsAllocatedClaim(*stored)) return;
  kube::ResourceClaimV1 changed = *stored;
  for (const auto& result : stored->status().allocation().devices().results()) {
    if (!device.empty() && result.device() != device) continue;
    kube::AllocatedDeviceStatus* const status = DeviceStatusOf(result, changed.mutable_status());
    status->clear_conditions();
    for (const kube::Condition& condition : conditions) *status->add_conditions() = condition;
  }
  OnWrite("update", "resourceclaims/status", claim);
  Keep(std::move(changed));
}

}  // namespace drasim
