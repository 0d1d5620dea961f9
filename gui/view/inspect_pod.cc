#include "gui/view/inspect_pod.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gui/view/held_devices.h"
#include "gui/view/node_slices.h"
#include "gui/view/wants_text.h"
#include "model/check.h"
#include "model/reason_kind.h"

namespace drasim::view {
namespace {

void NoteKinds(const VerdictSummaryTable& summaries, SummaryId id, VerdictCount* verdict) {
  for (const auto& [reason, nodes] : summaries.row(id).rejected) {
    const ReasonKind kind = summaries.kind(reason);
    verdict->of_refusal |= kind == ReasonKind::kClaim;
    verdict->of_claims |= kind == ReasonKind::kClaim || kind == ReasonKind::kWaitsForDriver ||
                          kind == ReasonKind::kNegotiationStep;
  }
}

}  // namespace

absl::string_view LifeSegmentName(LifeSegment::Kind kind) {
  switch (kind) {
    case LifeSegment::Kind::kWaiting:
      return "waiting";
    case LifeSegment::Kind::kStarting:
      return "starting";
    case LifeSegment::Kind::kRunning:
      return "running";
  }
  return "";
}

absl::string_view LifeMarkName(LifeMark::Kind kind) {
  switch (kind) {
    case LifeMark::Kind::kArrived:
      return "arrived";
    case LifeMark::Kind::kNoNode:
      return "found no node";
    case LifeMark::Kind::kPlaced:
      return "placed";
    case LifeMark::Kind::kTakenBack:
      return "taken back";
    case LifeMark::Kind::kBound:
      return "bound";
    case LifeMark::Kind::kAdmitted:
      return "admitted";
    case LifeMark::Kind::kTurnedAway:
      return "turned away";
    case LifeMark::Kind::kStarted:
      return "started";
    case LifeMark::Kind::kEvicted:
      return "evicted";
    case LifeMark::Kind::kFinished:
      return "finished";
    case LifeMark::Kind::kFailed:
      return "failed";
    case LifeMark::Kind::kDeleted:
      return "deleted";
    case LifeMark::Kind::kDropped:
      return "dropped";
  }
  return "";
}

absl::string_view EvictionCauseName(EvictionCause cause) {
  switch (cause) {
    case EvictionCause::kPreempted:
      return "preempted by another job";
    case EvictionCause::kNodeLost:
      return "its node was lost";
    case EvictionCause::kDrained:
      return "its node was drained";
    case EvictionCause::kAttemptFailed:
      return "its work failed, and is tried again";
    case EvictionCause::kRepartitioned:
      return "its node gets another MIG layout";
    case EvictionCause::kTurnedAway:
      return "another pod of its job was turned away";
    case EvictionCause::kDeleted:
      return "a user deleted it, and its owner recreates it";
    case EvictionCause::kTainted:
      return "a device of it has a NoExecute taint";
  }
  return "for an unknown cause";
}

uint32_t PodInspector::CountVerdict(const std::string& text, SimTime time) {
  const auto [entry, is_new] =
      verdict_index_.try_emplace(text, static_cast<uint32_t>(pod_.verdicts.size()));
  if (is_new) {
    VerdictCount count;
    count.text = text;
    count.first = time;
    pod_.verdicts.push_back(std::move(count));
  }
  VerdictCount& count = pod_.verdicts[entry->second];
  ++count.times;
  count.last = time;
  pod_.last_verdict = entry->second;
  return entry->second;
}

void PodInspector::EndSegment() {
  if (pod_.segments.empty()) return;
  LifeSegment& last = pod_.segments.back();
  last.to = latest_;
  if (last.kind != LifeSegment::Kind::kRunning) {
    pod_.waits = pod_.waits + (last.to - last.from);
  }
}

void PodInspector::Begin(LifeSegment::Kind kind, const Record& record,
                         const ClusterState& cluster) {
  EndSegment();
  LifeSegment segment;
  segment.kind = kind;
  segment.from = latest_;
  segment.to = latest_;
  if (kind != LifeSegment::Kind::kWaiting) {
    segment.node = cluster.node_spec(record.node).name;
    segment.devices = HeldDevicesText(cluster, record.pod);
  }
  pod_.segments.push_back(std::move(segment));
}

void PodInspector::Add(const Record& record, const ClusterState& cluster,
                       const VerdictSummaryTable& summaries) {
  if (!record.pod.valid()) return;
  if (!found_) {
    if (record.kind != RecordKind::kPodArrived || cluster.pod_name(record.pod) != name_) return;
    found_ = alive_ = true;
    pod_.pod = record.pod;
    pod_.name = name_;
    pod_.arrival = std::max(SimTime(), record.time);
    pod_.priority = cluster.pod_priority(record.pod);
    const PodShape& shape = cluster.pod_shape(record.pod);
    pod_.wants = WantsText(shape);
    pod_.wants_mig = !shape.request.mig.empty();
    pod_.cpu_milli = shape.request.cpu_milli;
    pod_.memory_bytes = shape.request.memory_bytes;
  } else if (record.pod != pod_.pod || !alive_) {
    return;
  }
  latest_ = std::max(latest_, record.time);
  LifeMark mark;
  mark.time = latest_;
  if (record.node.valid()) mark.node = cluster.node_spec(record.node).name;
  using Segment = LifeSegment::Kind;
  const auto end = [&](LifeMark::Kind kind) {
    mark.kind = kind;
    EndSegment();
    alive_ = false;
  };
  switch (record.kind) {
    case RecordKind::kPodArrived:
      mark.kind = LifeMark::Kind::kArrived;
      Begin(Segment::kWaiting, record, cluster);
      break;
    case RecordKind::kAttemptFailed:
      mark.kind = LifeMark::Kind::kNoNode;
      mark.verdict = CountVerdict(summaries.Text(SummaryId(record.detail)), record.time);
      NoteKinds(summaries, SummaryId(record.detail), &pod_.verdicts[mark.verdict]);
      ++pod_.attempts_failed;
      break;
    case RecordKind::kPodReserved:
      mark.kind = LifeMark::Kind::kPlaced;
      Begin(Segment::kStarting, record, cluster);
      break;
    case RecordKind::kPodUnreserved:
      mark.kind = LifeMark::Kind::kTakenBack;
      ++pod_.times_taken_back;
      Begin(Segment::kWaiting, record, cluster);
      break;
    case RecordKind::kPodBound:
      mark.kind = LifeMark::Kind::kBound;
      if (!pod_.first_start.has_value()) pod_.first_start = record.time;
      Begin(Segment::kRunning, record, cluster);
      break;
    case RecordKind::kPodAdmitted:
      mark.kind = LifeMark::Kind::kAdmitted;
      pod_.segments.back().devices = HeldDevicesText(cluster, record.pod);
      break;
    case RecordKind::kPodStarted:
      mark.kind = LifeMark::Kind::kStarted;
      break;
    case RecordKind::kPodRejected: {
      const auto failure = static_cast<AdmissionFailure>(record.detail & ~kGivenUp);
      mark.verdict = CountVerdict(std::string(AdmissionMessage(failure)), record.time);
      if ((record.detail & kGivenUp) != 0) {
        end(LifeMark::Kind::kTurnedAway);
      } else {
        mark.kind = LifeMark::Kind::kTurnedAway;
        Begin(Segment::kWaiting, record, cluster);
      }
      break;
    }
    case RecordKind::kPodEvicted:
      mark.kind = LifeMark::Kind::kEvicted;
      mark.cause = static_cast<EvictionCause>(record.detail);
      mark.text = std::string(EvictionCauseName(mark.cause));
      ++pod_.times_evicted;
      Begin(Segment::kWaiting, record, cluster);
      break;
    case RecordKind::kPodFinished:
      end(LifeMark::Kind::kFinished);
      break;
    case RecordKind::kPodFailed:
      end(LifeMark::Kind::kFailed);
      break;
    case RecordKind::kPodDeleted:
      end(LifeMark::Kind::kDeleted);
      break;
    case RecordKind::kPodDropped:
      end(LifeMark::Kind::kDropped);
      break;
    case RecordKind::kRunEnded:
    case RecordKind::kNodeChanged:
    case RecordKind::kDevicesChanged:
      return;
  }
  pod_.marks.push_back(std::move(mark));
}

PodInspection PodInspector::Inspect(SimTime now, const ClusterState& cluster,
                                    std::optional<LayoutOfGpu> layouts) const {
  DRASIM_CHECK(found_);
  PodInspection pod = pod_;
  pod.now = std::max(now, latest_);
  pod.phase = cluster.pod_phase(pod.pod);
  if (alive_) {
    LifeSegment& last = pod.segments.back();
    last.to = pod.now;
    if (last.kind != LifeSegment::Kind::kRunning) pod.waits = pod.waits + (last.to - last.from);
  }
  if (pod.phase != PodPhase::kPending) return pod;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const PodRoom room = RoomFor(cluster, cluster.pod_shape_id(pod.pod), NodeId(n), layouts);
    if (room.gpus == 0 && !room.fits) continue;
    RoomyNode node;
    node.node = NodeId(n);
    node.name = cluster.node_spec(NodeId(n)).name;
    node.gpus = room.gpus;
    node.fits = room.fits;
    pod.gpus_with_room += room.gpus;
    pod.nodes_that_fit += room.fits ? 1 : 0;
    pod.room.push_back(std::move(node));
  }
  return pod;
}

