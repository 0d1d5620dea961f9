#include "gui/view/inspect_claim.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/view/claim_table.h"
#include "model/check.h"
#include "model/ids.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "sim/record/ledger_claims.h"

namespace drasim::view {
namespace {

// Modes whose claims pass a state.
constexpr unsigned kWaits = 1U << static_cast<unsigned>(ClaimMode::kWaitForFirstConsumer);
constexpr unsigned kClassic = kWaits | 1U << static_cast<unsigned>(ClaimMode::kImmediate);
constexpr unsigned kAll = kClassic | 1U << static_cast<unsigned>(ClaimMode::kStructured);

struct StepRule {
  ClaimState state;
  ClaimChangeKind entry;  // the change that leads there
  unsigned modes;
};
constexpr StepRule kSteps[] = {
    {ClaimState::kCreated, ClaimChangeKind::kCreated, kAll},
    {ClaimState::kDriverAsked, ClaimChangeKind::kDriverAsked, kWaits},
    {ClaimState::kNodeSelected, ClaimChangeKind::kNodeSelected, kWaits},
    {ClaimState::kAllocated, ClaimChangeKind::kAllocated, kAll},
    {ClaimState::kReserved, ClaimChangeKind::kReserved, kAll},
    {ClaimState::kPrepared, ClaimChangeKind::kPrepared, kAll},
    {ClaimState::kReleasing, ClaimChangeKind::kReleaseAsked, kClassic},
    {ClaimState::kDeleting, ClaimChangeKind::kDeleting, kAll},
};
static_assert(std::size(kSteps) == kClaimStates);

bool Passes(ClaimMode mode, const StepRule& rule) {
  return (rule.modes >> static_cast<unsigned>(mode) & 1U) != 0;
}

// "gpu-0 of gpu.nvidia.com, gpu-1 of gpu.nvidia.com" is long: drivers are named once.
std::string DevicesText(const std::vector<ClaimDevice>& devices) {
  std::string text;
  for (size_t i = 0; i < devices.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", devices[i].device);
    const bool last = i + 1 == devices.size() || devices[i + 1].driver != devices[i].driver;
    if (last) absl::StrAppend(&text, " of ", devices[i].driver);
  }
  return text;
}

std::string NodeName(const ClusterState& cluster, NodeId node) {
  return node.valid() ? cluster.node_spec(node).name : "";
}

// "3 of 4 nodes", "1 of 1 node"
std::string OfNodes(uint32_t some, uint32_t all) {
  return absl::StrCat(some, " of ", all, all == 1 ? " node" : " nodes");
}

std::string WithWords(std::string text, const std::string& words) {
  if (!words.empty()) absl::StrAppend(&text, ": ", words);
  return text;
}

bool AreDriverWords(const ClaimChange& change) {
  switch (change.kind) {
    case ClaimChangeKind::kDriverAnswered:
      return change.refused > 0;
    case ClaimChangeKind::kAllocationFailed:
    case ClaimChangeKind::kPrepareFailed:
      return true;
    default:
      return false;
  }
}

}  // namespace

const std::string& NodeOf(const ClaimInspection& claim) {
  return claim.node.empty() ? claim.selected_node : claim.node;
}

std::string ClaimChangeText(const ClaimChange& change, const ClusterState& cluster) {
  const std::string node = NodeName(cluster, change.node);
  switch (change.kind) {
    case ClaimChangeKind::kCreated: {
      const ClaimIdentity& identity = change.identity;
      return absl::StrCat("created", identity.pod.empty() ? "" : " for ", identity.pod, ", class ",
                          identity.class_name, ", ", ClaimModeName(identity.mode));
    }
    case ClaimChangeKind::kDriverAsked:
      if (change.asked == 0) return "potential nodes withdrawn";
      return absl::StrCat("driver asked about ", change.asked,
                          change.asked == 1 ? " potential node" : " potential nodes");
    case ClaimChangeKind::kNodeSelected:
      return node.empty() ? "selected node withdrawn" : absl::StrCat(node, " selected");
    case ClaimChangeKind::kDriverAnswered:
      if (change.refused == 0) return "driver refuses none of the nodes";
      return WithWords(absl::StrCat("driver refuses ", OfNodes(change.refused, change.asked)),
                       change.text);
    case ClaimChangeKind::kAllocationFailed:
      return WithWords("driver failed to allocate", change.text);
    case ClaimChangeKind::kAllocated: {
      if (!change.devices.empty()) {
        return WithWords(node.empty() ? "allocated" : absl::StrCat("allocated on ", node),
                         DevicesText(change.devices));
      }
      if (node.empty()) return "allocated by network";
      LiveClaim holder;
      holder.node = change.node;
      holder.grants = change.grants;
      return WithWords(absl::StrCat("allocated on ", node), ClaimDevicesText(cluster, holder));
    }
    case ClaimChangeKind::kReserved:
      return absl::StrCat("reserved for ", change.text);
    case ClaimChangeKind::kUnreserved:
      return absl::StrCat("reservation for ", change.text, " removed");
    case ClaimChangeKind::kPrepared:
      return absl::StrCat("prepared on ", node);
    case ClaimChangeKind::kPrepareFailed:
      return WithWords(absl::StrCat("preparing on ", node, " failed"), change.text);
    case ClaimChangeKind::kUnprepared:
      return absl::StrCat("unprepared on ", node);
    case ClaimChangeKind::kReleaseAsked:
    case ClaimChangeKind::kDeallocated:
    case ClaimChangeKind::kDeleting:
    case ClaimChangeKind::kDeleted:
      return std::string(ClaimChangeName(change.kind));
  }
  DRASIM_UNREACHABLE("an unknown change of a claim");
}

ClaimInspector::ClaimInspector(std::string name, const ClusterState* cluster)
    : name_(std::move(name)), cluster_(cluster) {}

void ClaimInspector::Add(const ClaimChange& change) {
  if (change.kind == ClaimChangeKind::kCreated) {
    if (change.identity.name != name_) return;
    found_ = true;
    claim_ = change.claim;
    live_ = LiveClaim();
    shown_ = ClaimInspection();
  } else if (!found_ || change.claim != claim_) {
    return;
  }
  live_.Apply(change);
  ClaimHistoryLine line;
  line.kind = change.kind;
  line.time = change.time;
  line.text = ClaimChangeText(change, *cluster_);
  line.node = NodeName(*cluster_, change.node);
  switch (change.kind) {
    case ClaimChangeKind::kCreated:
      line.pod = change.identity.pod;
      break;
    case ClaimChangeKind::kReserved:
      line.pod = change.text;
      shown_.pods.push_back(change.text);
      break;
    case ClaimChangeKind::kUnreserved:
      line.pod = change.text;
      std::erase(shown_.pods, change.text);
      break;
    case ClaimChangeKind::kAllocated:
      shown_.allocated = change.devices;
      break;
    case ClaimChangeKind::kDeallocated:
      shown_.allocated.clear();
      break;
    case ClaimChangeKind::kDeleted:
      shown_.deleted = true;
      break;
    default:
      break;
  }
  shown_.history.push_back(std::move(line));
  if (AreDriverWords(change)) CountWords(change);
}

void ClaimInspector::CountWords(const ClaimChange& change) {
  const std::string& text = change.text.empty() ? "no reason given" : change.text;
  auto words = std::find_if(shown_.words.begin(), shown_.words.end(),
                            [&text](const ClaimWords& known) { return known.text == text; });
  if (words == shown_.words.end()) {
    words = shown_.words.insert(words, ClaimWords());
    words->text = text;
    words->first = change.time;
  }
  ++words->times;
  words->last = change.time;
  if (change.kind == ClaimChangeKind::kDriverAnswered) {
    words->refused = change.refused;
    words->asked = change.asked;
  }
}

ClaimInspection ClaimInspector::Inspect(SimTime now) const {
  DRASIM_CHECK(found_);
  ClaimInspection result = shown_;
  result.name = name_;
  result.pod = live_.identity.pod;
  result.class_name = live_.identity.class_name;
  result.mode = std::string(ClaimModeName(live_.identity.mode));
  result.now = now;
  result.state = live_.state;
  result.since = live_.since;
  result.selected_node = NodeName(*cluster_, live_.selected);
  result.nodes_asked = live_.asked;
  result.nodes_refused = live_.refused;
  result.node = NodeName(*cluster_, live_.node);
  result.devices = ClaimDevicesText(*cluster_, live_);
  for (const StepRule& rule : kSteps) {
    if (!Passes(live_.identity.mode, rule)) continue;
    const ClaimTally& tally = live_.tally(rule.entry);
    ClaimStep step;
    step.state = rule.state;
    step.name = std::string(ClaimStateName(rule.state));
    step.times = tally.times;
    step.first = tally.first;
    step.last = tally.last;
    step.present = !result.deleted && live_.state == rule.state;
    result.steps.push_back(std::move(step));
  }
  return result;
}

absl::StatusOr<ClaimInspection> InspectClaim(LedgerSeek* run, const std::string& name,
                                             const TimeTarget& at) {
  ClaimInspector inspector(name, &run->cluster());
  const auto is_past = [&at](const LoggedClaimChange& logged) {
    return at.record.has_value() ? logged.records >= *at.record : logged.change.time > at.time;
  };
  bool past = false;
  for (size_t frame = 0; frame < run->index().claims.size() && !past; ++frame) {
    ASSIGN_OR_RETURN(const std::vector<LoggedClaimChange> changes, run->ReadClaimChanges(frame));
    for (const LoggedClaimChange& logged : changes) {
      past = is_past(logged);
      if (past) break;
      inspector.Add(logged.change);
    }
  }
  if (!inspector.found()) {
    return absl::NotFoundError(
        absl::StrCat(run->reader().path(), ": no claim '", ShownText(name), "' exists by then"));
  }
  return inspector.Inspect(at.time);
}

}  // namespace drasim::view
