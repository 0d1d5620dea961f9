#include "sim/explain/story_sink.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/hash.h"
#include "sim/explain/device_text.h"

namespace drasim {
namespace {

// Between two looks at the line: as long as the job has waited so far, twice.
constexpr int64_t kLookFactor = 2;

absl::string_view CauseText(uint32_t cause) {
  switch (static_cast<EvictionCause>(cause)) {
    case EvictionCause::kPreempted:
      return "preempted for another job";
    case EvictionCause::kNodeLost:
      return "its node failed or was removed";
    case EvictionCause::kDrained:
      return "its node was drained";
    case EvictionCause::kAttemptFailed:
      return "this run failed, as the trace says; the job tries again";
    case EvictionCause::kRepartitioned:
      return "the MIG layout of its node is changed";
    case EvictionCause::kTurnedAway:
      return "a node turned another pod of the job away";
    case EvictionCause::kDeleted:
      return "a user deleted it; its owner makes another";
    case EvictionCause::kTainted:
      return "a device of it has a NoExecute taint";
  }
  return "";
}

// One pod after the other gets such a record when a gang does.
bool ComesPerPod(StoryEvent::Kind kind) {
  return kind != StoryEvent::Kind::kAttempt && kind != StoryEvent::Kind::kSameAgain &&
         kind != StoryEvent::Kind::kInLine;
}

bool SameNumbers(const StoryEvent::Range& range, const Rejection& r) {
  return range.least_nodes == r.nodes && range.most_nodes == r.nodes &&
         range.least_missing == r.least_missing && range.most_missing == r.most_missing;
}

void Widen(const Rejection& r, StoryEvent::Range* range) {
  range->least_nodes = std::min(range->least_nodes, r.nodes);
  range->most_nodes = std::max(range->most_nodes, r.nodes);
  range->least_missing = std::min(range->least_missing, r.least_missing);
  range->most_missing = std::max(range->most_missing, r.most_missing);
}

StoryEvent::Range RangeOf(const Rejection& r) {
  return {r, r.nodes, r.nodes, r.least_missing, r.most_missing};
}

// The shortfalls of the nodes, with all numbers.
std::string DevicesOf(const AttemptExplanation& why) {
  std::string texts;
  if (!why.devices.has_value()) return texts;
  for (const NodeStory& group : why.devices->nodes) absl::StrAppend(&texts, group.text, "\n");
  return texts;
}

// Adds what one more attempt with the same reasons came to.
void WidenAll(const AttemptExplanation& why, StoryEvent* event) {
  event->identical = event->identical && DevicesOf(why) == event->lacks;
  for (const Rejection& r : why.rejections) {
    const auto range =
        std::find_if(event->ranges.begin(), event->ranges.end(),
                     [&r](const StoryEvent::Range& known) { return known.of.key() == r.key(); });
    if (range == event->ranges.end()) continue;
    event->identical = event->identical && SameNumbers(*range, r);
    Widen(r, &*range);
  }
}

}  // namespace

uint64_t EmptyPodHash() { return kFnvOffset; }

uint64_t HashPodRecord(uint64_t hash, const Record& record, const ClusterState& cluster,
                       const VerdictSummaryTable& summaries) {
  hash = MixWord(hash, static_cast<uint64_t>(record.time.ns()));
  hash = MixWord(hash, static_cast<uint64_t>(record.kind));
  if (record.node.valid()) hash = Fnv1a(cluster.node_spec(record.node).name, hash);
  hash = MixWord(hash, record.devices.bits());
  if (record.kind == RecordKind::kAttemptFailed) {
    return Fnv1a(summaries.Text(SummaryId(record.detail)), hash);
  }
  // Shapes have numbers of their own in every reader.
  return record.kind == RecordKind::kPodArrived ? hash : MixWord(hash, record.detail);
}

StorySink::StorySink(const Simulation* sim, const AttemptExplainer* explainer, PodId pod,
                     uint64_t last)
    : sim_(sim),
      explainer_(explainer),
      queues_(sim),
      pod_(pod),
      last_(last),
      pod_hash_(EmptyPodHash()) {}

void StorySink::Resume(uint64_t records) {
  records_ = records;
  stop_ = records_ >= last_;
  if (pod_.value() >= sim_->cluster().pod_count()) return;
  job_ = sim_->jobs().job_of(pod_);
  from_arrival_ = false;
  waits_since_ = look_after_ = sim_->engine().now();
}

void StorySink::OnRecord(const Record& record, const ClusterState& cluster) {
  if (++records_ > last_) return;
  if (records_ == last_) stop_ = true;
  if (record.pod == pod_) {
    pod_hash_ = HashPodRecord(pod_hash_, record, cluster, sim_->summaries());
    if (!job_.valid()) job_ = sim_->jobs().job_of(pod_);
  }
  if (record.node.valid() && record.pod.valid() && !cluster.pod_node(record.pod).valid() &&
      record.kind != RecordKind::kPodRejected) {
    left_[record.node.value()] = {record.pod, record.time};
  }
  // The first pods of a gang arrive before the one that is asked about.
  if (!job_.valid() && record.kind == RecordKind::kPodArrived) {
    const JobId job = sim_->jobs().job_of(record.pod);
    const JobRow& row = sim_->jobs().row(job);
    if (pod_.value() - row.first_pod.value() < row.pods) job_ = job;
  }
  if (!job_.valid()) return;
  if (record.pod.valid() && sim_->jobs().job_of(record.pod) == job_) {
    Note(record, cluster);
  } else if (!tried_ && record.time > look_after_ &&
             sim_->jobs().row(job_).state == JobState::kWaiting) {
    LookAtLine(record);
  }
}

StoryEvent& StorySink::Add(const Record& record, StoryEvent::Kind kind) {
  StoryEvent& event = events_.emplace_back();
  event.kind = kind;
  event.time = event.until = record.time;
  return event;
}

void StorySink::AddPods(const Record& record, const ClusterState& cluster, StoryEvent::Kind kind,
                        std::string text) {
  const bool joins = !events_.empty() && events_.back().kind == kind && ComesPerPod(kind) &&
                     events_.back().time == record.time && events_.back().text == text;
  StoryEvent& event = joins ? events_.back() : Add(record, kind);
  event.text = std::move(text);
  StoryEvent::Where where;
  where.pod = std::string(cluster.pod_name(record.pod));
  if (record.node.valid()) {
    where.node = cluster.node_spec(record.node).name;
    if (cluster.pod_node(record.pod) == record.node) {
      where.devices = DevicesText(cluster, record.pod, record.node);
    }
  }
  event.where.push_back(std::move(where));
}

void StorySink::Note(const Record& record, const ClusterState& cluster) {
  using Kind = StoryEvent::Kind;
  const auto begin_waiting = [&] {
    tried_ = false;
    last_tried_.reset();
    waits_since_ = look_after_ = record.time;
  };
  switch (record.kind) {
    case RecordKind::kPodArrived:
      begin_waiting();
      return AddPods(record, cluster, Kind::kArrived, "");
    case RecordKind::kAttemptFailed:
      tried_ = true;
      return AddAttempt(record);
    case RecordKind::kPodReserved:
    case RecordKind::kPodBound: {
      const bool first = record.kind == RecordKind::kPodReserved || !reserved_;
      const Kind kind = record.kind == RecordKind::kPodReserved ? Kind::kPlaced : Kind::kBound;
      const size_t before = events_.size();
      AddPods(record, cluster, kind, "");
      if (first && events_.size() > before) events_.back().attempt = ++attempts_;
      reserved_ |= record.kind == RecordKind::kPodReserved;
      tried_ = true;
      return;
    }
    case RecordKind::kPodUnreserved:
      AddPods(record, cluster, Kind::kTakenBack, "");
      reserved_ = false;
      return begin_waiting();
    case RecordKind::kPodAdmitted:
      return AddPods(record, cluster, Kind::kAdmitted, "");
    case RecordKind::kPodStarted:
      return AddPods(record, cluster, Kind::kStarted, "");
    case RecordKind::kPodRejected:
      AddPods(record, cluster, Kind::kTurnedAway, AdmissionText(record, cluster));
      reserved_ = false;
      return begin_waiting();
    case RecordKind::kPodEvicted:
      AddPods(record, cluster, Kind::kEvicted, std::string(CauseText(record.detail)));
      reserved_ = false;
      return begin_waiting();
    case RecordKind::kPodFinished:
      return AddPods(record, cluster, Kind::kFinished, "");
    case RecordKind::kPodFailed:
      return AddPods(record, cluster, Kind::kFailed, std::string(CauseText(record.detail)));
    case RecordKind::kPodDeleted:
      return AddPods(record, cluster, Kind::kDeleted, "");
    case RecordKind::kPodDropped:
      return AddPods(record, cluster, Kind::kDropped, "");
    default:
      return;
  }
}

void StorySink::AddAttempt(const Record& record) {
  // A step that refused what had a place belongs to the attempt that found it.
  const bool taken_back = !events_.empty() && events_.back().kind == StoryEvent::Kind::kTakenBack &&
                          events_.back().time == record.time;
  if (!taken_back) ++attempts_;
  AttemptExplanation why = explainer_->OfFailure(record.pod, SummaryId(record.detail), record.time);
  if (!why.claims.empty()) {
    last_tried_ = record.time;
    last_tried_pod_ = record.pod;
    last_seen_ = why.summary;
    last_claims_ = why.claims;
  }
  const std::string key = why.key();
  const auto [first, is_new] = first_attempt_.try_emplace(key, attempts_);
  if (is_new) {
    StoryEvent& event = Add(record, StoryEvent::Kind::kAttempt);
    event.attempt = event.last_attempt = attempts_;
    event.why = std::move(why);
    return;
  }
  StoryEvent* const last = events_.empty() ? nullptr : &events_.back();
  if (last != nullptr && last->kind == StoryEvent::Kind::kSameAgain &&
      last->same_as == first->second) {
    last->until = record.time;
    last->last_attempt = attempts_;
    WidenAll(why, last);
    return;
  }
  StoryEvent& event = Add(record, StoryEvent::Kind::kSameAgain);
  event.attempt = event.last_attempt = attempts_;
  event.same_as = first->second;
  event.identical = true;
  for (const StoryEvent& earlier : events_) {
    if (earlier.kind != StoryEvent::Kind::kAttempt || earlier.attempt != first->second) continue;
    for (const Rejection& r : earlier.why.rejections) event.ranges.push_back(RangeOf(r));
    event.lacks = DevicesOf(earlier.why);
    break;
  }
  WidenAll(why, &event);
  if (event.identical) return;
  event.ranges.clear();
  for (const Rejection& r : why.rejections) event.ranges.push_back(RangeOf(r));
}

// The state of the node when it refused the pod, which has left it by now.
std::string StorySink::AdmissionText(const Record& record, const ClusterState& cluster) const {
  const auto failure = static_cast<AdmissionFailure>(record.detail & ~kGivenUp);
  std::string text = absl::StrCat(AdmissionReason(failure), ": ", AdmissionMessage(failure));
  const std::vector<std::string>& names = cluster.extended_names();
  for (const auto& [name, wanted] : cluster.pod_shape(record.pod).request.extended) {
    const auto column = std::find(names.begin(), names.end(), name);
    if (column == names.end()) continue;
    const auto e = static_cast<size_t>(column - names.begin());
    const int64_t reported = cluster.extended_capacity(record.node, e);
    std::vector<std::string> holders;
    for (const PodId resident : cluster.pods_on(record.node)) {
      for (const auto& [held, amount] : cluster.pod_shape(resident).request.extended) {
        if (held != name || holders.size() > kHoldersShown) continue;
        holders.push_back(absl::StrCat(cluster.pod_name(resident), " (", amount, ")"));
      }
    }
    if (holders.size() > kHoldersShown) holders.back() = "others";
    absl::StrAppend(&text, "; wants ", wanted, " ", name, ", the node reports ", reported, ", ",
                    holders.empty() ? "held by no pod"
                                    : absl::StrCat("held by ", absl::StrJoin(holders, ", ")));
  }
  if (sim_->front_end() != nullptr) {
    const std::vector<PluginGpu>& gpus = sim_->front_end()->gpus(record.node);
    const auto broken =
        std::count_if(gpus.begin(), gpus.end(), [](const PluginGpu& gpu) { return !gpu.healthy; });
    if (broken > 0) absl::StrAppend(&text, "; ", broken, " GPU(s) of the node are unhealthy");
    if (sim_->front_end()->changing(record.node)) {
      absl::StrAppend(&text, "; its MIG layout is being changed");
    }
  }
  const auto left = left_.find(record.node.value());
  if (failure == AdmissionFailure::kDevicesUnavailable && left != left_.end() &&
      left->second.first != record.pod) {
    absl::StrAppend(&text, "; the kubelet may still hold the devices of ",
                    cluster.pod_name(left->second.first), ", which left it last");
  }
  if ((record.detail & kGivenUp) != 0) absl::StrAppend(&text, "; its owner makes no other pod");
  return text;
}

void StorySink::LookAtLine(const Record& record) {
  const SimDuration waited = record.time - waits_since_;
  look_after_ = record.time + SimDuration(waited.ns() * kLookFactor);
  QueuePlace place = queues_.Find(job_);
  using Where = QueuePlace::Where;
  if (place.where != Where::kInLine && place.where != Where::kOverQuota &&
      place.where != Where::kHeld) {
    return;
  }
  std::string head;
  if (place.head.valid()) head = queues_.NameOf(place.head);
  if (!events_.empty() && events_.back().kind == StoryEvent::Kind::kInLine &&
      events_.back().place.where == place.where &&
      (events_.back().head == head || place.where != Where::kInLine)) {
    events_.back().until = record.time;
    events_.back().last_place = place.place;
    events_.back().last_length = place.length;
    return;
  }
  StoryEvent& event = Add(record, StoryEvent::Kind::kInLine);
  event.time = waits_since_;
  if (events_.size() > 1 && events_[events_.size() - 2].kind == StoryEvent::Kind::kInLine) {
    event.time = record.time;
  }
  event.head = std::move(head);
  event.last_place = place.place;
  event.last_length = place.length;
  if (place.head.valid() && place.head != job_ &&
      sim_->jobs().row(place.head).state == JobState::kWaiting) {
    if (auto why = explainer_->OfNow(place.head, record.time)) event.why = *std::move(why);
  }
  event.place = std::move(place);
}

std::vector<StoryEvent::Where> StorySink::Places(const ClusterState& cluster) const {
  std::vector<StoryEvent::Where> places;
  const JobRow& row = sim_->jobs().row(job_);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod(row.first_pod.value() + i);
    const NodeId node = cluster.pod_node(pod);
    if (!node.valid()) continue;
    places.push_back({std::string(cluster.pod_name(pod)), cluster.node_spec(node).name,
                      DevicesText(cluster, pod, node)});
  }
  return places;
}

