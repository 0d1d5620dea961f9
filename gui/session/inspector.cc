#include "gui/session/inspector.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gui/view/inspect_claim.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/inspect_tenant.h"
#include "model/ids.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"

namespace drasim::gui {
namespace {

// Windows with more records than this are worth a first answer without them.
constexpr uint64_t kLongWindow = 200'000;

}  // namespace

absl::Status MoveTo(LedgerSeek* seek, const view::TimeTarget& at, bool by_record) {
  if (at.record.has_value()) return seek->ToRecord(*at.record);
  if (by_record) {
    return seek->ToRecord(static_cast<uint64_t>(std::max<int64_t>(at.time.ns(), 0)));
  }
  return seek->ToTime(at.time);
}

absl::Status Inspector::Locate(const view::TimeTarget& at, uint64_t* records, SimTime* shown) {
  RETURN_IF_ERROR(MoveTo(seek_.get(), at, basis_->by_record));
  *records = seek_->record();
  if (basis_->by_record) {
    *shown = SimTime(static_cast<int64_t>(*records));
  } else if (at.record.has_value()) {
    *shown = seek_->time();
  } else {
    *shown = std::clamp(at.time, seek_->time(), std::max(seek_->time(), basis_->end));
  }
  return absl::OkStatus();
}

absl::Status Inspector::ReadTo(uint64_t records, GoOn go_on, Visitor visit) {
  const uint64_t begin = seek_->record();
  while (seek_->record() < records) {
    const uint64_t done = seek_->record() - begin;
    if (done % kRecordsBetweenQuestions == 0 &&
        !go_on(static_cast<double>(done) / static_cast<double>(records - begin))) {
      return absl::CancelledError("the inspection was cancelled");
    }
    Record record;
    ASSIGN_OR_RETURN(const bool more, seek_->Next(&record));
    if (!more) break;
    if (basis_->by_record) record.time = SimTime(static_cast<int64_t>(seek_->record()));
    visit(record);
  }
  return absl::OkStatus();
}

uint64_t Inspector::KeyframeBefore(uint64_t records) const {
  const std::vector<LedgerPlace>& keyframes = seek_->index().keyframes;
  const auto later =
      std::upper_bound(keyframes.begin(), keyframes.end(), records,
                       [](uint64_t wanted, const LedgerPlace& k) { return wanted < k.records; });
  return later == keyframes.begin() ? 0 : std::prev(later)->records;
}

absl::Status Inspector::InspectPod(const InspectRequest& request, GoOn go_on, Inspection* result) {
  const std::string& name = request.object.name;
  const std::string& path = seek_->reader().path();
  const view::PodTable& pods = basis_->pods_at_end;
  const std::optional<size_t> row = pods.Find(name);
  if (!row.has_value()) {
    return absl::NotFoundError(absl::StrCat(path, ": no pod '", ShownText(name), "'"));
  }
  uint64_t last = 0;
  SimTime now;
  RETURN_IF_ERROR(Locate(request.at, &last, &now));
  if (static_cast<uint64_t>(seek_->live().counter(RunCounter::kPodsArrived)) <=
      pods.row(*row).number) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no pod '", ShownText(name), "' has arrived by then"));
  }
  // Several records may have the time of the arrival: from before the first of them.
  const int64_t arrival_ns = pods.row(*row).arrival.ns();
  RETURN_IF_ERROR(arrival_ns > 0 ? seek_->ToTime(SimTime(arrival_ns - 1)) : seek_->ToRecord(0));
  view::PodInspector inspector(name);
  const uint32_t number = pods.row(*row).number;
  bool ended = false;
  uint64_t first = seek_->record();
  while (!ended && first < last) {
    const uint64_t piece = std::min(last, first + kRecordsBetweenQuestions);
    if (!go_on(static_cast<double>(first) / static_cast<double>(last))) {
      return absl::CancelledError("the inspection was cancelled");
    }
    RETURN_IF_ERROR(ReadTo(
        piece, [](double) { return true; },
        [&](const Record& record) {
          inspector.Add(record, seek_->cluster(), seek_->summaries());
        }));
    if (seek_->record() == first) break;
    first = seek_->record();
    const std::optional<PodId> pod = seek_->FindPod(number);
    ended = pod.has_value() && seek_->live().Find(*pod) == nullptr;
  }
  if (!inspector.found()) {
    return absl::DataLossError(
        absl::StrCat(path, ": damaged: pod '", ShownText(name), "' arrives at another time"));
  }
  result->pod = inspector.Inspect(
      now, seek_->cluster(), [&](NodeId node, size_t gpu) { return seek_->LayoutOf(node, gpu); });
  result->pod->pod = PodId(number);
  result->pod->tenant = pods.tenant(*row);
  return absl::OkStatus();
}

