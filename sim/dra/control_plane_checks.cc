// What must hold after every event, and when all is over.

#include <algorithm>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "sim/dra/api_server.h"
#include "sim/dra/control_plane.h"

namespace drasim {
namespace {

absl::Status Broken(const ResourceClaim& claim, absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("claim '", claim.meta.ns.text(), "/", claim.meta.name.text(), "' ", what));
}

}  // namespace

absl::Status ControlPlane::CheckInvariants(bool at_rest) const {
  for (const Ref<ResourceClaim>& claim :
       network_->server().objects().of<ResourceClaim>().Sorted()) {
    if (absl::Status s = CheckClaim(*claim); !s.ok()) return s;
  }
  if (absl::Status s = CheckDevices(); !s.ok()) return s;
  return at_rest ? CheckRest() : absl::OkStatus();
}

absl::Status ControlPlane::CheckClaim(const ResourceClaim& claim) const {
  const ClaimStatus& status = claim.status;
  if (absl::Status s = ValidateClaim(&claim, claim); !s.ok()) return Broken(claim, s.message());
  if (status.allocation != nullptr && status.driver.empty()) {
    return Broken(claim, "is allocated by nobody");
  }
  // Who allocates puts his finalizer there first.
  for (size_t i = 0; i < drivers_.size(); ++i) {
    if (status.allocation == nullptr || status.driver.text() != drivers_[i]->name()) continue;
    const Name finalizer = driver_controllers_[i]->finalizer();
    const auto& held = claim.meta.finalizers;
    if (std::find(held.begin(), held.end(), finalizer) == held.end()) {
      return Broken(claim, "is allocated without the finalizer of its driver");
    }
  }
  return absl::OkStatus();
}

// By what the drivers have written: a device, or a part of it, to one allocation.
absl::Status ControlPlane::CheckDevices() const {
  absl::btree_map<std::pair<NodeId, uint32_t>, int64_t> milli;
  for (const Ref<ResourceClaim>& claim :
       network_->server().objects().of<ResourceClaim>().Sorted()) {
    if (claim->status.allocation == nullptr) continue;
    const Allocation& allocation = *claim->status.allocation;
    for (const DeviceGrant& grant : allocation.grants) {
      int64_t& sum = milli[{allocation.node, grant.device}];
      sum += grant.milli;
      if (sum > kDeviceMilli) return Broken(*claim, "has a device that another claim has too");
    }
  }
  return absl::OkStatus();
}

absl::Status ControlPlane::CheckRest() const {
  const ObjectCache& objects = network_->server().objects();
  for (const Ref<ResourceClaim>& claim : objects.of<ResourceClaim>().Sorted()) {
    if (claim->meta.owner != 0 && objects.pod(claim->meta.owner) == nullptr) {
      return Broken(*claim, "has outlived the pod that it was made for");
    }
    // A pod that waits with a claim that a user deletes keeps it, and waits for ever (KEP-3063).
    if (claim->meta.deleting && claim->status.reserved_for.empty()) {
      return Broken(*claim, "is being deleted for ever");
    }
    for (const Consumer& consumer : claim->status.reserved_for) {
      if (consumer.resource.text() != "pods") continue;
      const Ref<Pod> pod = objects.pod(consumer.uid);
      if (pod == nullptr || IsDone(*pod))
        return Broken(*claim, "is reserved for a pod that is gone");
    }
    const bool waits = claim->spec.mode == AllocationMode::kWaitForFirstConsumer;
    if (waits && claim->status.deallocation_requested) {
      return Broken(*claim, "was never deallocated");
    }
  }
  for (const Ref<PodSchedulingContext>& context : objects.of<PodSchedulingContext>().Sorted()) {
    if (objects.pod(context->meta.owner) == nullptr) {
      return absl::InternalError(
          absl::StrCat("the context '", context->meta.name.text(), "' has outlived its pod"));
    }
  }
  return absl::OkStatus();
}

}  // namespace drasim
