#include "model/gpu_topology.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/device_spec.h"

namespace drasim {
namespace {

// Scores of the closest PCIe connection and of one NVLink.
constexpr int32_t kAcrossSockets = 10;
constexpr int32_t kBelowOneSocket = 20;
constexpr int32_t kOneHostBridge = 30;
constexpr int32_t kSeveralSwitches = 40;
constexpr int32_t kOneSwitch = 50;
constexpr int32_t kNvLink = 100;

struct NamedLinks {
  absl::string_view model;
  absl::string_view form;  // must also occur in the name
  GpuProductLinks links;
};

// The first match counts. Link counts of switched products are NVIDIA's (600 GB/s over 12
// third-generation links, 900 GB/s over 18 of the fourth, 1.8 TB/s over 18 of the fifth). The link
// count of a bridge is approximate, since one bridge takes all links of a card. Eight V100 form a
// mesh that none of the three arrangements describes, so their links connect nothing until a
// DeviceSpec says where they lead.
constexpr std::array<NamedLinks, 11> kLinks = {{
    {"a100", "sxm", {12, true, false}},
    {"h100", "sxm", {18, true, false}},
    {"h200", "sxm", {18, true, false}},
    {"b200", "", {18, true, false}},
    {"b300", "", {18, true, false}},
    {"gb200", "", {18, true, false}},
    {"gb300", "", {18, true, false}},
    {"h100", "nvl", {12, false, true}},
    {"h100", "pcie", {12, false, true}},
    {"a30", "", {4, false, true}},
    {"v100", "sxm", {6, false, false}},
}};

// True when `model` occurs in `name` at the start of a word and no digit follows: "a30" is in
// "nvidia a30-24gb" but not in "rtx a3000", and "h200" is not in "gh200".
bool Names(absl::string_view name, absl::string_view model) {
  for (size_t at = name.find(model); at != absl::string_view::npos; at = name.find(model, at + 1)) {
    const size_t end = at + model.size();
    const bool starts = at == 0 || !absl::ascii_isalnum(static_cast<unsigned char>(name[at - 1]));
    const bool ends =
        end == name.size() || !absl::ascii_isdigit(static_cast<unsigned char>(name[end]));
    if (starts && ends) return true;
  }
  return false;
}

int32_t PcieScore(const DeviceSpec& a, const DeviceSpec& b) {
  if (!a.pcie_root.empty() && a.pcie_root == b.pcie_root) {
    if (a.pcie_switch < 0 || b.pcie_switch < 0) return kOneHostBridge;
    return a.pcie_switch == b.pcie_switch ? kOneSwitch : kSeveralSwitches;
  }
  return a.numa_node == b.numa_node ? kBelowOneSocket : kAcrossSockets;
}

enum class Arrangement : uint8_t { kNone, kPairs, kSwitch };

Arrangement ArrangementOf(const DeviceSpec& gpu, const GpuProductLinks& links) {
  if (gpu.nvlink == "switch") return Arrangement::kSwitch;
  if (gpu.nvlink == "pairs") return Arrangement::kPairs;
  DRASIM_CHECK(gpu.nvlink.empty() || gpu.nvlink == "none");
  if (gpu.nvlink.empty() && links.nvswitch) return Arrangement::kSwitch;
  if (gpu.nvlink.empty() && links.bridge) return Arrangement::kPairs;
  return Arrangement::kNone;
}

// The number of NVLinks between GPUs `a` and `b`, by their indices on the node. `links` holds the
// defaults of their products.
int32_t NvLinks(absl::Span<const DeviceSpec> gpus, absl::Span<const GpuProductLinks> links,
                size_t a, size_t b) {
  const GpuProductLinks& of_a = links[a];
  const GpuProductLinks& of_b = links[b];
  Arrangement at_a = ArrangementOf(gpus[a], of_a);
  Arrangement at_b = ArrangementOf(gpus[b], of_b);
  // An explicit description overrides the other GPU's product default.
  if (gpus[a].nvlink.empty() && !gpus[b].nvlink.empty()) at_a = at_b;
  if (gpus[b].nvlink.empty() && !gpus[a].nvlink.empty()) at_b = at_a;
  if (at_a != at_b || at_a == Arrangement::kNone) return 0;
  if (at_a == Arrangement::kPairs && a / 2 != b / 2) return 0;
  // A link has two ends. A product with an unknown link count takes the other's, and at least one,
  // because the description states a link.
  if (of_a.nvlinks == 0 || of_b.nvlinks == 0) return std::max({of_a.nvlinks, of_b.nvlinks, 1});
  return std::min(of_a.nvlinks, of_b.nvlinks);
}

}  // namespace

GpuProductLinks LinksOfProduct(absl::string_view product) {
  const std::string name = absl::AsciiStrToLower(product);
  for (const NamedLinks& known : kLinks) {
    if (Names(name, known.model) && absl::StrContains(name, known.form)) return known.links;
  }
  return GpuProductLinks();
}

GpuTopology::GpuTopology(absl::Span<const DeviceSpec> gpus)
    : size_(gpus.size()), score_(gpus.size() * gpus.size(), 0) {
  DRASIM_CHECK_LE(size_, static_cast<size_t>(kMaxDevicesPerNode));
  std::vector<GpuProductLinks> links;
  links.reserve(size_);
  for (const DeviceSpec& gpu : gpus) links.push_back(LinksOfProduct(gpu.product));
  for (size_t a = 0; a < size_; ++a) {
    for (size_t b = a + 1; b < size_; ++b) {
      const int32_t score = PcieScore(gpus[a], gpus[b]) + kNvLink * NvLinks(gpus, links, a, b);
      score_[a * size_ + b] = score;
      score_[b * size_ + a] = score;
    }
  }
}

}  // namespace drasim
