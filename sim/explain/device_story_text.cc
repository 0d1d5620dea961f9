#include "sim/explain/device_story_text.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace drasim {
namespace {

// Reasons of one stage, groups of nodes, and failed tests of the nearest device that are shown.
constexpr size_t kLossesShown = 4;
constexpr size_t kNodeGroupsShown = 4;
constexpr size_t kFailsShown = 3;

std::string Counted(size_t n, absl::string_view noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

// The verb that goes before DeviceLoss::why.
absl::string_view VerbOf(DeviceStage stage, bool one) {
  switch (stage) {
    case DeviceStage::kClass:
    case DeviceStage::kSelectors:
      return one ? "fails" : "fail";
    case DeviceStage::kTaints:
    case DeviceStage::kGates:
    case DeviceStage::kRoom:
      return one ? "has" : "have";
    case DeviceStage::kCounters:
      return one ? "needs" : "need";
    default:
      return one ? "is" : "are";
  }
}

// "fails device.driver == "a": device.driver is "b""
std::string LossText(DeviceStage stage, const DeviceLoss& loss, bool one) {
  return absl::StrCat(VerbOf(stage, one), " ", loss.why, loss.found.empty() ? "" : ": ",
                      loss.found);
}

// The name of a stage's devices, behind their number.
std::string StageText(const RequestStory& request, DeviceStage stage) {
  switch (stage) {
    case DeviceStage::kNodes:
      return "for these nodes";
    case DeviceStage::kClass:
      return absl::StrCat("of class ", request.device_class);
    case DeviceStage::kSelectors:
      return "by its selectors";
    case DeviceStage::kSize:
      return "large enough";
    case DeviceStage::kTaints:
      return "without a taint that it does not tolerate";
    case DeviceStage::kGates:
      return "without a feature that is switched off";
    case DeviceStage::kFree:
      return "free";
    case DeviceStage::kRoom:
      return "with enough capacity left";
    case DeviceStage::kCounters:
      return "with enough left of their counters";
    case DeviceStage::kLeft:
      break;
  }
  return "";
}

std::string WantedText(const RequestStory& request) {
  return absl::StrCat("wants ",
                      request.all ? std::string("all devices")
                                  : Counted(static_cast<size_t>(request.wanted), "device"),
                      " of class ", request.device_class,
                      request.admin ? ", with admin access" : "");
}

class StoryLines {
 public:
  explicit StoryLines(const DeviceStory& story) : story_(story) {}

  std::vector<std::string> Run(bool with_nodes) {
    if (story_.error.has_value()) {
      AddError(*story_.error);
    } else {
      for (const ClaimStory& claim : story_.claims) AddClaim(claim);
    }
    if (with_nodes) AddNodes();
    return std::move(lines_);
  }

 private:
  void Add(std::string line) { lines_.push_back(std::move(line)); }
  void AddNumber(size_t n, absl::string_view text) { Add(absl::StrFormat("%6d  %s", n, text)); }

  void AddMend(const DeviceLoss& loss, absl::string_view indent) {
    if (!loss.mend.empty()) Add(absl::StrCat(indent, "to mend: ", loss.mend));
  }

  void AddError(const SearchErrorStory& error) {
    Add(absl::StrCat(
        "the search for devices ended with an error, which ends the attempt on every "
        "node; it was met on node ",
        error.node, error.device.empty() ? "" : absl::StrCat(", device ", error.device), ":"));
    Add(absl::StrCat("  ", absl::StrJoin(absl::StrSplit(error.message, '\n'), "\n  ")));
    if (!error.clause.has_value()) return;
    if (!absl::StrContains(error.message, error.clause->found)) {
      Add(absl::StrCat("  the clause: ", error.clause->why, ": ", error.clause->found));
    }
    AddMend(*error.clause, "  ");
  }

  void AddClaim(const ClaimStory& claim) {
    if (!claim.error.empty()) Add(claim.error);
    for (const GroupStory& group : claim.requests) {
      const std::string head = absl::StrCat("claim ", claim.claim, ", request ", group.name);
      if (!group.error.empty()) {
        Add(group.error);
        continue;
      }
      if (!group.prioritized) {
        AddRequest(head, group.options[0]);
        continue;
      }
      Add(absl::StrCat(head, ": the first of ", Counted(group.options.size(), "alternative"),
                       " that has devices"));
      for (const RequestStory& option : group.options) {
        AddRequest(absl::StrCat("alternative ", option.name), option);
      }
    }
  }

  void AddRequest(const std::string& head, const RequestStory& request) {
    if (!request.error.empty()) return Add(request.error);
    if (request.nodes_enough == story_.node_count) {
      return Add(
          absl::StrCat(head, ": ", WantedText(request), "; ",
                       story_.node_count == 1
                           ? absl::StrCat("the node has ", request.left())
                           : absl::StrCat("each of the ", story_.node_count, " nodes has enough")));
    }
    Add(absl::StrCat(head, ": ", WantedText(request)));
    AddNumber(request.published, absl::StrCat("published, in ", Counted(request.pools, "pool")));
    for (const StageStory& stage : request.stages) {
      AddStage(request, stage);
      if (stage.left == 0) break;
    }
    if (request.nodes_enough > 0) {
      Add(absl::StrCat("  ", request.nodes_enough, " of the ", story_.node_count, " nodes ",
                       request.nodes_enough == 1 ? "has" : "have", " enough"));
    } else if (request.left() > 0 && !request.all && story_.node_count > 1) {
      Add(absl::StrCat("  at most ", request.most_on_node, " on one node"));
    }
    if (request.nearest.has_value()) AddNearest(*request.nearest);
  }

  // Stages that lose nothing are left out, but for the class.
  void AddStage(const RequestStory& request, const StageStory& stage) {
    if (stage.losses.empty() && stage.stage != DeviceStage::kClass) return;
    AddNumber(stage.left, StageText(request, stage.stage));
    size_t shown = 0;
    for (const DeviceLoss& loss : stage.losses) {
      if (++shown > kLossesShown) break;
      const std::string examples =
          loss.examples.empty()
              ? ""
              : absl::StrCat(" (", absl::StrJoin(loss.examples, ", "),
                             loss.devices > loss.examples.size() ? ", ..." : "", ")");
      Add(absl::StrCat("          ", loss.devices, " ",
                       LossText(stage.stage, loss, loss.devices == 1), examples));
      const bool same = shown < stage.losses.size() && shown < kLossesShown &&
                        stage.losses[shown].mend == loss.mend;
      if (!same) AddMend(loss, "            ");
    }
    if (stage.losses.size() <= kLossesShown) return;
    size_t devices = 0;
    for (size_t i = kLossesShown; i < stage.losses.size(); ++i) devices += stage.losses[i].devices;
    Add(absl::StrCat("          ", devices, " more for ", stage.losses.size() - kLossesShown,
                     " other reasons"));
  }

  void AddNearest(const NearDevice& nearest) {
    std::vector<std::string> fails;
    for (const DeviceLoss& loss : nearest.fails) {
      if (fails.size() == kFailsShown) break;
      fails.push_back(absl::StrCat("it ", LossText(loss.stage, loss, true)));
    }
    const size_t more = nearest.fails.size() - fails.size();
    Add(absl::StrCat("  nearest: ", nearest.device, ": ", absl::StrJoin(fails, "; "),
                     more > 0 ? absl::StrCat("; and ", more, " more") : ""));
  }

  void AddNodes() {
    size_t shown = 0;
    for (const NodeStory& group : story_.nodes) {
      if (group.cause == NodeStory::Cause::kError) continue;
      if (++shown > kNodeGroupsShown) break;
      Add(absl::StrCat(Counted(group.nodes, "node"), " (", absl::StrJoin(group.examples, ", "),
                       group.nodes > group.examples.size() ? ", ..." : "", "): ", group.text));
    }
    if (story_.nodes.size() > kNodeGroupsShown) {
      Add(absl::StrCat("and ", story_.nodes.size() - kNodeGroupsShown,
                       " more reasons on other nodes"));
    }
    if (story_.fitting == 0) return;
    const bool one = story_.fitting == 1;
    Add(absl::StrCat(Counted(story_.fitting, "node"), story_.error.has_value()
                                                          ? " would have devices for all of it"
                                                      : one ? " has devices for all of it"
                                                            : " have devices for all of it"));
  }

  const DeviceStory& story_;
  std::vector<std::string> lines_;
};

// --- JSON ---

absl::string_view CauseName(NodeStory::Cause cause) {
  constexpr absl::string_view kNames[] = {"too_few",  "constraint",   "same_devices", "counters",
                                          "together", "invalid_pool", "error"};
  return kNames[static_cast<size_t>(cause)];
}

void WriteLoss(const DeviceLoss& loss, JsonWriter* j) {
  j->BeginObject();
  j->Key("why").String(loss.why);
  if (!loss.found.empty()) j->Key("found").String(loss.found);
  if (!loss.mend.empty()) j->Key("mend").String(loss.mend);
  if (loss.error) j->Key("error").Bool(true);
  j->Key("devices").Uint(loss.devices);
  j->Key("examples").Strings(loss.examples);
  j->EndObject();
}

void WriteRequest(const RequestStory& request, JsonWriter* j) {
  j->BeginObject();
  j->Key("name").String(request.name);
  j->Key("device_class").String(request.device_class);
  j->Key("wanted");
  if (request.all) {
    j->String("all");
  } else {
    j->Int(request.wanted);
  }
  if (request.admin) j->Key("admin_access").Bool(true);
  if (!request.error.empty()) j->Key("error").String(request.error);
  j->Key("published").Uint(request.published);
  j->Key("pools").Uint(request.pools);
  j->Key("stages").BeginArray();
  for (const StageStory& stage : request.stages) {
    j->BeginObject().Key("stage").String(DeviceStageName(stage.stage));
    j->Key("left").Uint(stage.left);
    j->Key("lost").BeginArray();
    for (const DeviceLoss& loss : stage.losses) WriteLoss(loss, j);
    j->EndArray().EndObject();
  }
  j->EndArray();
  j->Key("nodes_with_enough").Uint(request.nodes_enough);
  j->Key("most_on_one_node").Uint(request.most_on_node);
  if (request.nearest.has_value()) {
    j->Key("nearest").BeginObject().Key("device").String(request.nearest->device);
    j->Key("fails").BeginArray();
    for (const DeviceLoss& loss : request.nearest->fails) {
      j->BeginObject().Key("stage").String(DeviceStageName(loss.stage));
      j->Key("why").String(loss.why).Key("found").String(loss.found);
      j->EndObject();
    }
    j->EndArray().EndObject();
  }
  j->EndObject();
}

}  // namespace

std::vector<std::string> DeviceStoryLines(const DeviceStory& story) {
  return StoryLines(story).Run(/*with_nodes=*/true);
}

std::vector<std::string> DeviceRequestLines(const DeviceStory& story) {
  return StoryLines(story).Run(/*with_nodes=*/false);
}

void WriteDeviceStory(const DeviceStory& story, JsonWriter* j) {
  j->BeginObject();
  j->Key("nodes").Uint(story.node_count);
  j->Key("nodes_that_fit").Uint(story.fitting);
  j->Key("claims").BeginArray();
  for (const ClaimStory& claim : story.claims) {
    j->BeginObject().Key("claim").String(claim.claim);
    if (!claim.error.empty()) j->Key("error").String(claim.error);
    j->Key("requests").BeginArray();
    for (const GroupStory& group : claim.requests) {
      j->BeginObject().Key("name").String(group.name);
      if (!group.error.empty()) j->Key("error").String(group.error);
      j->Key("prioritized").Bool(group.prioritized);
      j->Key("alternatives").BeginArray();
      for (const RequestStory& option : group.options) WriteRequest(option, j);
      j->EndArray().EndObject();
    }
    j->EndArray().EndObject();
  }
  j->EndArray();
  j->Key("causes").BeginArray();
  for (const NodeStory& group : story.nodes) {
    j->BeginObject().Key("cause").String(CauseName(group.cause));
    j->Key("text").String(group.text);
    j->Key("nodes").Uint(group.nodes);
    j->Key("examples").Strings(group.examples);
    j->EndObject();
  }
  j->EndArray();
  if (story.error.has_value()) {
    j->Key("error").BeginObject();
    j->Key("message").String(story.error->message);
    j->Key("node").String(story.error->node);
    j->Key("device").String(story.error->device);
    if (story.error->clause.has_value()) {
      j->Key("clause");
      WriteLoss(*story.error->clause, j);
    }
    j->EndObject();
  }
  j->EndObject();
}

}  // namespace drasim
