#include "gui/view/held_devices.h"

#include <bit>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/mig_table.h"
#include "model/number_text.h"
#include "model/pod_shape.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

// The grants, also of a pod whose DeviceSet says it all.
DeviceGrants GrantsOf(const ClusterState& cluster, PodId pod) {
  const absl::Span<const DeviceGrant> given = cluster.pod_grants(pod);
  DeviceGrants grants(given.begin(), given.end());
  if (!grants.empty()) return grants;
  const auto milli = static_cast<int16_t>(cluster.pod_shape(pod).request.gpu_milli);
  for (const size_t device : cluster.pod_devices(pod)) {
    grants.push_back({static_cast<uint8_t>(device), kNoPlacement, milli});
  }
  return grants;
}

std::string MilliText(int32_t milli) {
  if (milli == kDeviceMilli) return "GPU";
  return absl::StrCat(DoubleText(static_cast<double>(milli) / kDeviceMilli), " GPU");
}

}  // namespace

std::vector<HeldPart> HeldPartsOf(const ClusterState& cluster, PodId pod) {
  std::vector<HeldPart> parts;
  for (const DeviceGrant& grant : GrantsOf(cluster, pod)) {
    HeldPart part;
    part.device = grant.device;
    if (grant.placement != kNoPlacement) {
      const MigTable* const table = cluster.mig_table(cluster.pod_node(pod), grant.device);
      const MigPlacement& placement = table->placements()[grant.placement];
      const MigProfile& profile = table->profiles()[placement.profile];
      part.start = placement.start;
      part.size = profile.size;
      part.whole = table->product().units;
      part.label = profile.name;
      if (grant.milli < MilliOfUnits(profile.size, part.whole)) {
        absl::StrAppend(&part.label, ", ", MilliText(grant.milli));
      }
    } else {
      part.size = grant.milli;
      part.whole = kDeviceMilli;
      part.label = MilliText(grant.milli);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string HeldDevicesText(const ClusterState& cluster, PodId pod) {
  std::string text;
  AppendGrants(cluster, cluster.pod_node(pod), GrantsOf(cluster, pod), &text);
  return text;
}

std::vector<int32_t> AllocatedOnDevices(const ClusterState& cluster, NodeId node) {
  std::vector<int32_t> allocated;
  const bool mig = cluster.any_mig() && cluster.has_mig(node);
  for (const int16_t idle : cluster.device_milli_idle(node)) {
    int32_t milli = kDeviceMilli - idle;
    if (mig) {
      // Nothing but MIG may use a GPU with an instance, so it reads as idle 0.
      const MigState state = cluster.device_mig(node)[allocated.size()];
      if (state != 0) {
        const MigTable* const table = cluster.mig_table(node, allocated.size());
        milli = MilliOfUnits(std::popcount(table->units_used(state)), table->product().units);
      }
    }
    allocated.push_back(milli);
  }
  return allocated;
}

}  // namespace drasim::view
