#include "policies/drivers/file_publisher.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/status_macros.h"
#include "policies/drivers/slice_pool.h"

namespace drasim {
namespace {

using proto::kube::ResourceSlice;

bool MatchesTemplate(const proto::SliceTemplate& given, const NodeHardware& node) {
  if (given.label().empty()) return true;
  for (const auto& [key, value] : node.labels) {
    if (key == given.label()) return given.value().empty() || value == given.value();
  }
  return false;
}

// "GPU-2fa81118-..." for another node: the prefix stays.
std::string UuidForNode(const std::string& uuid, const std::string& node) {
  constexpr size_t kUuidBytes = 36;
  const bool prefixed = uuid.size() > kUuidBytes && uuid[uuid.size() - kUuidBytes - 1] == '-';
  const std::string prefix = prefixed ? uuid.substr(0, uuid.size() - kUuidBytes - 1) : "uuid";
  const std::string made = DeviceUuid(prefix, node, uuid);
  return prefixed ? made : made.substr(prefix.size() + 1);
}

void AdaptDevice(const std::string& driver, const std::string& node, proto::kube::Device* device) {
  auto& attributes = *device->mutable_attributes();
  for (const char* name : {"uuid", "parentUUID"}) {
    for (const std::string& key : {std::string(name), absl::StrCat(driver, "/", name)}) {
      const auto found = attributes.find(key);
      if (found == attributes.end() || !found->second.has_string_value()) continue;
      found->second.set_string_value(UuidForNode(found->second.string_value(), node));
    }
  }
}

ResourceSlice AdaptedTo(const std::string& node, size_t index, ResourceSlice slice) {
  proto::kube::ResourceSliceSpec* spec = slice.mutable_spec();
  const std::string model = spec->node_name();
  proto::kube::ResourcePool* pool = spec->mutable_pool();
  const std::string renamed = absl::StrReplaceAll(pool->name(), {{model, node}});
  pool->set_name(renamed == pool->name() ? absl::StrCat(renamed, "/", node) : renamed);
  spec->set_node_name(node);
  slice.clear_metadata();
  slice.mutable_metadata()->set_name(SliceName(spec->driver(), node, index));
  for (proto::kube::Device& device : *spec->mutable_devices()) {
    AdaptDevice(spec->driver(), node, &device);
  }
  return slice;
}

void ApplyConditions(const NodeHardware& node, std::vector<ResourceSlice>* slices) {
  size_t index = 0;
  for (ResourceSlice& slice : *slices) {
    google::protobuf::RepeatedPtrField<proto::kube::Device> devices;
    devices.Swap(slice.mutable_spec()->mutable_devices());
    for (proto::kube::Device& device : devices) {
      const size_t number = index++;
      if (IsWithdrawn(node, number)) continue;
      AddTaints(node, number, &device);
      *slice.mutable_spec()->add_devices() = std::move(device);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlicePublisher>> FilePublisher::Make(
    const proto::SliceDriver& options, std::vector<ResourceSlice> slices) {
  auto made = std::unique_ptr<FilePublisher>(new FilePublisher());
  ASSIGN_OR_RETURN(made->basics_, ReadPublisherBasics(options, ""));
  if (options.slices().empty()) {
    return KeyError("slices", "expected a file of ResourceSlices, for the kind slices");
  }
  const std::string& only = made->basics_.driver;
  bool any = false;
  for (ResourceSlice& slice : slices) {
    if (!only.empty() && slice.spec().driver() != only) continue;
    any = true;
    const std::string node = slice.spec().node_name();
    SortDevices(made->basics_.order, slice.mutable_spec());
    (node.empty() ? made->network_ : made->of_node_[node]).push_back(std::move(slice));
  }
  if (!any) {
    return KeyError(
        "name", absl::StrCat("found '", only, "', of which ", options.slices(), " has no slices"));
  }
  for (int i = 0; i < options.templates_size(); ++i) {
    const proto::SliceTemplate& given = options.templates(i);
    if (made->of_node_.count(given.node()) == 0) {
      return KeyError(
          absl::StrCat("templates.", i, ".node"),
          absl::StrCat("found '", given.node(), "', expected a node of ", options.slices()));
    }
    made->templates_.push_back(given);
  }
  return made;
}

std::vector<ResourceSlice> FilePublisher::SlicesOf(const NodeHardware& node) const {
  std::vector<ResourceSlice> slices;
  const auto own = of_node_.find(node.name);
  if (own != of_node_.end()) {
    slices = own->second;
  } else {
    for (const proto::SliceTemplate& given : templates_) {
      if (!MatchesTemplate(given, node)) continue;
      for (const ResourceSlice& slice : of_node_.at(given.node())) {
        slices.push_back(AdaptedTo(node.name, slices.size(), slice));
      }
      break;
    }
  }
  return slices;
}

size_t FilePublisher::DeviceCount(const NodeHardware& node) const {
  size_t devices = 0;
  for (const ResourceSlice& slice : SlicesOf(node)) {
    devices += static_cast<size_t>(slice.spec().devices_size());
  }
  return devices;
}

absl::StatusOr<std::vector<ResourceSlice>> FilePublisher::Publish(const NodeHardware& node,
                                                                  int64_t generation) {
  std::vector<ResourceSlice> slices = SlicesOf(node);
  if (!node.conditions.empty()) ApplyConditions(node, &slices);
  // The file's generation is the first; later publications follow it.
  for (ResourceSlice& slice : slices) {
    proto::kube::ResourcePool* pool = slice.mutable_spec()->mutable_pool();
    pool->set_generation(pool->generation() + generation - 1);
  }
  return slices;
}

}  // namespace drasim
