#include "sim/explain/story_json.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"
#include "sim/explain/device_story_text.h"
#include "sim/explain/node_room.h"
#include "sim/explain/queue_place.h"
#include "sim/record/data_table.h"
#include "sim/record/pod_log.h"

namespace drasim {
namespace {

absl::string_view UnitName(LackKind kind) {
  switch (kind) {
    case LackKind::kCpu:
      return "milli-cpu";
    case LackKind::kMemory:
      return "bytes";
    case LackKind::kPodSlots:
    case LackKind::kGroup:
      return "pods";
    case LackKind::kExtended:
      return "units";
    case LackKind::kGpus:
      return "gpus";
    case LackKind::kGpuShare:
      return "milli-gpu of one gpu";
    case LackKind::kGpuShares:
      return "gpus with the share";
    case LackKind::kMig:
    case LackKind::kMigJoint:
      return "mig instances";
  }
  return "";
}

absl::string_view EventName(StoryEvent::Kind kind) {
  constexpr absl::string_view kNames[] = {
      "arrived",     "not_tried", "attempt_failed", "attempts_failed_again",
      "placed",      "bound",     "taken_back",     "given_devices",
      "turned_away", "started",   "evicted",        "finished",
      "failed",      "deleted",   "dropped"};
  return kNames[static_cast<size_t>(kind)];
}

absl::string_view PlaceName(QueuePlace::Where where) {
  constexpr absl::string_view kNames[] = {"nowhere",    "active",      "backoff",   "asleep",
                                          "over_quota", "pre_enqueue", "nominated", "in_line",
                                          "untried",    "pending"};
  return kNames[static_cast<size_t>(where)];
}

void WriteTime(absl::string_view key, const std::optional<SimTime>& time, JsonWriter* j) {
  j->Key(key);
  if (time.has_value()) {
    j->Double(time->seconds());
  } else {
    j->Null();
  }
}

void WriteNear(const NearNode& near, JsonWriter* j) {
  j->BeginObject();
  j->Key("node").String(near.node);
  j->Key("idle").Int(near.lack.idle);
  j->Key("missing").Int(near.lack.missing());
  if (!near.layout.empty()) j->Key("layout").String(near.layout);
  j->Key("holders").BeginArray();
  for (const Holder& holder : near.holders) {
    j->BeginObject();
    j->Key("pod").String(holder.pod);
    j->Key("amount").Int(holder.amount);
    j->Key("devices").String(holder.devices);
    j->Key("job_state").String(holder.state);
    WriteTime("ends", holder.ends, j);
    j->EndObject();
  }
  j->EndArray();
  j->Key("more_holders").Uint(near.more_holders);
  WriteTime("room_at", near.room_at, j);
  j->Key("room_after").Strings(near.room_after);
  j->EndObject();
}

void WriteRejection(const Rejection& r, JsonWriter* j) {
  constexpr absl::string_view kKinds[] = {"amount", "state", "own_pods"};
  j->BeginObject();
  j->Key("kind").String(kKinds[static_cast<size_t>(r.kind)]);
  j->Key("plugin").String(r.plugin);
  j->Key("reason").String(r.reason);
  j->Key("object").String(r.object);
  j->Key("nodes").Uint(r.nodes);
  j->Key("examples").Strings(r.examples);
  if (r.kind == Rejection::Kind::kState) {
    j->Key("state").String(r.state);
    j->EndObject();
    return;
  }
  j->Key("unit").String(r.kind == Rejection::Kind::kOwnPods ? "pods" : UnitName(r.lack));
  j->Key("wanted").Int(r.wanted);
  j->Key("missing_min").Int(r.least_missing);
  j->Key("missing_max").Int(r.most_missing);
  if (r.kind == Rejection::Kind::kAmount) {
    j->Key("idle_total").Int(r.idle_all);
    j->Key("idle_max").Int(r.idle_on_one);
    j->Key("fragmented").Bool(r.fragmented);
    j->Key("nodes_too_small").Uint(r.too_small_nodes);
    j->Key("also_lacking").BeginArray();
    for (const auto& [name, nodes] : r.also) {
      j->BeginObject().Key("resource").String(name).Key("nodes").Uint(nodes).EndObject();
    }
    j->EndArray();
    j->Key("nearest").BeginArray();
    for (const NearNode& near : r.near) WriteNear(near, j);
    j->EndArray();
  }
  j->EndObject();
}

void WriteWhy(const AttemptExplanation& why, JsonWriter* j) {
  j->BeginObject();
  j->Key("summary").String(why.summary);
  j->Key("pod").String(why.pod);
  j->Key("nodes").Uint(why.nodes);
  j->Key("nodes_out").Uint(why.nodes_out);
  j->Key("nodes_by_claims").Uint(why.nodes_by_claims);
  j->Key("by_step").Bool(why.by_step);
  j->Key("pods").Uint(why.pods);
  j->Key("pods_placed").Uint(why.placed);
  j->Key("room_for_pods");
  if (why.room_for.has_value()) {
    j->Uint(*why.room_for);
  } else {
    j->Null();
  }
  j->Key("rejections").BeginArray();
  for (const Rejection& r : why.rejections) WriteRejection(r, j);
  j->EndArray();
  j->Key("claims").Strings(why.claims);
  j->Key("claim_holders").Strings(why.claim_holders);
  if (why.devices.has_value()) {
    j->Key("devices");
    WriteDeviceStory(*why.devices, j);
  }
  j->EndObject();
}

void WritePlace(const QueuePlace& p, const std::string& head, JsonWriter* j) {
  j->BeginObject();
  j->Key("where").String(PlaceName(p.where));
  j->Key("number").Uint(p.place);
  j->Key("of").Uint(p.length);
  j->Key("head").String(head);
  j->Key("ahead").Strings(p.ahead);
  WriteTime("until", p.until, j);
  j->Key("waits_for_victims").Strings(p.victims);
  if (p.quota.has_value()) {
    j->Key("quota").BeginObject();
    j->Key("tenant").String(p.quota->tenant);
    j->Key("resource").String(QuotaResourceName(p.quota->resource));
    j->Key("held").Int(p.quota->held);
    j->Key("limit").Int(p.quota->limit);
    j->Key("wanted").Int(p.quota->wanted);
    j->Key("missing").Int(p.quota->missing());
    j->EndObject();
  }
  j->EndObject();
}

void WriteWhere(const std::vector<StoryEvent::Where>& where, JsonWriter* j) {
  j->Key("pods").BeginArray();
  for (const StoryEvent::Where& w : where) {
    j->BeginObject().Key("pod").String(w.pod).Key("node").String(w.node);
    j->Key("devices").String(w.devices).EndObject();
  }
  j->EndArray();
}

void WriteEvent(const StoryEvent& event, JsonWriter* j) {
  j->BeginObject();
  j->Key("time").Double(event.time.seconds());
  j->Key("until").Double(event.until.seconds());
  j->Key("event").String(EventName(event.kind));
  if (!event.text.empty()) j->Key("text").String(event.text);
  if (event.attempt > 0) {
    j->Key("attempt").Uint(event.attempt);
    j->Key("last_attempt").Uint(std::max(event.attempt, event.last_attempt));
  }
  if (!event.where.empty()) WriteWhere(event.where, j);
  if (event.kind == StoryEvent::Kind::kAttempt) {
    j->Key("why");
    WriteWhy(event.why, j);
  }
  if (event.kind == StoryEvent::Kind::kSameAgain) {
    j->Key("same_as").Uint(event.same_as);
    j->Key("identical").Bool(event.identical);
    j->Key("ranges").BeginArray();
    for (const StoryEvent::Range& range : event.ranges) {
      j->BeginObject();
      j->Key("reason").String(range.of.reason);
      j->Key("object").String(range.of.object);
      j->Key("nodes_min").Uint(range.least_nodes);
      j->Key("nodes_max").Uint(range.most_nodes);
      j->Key("missing_min").Int(range.least_missing);
      j->Key("missing_max").Int(range.most_missing);
      j->EndObject();
    }
    j->EndArray();
  }
  if (event.kind == StoryEvent::Kind::kInLine) {
    j->Key("place");
    WritePlace(event.place, event.head, j);
    j->Key("last_number").Uint(event.last_place);
    if (!event.why.rejections.empty()) {
      j->Key("head_why");
      WriteWhy(event.why, j);
    }
  }
  j->EndObject();
}

void WriteStanding(const Standing& s, JsonWriter* j) {
  j->BeginObject();
  j->Key("time").Double(s.time.seconds());
  j->Key("state").String(JobStateName(s.state));
  j->Key("since").Double(s.since.seconds());
  j->Key("attempts_failed").Uint(s.attempts_failed);
  WriteWhere(s.where, j);
  WriteTime("ends", s.ends, j);
  if (s.state == JobState::kWaiting) {
    j->Key("place");
    WritePlace(s.place, s.head, j);
    if (s.head_why.has_value()) {
      j->Key("head_why");
      WriteWhy(*s.head_why, j);
    }
    j->Key("why");
    if (s.why.has_value()) {
      WriteWhy(*s.why, j);
    } else {
      j->Null();
    }
    if (s.last_tried.has_value()) {
      WriteTime("last_tried", s.last_tried, j);
      j->Key("last_seen").String(s.last_seen);
      j->Key("claims_changed_since").Bool(s.claims_changed);
    }
    j->Key("first_room").BeginArray();
    for (const AttemptExplainer::Prospect& p : s.prospects) {
      j->BeginObject().Key("node").String(p.node).Key("time").Double(p.at.seconds());
      j->Key("after").Strings(p.after);
      j->EndObject();
    }
    j->EndArray();
  }
  j->Key("claims").Strings(s.claims);
  j->EndObject();
}

}  // namespace

std::string StoryJson(const Story& story) {
  JsonWriter j;
  j.BeginDocument("explain");
  j.Key("ledger").String(story.ledger);
  j.Key("partial").Bool(story.partial);
  j.Key("policy").String(story.policy);
  j.Key("mode").String(story.mode);
  j.Key("queue").String(story.queue);
  j.Key("front_end").String(story.front_end);
  j.Key("pod").String(story.pod);
  j.Key("arrival").Double(story.arrival.seconds());
  j.Key("arrived").Bool(story.arrived);
  if (story.arrived) {
    j.Key("job").String(story.job);
    j.Key("pods").Uint(story.pods);
    j.Key("tenant").String(story.tenant);
    j.Key("priority").Int(story.priority);
    j.Key("wants").String(story.wants);
    if (!story.brief) {
      j.Key("events").BeginArray();
      for (const StoryEvent& event : story.events) WriteEvent(event, &j);
      j.EndArray();
    }
    j.Key("standing");
    WriteStanding(story.standing, &j);
  }
  j.EndObject();
  return j.text();
}

std::string StoryCsv(const Story& story) {
  DataTable table(
      {"seconds", "until_seconds", "event", "attempt", "last_attempt", "node", "summary", "text"});
  for (const StoryEvent& event : story.events) {
    std::string from;
    AppendSeconds(event.time, &from);
    std::string until;
    AppendSeconds(event.until, &until);
    table.AddRow().Number(from).Number(until).Text(EventName(event.kind));
    if (event.attempt > 0) {
      table.Int(event.attempt).Int(std::max(event.attempt, event.last_attempt));
    } else {
      table.Empty().Empty();
    }
    table.Text(event.where.empty() ? "" : event.where[0].node);
    table.Text(event.kind == StoryEvent::Kind::kAttempt ? event.why.summary : "");
    table.Text(event.text);
  }
  return table.Csv();
}

}  // namespace drasim
