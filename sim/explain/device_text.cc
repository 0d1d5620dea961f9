#include "sim/explain/device_text.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sim/record/pod_log.h"

namespace drasim {

std::string GrantsText(const ClusterState& cluster, NodeId node,
                       absl::Span<const DeviceGrant> grants) {
  if (grants.empty()) return "";
  std::string text;
  AppendGrants(cluster.any_mig() ? cluster.mig_table(node) : nullptr, grants, &text);
  return absl::StrCat("GPU ", absl::StrReplaceAll(text, {{";", ","}}));
}

std::string DevicesText(const ClusterState& cluster, PodId pod, NodeId node) {
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(pod);
  const bool whole = std::all_of(grants.begin(), grants.end(), [](const DeviceGrant& grant) {
    return grant.placement == kNoPlacement && grant.milli == kDeviceMilli;
  });
  if (!whole) return GrantsText(cluster, node, grants);
  std::string text;
  const uint64_t devices = cluster.pod_devices(pod);
  for (int first = 0; devices >> first != 0;) {
    const int length = std::countr_one(devices >> first);
    if (length == 0) {
      ++first;
      continue;
    }
    absl::StrAppend(&text, text.empty() ? "GPU " : ",", first);
    if (length > 1) absl::StrAppend(&text, length == 2 ? "," : "-", first + length - 1);
    first += length;
  }
  return text;
}

}  // namespace drasim
