#include "sim/explain/story_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "sim/explain/device_story_text.h"
#include "sim/explain/node_room.h"
#include "sim/explain/queue_place.h"

namespace drasim {
namespace {

constexpr size_t kPlacesShown = 4;
constexpr size_t kLeaversShown = 3;

// Virtual time, as durations are written everywhere: "1h2m3s"; up to the next millisecond, so that
// --at with it takes in what happened then.
std::string TimeInWords(SimTime time) {
  constexpr int64_t kMilli = 1'000'000;
  const int64_t up = time.ns() % kMilli == 0 ? 0 : kMilli - time.ns() % kMilli;
  return absl::FormatDuration(absl::Nanoseconds(time.ns() + up));
}

std::string NodesInWords(uint64_t n) { return absl::StrCat(n, n == 1 ? " node" : " nodes"); }

// "2", "1 to 3".
std::string NumberRange(LackKind kind, int64_t least, int64_t most) {
  return least == most
             ? LackNumberText(kind, least)
             : absl::StrCat(LackNumberText(kind, least), " to ", LackNumberText(kind, most));
}

// "a, b, c and 4 more".
std::string FirstNames(const std::vector<std::string>& names, size_t shown) {
  const size_t n = std::min(names.size(), shown);
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(n));
  return absl::StrCat(absl::StrJoin(first, ", "),
                      names.size() > n ? absl::StrCat(" and ", names.size() - n, " more") : "");
}

std::string HolderText(const Holder& holder, const Shortfall& lack) {
  std::string text = holder.pod;
  const std::string amount =
      holder.devices.empty() ? LackNumberText(lack.kind, holder.amount) : holder.devices;
  absl::StrAppend(&text, " (", amount);
  if (holder.ends.has_value()) {
    absl::StrAppend(&text, ", ends at ", TimeInWords(*holder.ends));
  } else {
    absl::StrAppend(&text, ", ", absl::AsciiStrToLower(holder.state), ", end not known");
  }
  return absl::StrCat(text, ")");
}

// Lines with an indent, for one rejection.
class RejectionWriter {
 public:
  // Shows at most `near` near nodes of each rejection.
  RejectionWriter(std::string indent, size_t near, std::string* out)
      : indent_(std::move(indent)), near_(near), out_(out) {}

  void Write(const Rejection& r) const {
    std::string head = r.nodes > 0 ? absl::StrCat(NodesInWords(r.nodes), ": ") : "";
    absl::StrAppend(&head, r.reason.empty() ? r.object : r.reason);
    if (!r.plugin.empty()) absl::StrAppend(&head, " (", r.plugin, ")");
    if (!r.examples.empty()) {
      absl::StrAppend(&head, ": ", absl::StrJoin(r.examples, ", "),
                      r.nodes > r.examples.size() ? ", ..." : "");
    }
    Line(0, head);
    switch (r.kind) {
      case Rejection::Kind::kState:
        if (r.state != r.reason) Line(1, absl::StrCat(r.object, ": ", r.state));
        return;
      case Rejection::Kind::kOwnPods:
        Line(1, absl::StrCat("one pod fits there, but the ", r.wanted,
                             " pods of the job do not fit together: place for ", r.least_missing,
                             " of them is lacking"));
        return;
      case Rejection::Kind::kAmount:
        Amounts(r);
    }
  }

 private:
  void Line(int level, const std::string& text) const {
    absl::StrAppend(out_, indent_, std::string(static_cast<size_t>(level) * 2, ' '), text, "\n");
  }

  void Amounts(const Rejection& r) const {
    std::string text =
        absl::StrCat("wants ", LackAmountText(r.lack, r.object, r.wanted), ", lacks ",
                     NumberRange(r.lack, r.least_missing, r.most_missing));
    if (r.lack == LackKind::kMig || r.lack == LackKind::kMigJoint) {
      if (r.fragmented) {
        absl::StrAppend(&text, r.nodes > 1 ? "; on some, " : "; ",
                        "enough units are free, but not where ", r.object, " may start");
      }
    } else if (r.nodes == 1 && r.lack != LackKind::kGpuShare) {
      absl::StrAppend(&text, "; idle: ", LackNumberText(r.lack, r.idle_on_one));
    } else if (r.idle_all == 0) {
      absl::StrAppend(&text, "; none is idle");
    } else if (r.lack != LackKind::kGroup && r.lack != LackKind::kPodSlots) {
      absl::StrAppend(&text, "; idle: ", LackNumberText(r.lack, r.idle_all), " in all, at most ",
                      LackNumberText(r.lack, r.idle_on_one),
                      r.lack == LackKind::kGpuShare ? " on one GPU" : " on one node",
                      r.fragmented ? " (enough, but in pieces)" : "");
    }
    Line(1, text);
    if (r.too_small_nodes > 0) {
      const std::string who = r.nodes == 1 ? "it would not"
                              : r.too_small_nodes == r.nodes
                                  ? "none of them would"
                                  : absl::StrCat(r.too_small_nodes, " of them would not");
      Line(1, absl::StrCat(who, " have enough even if empty"));
    }
    std::vector<std::string> also;
    for (const auto& [name, nodes] : r.also) {
      also.push_back(absl::StrCat(name, " on ", nodes));
    }
    if (!also.empty()) Line(1, absl::StrCat("also lacking: ", absl::StrJoin(also, ", ")));
    for (size_t i = 0; i < r.near.size() && i < near_; ++i) Near(r.near[i]);
  }

