#include "sim/dra/classic/plane_checks.h"

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
#include "model/status_macros.h"
#include "sim/dra/api/api_server.h"
#include "sim/dra/api/api_validation.h"

namespace drasim {
namespace {

absl::Status Broken(const ResourceClaim& claim, absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("claim '", claim.meta.ns.text(), "/", claim.meta.name.text(), "' ", what));
}

// The library frees devices first and reports it afterwards (KEP-3063): until then two claims may
// list them.
bool IsBeingFreed(const ResourceClaim& claim) {
  return (claim.status.deallocation_requested || claim.meta.deleting) &&
         claim.status.reserved_for.empty();
}

// Total use of one GPU by claims.
struct GpuInUse {
  int64_t milli = 0;   // whole GPUs and parts
  uint16_t units = 0;  // of MIG instances
};

class PlaneChecks {
 public:
  explicit PlaneChecks(const ControlPlane& plane)
      : plane_(plane), objects_(plane.network().server().objects()), names_(plane.claim_names()) {}

  absl::Status Check(bool at_rest) const;

 private:
  absl::Status CheckClaim(const ResourceClaim& claim) const;
  // In the drivers' allocations, a device or a slot of it belongs to one claim. A claim cut from
  // another claim's devices has no grants of its own.
  absl::Status CheckDevices() const;
  absl::Status CheckPinned() const;
  // At rest there are no leaks.
  absl::Status CheckRest() const;
  // At rest a claim is prepared on a node only while a pod there uses it.
  absl::Status CheckPrepared() const;

  const ControlPlane& plane_;
  const ObjectCache& objects_;
  ClaimNames names_;
};

absl::Status PlaneChecks::Check(bool at_rest) const {
  for (const Ref<ResourceClaim>& claim : objects_.of<ResourceClaim>().Sorted()) {
    RETURN_IF_ERROR(CheckClaim(*claim));
  }
  RETURN_IF_ERROR(CheckDevices());
  RETURN_IF_ERROR(CheckPinned());
  return at_rest ? CheckRest() : absl::OkStatus();
}

absl::Status PlaneChecks::CheckClaim(const ResourceClaim& claim) const {
  const ResourceClaimStatus& status = claim.status;
  if (absl::Status s = ValidateClaim(&claim, claim); !s.ok()) return Broken(claim, s.message());
  if (claim.spec.is_structured()) {
    const bool kept = absl::c_any_of(claim.meta.finalizers, [](Name finalizer) {
      return finalizer.text() == kStructuredClaimFinalizer;
    });
    // The scheduler takes the finalizer off a claim of its own making before it deletes it.
    if (status.allocation != nullptr && !kept && !claim.for_extended_resources) {
      return Broken(claim, "has devices and no finalizer");
    }
    return absl::OkStatus();
  }
  if (status.allocation != nullptr && status.driver.empty()) {
    return Broken(claim, "is allocated by nobody");
  }
  // A driver writes its finalizer before it allocates.
  for (size_t i = 0; i < plane_.drivers(); ++i) {
    if (status.allocation == nullptr || status.driver.text() != plane_.driver(i).name()) continue;
    const Name finalizer = plane_.driver_controller(i).finalizer();
    const auto& held = claim.meta.finalizers;
    if (std::find(held.begin(), held.end(), finalizer) == held.end()) {
      return Broken(claim, "is allocated without the finalizer of its driver");
    }
  }
  return absl::OkStatus();
}

absl::Status PlaneChecks::CheckDevices() const {
  absl::btree_map<std::pair<NodeId, uint32_t>, GpuInUse> in_use;
  for (const Ref<ResourceClaim>& claim : objects_.of<ResourceClaim>().Sorted()) {
    if (claim->status.allocation == nullptr || IsBeingFreed(*claim)) continue;
    const Allocation& allocation = *claim->status.allocation;
    for (const DeviceGrant& grant : allocation.grants) {
      GpuInUse& gpu = in_use[{allocation.node, grant.device}];
      bool clashes = false;
      if (grant.placement == kNoPlacement) {
        gpu.milli += grant.milli;
        clashes = gpu.milli > kDeviceMilli || gpu.units != 0;
      } else {
        const MigTable* table = plane_.cluster().mig_table(allocation.node, grant.device);
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

absl::Status PlaneChecks::CheckPrepared() const {
  absl::btree_map<NodeId, absl::btree_set<Uid>> used;
  for (const Ref<Pod>& pod : objects_.of<Pod>().Sorted()) {
    if (!pod->node.valid() || IsDone(*pod)) continue;
    for (const PodClaim& entry : pod->claims) {
      const Ref<ResourceClaim> claim = names_.Find(objects_, *pod, entry);
      if (claim != nullptr) used[pod->node].insert(claim->meta.uid);
    }
    const Ref<ResourceClaim> extended = objects_.claim(pod->meta.ns, pod->extended_claim);
    if (extended != nullptr) used[pod->node].insert(extended->meta.uid);
  }
  for (size_t n = 0; n < plane_.cluster().node_count(); ++n) {
    const NodeId node(n);
    if (plane_.dra_manager().prepared_claims(node) > used[node].size()) {
      return absl::InternalError(absl::StrCat("node '", plane_.cluster().node_spec(node).name,
                                              "' has claims prepared that no pod there uses"));
    }
  }
  return absl::OkStatus();
}

absl::Status PlaneChecks::CheckPinned() const {
  int64_t pinned = 0;
  for (const Ref<Pod>& pod : objects_.of<Pod>().Sorted()) {
    if (pod->node.valid() || pod->claims.empty() || IsDone(*pod)) continue;
    const bool all = absl::c_all_of(pod->claims, [&](const PodClaim& entry) {
      const Ref<ResourceClaim> claim = names_.Find(objects_, *pod, entry);
      return claim != nullptr && claim->status.allocation != nullptr;
    });
    pinned += all ? 1 : 0;
  }
  if (pinned == plane_.pinned().count()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(pinned, " pods are pinned, but ", plane_.pinned().count(), " are counted"));
}

absl::Status PlaneChecks::CheckRest() const {
  for (const Ref<ResourceClaim>& claim : objects_.of<ResourceClaim>().Sorted()) {
    if (claim->meta.owner != 0 && objects_.pod(claim->meta.owner) == nullptr) {
      return Broken(*claim, "has outlived the pod that it was made for");
    }
    // A waiting pod keeps a claim that a user deletes, and waits indefinitely (KEP-3063).
    if (claim->meta.deleting && claim->status.reserved_for.empty()) {
      return Broken(*claim, "is being deleted for ever");
    }
    for (const Consumer& consumer : claim->status.reserved_for) {
      if (consumer.resource.text() != "pods") continue;
      const Ref<Pod> pod = objects_.pod(consumer.uid);
      if (pod == nullptr || IsDone(*pod))
        return Broken(*claim, "is reserved for a pod that is gone");
    }
    if (claim->status.deallocation_requested) return Broken(*claim, "was never deallocated");
  }
  for (const Ref<PodSchedulingContext>& context : objects_.of<PodSchedulingContext>().Sorted()) {
    if (objects_.pod(context->meta.owner) == nullptr) {
      return absl::InternalError(
          absl::StrCat("the context '", context->meta.name.text(), "' has outlived its pod"));
    }
  }
  return CheckPrepared();
}

}  // namespace

absl::Status CheckControlPlane(const ControlPlane& plane, bool at_rest) {
  return PlaneChecks(plane).Check(at_rest);
}

}  // namespace drasim
