#include "gui/view/pod_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/view/wait_text.h"
#include "gui/view/wants_text.h"
#include "model/check.h"
#include "model/shape_table.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

// A number for each verdict: an AdmissionFailure, or one above these for a summary. 0: none.
uint32_t VerdictKey(const PodCourse& course) {
  if (course.rejected_last) return static_cast<uint32_t>(course.rejected);
  return course.last_failure.valid() ? kLastAdmissionFailure + 1 + course.last_failure.value() : 0;
}

std::string ExactSeconds(SimTime time) {
  std::string text;
  AppendSeconds(time, &text);
  return text;
}

}  // namespace

// --- The table ---

absl::Span<const TableColumn> PodTable::columns() const {
  using Kind = TableColumn::Kind;
  static const auto* const columns =
      new std::array<TableColumn, kColumns>{{{"pod", Kind::kText},
                                             {"wants", Kind::kText},
                                             {"tenant", Kind::kText},
                                             {"state", Kind::kText},
                                             {"node", Kind::kText},
                                             {"arrived", Kind::kNumber},
                                             {"waits", Kind::kNumber},
                                             {"tries", Kind::kNumber},
                                             {"started", Kind::kNumber},
                                             {"ended", Kind::kNumber},
                                             {"last verdict", Kind::kText}}};
  return *columns;
}

int64_t PodTable::Number(size_t row, size_t column) const {
  const PodRow& pod = rows_[row];
  switch (column) {
    case kArrived:
      return pod.arrival.ns();
    case kWaits:
      return WaitOf(row).ns();
    case kTries:
      return pod.attempts_failed;
    case kStarted:
      return pod.started ? pod.first_start.ns() : kNoNumber;
    case kEnded:
      return pod.phase >= PodPhase::kSucceeded ? pod.ended.ns() : kNoNumber;
    default:
      DRASIM_UNREACHABLE("a column of texts has no numbers");
  }
}

absl::string_view PodTable::Text(size_t row, size_t column) const {
  switch (column) {
    case kName:
      return name(row);
    case kWants:
      return wants(row);
    case kTenant:
      return tenant(row);
    case kState:
      return PodStateName(rows_[row].phase);
    case kNode:
      return node(row);
    case kVerdict:
      return verdict(row);
    default:
      DRASIM_UNREACHABLE("a column of numbers has no texts");
  }
}

std::string PodTable::Shown(size_t row, size_t column) const {
  if (columns()[column].kind == TableColumn::Kind::kText) return std::string(Text(row, column));
  const int64_t number = Number(row, column);
  if (number == kNoNumber) return "";
  if (column == kTries) return absl::StrCat(number);
  return WaitText(SimDuration(number));
}

std::string PodTable::Exact(size_t row, size_t column) const {
  if (columns()[column].kind == TableColumn::Kind::kText) return std::string(Text(row, column));
  const int64_t number = Number(row, column);
  if (number == kNoNumber) return "";
  return column == kTries ? absl::StrCat(number) : ExactSeconds(SimTime(number));
}

absl::string_view PodTable::node(size_t pod) const {
  const NodeId id = rows_[pod].node;
  return id.valid() ? absl::string_view(nodes_[id.value()]) : absl::string_view();
}

absl::string_view PodTable::verdict(size_t pod) const {
  const PodRow& row = rows_[pod];
  if (row.verdict == 0 && row.phase == PodPhase::kPending) return "not tried yet";
  return verdicts_[row.verdict];
}

SimDuration PodTable::WaitOf(size_t pod) const {
  const PodRow& row = rows_[pod];
  const bool waits = row.phase == PodPhase::kPending || row.phase == PodPhase::kAssumed;
  return waits ? row.waited + (now_ - row.waiting_since) : row.waited;
}

std::optional<SimDuration> PodTable::FirstWaitOf(size_t pod) const {
  const PodRow& row = rows_[pod];
  if (row.started) return row.first_start - row.arrival;
  if (row.phase >= PodPhase::kSucceeded) return std::nullopt;
  return now_ - row.arrival;
}

PodFacts PodTable::Facts(size_t pod) const {
  PodFacts facts;
  facts.name = name(pod);
  facts.wants = wants(pod);
  facts.tenant = tenant(pod);
  facts.node = node(pod);
  facts.verdict = verdict(pod);
  facts.phase = rows_[pod].phase;
  facts.waits = WaitOf(pod);
  facts.tries = rows_[pod].attempts_failed;
  return facts;
}

