#include "sim/record/start_report.h"

#include <algorithm>
#include <cstddef>

#include "absl/numeric/int128.h"
#include "model/check.h"
#include "model/number_text.h"

namespace drasim {
namespace {

constexpr char kNeverTried[] = "(never tried)";
constexpr int kStartDecimals = 6;

double StartSeconds(double ns) {
  return RoundDecimals(ns / static_cast<double>(kSecondNs), kStartDecimals);
}

// Sorts the values.
StartSpread SpreadOfNs(std::vector<int64_t>* values) {
  StartSpread spread;
  if (values->empty()) return spread;
  std::sort(values->begin(), values->end());
  absl::uint128 sum = 0;
  for (int64_t ns : *values) sum += static_cast<uint64_t>(ns);
  spread.mean = StartSeconds(static_cast<double>(sum) / static_cast<double>(values->size()));
  const size_t rank = (95 * values->size() + 99) / 100;
  spread.p95 = StartSeconds(static_cast<double>((*values)[rank - 1]));
  return spread;
}

bool IsTurnedAway(const Record& record) {
  return record.kind == RecordKind::kPodRejected ||
         record.detail == static_cast<uint32_t>(EvictionCause::kTurnedAway);
}

}  // namespace

bool StartReport::BeginsNegotiation(SummaryId why) {
  if (begins_.size() <= why.value()) begins_.resize(options_.summaries->size(), -1);
  int8_t& begins = begins_[why.value()];
  if (begins < 0) {
    const auto& rejected = options_.summaries->row(why).rejected;
    const bool waits =
        std::any_of(rejected.begin(), rejected.end(), [this](const auto& reason_and_nodes) {
          return options_.summaries->kind(reason_and_nodes.first) == ReasonKind::kWaitsForDriver;
        });
    begins = waits ? 1 : 0;
  }
  return begins == 1;
}

StartReport::Start StartReport::StartAt(const PodClock& pod, SimTime at) {
  Start start;
  const SimTime queued_until = pod.negotiates ? pod.negotiating : pod.bound;
  start.queue = queued_until - pod.since;
  start.negotiation = pod.bound - queued_until;
  start.prepare = at - pod.bound;
  start.attempts = pod.attempts;
  DRASIM_CHECK(start.queue.ns() >= 0 && start.negotiation.ns() >= 0 && start.prepare.ns() >= 0);
  return start;
}

void StartReport::Leave(PodClock* pod) {
  if (pod->state == State::kBound && !options_.starts_later) {
    starts_.push_back(StartAt(*pod, pod->bound));
  }
  pod->state = State::kGone;
}

void StartReport::OnRecord(const Record& record, const ClusterState&) {
  if (!record.pod.valid()) return;
  if (record.kind == RecordKind::kPodArrived) {
    DRASIM_CHECK_EQ(record.pod.value(), pods_.size());
    pods_.emplace_back().since = record.time;
    return;
  }
  PodClock& pod = pods_[record.pod.value()];
  switch (record.kind) {
    case RecordKind::kAttemptFailed:
      ++pod.attempts;
      pod.last_failure = SummaryId(record.detail);
      if (!pod.negotiates && BeginsNegotiation(pod.last_failure)) {
        pod.negotiates = true;
        pod.negotiating = record.time;
      }
      break;
    case RecordKind::kPodBound:
      ++pod.attempts;
      pod.bound = record.time;
      pod.state = State::kBound;
      pod.ever_bound = true;
      break;
    case RecordKind::kPodStarted:
      if (pod.state != State::kBound) break;
      starts_.push_back(StartAt(pod, record.time));
      pod.state = State::kWorking;
      break;
    case RecordKind::kPodEvicted: {
      // A rejection by the node is not a new start: the pod goes on waiting.
      if (IsTurnedAway(record)) {
        pod.state = State::kWaiting;
        break;
      }
      Leave(&pod);
      const bool ever_bound = pod.ever_bound;
      pod = PodClock();
      pod.since = record.time;
      pod.ever_bound = ever_bound;
      break;
    }
    case RecordKind::kPodRejected:
      pod.state = (record.detail & kGivenUp) != 0 ? State::kGone : State::kWaiting;
      break;
    case RecordKind::kPodFailed:
      if (IsTurnedAway(record)) {
        pod.state = State::kGone;
      } else {
        Leave(&pod);
      }
      break;
    case RecordKind::kPodFinished:
    case RecordKind::kPodDeleted:
      Leave(&pod);
      break;
    case RecordKind::kPodDropped:
      pod.state = State::kGone;
      break;
    default:
      break;
  }
}

StartTimes StartReport::Times() const {
  std::vector<Start> starts = starts_;
  for (const PodClock& pod : pods_) {
    if (pod.state != State::kBound || options_.starts_later) continue;
    starts.push_back(StartAt(pod, pod.bound));
  }
  StartTimes times;
  times.starts = static_cast<int64_t>(starts.size());
  if (starts.empty()) return times;
  std::vector<int64_t> values(starts.size());
  const auto spread = [&](auto value) {
    for (size_t i = 0; i < starts.size(); ++i) values[i] = value(starts[i]).ns();
    return SpreadOfNs(&values);
  };
  times.queue = spread([](const Start& s) { return s.queue; });
  times.negotiation = spread([](const Start& s) { return s.negotiation; });
  times.prepare = spread([](const Start& s) { return s.prepare; });
  times.total = spread([](const Start& s) { return s.queue + s.negotiation + s.prepare; });
  uint64_t attempts = 0;
  for (const Start& s : starts) attempts += s.attempts;
  times.attempts = RoundDecimals(static_cast<double>(attempts) / static_cast<double>(starts.size()),
                                 kStartDecimals);
  return times;
}

int64_t StartReport::pods_unplaced() const {
  return std::count_if(pods_.begin(), pods_.end(),
                       [](const PodClock& pod) { return !pod.ever_bound; });
}

std::vector<std::pair<std::string, int64_t>> StartReport::UnplacedByReason() const {
  const std::vector<std::string>& texts = options_.summaries->reasons();
  std::vector<int64_t> by_reason(texts.size());
  int64_t never_tried = 0;
  for (const PodClock& pod : pods_) {
    if (pod.ever_bound) continue;
    if (!pod.last_failure.valid()) {
      ++never_tried;
      continue;
    }
    for (const auto& [reason, nodes] : options_.summaries->row(pod.last_failure).rejected) {
      ++by_reason[reason - size_t{1}];
    }
  }
  std::vector<std::pair<std::string, int64_t>> counted;
  if (never_tried > 0) counted.emplace_back(kNeverTried, never_tried);
  for (size_t r = 0; r < texts.size(); ++r) {
    if (by_reason[r] > 0) counted.emplace_back(texts[r], by_reason[r]);
  }
  std::sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return counted;
}

void StartReport::Save(StateWriter& out) const {
  out.Section("start_report");
  out.U64(pods_.size());
  for (const PodClock& pod : pods_) {
    out.I64(pod.since.ns());
    out.I64(pod.negotiating.ns());
    out.I64(pod.bound.ns());
    out.U64(pod.attempts);
    out.U64(pod.last_failure.value());
    out.U64(static_cast<uint64_t>(pod.state));
    out.Bool(pod.negotiates);
    out.Bool(pod.ever_bound);
  }
  out.U64(starts_.size());
  for (const Start& start : starts_) {
    out.I64(start.queue.ns());
    out.I64(start.negotiation.ns());
    out.I64(start.prepare.ns());
    out.U64(start.attempts);
  }
}

absl::Status StartReport::Load(StateReader& in) {
  in.Section("start_report");
  pods_.clear();
  starts_.clear();
  const size_t pods = in.Count();
  for (size_t i = 0; i < pods && in.status().ok(); ++i) {
    PodClock pod;
    pod.since = SimTime(in.I64());
    pod.negotiating = SimTime(in.I64());
    pod.bound = SimTime(in.I64());
    pod.attempts = static_cast<uint32_t>(in.U64());
    const auto why = static_cast<uint32_t>(in.U64());
    if (why != SummaryId::kInvalid && why >= options_.summaries->size()) {
      in.Fail("a pod failed for a reason that nobody gave");
    }
    pod.last_failure = SummaryId(why);
    const uint64_t state = in.U64();
    if (state > static_cast<uint64_t>(State::kGone)) in.Fail("a pod is in a state of no name");
    pod.state = static_cast<State>(state);
    pod.negotiates = in.Bool();
    pod.ever_bound = in.Bool();
    const SimTime queued_until = pod.negotiates ? pod.negotiating : pod.since;
    if (queued_until < pod.since || (pod.state == State::kBound && pod.bound < queued_until)) {
      in.Fail("a pod goes back in time on its way to work");
    }
    pods_.push_back(pod);
  }
  const size_t starts = in.Count();
  for (size_t i = 0; i < starts && in.status().ok(); ++i) {
    Start start;
    start.queue = SimDuration(in.I64());
    start.negotiation = SimDuration(in.I64());
    start.prepare = SimDuration(in.I64());
    start.attempts = static_cast<uint32_t>(in.U64());
    if (std::min({start.queue, start.negotiation, start.prepare}) < SimDuration()) {
      in.Fail("a start took less than no time");
    }
    starts_.push_back(start);
  }
  return in.status();
}

}  // namespace drasim
