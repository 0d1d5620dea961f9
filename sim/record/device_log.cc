#include "sim/record/device_log.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/pod_shape.h"
#include "sim/record/pod_log.h"

namespace drasim {
namespace {

using Names = absl::Span<const absl::string_view>;

constexpr absl::string_view kHeader = "seconds,event,node,pod,devices,reason,message\n";
constexpr absl::string_view kPluginPrefix = "nvidia.com/";

// Indexed by EvictionCause, DeviceChangeKind and NodeChangeKind.
constexpr absl::string_view kCauses[] = {"",
                                         "preempted",
                                         "node lost",
                                         "drained",
                                         "attempt failed",
                                         "repartitioned",
                                         "turned away",
                                         "deleted",
                                         "tainted"};
constexpr absl::string_view kDeviceChanges[] = {"",
                                                "unhealthy",
                                                "healthy",
                                                "plugin gone",
                                                "plugin back",
                                                "layout changed",
                                                "allocatable",
                                                "layout begun"};
constexpr absl::string_view kNodeChanges[] = {"", "available", "unavailable", "cordoned",
                                              "uncordoned"};

absl::string_view NameOf(Names names, uint32_t value) {
  return value < names.size() ? names[value] : absl::string_view();
}

// True when this log covers the pod's devices.
bool Concerns(const PodShape& shape) {
  return !shape.request.extended.empty() || !shape.request.mig.empty();
}

// The same part of each device.
DeviceGrants EachOf(DeviceSet devices, int32_t milli) {
  DeviceGrants parts;
  for (const size_t device : devices) {
    parts.push_back({static_cast<uint8_t>(device), kNoPlacement, static_cast<int16_t>(milli)});
  }
  return parts;
}

// The node's amounts of the plugin's resources.
std::string Allocatable(const ClusterState& cluster, NodeId node) {
  std::string text;
  for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
    const std::string& name = cluster.extended_names()[e];
    const int64_t amount = cluster.extended_capacity(node, e);
    if (amount == 0 || !absl::StartsWith(name, kPluginPrefix)) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", name, "=", amount);
  }
  return text;
}

}  // namespace

DeviceLog::DeviceLog() : csv_(kHeader) {}

// The pod's devices after it got them, or before it lost them.
DeviceGrants DeviceLog::PartsOf(const Record& record, const ClusterState& cluster) {
  DeviceGrants parts;
  const uint32_t pod = record.pod.value();
  if (MayGiveDevices(record.kind)) {
    const absl::Span<const DeviceGrant> given = cluster.pod_grants(record.pod);
    parts.assign(given.begin(), given.end());
    if (!parts.empty()) held_[pod] = parts;
  } else if (const auto held = held_.find(pod); held != held_.end()) {
    parts = std::move(held->second);
    held_.erase(held);
  }
  // Otherwise the scheduler has chosen them, or there are none.
  return parts.empty() ? EachOf(record.devices, cluster.pod_shape(record.pod).request.gpu_milli)
                       : parts;
}

void DeviceLog::AddRow(const Record& record, const ClusterState& cluster, const DeviceGrants& parts,
                       absl::string_view reason, absl::string_view message) {
  AppendSeconds(record.time, &csv_);
  absl::StrAppend(&csv_, ",", RecordKindName(record.kind), ",");
  AppendCsvField(cluster.node_spec(record.node).name, &csv_);
  csv_.push_back(',');
  if (record.pod.valid()) AppendCsvField(cluster.pod_name(record.pod), &csv_);
  csv_.push_back(',');
  AppendGrants(cluster, record.node, parts, &csv_);
  absl::StrAppend(&csv_, ",", reason, ",");
  AppendCsvField(message, &csv_);
  csv_.push_back('\n');
}

void DeviceLog::OnRecord(const Record& record, const ClusterState& cluster) {
  if (!record.node.valid()) return;  // deletion of a pod that did not run
  if (record.pod.valid() && !Concerns(cluster.pod_shape(record.pod))) return;
  switch (record.kind) {
    case RecordKind::kPodBound:
    case RecordKind::kPodAdmitted:
    case RecordKind::kPodFinished:
    case RecordKind::kPodDeleted:
      AddRow(record, cluster, PartsOf(record, cluster), "", "");
      break;
    case RecordKind::kPodEvicted:
    case RecordKind::kPodFailed:
      AddRow(record, cluster, PartsOf(record, cluster), NameOf(kCauses, record.detail), "");
      break;
    case RecordKind::kPodRejected: {
      const auto failure = static_cast<AdmissionFailure>(record.detail & ~kGivenUp);
      const bool given_up = (record.detail & kGivenUp) != 0;
      AddRow(record, cluster, PartsOf(record, cluster), AdmissionReason(failure),
             absl::StrCat(AdmissionMessage(failure), given_up ? "; given up" : ""));
      break;
    }
    case RecordKind::kNodeChanged:
      AddRow(record, cluster, {}, NameOf(kNodeChanges, record.detail), "");
      break;
    case RecordKind::kDevicesChanged: {
      const bool reports = record.detail == static_cast<uint32_t>(DeviceChangeKind::kAllocatable);
      AddRow(record, cluster, EachOf(record.devices, kDeviceMilli),
             NameOf(kDeviceChanges, record.detail),
             reports ? Allocatable(cluster, record.node) : "");
      break;
    }
    default:
      break;
  }
}

void DeviceLog::Save(StateWriter& out) const {
  out.Section("device_log");
  out.Str(csv_);
  out.U64(held_.size());
  for (const auto& [pod, parts] : held_) {
    out.U64(pod);
    SaveGrants(parts, out);
  }
}

absl::Status DeviceLog::Load(StateReader& in) {
  in.Section("device_log");
  csv_ = in.Str();
  held_.clear();
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    const uint64_t pod = in.U64();
    DeviceGrants parts = LoadGrants(in);
    if (pod >= PodId::kInvalid) in.Fail("a pod that cannot be holds devices");
    held_[static_cast<uint32_t>(pod)] = std::move(parts);
  }
  return in.status();
}

}  // namespace drasim
