#include "sim/sdra/plugin_store.h"

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

ClaimRef PluginStore::FindClaim(absl::string_view ns, absl::string_view name) const {
  const auto found = claims_.find(absl::StrCat(ns, "/", name));
  return found == claims_.end() ? nullptr : found->second;
}

void PluginStore::ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const {
  for (const auto& [key, claim] : claims_) visit(claim);
}

const kube::DeviceClass* PluginStore::FindClass(absl::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

std::shared_ptr<const kube::Pod> PluginStore::FindPod(const std::string& name) const {
  const auto found = pods_.find(name);
  return found == pods_.end() ? nullptr : found->second;
}

std::vector<std::string> PluginStore::pod_names() const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods_) names.push_back(name);
  return names;
}

// --- Objects ---

void PluginStore::AddClass(kube::DeviceClass device_class) {
  std::string name = device_class.metadata().name();
  classes_.insert_or_assign(std::move(name), std::move(device_class));
}

void PluginStore::AddClaim(kube::ResourceClaimV1 claim) { Keep(std::move(claim)); }

void PluginStore::AddPod(const kube::Pod& pod) {
  pods_[pod.metadata().name()] = std::make_shared<kube::Pod>(pod);
}

// --- Calls ---

void PluginStore::Note(absl::string_view verb, const std::string& name) {
  writes_.push_back(absl::StrCat(verb, " ", name));
}

ClaimReply PluginStore::Keep(kube::ResourceClaimV1 claim) {
  claim.mutable_metadata()->set_resource_version(absl::StrCat(++version_));
  std::string key = absl::StrCat(claim.metadata().namespace_(), "/", claim.metadata().name());
  const auto kept = std::make_shared<const kube::ResourceClaimV1>(std::move(claim));
  ClaimRef& stored = claims_[std::move(key)];
  allocated_.OnClaim(stored.get(), kept.get());
  stored = kept;
  return {absl::OkStatus(), kept};
}

ClaimReply PluginStore::Make(const kube::ResourceClaimV1& claim) {
  kube::ResourceClaimV1 made = claim;
  kube::ObjectMeta* const metadata = made.mutable_metadata();
  metadata->set_name(absl::StrCat(metadata->generate_name(), made_.size()));
  metadata->set_uid(absl::StrCat("claim-uid-", metadata->name()));
  made_.insert(absl::StrCat(metadata->namespace_(), "/", metadata->name()));
  Note("create resourceclaims", metadata->name());
  return Keep(std::move(made));
}

ClaimReply PluginStore::Write(const ClaimCall& call, const kube::ResourceClaimV1& stored) {
  kube::ResourceClaimV1 written = stored;
  if (call.verb == ClaimVerb::kRemoveReservation) {
    RemoveConsumer(call.consumer_uid, &written);
    Note("patch resourceclaims/status", stored.metadata().name());
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
    Note("update resourceclaims", stored.metadata().name());
  } else {
    *written.mutable_status() = call.claim->status();
    Note("update resourceclaims/status", stored.metadata().name());
  }
  return Keep(std::move(written));
}

ClaimReply PluginStore::PatchPod(const ClaimCall& call) {
  // The pod that owns the claim.
  const std::string& name = call.claim->metadata().owner_references(0).name();
  const auto pod = pods_.find(name);
  if (pod == pods_.end()) {
    return {absl::NotFoundError(absl::StrCat("pods \"", name, "\" not found")), nullptr};
  }
  auto patched = std::make_shared<kube::Pod>(*pod->second);
  *patched->mutable_status()->mutable_extended_resource_claim_status() = *call.pod_status;
  pod->second = std::move(patched);
  Note("patch pods/status", name);
  return {absl::OkStatus(), nullptr};
}

ClaimReply PluginStore::Do(const ClaimCall& call) {
  if (call.verb == ClaimVerb::kCreate) return Make(*call.claim);
  if (call.verb == ClaimVerb::kPatchPodStatus) return PatchPod(call);
  const kube::ObjectMeta& metadata = call.claim->metadata();
  const auto found = claims_.find(absl::StrCat(metadata.namespace_(), "/", metadata.name()));
  if (found == claims_.end()) {
    return {absl::NotFoundError(
                absl::StrCat("resourceclaims.resource.k8s.io \"", metadata.name(), "\" not found")),
            nullptr};
  }
  if (call.verb == ClaimVerb::kGet) return {absl::OkStatus(), found->second};
  if (call.verb == ClaimVerb::kDelete) {
    Note("delete resourceclaims", metadata.name());
    allocated_.OnClaim(found->second.get(), nullptr);
    claims_.erase(found);
    return {absl::OkStatus(), nullptr};
  }
  const ClaimRef stored = found->second;
  return Write(call, *stored);
}

void PluginStore::Release(const std::string& pod) {
  const std::shared_ptr<const kube::Pod> released = FindPod(pod);
  DRASIM_CHECK(released != nullptr);
  const ClaimTable before = claims_;
  for (const auto& [key, claim] : before) {
    kube::ResourceClaimV1 freed = *claim;
    if (!RemoveConsumer(released->metadata().uid(), &freed)) continue;
    const bool unused = freed.status().reserved_for().empty();
    if (unused) freed.clear_status();
    Note("update resourceclaims/status", claim->metadata().name());
    Keep(freed);
    if (!unused || freed.metadata().finalizers().empty()) continue;
    freed.mutable_metadata()->clear_finalizers();
    Note("update resourceclaims", claim->metadata().name());
    Keep(std::move(freed));
  }
}

void PluginStore::SetConditions(const std::string& ns, const std::string& claim,
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
  Note("update resourceclaims/status", claim);
  Keep(std::move(changed));
}

}  // namespace drasim
