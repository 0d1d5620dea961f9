#include "sim/record/pod_log.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace drasim {

void AppendCsvField(absl::string_view text, std::string* out) {
  if (text.find_first_of(",\"\r\n") == absl::string_view::npos) {
    out->append(text.data(), text.size());
    return;
  }
  out->push_back('"');
  for (char c : text) {
    if (c == '"') out->push_back('"');
    out->push_back(c);
  }
  out->push_back('"');
}

void AppendSeconds(SimTime time, std::string* out) {
  int64_t ns = time.ns();
  if (ns < 0) {
    out->push_back('-');
    ns = -ns;
  }
  absl::StrAppend(out, ns / 1'000'000'000);
  int64_t rest = ns % 1'000'000'000;
  if (rest == 0) return;
  std::string digits = absl::StrCat(1'000'000'000 + rest);
  digits[0] = '.';
  while (digits.back() == '0') digits.pop_back();
  *out += digits;
}

void PodLog::OnRecord(const Record& record, const ClusterState&) {
  if (!record.pod.valid()) return;
  const size_t i = record.pod.value();
  if (rows_.size() <= i) rows_.resize(i + 1);
  switch (record.kind) {
    case RecordKind::kPodBound:
      rows_[i].node = record.node;
      rows_[i].devices = record.devices;
      rows_[i].start = record.time;
      break;
    case RecordKind::kPodFinished:
    case RecordKind::kPodFailed:
    case RecordKind::kPodDeleted:
      rows_[i].end = record.time;
      break;
    case RecordKind::kAttemptFailed:
      ++rows_[i].attempts_failed;
      break;
    default:
      break;
  }
}

std::string PodLog::CsvHeader() {
  return "pod,priority,cpu_milli,memory_bytes,gpu_count,gpu_milli,gpu_spec,phase,node,devices,"
         "arrival_seconds,"
         "start_seconds,end_seconds,attempts_failed\n";
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
    absl::StrAppend(out, ",", cluster.pod_priority(pod), ",", shape.cpu_milli, ",",
                    shape.memory_bytes, ",");
    absl::StrAppend(out, shape.gpu_count, ",", shape.gpu_milli, ",");
    AppendCsvField(shape.gpu_spec, out);
    absl::StrAppend(out, ",", kPhases[static_cast<size_t>(phase)], ",");
    if (row.node.valid()) AppendCsvField(cluster.node_spec(row.node).name, out);
    out->push_back(',');
    absl::string_view dash = "";
    for (uint32_t rest = row.devices; rest != 0; rest &= rest - 1) {
      absl::StrAppend(out, dash, std::countr_zero(rest));
      dash = "-";
    }
    out->push_back(',');
    AppendSeconds(cluster.pod_arrival(pod), out);
    out->push_back(',');
    if (row.node.valid()) AppendSeconds(row.start, out);
    out->push_back(',');
    if (phase == PodPhase::kSucceeded || phase == PodPhase::kFailed || phase == PodPhase::kDeleted)
      AppendSeconds(row.end, out);
    absl::StrAppend(out, ",", row.attempts_failed, "\n");
  }
}

void PodLog::Save(StateWriter& out) const {
  out.Section("pod_log");
  out.U64(rows_.size());
  for (const Row& r : rows_) {
    out.U64(r.node.value());
    out.U64(r.devices);
    out.I64(r.attempts_failed);
    out.I64(r.start.ns());
    out.I64(r.end.ns());
  }
}

absl::Status PodLog::Load(StateReader& in) {
  in.Section("pod_log");
  rows_.clear();
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    Row r;
    r.node = NodeId(static_cast<uint32_t>(in.U64()));
    r.devices = static_cast<uint32_t>(in.U64());
    r.attempts_failed = static_cast<int32_t>(in.I64());
    r.start = SimTime(in.I64());
    r.end = SimTime(in.I64());
    rows_.push_back(r);
  }
  return in.status();
}

}  // namespace drasim