std::optional<size_t> PodTable::Find(absl::string_view wanted) const {
  for (size_t p = 0; p < rows_.size(); ++p) {
    if (name(p) == wanted) return p;
  }
  return std::nullopt;
}

// --- The fold ---

void PodFold::SetTenant(PodId pod, absl::string_view tenant) {
  const auto [entry, is_new] =
      tenant_index_.try_emplace(std::string(tenant), static_cast<uint32_t>(tenants_.size()));
  if (is_new) tenants_.emplace_back(tenant);
  rows_[pod.value()].tenant = entry->second;
}

void PodFold::Add(const Record& record, const ClusterState& cluster) {
  const SummaryId drop_reason = drop_reason_.OnRecord(record);
  if (!record.pod.valid()) return;
  const SimTime time = latest_ = std::max(latest_, record.time);
  if (record.kind == RecordKind::kPodArrived) {
    PodRow& row = rows_.emplace_back();
    row.arrival = time;
    row.shape = record.detail;
    row.OnRecord(record, time, row.phase);
    ++waiting_;
    return;
  }
  DRASIM_CHECK_LT(record.pod.value(), rows_.size());
  PodRow& row = rows_[record.pod.value()];
  const PodPhase before = row.phase;
  if (before >= PodPhase::kSucceeded) return;
  row.OnRecord(record, time, before);
  switch (record.kind) {
    case RecordKind::kPodReserved:
      row.phase = PodPhase::kAssumed;
      break;
    case RecordKind::kPodBound:
      row.phase = PodPhase::kBound;
      break;
    case RecordKind::kPodUnreserved:
    case RecordKind::kPodEvicted:
      row.phase = PodPhase::kPending;
      break;
    case RecordKind::kPodRejected: {
      const bool given_up = (record.detail & kGivenUp) != 0;
      row.phase = given_up ? cluster.pod_phase(record.pod) : PodPhase::kPending;
      break;
    }
    case RecordKind::kPodDropped:
      if (drop_reason.valid()) row.SetFailure(drop_reason);
      row.phase = cluster.pod_phase(record.pod);
      break;
    case RecordKind::kPodFinished:
    case RecordKind::kPodFailed:
    case RecordKind::kPodDeleted:
      row.phase = cluster.pod_phase(record.pod);
      break;
    case RecordKind::kPodArrived:
    case RecordKind::kAttemptFailed:
    case RecordKind::kPodAdmitted:
    case RecordKind::kPodStarted:
    case RecordKind::kRunEnded:
    case RecordKind::kNodeChanged:
    case RecordKind::kDevicesChanged:
      break;
  }
  if (row.phase >= PodPhase::kSucceeded) row.ended = time;
  waiting_ += (row.phase == PodPhase::kPending ? 1 : 0) - (before == PodPhase::kPending ? 1 : 0);
}

PodTable PodFold::Table(SimTime now, const ClusterState& cluster,
                        const VerdictSummaryTable& summaries) const {
  PodTable table;
  table.now_ = std::max(now, latest_);
  table.rows_ = rows_;
  table.tenants_ = tenants_;
  table.name_begin_.reserve(rows_.size() + 1);
  for (size_t p = 0; p < rows_.size(); ++p) {
    const absl::string_view name = cluster.pod_name(PodId(p));
    table.names_.append(name.data(), name.size());
    table.name_begin_.push_back(table.names_.size());
  }
  const ShapeTable& shapes = cluster.shapes();
  for (size_t s = 0; s < shapes.size(); ++s) {
    table.wants_.push_back(WantsText(shapes.row(ShapeId(s))));
    table.gpu_milli_.push_back(shapes.row(ShapeId(s)).wanted_gpu_milli());
  }
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    table.nodes_.push_back(cluster.node_spec(NodeId(n)).name);
  }
  // Only the verdicts that some pod has last: a run may have hundreds of thousands of others.
  table.verdicts_ = {""};
  absl::flat_hash_map<uint32_t, uint32_t> renumbered = {{0, 0}};
  for (PodRow& row : table.rows_) {
    const auto [entry, is_new] =
        renumbered.try_emplace(VerdictKey(row), static_cast<uint32_t>(table.verdicts_.size()));
    if (is_new) {
      table.verdicts_.push_back(row.rejected_last ? std::string(AdmissionMessage(row.rejected))
                                                  : summaries.Text(row.last_failure));
    }
    row.verdict = entry->second;
  }
  return table;
}

}  // namespace drasim::view