  void Near(const NearNode& near) const {
    std::string text =
        absl::StrCat(near.node, " lacks ", LackNumberText(near.lack.kind, near.lack.missing()));
    if (!near.holders.empty()) {
      std::vector<std::string> holders;
      for (const Holder& holder : near.holders) holders.push_back(HolderText(holder, near.lack));
      absl::StrAppend(&text, ", held by ", absl::StrJoin(holders, ", "));
      if (near.more_holders > 0) absl::StrAppend(&text, " and ", near.more_holders, " more");
    }
    Line(1, text);
    if (!near.layout.empty()) Line(2, near.layout);
    if (near.room_at.has_value()) {
      Line(2, absl::StrCat("has room at ", TimeInWords(*near.room_at), ", when ",
                           FirstNames(near.room_after, kLeaversShown),
                           near.room_after.size() == 1 ? " has" : " have",
                           " ended, if nothing else comes"));
    }
  }

  std::string indent_;
  size_t near_;
  std::string* out_;
};

// Claims as the API server has them, which is not what the scheduler saw.
void AppendClaims(const std::vector<std::string>& claims, const std::vector<std::string>& holders,
                  const std::string& title, const std::string& indent, std::string* out) {
  if (!claims.empty()) absl::StrAppend(out, indent, title, ":\n");
  for (const std::string& line : claims) absl::StrAppend(out, indent, "  ", line, "\n");
  if (!holders.empty()) absl::StrAppend(out, indent, "who holds the devices there:\n");
  for (const std::string& line : holders) absl::StrAppend(out, indent, "  ", line, "\n");
}

void AppendWhy(const AttemptExplanation& why, const std::string& claims_title,
               const std::string& indent, size_t near, std::string* out) {
  if (why.by_step) {
    absl::StrAppend(out, indent, "a node was found, but a step behind that refused it\n");
  }
  if (why.pods > 1) {
    const std::string room =
        why.room_for.has_value() && *why.room_for < why.pods
            ? absl::StrCat("; the nodes have room for ", *why.room_for, " of them")
            : "";
    if (why.placed > 0 || !room.empty()) {
      absl::StrAppend(out, indent,
                      why.placed > 0 ? absl::StrCat(why.placed, " of ", why.pods,
                                                    " pods found a place, ", why.pod, " did not")
                                     : absl::StrCat(why.pods, " pods are to start together"),
                      room, "\n");
    }
  }
  const RejectionWriter writer(indent, near, out);
  for (const Rejection& r : why.rejections) writer.Write(r);
  if (why.nodes_out > 0) {
    absl::StrAppend(out, indent, NodesInWords(why.nodes_out), why.nodes_out == 1 ? " is" : " are",
                    " not part of the cluster at present\n");
  }
  AppendClaims(why.claims, why.claim_holders, claims_title, indent, out);
  if (!why.devices.has_value()) return;
  for (const std::string& line : DeviceStoryLines(*why.devices)) {
    absl::StrAppend(out, indent, line, "\n");
  }
}

// "node-1 (GPU 0), node-2 and 3 more nodes"; pods of a gang by node.
std::string PlacesText(const std::vector<StoryEvent::Where>& where) {
  std::vector<std::pair<std::string, std::vector<const StoryEvent::Where*>>> nodes;
  for (const StoryEvent::Where& w : where) {
    if (w.node.empty()) continue;
    const auto known = std::find_if(nodes.begin(), nodes.end(),
                                    [&w](const auto& node) { return node.first == w.node; });
    auto& entry = known == nodes.end()
                      ? nodes.emplace_back(w.node, std::vector<const StoryEvent::Where*>())
                      : *known;
    entry.second.push_back(&w);
  }
  std::vector<std::string> texts;
  for (const auto& [node, pods] : nodes) {
    std::string text = node;
    std::vector<std::string> notes;
    if (where.size() > 1) {
      notes.push_back(absl::StrCat(pods.size(), pods.size() == 1 ? " pod" : " pods"));
    }
    if (pods.size() == 1 && !pods[0]->devices.empty()) notes.push_back(pods[0]->devices);
    if (!notes.empty()) absl::StrAppend(&text, " (", absl::StrJoin(notes, ", "), ")");
    texts.push_back(std::move(text));
  }
  return FirstNames(texts, kPlacesShown);
}

std::string PlaceInQueue(const QueuePlace& p) {
  using Where = QueuePlace::Where;
  switch (p.where) {
    case Where::kNowhere:
      return "in no queue: its pods have not been made anew yet";
    case Where::kActive:
      return absl::StrCat("in kube-scheduler's active queue, number ", p.place, " of ", p.length);
    case Where::kBackoff:
      return absl::StrCat("backing off",
                          p.until.has_value() ? absl::StrCat(" until ", TimeInWords(*p.until)) : "",
                          ": something that may help has happened, but it failed too recently");
    case Where::kAsleep:
      return absl::StrCat("asleep until something happens that may help",
                          p.until.has_value() ? absl::StrCat("; at ", TimeInWords(*p.until),
                                                             " it is tried in any case")
                                              : "");
    case Where::kOverQuota:
      if (!p.quota.has_value()) return "kept back: its tenant's quota has no room";
      return absl::StrCat("kept back by its quota: ", QuotaText(*p.quota));
    case Where::kHeld:
      return "kept out of the queue by PreEnqueue: what it needs has not been created";
    case Where::kNominated:
      return absl::StrCat(
          "waits for evicted jobs to leave: ", FirstNames(p.victims, kPlacesShown),
          p.until.has_value() ? absl::StrCat("; not before ", TimeInWords(*p.until)) : "");
    case Where::kInLine: {
      if (p.place == 1) return absl::StrCat("at the head of the line of ", p.length);
      std::vector<std::string> ahead = p.ahead;
      ahead.resize(std::max(p.ahead.size(), p.place - 1));
      return absl::StrCat("number ", p.place, " of ", p.length, " in line, behind ",
                          FirstNames(ahead, p.ahead.size()));
    }
    case Where::kUntried:
      return "it has just come";
    case Where::kPending:
      return "kept pending for ever: it says something that is not simulated";
  }
  return "";
}

// Why a job in line is not tried.
std::string HeadText(const QueuePlace& p, const std::string& head) {
  if (p.where != QueuePlace::Where::kInLine || p.place == 1 || !p.in_order) return "";
  if (p.backfill.empty()) {
    return absl::StrCat("head of line: nobody is tried before ", head, " fits");
  }
  return absl::StrCat("head of line: ", head, "; behind it only what ", p.backfill,
                      " backfilling allows is tried");
}

void AppendHead(const std::string& head, const AttemptExplanation& why, const std::string& indent,
                std::string* out) {
  if (why.rejections.empty()) return;
  absl::StrAppend(out, indent, head, " waits for:\n");
  AppendWhy(why, "the API server has", indent + "  ", 1, out);
}

std::string TimesText(const StoryEvent& event) {
  return event.until == event.time
             ? TimeInWords(event.time)
             : absl::StrCat(TimeInWords(event.time), " .. ", TimeInWords(event.until));
}

std::string AttemptsText(const StoryEvent& event) {
  return event.attempt == event.last_attempt
             ? absl::StrCat("attempt ", event.attempt, " failed")
             : absl::StrCat("attempts ", event.attempt, "-", event.last_attempt, " failed");
}

void AppendRanges(const StoryEvent& event, const std::string& indent, std::string* out) {
  for (const StoryEvent::Range& range : event.ranges) {
    const Rejection& r = range.of;
    std::string text =
        range.least_nodes == range.most_nodes
            ? NodesInWords(range.most_nodes)
            : absl::StrCat(range.least_nodes, " to ", NodesInWords(range.most_nodes));
    absl::StrAppend(&text, ": ", r.reason);
    if (r.kind == Rejection::Kind::kAmount) {
      absl::StrAppend(&text, ", lacking ",
                      NumberRange(r.lack, range.least_missing, range.most_missing));
    } else if (r.kind == Rejection::Kind::kOwnPods) {
      absl::StrAppend(&text, ", place for ",
                      NumberRange(LackKind::kPodSlots, range.least_missing, range.most_missing),
                      " pod(s) lacking");
    }
    absl::StrAppend(out, indent, text, "\n");
  }
}

std::string EventText(const StoryEvent& event) {
  using Kind = StoryEvent::Kind;
  const std::string places = PlacesText(event.where);
  const std::string on = places.empty() ? "" : absl::StrCat(" on ", places);
  const std::string because = event.text.empty() ? "" : absl::StrCat(": ", event.text);
  const std::string attempt =
      event.attempt > 0 ? absl::StrCat("attempt ", event.attempt, ": ") : "";
  switch (event.kind) {
    case Kind::kArrived:
      return "arrived";
    case Kind::kInLine:
      return absl::StrCat("not tried: ", PlaceInQueue(event.place));
    case Kind::kAttempt:
      return absl::StrCat(AttemptsText(event), ": ", event.why.summary);
    case Kind::kSameAgain:
      return absl::StrCat(AttemptsText(event),
                          event.identical ? " as attempt " : " for the reasons of attempt ",
                          event.same_as, event.identical ? " did" : "");
    case Kind::kPlaced:
      return absl::StrCat(attempt, "placed", on, "; its start is under way");
    case Kind::kBound:
      return absl::StrCat(attempt, "bound", on);
    case Kind::kTakenBack:
      return absl::StrCat("its place", on, " was taken back");
    case Kind::kAdmitted:
      return absl::StrCat("given devices", on);
    case Kind::kTurnedAway:
      return absl::StrCat("turned away", on.empty() ? "" : absl::StrCat(" by ", places), because);
    case Kind::kStarted:
      return absl::StrCat("its work begins", on);
    case Kind::kEvicted:
      return absl::StrCat("evicted", on.empty() ? "" : absl::StrCat(" from ", places), because);
    case Kind::kFinished:
      return "finished";
    case Kind::kFailed:
      return absl::StrCat("failed", because);
    case Kind::kDeleted:
      return "deleted by its owner";
    case Kind::kDropped:
      return "given up: it is not tried again";
  }
  return "";
}

constexpr char kClaimsTitle[] = "the API server had, at that moment";

void AppendEvent(const StoryEvent& event, std::string* out) {
  const std::string indent = "    ";
  absl::StrAppend(out, "  ", TimesText(event), "  ", EventText(event), "\n");
  switch (event.kind) {
    case StoryEvent::Kind::kAttempt:
      return AppendWhy(event.why, kClaimsTitle, indent, kNearShown, out);
    case StoryEvent::Kind::kSameAgain:
      if (!event.identical) AppendRanges(event, indent, out);
      return;
    case StoryEvent::Kind::kInLine: {
      if (event.place.where == QueuePlace::Where::kInLine &&
          event.last_place != event.place.place) {
        absl::StrAppend(out, indent, "number ", event.last_place, " of ", event.last_length, " at ",
                        TimeInWords(event.until), "\n");
      }
      const std::string head = HeadText(event.place, event.head);
      if (head.empty()) return;
      absl::StrAppend(out, indent, head, "\n");
      return AppendHead(event.head, event.why, indent, out);
    }
    default:
      return;
  }
}

void AppendWaiting(const Standing& s, std::string* out) {
  absl::StrAppend(out, "  since ", TimeInWords(s.since), ", ", s.attempts_failed,
                  s.attempts_failed == 1 ? " failed attempt" : " failed attempts", "; ",
                  PlaceInQueue(s.place), "\n");
  const std::string head = HeadText(s.place, s.head);
  if (!head.empty()) {
    absl::StrAppend(out, "  ", head, "\n");
    if (s.head_why.has_value()) AppendHead(s.head, *s.head_why, "  ", out);
  }
  // Before any room on nodes, it is this that keeps it.
  using Where = QueuePlace::Where;
  const bool kept = s.place.where == Where::kOverQuota || s.place.where == Where::kHeld;
  if (s.last_tried.has_value()) {
    absl::StrAppend(out, "  when it was last tried, at ", TimeInWords(*s.last_tried),
                    ", the scheduler saw: ", s.last_seen, "\n");
  }
  const std::string claims_title = !s.last_tried.has_value() ? "the API server has now"
                                   : s.claims_changed
                                       ? "since then this has changed; the API server has now"
                                       : "the API server has now, as it had then";
  if (s.why.has_value() && s.why->nodes_by_claims > 0) {
    absl::StrAppend(out, "  apart from its claims, ", s.why->nodes_by_claims, " of ",
                    NodesInWords(s.why->nodes), " would do\n");
    AppendWhy(*s.why, claims_title, "    ", kNearShown, out);
  } else if (s.why.has_value()) {
    absl::StrAppend(out, kept ? "  were it tried now: " : "  it waits for: ", s.why->summary, "\n");
    // The victims leave before their known ends, which would mislead here.
    AppendWhy(*s.why, claims_title, "    ", s.place.where == Where::kNominated ? 0 : kNearShown,
              out);
  } else if (s.claims.empty()) {
    absl::StrAppend(out, "  the nodes have room for it\n");
  }
  if (s.place.where == Where::kNominated) return;
  for (size_t i = 0; i < s.prospects.size(); ++i) {
    const AttemptExplainer::Prospect& p = s.prospects[i];
    absl::StrAppend(out, i == 0 ? "  first room: " : "        then: ", p.node, " at ",
                    TimeInWords(p.at), ", when ", FirstNames(p.after, kLeaversShown),
                    p.after.size() == 1 ? " has" : " have", " ended\n");
  }
  const bool by_claims = s.why.has_value() && s.why->nodes_by_claims > 0;
  if (s.why.has_value() && s.why->pods == 1 && s.prospects.empty() && !by_claims) {
    absl::StrAppend(out, "  no node gets room by jobs that end at a known time\n");
  }
}

// The last attempt that is told in full; null if there is none.
const StoryEvent* LastAttempt(const Story& story) {
  for (size_t i = story.events.size(); i-- > 0;) {
    if (story.events[i].kind == StoryEvent::Kind::kAttempt) return &story.events[i];
  }
  return nullptr;
}

void AppendStanding(const Standing& s, std::string* out) {
  absl::StrAppend(out, "at ", TimeInWords(s.time), ": ");
  switch (s.state) {
    case JobState::kWaiting:
      absl::StrAppend(out, "waiting\n");
      AppendWaiting(s, out);
      break;
    case JobState::kStarting:
      absl::StrAppend(out, "starting on ", PlacesText(s.where), "\n");
      break;
    case JobState::kRunning:
      absl::StrAppend(out, "running on ", PlacesText(s.where), " since ", TimeInWords(s.since),
                      s.ends.has_value() ? absl::StrCat(", ends at ", TimeInWords(*s.ends)) : "",
                      "\n");
      break;
    default:
      absl::StrAppend(out, absl::AsciiStrToLower(JobStateName(s.state)), " at ",
                      TimeInWords(s.since), "; it waits for nothing\n");
  }
  if (s.why.has_value()) return;  // they stand there
  AppendClaims(s.claims, {}, "the API server has now", "  ", out);
}

}  // namespace

