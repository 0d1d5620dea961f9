#include "sim/dra/api/claim_devices.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "model/device_grant.h"
#include "policies/framework/device_allocator.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {

Admission ClaimDevices::DevicesOf(const Pod& object, NodeId node) const {
  Admission admission;
  const auto add = [&](const Ref<ResourceClaim>& claim) {
    if (claim == nullptr || claim->status.allocation == nullptr) return;
    const Allocation& allocation = *claim->status.allocation;
    const bool first = !claim->status.reserved_for.empty() &&
                       claim->status.reserved_for.front().uid == object.meta.uid;
    if (allocation.node != node || !first) return;
    for (const DeviceGrant& grant : allocation.grants) admission.grants.push_back(grant);
  };
  for (const PodClaim& entry : object.claims) add(names_.Find(*objects_, object, entry));
  if (!object.extended_claim.empty()) {
    add(objects_->of<ResourceClaim>().Find(object.meta.ns, object.extended_claim));
  }
  admission.devices = drasim::DevicesOf(admission.grants);
  // Devices released by force may still be in use there.
  if (!admission.grants.empty() && !cluster_->CanGrant(node, admission.devices, admission.grants)) {
    admission.grants.clear();
    admission.devices = {};
  }
  return admission;
}

bool ClaimDevices::PodGone(const Ref<Pod>& object) {
  const auto is_shared = [](const PodClaim& entry) { return !entry.claim.empty(); };
  if (object == nullptr || !absl::c_any_of(object->claims, is_shared)) return false;
  gone_.push_back(object);
  return gone_.size() == 1;
}

void ClaimDevices::PassOn(PodControl* engine) {
  for (const Ref<Pod>& gone : std::exchange(gone_, {})) PassOn(*gone, engine);
}

void ClaimDevices::PassOn(const Pod& gone, PodControl* engine) const {
  for (const PodClaim& entry : gone.claims) {
    const Ref<ResourceClaim> claim = names_.Find(*objects_, gone, entry);
    if (claim == nullptr || claim->status.allocation == nullptr) continue;
    const Allocation& allocation = *claim->status.allocation;
    if (allocation.grants.empty()) continue;
    for (const Consumer& consumer : claim->status.reserved_for) {
      const Ref<Pod> pod = objects_->pod(consumer.uid);
      if (pod == nullptr || consumer.uid == gone.meta.uid || !pod->row.valid()) continue;
      if (cluster_->pod_phase(pod->row) != PodPhase::kBound ||
          cluster_->pod_node(pod->row) != allocation.node ||
          !cluster_->pod_devices(pod->row).empty()) {
        continue;
      }
      const auto devices = drasim::DevicesOf(allocation.grants);
      if (cluster_->CanGrant(allocation.node, devices, allocation.grants)) {
        engine->GiveDevices(pod->row, devices, allocation.grants);
      }
      break;
    }
  }
}

template <typename Archive, typename Self>
void ClaimDevices::Fields(Archive& archive, Self& self) {
  archive(self.gone_);
}
DRASIM_PLANE_FIELDS(ClaimDevices);

}  // namespace drasim
