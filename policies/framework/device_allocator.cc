#include "policies/framework/device_allocator.h"

#include <bit>
#include <vector>

namespace drasim {

DeviceSet FirstFittingDevices(const ResourceRequest& request,
                              absl::Span<const int16_t> device_milli_idle, DeviceSet usable) {
  DeviceSet devices;
  int32_t missing = request.gpu_count;
  for (size_t i = 0; i < device_milli_idle.size() && missing > 0; ++i) {
    if (device_milli_idle[i] < request.gpu_milli || !usable.Contains(i)) continue;
    devices.Add(i);
    --missing;
  }
  return devices;
}

DeviceSet DevicesOf(absl::Span<const DeviceGrant> grants) {
  DeviceSet devices;
  for (const DeviceGrant& g : grants) devices.Add(g.device);
  return devices;
}

DeviceGrant InstanceGrant(const MigTable& table, size_t gpu, size_t placement) {
  const int size = std::popcount(table.placements()[placement].units);
  return {static_cast<uint8_t>(gpu), static_cast<uint8_t>(placement),
          MilliOfUnits(size, table.product().units)};
}

namespace {

// Whether there is room for the rest at all, profile by profile.
bool MayFit(const MigTable& table, const std::vector<MigState>& states, DeviceSet usable,
            absl::Span<const uint8_t> rest) {
  for (size_t i = 0; i < rest.size();) {
    size_t end = i;
    while (end < rest.size() && rest[end] == rest[i]) ++end;
    int64_t room = 0;
    for (size_t g = 0; g < states.size(); ++g) {
      if (usable.Contains(g)) room += table.more(states[g], rest[i]);
    }
    if (room < static_cast<int64_t>(end - i)) return false;
    i = end;
  }
  return true;
}

// Places the instances from `next` on; `states` is as tried so far.
bool PlaceRest(const MigTable& table, std::vector<MigState>* states, DeviceSet usable,
               absl::Span<const uint8_t> profiles, size_t next, DeviceGrants* grants) {
  if (next == profiles.size()) return true;
  if (!MayFit(table, *states, usable, profiles.subspan(next))) return false;
  const uint64_t wanted = table.placements_of(profiles[next]);
  // Like instances are interchangeable: each goes behind the one before it.
  const bool like = next > 0 && profiles[next] == profiles[next - 1];
  for (size_t g = like ? grants->back().device : 0; g < states->size(); ++g) {
    if (!usable.Contains(g)) continue;
    const MigState before = (*states)[g];
    uint64_t rest = table.legal(before) & wanted;
    if (like && g == grants->back().device) rest &= ~uint64_t{0} << grants->back().placement;
    for (; rest != 0; rest &= rest - 1) {
      const auto placement = static_cast<size_t>(std::countr_zero(rest));
      (*states)[g] = table.Place(before, placement);
      grants->push_back(InstanceGrant(table, g, placement));
      if (PlaceRest(table, states, usable, profiles, next + 1, grants)) return true;
      grants->pop_back();
      (*states)[g] = before;
    }
  }
  return false;
}

}  // namespace

DeviceGrants FirstFittingInstances(const MigTable& table, absl::Span<const MigState> gpus,
                                   DeviceSet usable, absl::Span<const uint8_t> profiles) {
  DeviceGrants grants;
  if (profiles.size() == 1) {
    const uint64_t wanted = table.placements_of(profiles[0]);
    for (size_t g = 0; g < gpus.size(); ++g) {
      const uint64_t legal = usable.Contains(g) ? table.legal(gpus[g]) & wanted : 0;
      if (legal == 0) continue;
      grants.push_back(InstanceGrant(table, g, static_cast<size_t>(std::countr_zero(legal))));
      return grants;
    }
    return grants;
  }
  std::vector<MigState> states(gpus.begin(), gpus.end());
  if (!PlaceRest(table, &states, usable, profiles, 0, &grants)) grants.clear();
  return grants;
}

DeviceGrants DeviceAllocator::ProposeMig(const PodContext& pod, const ClusterState& cluster,
                                         NodeId node) {
  if (cluster.node(node).is_mixed()) {
    DeviceGrants grants;
    VisitMigModels(cluster, node, pod.shape_id, [&](uint8_t model, DeviceSet usable) {
      grants = FirstFittingInstances(*cluster.models().mig(ModelId(uint32_t{model})),
                                     cluster.device_mig(node), usable,
                                     cluster.mig_profiles(pod.shape_id, model));
      return !grants.empty();
    });
    return grants;
  }
  return FirstFittingInstances(*cluster.mig_table(node), cluster.device_mig(node),
                               cluster.mig_usable(node),
                               cluster.mig_profiles(pod.shape_id, cluster.node(node).model));
}

}  // namespace drasim
