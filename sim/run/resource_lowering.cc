#include "sim/run/resource_lowering.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/lowering.h"
#include "model/status_macros.h"
#include "policies/dra/extended_resources.h"
#include "policies/drivers/driver_classes.h"
#include "sim/control/device_plugin.h"
#include "sim/run/claim_entries.h"
#include "sim/run/claim_lowering.h"

namespace drasim {
namespace {

constexpr absl::string_view kClaimsInstead = "front_end.lowering.as: claims";

}  // namespace

ResourceLowering::ResourceLowering(const StructuredDraSpec& spec) : driver_(ServingDriver(spec)) {}

std::vector<proto::kube::DeviceClass> ResourceLowering::ClassesOf(
    const std::vector<std::string>& profiles) const {
  std::vector<proto::kube::DeviceClass> made;
  const std::vector<proto::kube::DeviceClass> chart = ClassesOfDriver(driver_);
  if (!PublishesInstances(driver_) || chart.size() < 2) return made;
  const std::string name = driver_.name().empty() ? driver_.kind() : driver_.name();
  for (const std::string& profile : profiles) {
    proto::kube::DeviceClass& added = made.emplace_back(chart[1]);
    const std::string resource = MigResourceName(profile);
    // "mig-1g.5gb.nvidia.com" for "nvidia.com/mig-1g.5gb".
    added.mutable_metadata()->set_name(absl::StrCat(resource.substr(resource.find('/') + 1), ".",
                                                    resource.substr(0, resource.find('/'))));
    added.mutable_spec()->set_extended_resource_name(resource);
    added.mutable_spec()->add_selectors()->mutable_cel()->set_expression(
        absl::StrCat("device.attributes['", name, "'].profile == '", profile, "'"));
  }
  return made;
}

absl::Status ResourceLowering::CheckGpus(const PodShape& shape) const {
  const ResourceRequest& wanted = shape.request;
  if (wanted.is_share()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pod wants ", wanted.gpu_milli,
        " thousandths of a GPU, which is no number of devices; choose whole-gpu or mig-smallest in "
        "front_end.lowering.rule, or ",
        kClaimsInstead));
  }
  if (SharesOfDevice(driver_) > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pod wants whole GPUs, of which an extended resource takes one share each "
                     "(front_end.structured.drivers.0.consumable_shares: ",
                     driver_.consumable_shares(), "); choose ", kClaimsInstead));
  }
  // A share that has become a whole GPU has as much memory as there is.
  if (shape.demand.memory_mib > 0 && shape.wanted_milli() == kDeviceMilli) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pod wants GPUs with ", shape.demand.memory_mib / std::max(1, wanted.gpu_count),
        " MiB, which an extended resource cannot ask for; choose ", kClaimsInstead));
  }
  return absl::OkStatus();
}

absl::StatusOr<PodShape> ResourceLowering::ToResources(const PodShape& lowered,
                                                       const std::set<std::string>& served) const {
  PodShape shape = lowered;
  ResourceRequest& request = shape.request;
  absl::btree_map<std::string, int64_t> amounts(request.extended.begin(), request.extended.end());
  absl::btree_map<std::string, int64_t> made;
  for (const auto& [profile, count] : lowered.request.mig) {
    const std::string resource = MigResourceName(profile);
    if (served.count(resource) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a pod wants MIG instances (", profile,
          "), expected a DeviceClass with the "
          "extendedResourceName ",
          resource,
          ", or front_end.structured.drivers.0 of the kind gpu.nvidia.com with mig: dynamic or "
          "static"));
    }
    made[resource] += count;
  }
  request.mig.clear();
  if (request.gpu_count > 0) {
    RETURN_IF_ERROR(CheckGpus(shape));
    std::string resource(kGpuResource);
    if (served.count(resource) == 0) {
      const std::vector<proto::kube::DeviceClass> chart = ClassesOfDriver(driver_);
      if (chart.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("a pod wants GPUs, expected a DeviceClass with the extendedResourceName ",
                         kGpuResource));
      }
      resource = absl::StrCat(kDeviceClassResourcePrefix, chart[0].metadata().name());
    }
    made[resource] += request.gpu_count;
    MoveGpusToClaims(&shape);
  }
  for (const auto& [resource, amount] : made) amounts[resource] += amount;
  request.extended.assign(amounts.begin(), amounts.end());
  // Containers of manifests that name other resources; the kubelet of a device plugin's node reads
  // them.
  const auto main =
      std::find_if(shape.device_plugin.containers.begin(), shape.device_plugin.containers.end(),
                   [](const ContainerRequest& container) { return !container.init; });
  if (main != shape.device_plugin.containers.end()) {
    absl::btree_map<std::string, int64_t> own(main->extended.begin(), main->extended.end());
    for (const auto& [resource, amount] : made) own[resource] += amount;
    main->extended.assign(own.begin(), own.end());
  }
  return shape;
}

}  // namespace drasim