Standing StorySink::MakeStanding(SimTime now) const {
  Standing s;
  const JobTable& jobs = sim_->jobs();
  const JobRow& row = jobs.row(job_);
  s.time = now;
  s.state = row.state;
  s.attempts_failed = row.attempts_failed;
  s.since = row.state == JobState::kWaiting || row.state == JobState::kStarting ? row.waiting_since
            : row.state == JobState::kRunning                                   ? row.started
                                                                                : row.ended;
  s.where = Places(sim_->cluster());
  s.ends = ExpectedEnd(jobs, job_, sim_->engine().now());
  if (!IsEnded(row.state)) s.claims = explainer_->ClaimsOf(row.first_pod);
  if (row.state != JobState::kWaiting) return s;
  if (last_tried_.has_value()) {
    s.last_tried = last_tried_;
    s.last_seen = last_seen_;
    s.claims_changed = explainer_->ClaimsOf(last_tried_pod_) != last_claims_;
  }
  s.place = queues_.Find(job_);
  s.why = explainer_->OfNow(job_, now);
  if (s.place.head.valid()) {
    s.head = queues_.NameOf(s.place.head);
    if (s.place.head != job_) s.head_why = explainer_->OfNow(s.place.head, now);
  }
  if (row.pods == 1 && s.why.has_value()) {
    s.prospects = explainer_->Prospects(row.first_pod, now, kExamplesShown);
  }
  return s;
}

}  // namespace drasim
