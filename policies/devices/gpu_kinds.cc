#include "policies/devices/gpu_kinds.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/node_spec.h"

namespace drasim {
namespace {

// Products outside the MIG catalogue, by a part of their name in lower case; the first match
// counts. Memory is nominal.
struct KnownGpu {
  const char* part;
  const char* brand;
  const char* architecture;
  const char* compute_capability;
  int64_t memory_gib;  // 0: the product has several sizes
};
constexpr KnownGpu kKnownGpus[] = {
    {"v100m16", "Tesla", "volta", "7.0", 16},    {"v100m32", "Tesla", "volta", "7.0", 32},
    {"v100", "Tesla", "volta", "7.0", 0},        {"p100", "Tesla", "pascal", "6.0", 16},
    {"p40", "Tesla", "pascal", "6.1", 24},       {"p4", "Tesla", "pascal", "6.1", 8},
    {"k80", "Tesla", "kepler", "3.7", 12},       {"t4", "Tesla", "turing", "7.5", 16},
    {"a100", "Nvidia", "ampere", "8.0", 0},      {"a30", "Nvidia", "ampere", "8.0", 24},
    {"a40", "Nvidia", "ampere", "8.6", 48},      {"a16", "Nvidia", "ampere", "8.6", 16},
    {"a10", "Nvidia", "ampere", "8.6", 24},      {"l40", "Nvidia", "ada-lovelace", "8.9", 48},
    {"l4", "Nvidia", "ada-lovelace", "8.9", 24}, {"h200", "Nvidia", "hopper", "9.0", 141},
    {"h100", "Nvidia", "hopper", "9.0", 0},      {"flex-140", "Intel", "xe-hpg", "", 6},
    {"flex-170", "Intel", "xe-hpg", "", 16},     {"max-1100", "Intel", "xe-hpc", "", 48},
    {"max-1550", "Intel", "xe-hpc", "", 128},
};

absl::string_view NodeLabel(const NodeSpec& spec, absl::string_view key) {
  for (const auto& [known, value] : spec.labels) {
    if (known == key) return value;
  }
  return {};
}

// True when `part` occurs in the name as a word or at the end of one: "t4" is not in "gt430".
bool NamesGpu(absl::string_view name, absl::string_view part) {
  for (size_t at = name.find(part); at != absl::string_view::npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    const bool begins = at == 0 || !absl::ascii_isalnum(static_cast<unsigned char>(name[at - 1]));
    const bool ends =
        end == name.size() || !absl::ascii_isdigit(static_cast<unsigned char>(name[end]));
    if (begins && ends) return true;
  }
  return false;
}

void FillFromLabels(const NodeSpec& spec, GpuKind& kind) {
  kind.driver_version = std::string(NodeLabel(spec, "nvidia.com/cuda.driver-version.full"));
  kind.cuda_version = std::string(NodeLabel(spec, "nvidia.com/cuda.runtime-version.full"));
  if (!spec.gpu_models.empty()) return;
  const absl::string_view product = NodeLabel(spec, "nvidia.com/gpu.product");
  if (!product.empty()) kind.product = std::string(product);
  int64_t memory = 0;
  if (absl::SimpleAtoi(NodeLabel(spec, "nvidia.com/gpu.memory"), &memory) && memory > 0) {
    kind.memory_mib = memory;
  }
  kind.architecture = std::string(NodeLabel(spec, "nvidia.com/gpu.family"));
  const absl::string_view major = NodeLabel(spec, "nvidia.com/gpu.compute.major");
  const absl::string_view minor = NodeLabel(spec, "nvidia.com/gpu.compute.minor");
  if (!major.empty()) {
    kind.compute_capability = absl::StrCat(major, ".", minor.empty() ? "0" : minor);
  }
}

}  // namespace

GpuKind KindOfGpus(const ClusterState& cluster, NodeId node, size_t gpu) {
  const NodeSpec& spec = cluster.node_spec(node);
  GpuKind kind;
  kind.model = GpuModelOf(spec, gpu);
  kind.product = kind.model;
  FillFromLabels(spec, kind);
  kind.table = cluster.mig_table(node, gpu);
  if (kind.table != nullptr) {
    const MigProduct& product = kind.table->product();
    kind.brand = "Nvidia";
    if (kind.architecture.empty()) kind.architecture = product.architecture;
    if (kind.compute_capability.empty()) kind.compute_capability = product.compute_capability;
    if (kind.memory_mib == 0 && product.memory_mib > 0) kind.memory_mib = product.memory_mib;
    if (kind.memory_mib == 0) kind.memory_mib = int64_t{product.memory_nominal_gb} * 1024;
  }
  const std::string name = absl::AsciiStrToLower(kind.product);
  for (const KnownGpu& known : kKnownGpus) {
    if (!NamesGpu(name, known.part)) continue;
    if (kind.brand.empty()) kind.brand = known.brand;
    if (kind.architecture.empty()) kind.architecture = known.architecture;
    if (kind.compute_capability.empty()) kind.compute_capability = known.compute_capability;
    if (kind.memory_mib == 0) kind.memory_mib = known.memory_gib * 1024;
    break;
  }
  return kind;
}

}  // namespace drasim
