// What must hold after every event, and when all is over.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/device_grant.h"
#include "model/mig_table.h"
#include "sim/dra/api_server.h"
#include "sim/dra/control_plane.h"

namespace drasim {
namespace {

absl::Status Broken(const ResourceClaim& claim, absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("claim '", claim.meta.ns.text(), "/", claim.meta.name.text(), "' ", what));
}

// The library frees devices first and says so afterwards (KEP-3063): until then they may be written
// twice.
bool IsBeingFreed(const ResourceClaim& claim) {
  return (claim.status.deallocation_requested || claim.meta.deleting) &&
         claim.status.reserved_for.empty();
}

// What claims have of one GPU.
struct GpuInUse {
  int64_t milli = 0;   // whole, or parts
  uint16_t units = 0;  // of MIG instances
};

}  // namespace

absl::Status ControlPlane::CheckInvariants(bool at_rest) const {
  for (const Ref<ResourceClaim>& claim :
       network_->server().objects().of<ResourceClaim>().Sorted()) {
    if (absl::Status s = CheckClaim(*claim); !s.ok()) return s;
  }
  if (absl::Status s = CheckDevices(); !s.ok()) return s;
  if (absl::Status s = CheckPinned(); !s.ok()) return s;
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

// By what the drivers have written: a device, or a slot of it, to one claim. What is cut from
// another claim's devices has no grants of its own.
absl::Status ControlPlane::CheckDevices() const {
  absl::btree_map<std::pair<NodeId, uint32_t>, GpuInUse> in_use;
  for (const Ref<ResourceClaim>& claim :
       network_->server().objects().of<ResourceClaim>().Sorted()) {
    if (claim->status.allocation == nullptr || IsBeingFreed(*claim)) continue;
    const Allocation& allocation = *claim->status.allocation;
    for (const DeviceGrant& grant : allocation.grants) {
      GpuInUse& gpu = in_use[{allocation.node, grant.device}];
      bool clashes = false;
      if (grant.placement == kNoPlacement) {
        gpu.milli += grant.milli;
        clashes = gpu.milli > kDeviceMilli || gpu.units != 0;
      } else {
        const MigTable* table = cluster_->mig_table(allocation.node);
        if (table == nullptr || grant.placement >= table->placements().size()) {
          return Broken(*claim, "has an instance that its GPU cannot have");
        }
        const uint16_t units = table->placements()[grant.placement].units;
        clashes = (gpu.units & units) != 0 || gpu.milli != 0;
        gpu.units = static_cast<uint16_t>(gpu.units | units);
      }
      if (clashes) return Broken(*claim, "has a device that another claim has too");
    }
  }
  return absl::OkStatus();
}

// At rest: a claim is prepared on a node only while a pod there uses it.
absl::Status ControlPlane::CheckPrepared() const {
  const ObjectCache& objects = network_->server().objects();
  absl::btree_map<NodeId, absl::btree_set<Uid>> used;
  for (const Ref<Pod>& pod : objects.of<Pod>().Sorted()) {
    if (!pod->node.valid() || IsDone(*pod)) continue;
    for (const PodClaim& entry : pod->claims) {
      const Ref<ResourceClaim> claim =
          objects.claim(pod->meta.ns, plugin_->rules().ClaimNameOf(*pod, entry));
      if (claim != nullptr) used[pod->node].insert(claim->meta.uid);
    }
  }
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeId node(n);
    if (kubelet_->prepared_claims(node) > used[node].size()) {
      return absl::InternalError(absl::StrCat("node '", cluster_->node_spec(node).name,
                                              "' has claims prepared that no pod there uses"));
    }
  }
  return absl::OkStatus();
}

absl::Status ControlPlane::CheckPinned() const {
  const ObjectCache& objects = network_->server().objects();
  int64_t pinned = 0;
  for (const Ref<Pod>& pod : objects.of<Pod>().Sorted()) {
    if (pod->node.valid() || pod->claims.empty() || IsDone(*pod)) continue;
    const bool all = absl::c_all_of(pod->claims, [&](const PodClaim& entry) {
      const Ref<ResourceClaim> claim =
          objects.claim(pod->meta.ns, plugin_->rules().ClaimNameOf(*pod, entry));
      return claim != nullptr && claim->status.allocation != nullptr;
    });
    pinned += all ? 1 : 0;
  }
  if (pinned == pinned_.count()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(pinned, " pods are pinned, but ", pinned_.count(), " are counted"));
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
    if (claim->status.deallocation_requested) return Broken(*claim, "was never deallocated");
  }
  for (const Ref<PodSchedulingContext>& context : objects.of<PodSchedulingContext>().Sorted()) {
    if (objects.pod(context->meta.owner) == nullptr) {
      return absl::InternalError(
          absl::StrCat("the context '", context->meta.name.text(), "' has outlived its pod"));
    }
  }
  return CheckPrepared();
}

}  // namespace drasim
