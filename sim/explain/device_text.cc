#include "sim/explain/device_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "model/device_set.h"
#include "sim/record/pod_log.h"

namespace drasim {

std::string GrantsText(const ClusterState& cluster, NodeId node,
                       absl::Span<const DeviceGrant> grants) {
  if (grants.empty()) return "";
  std::string text;
  AppendGrants(cluster, node, grants, &text);
  return absl::StrCat("GPU ", absl::StrReplaceAll(text, {{";", ","}}));
}

std::string DevicesText(const ClusterState& cluster, PodId pod, NodeId node) {
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(pod);
  const bool whole = std::all_of(grants.begin(), grants.end(), [](const DeviceGrant& grant) {
    return grant.placement == kNoPlacement && grant.milli == kDeviceMilli;
  });
  if (!whole) return GrantsText(cluster, node, grants);
  std::string text;
  for (DeviceSet rest = cluster.pod_devices(pod); !rest.empty();) {
    const size_t first = rest.First();
    size_t last = first;
    for (rest.RemoveFirst(); !rest.empty() && rest.First() == last + 1; rest.RemoveFirst()) ++last;
    absl::StrAppend(&text, text.empty() ? "GPU " : ",", first);
    if (last > first) absl::StrAppend(&text, last == first + 1 ? "," : "-", last);
  }
  return text;
}

}  // namespace drasim
