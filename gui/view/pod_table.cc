#include "gui/view/pod_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/view/wait_kind.h"
#include "gui/view/wait_text.h"
#include "model/check.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

std::string ExactSeconds(SimTime time) {
  std::string text;
  AppendSeconds(time, &text);
  return text;
}

}  // namespace

// --- The table ---

PodTable::PodTable() : PodTable(SimTime(), std::make_shared<PodArchive>(PodTexts()), 0) {}

PodTable::PodTable(SimTime now, std::shared_ptr<const PodArchive> archive, size_t ended)
    : now_(now),
      archive_(std::move(archive)),
      ended_(ended),
      verdict_numbers_(static_cast<uint32_t>(archive_->texts().verdicts.size())) {
  DRASIM_CHECK_LE(ended, archive_->size());
}

void PodTable::Restart(SimTime now, std::shared_ptr<const PodArchive> archive, size_t ended) {
  DRASIM_CHECK_LE(ended, archive->size());
  now_ = now;
  archive_ = std::move(archive);
  ended_ = ended;
  rows_.clear();
  names_.clear();
  name_begin_.assign(1, 0);
  verdicts_.clear();
  verdict_numbers_ = VerdictNumbers(static_cast<uint32_t>(archive_->texts().verdicts.size()));
}

void PodTable::ReserveLive(size_t pods) {
  rows_.reserve(pods);
  name_begin_.reserve(pods + 1);
}

void PodTable::AddLive(const PodRow& row, absl::string_view name,
                       const VerdictSummaryTable& summaries) {
  const std::optional<uint32_t> known = archive_->verdict_numbers().Find(row);
  rows_.push_back(row);
  rows_.back().verdict =
      known.has_value() ? *known : verdict_numbers_.Number(row, summaries, &verdicts_);
  names_.append(name.data(), name.size());
  name_begin_.push_back(names_.size());
}

absl::string_view PodTable::name(size_t pod) const {
  if (pod < ended_) return archive_->name(pod);
  const size_t begin = name_begin_[pod - ended_];
  return absl::string_view(names_).substr(begin, name_begin_[pod - ended_ + 1] - begin);
}

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

int64_t PodTable::Number(size_t index, size_t column) const {
  const PodRow& pod = row(index);
  switch (column) {
    case kArrived:
      return pod.arrival.ns();
    case kWaits:
      return WaitOf(index).ns();
    case kTries:
      return pod.attempts_failed;
    case kStarted:
      return pod.started ? pod.first_start.ns() : kNoNumber;
    case kEnded:
      return pod.has_ended() ? pod.ended.ns() : kNoNumber;
    default:
      DRASIM_UNREACHABLE("a column of texts has no numbers");
  }
}

absl::string_view PodTable::Text(size_t index, size_t column) const {
  switch (column) {
    case kName:
      return name(index);
    case kWants:
      return wants(index);
    case kTenant:
      return tenant(index);
    case kState:
      return PodStateName(row(index).phase);
    case kNode:
      return node(index);
    case kVerdict:
      return verdict(index);
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
  const NodeId id = row(pod).node;
  return id.valid() ? absl::string_view(nodes()[id.value()]) : absl::string_view();
}

const PodVerdict& PodTable::LastVerdict(const PodRow& row) const {
  const std::vector<PodVerdict>& shared = texts().verdicts;
  return row.verdict < shared.size() ? shared[row.verdict] : verdicts_[row.verdict - shared.size()];
}

absl::string_view PodTable::verdict(size_t pod) const {
  const PodRow& history = row(pod);
  if (history.verdict == 0 && history.phase == PodPhase::kPending) {
    return WaitKindName(WaitKind::kUntried);
  }
  return LastVerdict(history).text;
}

absl::string_view PodTable::short_verdict(size_t pod) const {
  const PodRow& history = row(pod);
  if (history.verdict == 0 && history.phase != PodPhase::kPending) return "";
  return WaitKindName(LastVerdict(history).kind);
}

SimDuration PodTable::WaitOf(size_t pod) const {
  const PodRow& history = row(pod);
  const bool waits = history.phase == PodPhase::kPending || history.phase == PodPhase::kAssumed;
  return waits ? history.waited + (now_ - history.waiting_since) : history.waited;
}

std::optional<SimDuration> PodTable::FirstWaitOf(size_t pod) const {
  const PodRow& history = row(pod);
  if (history.started) return history.first_start - history.arrival;
  if (history.has_ended()) return std::nullopt;
  return now_ - history.arrival;
}

PodFacts PodTable::Facts(size_t pod) const {
  PodFacts facts;
  facts.name = name(pod);
  facts.wants = wants(pod);
  facts.tenant = tenant(pod);
  facts.node = node(pod);
  facts.verdict = verdict(pod);
  facts.phase = row(pod).phase;
  facts.waits = WaitOf(pod);
  facts.tries = row(pod).attempts_failed;
  return facts;
}

std::optional<size_t> PodTable::Find(absl::string_view wanted) const {
  std::optional<size_t> first;
  for (size_t p = 0; p < rows(); ++p) {
    if (name(p) != wanted) continue;
    if (!first.has_value() || row(p).number < row(*first).number) first = p;
  }
  return first;
}

std::optional<size_t> PodTable::FindNumber(uint64_t number) const {
  const std::optional<size_t> ended = archive_->Find(number);
  if (ended.has_value() && *ended < ended_) return ended;
  const auto live =
      std::lower_bound(rows_.begin(), rows_.end(), number,
                       [](const PodRow& row, uint64_t wanted) { return row.number < wanted; });
  if (live == rows_.end() || live->number != number) return std::nullopt;
  return ended_ + static_cast<size_t>(live - rows_.begin());
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
    row.number = record.pod.value();
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
  if (row.has_ended()) row.ended = time;
  waiting_ += (row.phase == PodPhase::kPending ? 1 : 0) - (before == PodPhase::kPending ? 1 : 0);
}

PodTable PodFold::Table(SimTime now, const ClusterState& cluster,
                        const VerdictSummaryTable& summaries) const {
  PodTexts texts = PodTexts::Of(cluster);
  texts.tenants = tenants_;
  PodTable table(std::max(now, latest_), std::make_shared<PodArchive>(std::move(texts)), 0);
  for (const PodRow& row : rows_) {
    table.AddLive(row, cluster.pod_name(PodId(row.number)), summaries);
  }
  return table;
}

}  // namespace drasim::view