absl::StatusOr<view::NodeInspection> Inspector::ReadNode(NodeId node, uint64_t first, uint64_t last,
                                                         SimTime now, GoOn go_on) {
  view::NodeInspector inspector(node);
  const uint64_t keyframe = KeyframeBefore(first);
  RETURN_IF_ERROR(seek_->ToRecord(keyframe));
  const bool by_record = basis_->by_record;
  inspector.Seed(seek_->cluster(), [&](PodId pod) {
    if (by_record) return SimTime(static_cast<int64_t>(keyframe));
    const LivePod* const live = seek_->live().Find(pod);
    const bool bound = live != nullptr && live->phase == PodPhase::kBound;
    return bound ? live->history.running_since : seek_->time();
  });
  RETURN_IF_ERROR(
      ReadTo(last, go_on, [&](const Record& record) { inspector.Add(record, seek_->cluster()); }));
  view::NodeInspection read = inspector.Inspect(
      now, seek_->cluster(), [&](NodeId id, size_t gpu) { return seek_->LayoutOf(id, gpu); });
  const auto number = [&](PodId pod) { return PodId(static_cast<size_t>(seek_->NumberOf(pod))); };
  for (view::NodeSlot& slot : read.slots) slot.pod = number(slot.pod);
  for (view::ResidentPod& pod : read.pods) pod.pod = number(pod.pod);
  return read;
}

absl::Status Inspector::InspectNode(const InspectRequest& request, GoOn go_on,
                                    absl::FunctionRef<void(Inspection)> publish,
                                    Inspection* result) {
  ASSIGN_OR_RETURN(const NodeId node, view::RequireNode(seek_->cluster(), request.object.name,
                                                        seek_->reader().path()));
  uint64_t at = 0;
  SimTime now;
  RETURN_IF_ERROR(Locate(request.at, &at, &now));
  if (request.end <= request.begin) {
    ASSIGN_OR_RETURN(result->node, ReadNode(node, 0, at, now, go_on));
    return absl::OkStatus();
  }
  const bool known = window_.has_value() && window_->node == request.object.name &&
                     window_->begin == request.begin && window_->end == request.end;
  ASSIGN_OR_RETURN(result->node, ReadNode(node, at, at, now, go_on));
  if (!known) {
    uint64_t first = 0;
    uint64_t last = 0;
    SimTime begin;
    SimTime end;
    RETURN_IF_ERROR(Locate({request.begin, std::nullopt}, &first, &begin));
    RETURN_IF_ERROR(Locate({request.end, std::nullopt}, &last, &end));
    if (last - std::min(first, last) > kLongWindow) publish(*result);
    ASSIGN_OR_RETURN(view::NodeInspection read, ReadNode(node, first, last, end, go_on));
    window_.emplace();
    window_->node = request.object.name;
    window_->begin = request.begin;
    window_->end = request.end;
    for (view::NodeSlot& slot : read.slots) {
      if (slot.open || slot.to >= request.begin) window_->slots.push_back(std::move(slot));
    }
    for (view::NodeEvent& event : read.events) {
      if (event.time >= request.begin) window_->events.push_back(std::move(event));
    }
  }
  result->node->slots = window_->slots;
  result->node->events = window_->events;
  return absl::OkStatus();
}

absl::Status Inspector::InspectTenant(const InspectRequest& request, Inspection* result) {
  uint64_t records = 0;
  SimTime now;
  RETURN_IF_ERROR(Locate(request.at, &records, &now));
  const view::PodTable pods = PodsAt(*seek_, *basis_, basis_->by_record ? seek_->time() : now);
  ASSIGN_OR_RETURN(result->tenant, view::InspectTenant(pods, request.object.name));
  return absl::OkStatus();
}

absl::Status Inspector::InspectClaim(const InspectRequest& request, Inspection* result) {
  uint64_t records = 0;
  SimTime now;
  RETURN_IF_ERROR(Locate(request.at, &records, &now));
  ASSIGN_OR_RETURN(result->claim,
                   view::InspectClaim(seek_.get(), request.object.name, {now, request.at.record}));
  return absl::OkStatus();
}

absl::StatusOr<Inspection> Inspector::Inspect(const InspectRequest& request, GoOn go_on,
                                              absl::FunctionRef<void(Inspection)> publish) {
  Inspection result;
  result.request = request;
  absl::Status status;
  switch (request.object.kind) {
    case ObjectKind::kPod:
      status = InspectPod(request, go_on, &result);
      break;
    case ObjectKind::kNode:
      status = InspectNode(request, go_on, publish, &result);
      break;
    case ObjectKind::kTenant:
      status = InspectTenant(request, &result);
      break;
    case ObjectKind::kClaim:
      status = InspectClaim(request, &result);
      break;
    case ObjectKind::kNone:
      status = absl::NotFoundError(
          absl::StrCat(seek_->reader().path(), ": the ledger tells of no such object"));
      break;
  }
  if (!status.ok()) return status;
  return result;
}

}  // namespace drasim::gui
