#include "sim/run/node_objects.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/kube/positions.h"
#include "model/kube/reader.h"
#include "model/kube/rules.h"
#include "model/kube/spec_of_node.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr size_t kMaxNodeListBytes = size_t{1} << 30;

// A vendor's names for the GPUs of a node.
struct GpuNames {
  absl::string_view count;
  absl::string_view model;  // a label
};
constexpr GpuNames kGpuNames[] = {
    {"nvidia.com/gpu", "nvidia.com/gpu.product"},
    {"alibabacloud.com/gpu-count", "alibabacloud.com/gpu-card-model"},
};
// Redundant: gpu-count in thousandths.
constexpr absl::string_view kGpuMilli = "alibabacloud.com/gpu-milli";

// Turns the counts of GPUs among the extended resources into GPUs.
absl::Status SetGpus(const proto::kube::Node& object, NodeSpec* node) {
  const KubeAmounts amounts(node->extended.begin(), node->extended.end());
  for (const GpuNames& names : kGpuNames) {
    const int64_t gpus = AmountOf(amounts, std::string(names.count));
    if (gpus == 0) continue;
    if (gpus > kMaxDevicesPerNode - node->gpu_count) {
      return KeyError(absl::StrCat("status.allocatable[", names.count, "]"),
                      absl::StrCat("found ", gpus, ", expected at most ", kMaxDevicesPerNode,
                                   " GPUs on a node"));
    }
    node->gpu_count += static_cast<int32_t>(gpus);
    const auto& labels = object.metadata().labels();
    const auto label = labels.find(std::string(names.model));
    if (label != labels.end()) node->gpu_model = label->second;
  }
  return absl::OkStatus();
}

bool IsOtherDevice(absl::string_view resource) {
  if (resource == kGpuMilli) return false;
  for (const GpuNames& names : kGpuNames) {
    if (resource == names.count) return false;
  }
  return IsExtendedResource(resource);
}

// Amounts beyond int64 arrive cut to it.
absl::Status CheckCountable(const NodeSpec& node) {
  constexpr int64_t kTooMuch = std::numeric_limits<int64_t>::max();
  std::string name;
  if (node.cpu_milli == kTooMuch) name = "cpu";
  if (node.memory_bytes == kTooMuch) name = "memory";
  if (node.pods == kTooMuch) name = "pods";
  for (const auto& [resource, amount] : node.extended) {
    if (amount == kTooMuch) name = resource;
  }
  if (name.empty()) return absl::OkStatus();
  return KeyError(absl::StrCat("status.allocatable[", name, "]"),
                  absl::StrCat("found more than can be counted, expected at most ",
                               kTooMuch / (name == "cpu" ? 1000 : 1)));
}

}  // namespace

absl::StatusOr<NodeSpec> NodeOfObject(const proto::kube::Node& object, bool other_resources) {
  NodeSpec node = SpecOfNode(object);
  RETURN_IF_ERROR(CheckCountable(node));
  // Lists of nodes for simulations may leave the pods out.
  if (AllocatableOfNode(object.status()).count("pods") == 0) node.pods = NodeSpec().pods;
  RETURN_IF_ERROR(SetGpus(object, &node));
  std::erase_if(node.extended, [other_resources](const auto& amount) {
    if (!IsExtendedResource(amount.first)) return !other_resources;
    return !IsOtherDevice(amount.first);
  });
  // The front end makes the labels of GPU feature discovery.
  std::erase_if(node.labels,
                [](const auto& label) { return absl::StartsWith(label.first, "nvidia.com/"); });
  return node;
}

bool HoldsNodeObjects(absl::string_view path) {
  absl::ConsumeSuffix(&path, ".gz");
  return absl::EndsWith(path, ".yaml") || absl::EndsWith(path, ".yml") ||
         absl::EndsWith(path, ".json");
}

absl::StatusOr<std::vector<NodeSpec>> ReadNodeObjects(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxNodeListBytes));
  const std::string& name = source->name();
  ASSIGN_OR_RETURN(const KubeManifest manifest, ReadKubeObjects(text, name));
  std::vector<NodeSpec> nodes;
  absl::flat_hash_set<std::string> names;
  for (size_t i = 0; i < manifest.objects.size(); ++i) {
    const KubeObject& read = manifest.objects[i];
    if (!read.object.has_node()) continue;
    absl::StatusOr<NodeSpec> node = NodeOfObject(read.object.node(), /*other_resources=*/false);
    absl::Status status = node.status();
    if (node.ok() && !names.insert(node->name).second) {
      status =
          KeyError("metadata.name", absl::StrCat("found '", ShownText(node->name),
                                                 "', expected a name that no earlier node has"));
    }
    if (!status.ok()) {
      KubePositions positions(text, name, manifest.objects);
      return absl::InvalidArgumentError(
          absl::StrCat(positions.Locate(i, KeyOfError(status)), ": ", status.message()));
    }
    nodes.push_back(*std::move(node));
  }
  if (!nodes.empty()) return nodes;
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": found no Node among ", manifest.objects.size(),
                   " object(s), expected what `kubectl get nodes -o yaml` prints, or a table"));
}

}  // namespace drasim