std::vector<std::string> VerdictReasons(absl::string_view verdict) {
  constexpr absl::string_view kHead = " nodes are available: ";
  const size_t head = verdict.find(kHead);
  if (head == absl::string_view::npos) return {std::string(verdict)};
  absl::string_view rest = verdict.substr(head + kHead.size());
  absl::ConsumeSuffix(&rest, ".");
  // A comma may stand inside a reason; the next reason begins with its number of nodes.
  std::vector<std::string> reasons;
  for (const absl::string_view part : absl::StrSplit(rest, ", ")) {
    const bool begins = !part.empty() && absl::ascii_isdigit(static_cast<unsigned char>(part[0]));
    if (begins || reasons.empty()) {
      reasons.emplace_back(part);
    } else {
      absl::StrAppend(&reasons.back(), ", ", part);
    }
  }
  return reasons;
}

std::string NodeOf(const PodInspection& pod) {
  for (size_t i = pod.segments.size(); i-- > 0;) {
    if (!pod.segments[i].node.empty()) return pod.segments[i].node;
  }
  return "";
}

std::string PodRoomText(const PodInspection& pod) {
  if (pod.phase != PodPhase::kPending) return "";
  const auto count = [](int64_t number, absl::string_view one, absl::string_view several) {
    return absl::StrCat(GroupedDigits(number), " ", number == 1 ? one : several);
  };
  if (pod.nodes_that_fit > 0) {
    const std::string nodes = count(pod.nodes_that_fit, "node has", "nodes have");
    return absl::StrCat(nodes, " room for it now",
                        pod.gpus_with_room > 0
                            ? absl::StrCat(", with ", count(pod.gpus_with_room, "GPU", "GPUs"))
                            : std::string(),
                        ". It does not wait for room.");
  }
  if (pod.gpus_with_room > 0) {
    return absl::StrCat(count(pod.gpus_with_room, "GPU has", "GPUs have"),
                        " room for its largest part, but no node for all of it.");
  }
  return "No node has room for it now.";
}

}  // namespace drasim::view
