#include "sim/record/pod_log.h"

#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/pod_shape.h"

namespace drasim {

namespace {

// The numbers, each with a comma behind it.
void AppendNumbers(std::initializer_list<int64_t> numbers, std::string* out) {
  std::array<char, 21> text;
  for (const int64_t number : numbers) {
    char* const end = std::to_chars(text.data(), text.data() + text.size() - 1, number).ptr;
    *end = ',';
    out->append(text.data(), end + 1);
  }
}

}  // namespace

void AppendCsvField(absl::string_view text, std::string* out) {
  bool quotes = false;
  bool has_quote = false;
  for (const char c : text) {
    quotes |= c == ',' || c == '\r' || c == '\n';
    has_quote |= c == '"';
  }
  if (!quotes && !has_quote) {
    out->append(text.data(), text.size());
    return;
  }
  out->push_back('"');
  if (!has_quote) {
    out->append(text.data(), text.size());
  } else {
    for (const char c : text) {
      if (c == '"') out->push_back('"');
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void AppendSeconds(SimTime time, std::string* out) {
  constexpr uint64_t kSecond = 1'000'000'000;
  std::array<char, 32> text;
  char* to = text.data();
  auto ns = static_cast<uint64_t>(time.ns());
  if (time.ns() < 0) {
    *to++ = '-';
    ns = -ns;
  }
  to = std::to_chars(to, text.data() + text.size(), ns / kSecond).ptr;
  uint64_t rest = ns % kSecond;
  if (rest != 0) *to++ = '.';
  for (uint64_t place = kSecond / 10; rest > 0; place /= 10) {
    *to++ = static_cast<char>('0' + rest / place);
    rest %= place;
  }
  out->append(text.data(), to);
}

void AppendGrants(const ClusterState& cluster, NodeId node, absl::Span<const DeviceGrant> grants,
                  std::string* out) {
  absl::string_view separator = "";
  for (const DeviceGrant& grant : grants) {
    absl::StrAppend(out, separator, int{grant.device});
    separator = ";";
    int16_t whole = kDeviceMilli;
    if (grant.placement != kNoPlacement) {
      const MigTable* const table = cluster.mig_table(node, grant.device);
      DRASIM_CHECK(table != nullptr);
      DRASIM_CHECK_LT(grant.placement, table->placements().size());
      const MigPlacement& placement = table->placements()[grant.placement];
      const MigProfile& profile = table->profiles()[placement.profile];
      absl::StrAppend(out, ":", profile.name, "@", int{placement.start});
      whole = MilliOfUnits(profile.size, table->product().units);
    }
    if (grant.milli < whole) absl::StrAppend(out, " (", grant.milli, "m)");
  }
}

void SaveGrants(absl::Span<const DeviceGrant> grants, StateWriter& out) {
  out.U64(grants.size());
  for (const DeviceGrant& grant : grants) {
    out.U64(grant.device);
    out.U64(grant.placement);
    out.I64(grant.milli);
  }
}

DeviceGrants LoadGrants(StateReader& in) {
  DeviceGrants grants;
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    const uint64_t device = in.U64();
    const uint64_t placement = in.U64();
    const int64_t milli = in.I64();
    if (device >= kMaxDevicesPerNode || placement > kNoPlacement || milli < 0 ||
        milli > kDeviceMilli) {
      in.Fail("a part of a device is out of range");
    }
    grants.push_back({static_cast<uint8_t>(device), static_cast<uint8_t>(placement),
                      static_cast<int16_t>(milli)});
  }
  return grants;
}

// A pod that has just been bound, or has just got devices from its node.
void PodLog::NoteDevices(const Record& record, const ClusterState& cluster) {
  const size_t i = record.pod.value();
  rows_[i].devices = record.devices;
  if (!with_grants_) return;
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(record.pod);
  parts_[i].grants.assign(grants.begin(), grants.end());
}

void PodLog::OnRecord(const Record& record, const ClusterState& cluster) {
  if (record.kind == RecordKind::kAttemptFailed) {
    failure_before_ = record.detail;
  } else if (record.kind != RecordKind::kPodDropped) {
    failure_before_ = kNoFailure;
  }
  if (!record.pod.valid()) return;
  const size_t i = record.pod.value();
  if (failures_.size() <= i) {
    rows_.resize(i + 1);
    failures_.resize(i + 1);
  }
  if (with_grants_ && parts_.size() <= i) parts_.resize(i + 1);
  switch (record.kind) {
    case RecordKind::kPodBound:
      rows_[i].node = record.node;
      rows_[i].start = record.time;
      NoteDevices(record, cluster);
      break;
    case RecordKind::kPodAdmitted:
      NoteDevices(record, cluster);
      break;
    case RecordKind::kPodRejected:
      // Its end, unless its owner recreates it.
      rows_[i].end = record.time;
      if (with_grants_) {
        parts_[i].failure = static_cast<AdmissionFailure>(record.detail & ~kGivenUp);
      }
      break;
    case RecordKind::kPodFinished:
    case RecordKind::kPodFailed:
    case RecordKind::kPodDeleted:
      rows_[i].end = record.time;
      break;
    case RecordKind::kAttemptFailed:
      ++failures_[i].attempts;
      failures_[i].last = record.detail;
      break;
    case RecordKind::kPodDropped:
      if (failure_before_ != kNoFailure) failures_[i].last = failure_before_;
      break;
    default:
      break;
  }
}

std::string PodLog::CsvHeader() const {
  return absl::StrCat(
      "pod,priority,cpu_milli,memory_bytes,gpu_count,gpu_milli,gpu_spec,phase,node,devices,"
      "arrival_seconds,"
      "start_seconds,end_seconds,attempts_failed",
      with_grants_ ? ",grants" : "", ",reason\n");
}

void PodLog::AppendReason(const PodShape& shape, size_t pod, PodPhase phase,
                          std::string* out) const {
  if (shape.constraints.hold != PodHold::kNone) {
    AppendCsvField(PodHoldReason(shape.constraints.hold), out);
    return;
  }
  if (with_grants_ && parts_[pod].failure != AdmissionFailure::kNone) {
    absl::StrAppend(out, AdmissionReason(parts_[pod].failure));
    return;
  }
  const bool given_up = phase == PodPhase::kDropped;
  if (summaries_ == nullptr || (!given_up && phase != PodPhase::kPending)) return;
  if (failures_[pod].last != kNoFailure) {
    AppendCsvField(summaries_->Text(SummaryId(failures_[pod].last)), out);
  } else if (given_up) {
    // Jobs that no node could take are attempted before they are given up, so this is a quota.
    absl::StrAppend(out, "more than its tenant's quota ever allows");
  }
}

void PodLog::AppendCsv(const ClusterState& cluster, size_t first, size_t last,
                       std::string* out) const {
  static constexpr absl::string_view kPhases[] = {
      "Pending", "Assumed", "Running", "Succeeded", "Unschedulable", "Failed", "Deleted"};
  for (size_t i = first; i < last; ++i) {
    const PodId pod(i);
    const PodShape& shape = cluster.pod_shape(pod);
    const Row& row = rows_[i];
    const PodPhase phase = cluster.pod_phase(pod);
    AppendCsvField(cluster.pod_name(pod), out);
    out->push_back(',');
    AppendNumbers({cluster.pod_priority(pod), shape.request.cpu_milli, shape.request.memory_bytes,
                   shape.request.gpu_count, shape.request.gpu_milli},
                  out);
    AppendCsvField(shape.request.gpu_spec, out);
    absl::StrAppend(out, ",", kPhases[static_cast<size_t>(phase)], ",");
    if (row.node.valid()) AppendCsvField(cluster.node_spec(row.node).name, out);
    out->push_back(',');
    absl::string_view dash = "";
    for (const size_t device : row.devices) {
      absl::StrAppend(out, dash, device);
      dash = "-";
    }
    out->push_back(',');
    AppendSeconds(cluster.pod_arrival(pod), out);
    out->push_back(',');
    if (row.node.valid()) AppendSeconds(row.start, out);
    out->push_back(',');
    if (phase == PodPhase::kSucceeded || phase == PodPhase::kFailed || phase == PodPhase::kDeleted)
      AppendSeconds(row.end, out);
    out->push_back(',');
    AppendNumbers({failures_[i].attempts}, out);
    if (with_grants_) {
      if (row.node.valid()) AppendGrants(cluster, row.node, parts_[i].grants, out);
      out->push_back(',');
    }
    AppendReason(shape, i, phase, out);
    out->push_back('\n');
  }
}

void PodLog::Save(StateWriter& out) const {
  out.Section("pod_log");
  out.Rows(RowKind::kPod, rows_.size(), [&](size_t i) {
    const Row& r = rows_[i];
    out.U64(r.node.value());
    out.U64(r.devices.bits());
    out.I64(failures_[i].attempts);
    out.I64(r.start.ns());
    out.I64(r.end.ns());
    out.U64(failures_[i].last);
    if (!with_grants_) return;
    SaveGrants(parts_[i].grants, out);
    out.U64(static_cast<uint64_t>(parts_[i].failure));
  });
}

absl::Status PodLog::Load(StateReader& in) {
  in.Section("pod_log");
  rows_.clear();
  failures_.clear();
  parts_.clear();
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    Row r;
    Failures failures;
    r.node = NodeId(static_cast<uint32_t>(in.U64()));
    r.devices = DeviceSet::FromBits(in.U64());
    failures.attempts = static_cast<int32_t>(in.I64());
    r.start = SimTime(in.I64());
    r.end = SimTime(in.I64());
    failures.last = static_cast<uint32_t>(in.U64());
    rows_.push_back(r);
    failures_.push_back(failures);
    if (!with_grants_) continue;
    Part part;
    part.grants = LoadGrants(in);
    const uint64_t failure = in.U64();
    if (failure > kLastAdmissionFailure) in.Fail("a pod was turned away for no known reason");
    part.failure = static_cast<AdmissionFailure>(failure);
    parts_.push_back(std::move(part));
  }
  return in.status();
}

}  // namespace drasim