std::string AttemptText(const AttemptExplanation& why) {
  std::string text;
  AppendWhy(why, kClaimsTitle, "", kNearShown, &text);
  return text;
}

std::string StoryText(const Story& story) {
  std::string out = absl::StrCat("pod ", story.pod);
  if (story.pods > 1) absl::StrAppend(&out, " of job ", story.job, " (", story.pods, " pods)");
  if (!story.arrived) {
    return absl::StrCat(out, "\nat ", TimeInWords(story.standing.time),
                        ": has not arrived; it does at ", TimeInWords(story.arrival), "\n");
  }
  absl::StrAppend(&out, "\nwants ", story.wants, story.pods > 1 ? ", each pod" : "");
  if (!story.tenant.empty()) absl::StrAppend(&out, "; tenant ", story.tenant);
  if (story.priority != 0) absl::StrAppend(&out, "; priority ", story.priority);
  absl::StrAppend(&out, "\nrun ", story.ledger, ": policy ", story.policy, ", ",
                  story.queue.empty() ? story.mode : absl::StrCat("queue ", story.queue),
                  ", front end ", story.front_end,
                  story.partial ? "; it did not end, this is as far as it is recorded" : "", "\n");
  if (!story.brief) {
    absl::StrAppend(&out, "\n");
    for (const StoryEvent& event : story.events) AppendEvent(event, &out);
    absl::StrAppend(&out, "\n");
  }
  Standing standing = story.standing;
  const StoryEvent* const last = story.brief ? nullptr : LastAttempt(story);
  const bool same =
      last != nullptr && standing.why.has_value() && standing.why->devices.has_value() &&
      last->why.devices.has_value() &&
      DeviceStoryLines(*standing.why->devices) == DeviceStoryLines(*last->why.devices);
  if (same) standing.why->devices.reset();
  AppendStanding(standing, &out);
  if (same)
    absl::StrAppend(&out, "    the devices are as attempt ", last->attempt, " found them\n");
  return out;
}

}  // namespace drasim
