#include "gui/view/pod_story.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gui/view/wait_text.h"

namespace drasim::view {
namespace {

std::string LineText(const LifeMark& mark, const PodInspection& pod, const LifeSegment* segment) {
  const auto held = [segment] {
    if (segment == nullptr || segment->devices.empty()) return std::string();
    return absl::StrCat(", ", DeviceWords(segment->devices));
  };
  switch (mark.kind) {
    case LifeMark::Kind::kArrived:
      return absl::StrCat("arrives, wants ", pod.wants);
    case LifeMark::Kind::kNoNode:
      return absl::StrCat("no node: ", ShortVerdict(pod.verdicts[mark.verdict].text));
    case LifeMark::Kind::kPlaced:
      return absl::StrCat("placed on ", mark.node);
    case LifeMark::Kind::kTakenBack:
      return "taken back";
    case LifeMark::Kind::kBound:
      return absl::StrCat("bound: ", mark.node, held());
    case LifeMark::Kind::kAdmitted:
      return absl::StrCat("admitted by ", mark.node, held());
    case LifeMark::Kind::kTurnedAway:
      return absl::StrCat("turned away by ", mark.node, ": ",
                          ShortVerdict(pod.verdicts[mark.verdict].text));
    case LifeMark::Kind::kEvicted:
      return absl::StrCat("evicted: ", mark.text);
    case LifeMark::Kind::kStarted:
    case LifeMark::Kind::kFinished:
    case LifeMark::Kind::kFailed:
    case LifeMark::Kind::kDeleted:
    case LifeMark::Kind::kDropped:
      break;
  }
  return std::string(LifeMarkName(mark.kind));
}

// Whether a segment of the life bar begins with the mark.
bool BeginsSegment(LifeMark::Kind kind) {
  return kind == LifeMark::Kind::kArrived || kind == LifeMark::Kind::kPlaced ||
         kind == LifeMark::Kind::kTakenBack || kind == LifeMark::Kind::kBound ||
         kind == LifeMark::Kind::kTurnedAway || kind == LifeMark::Kind::kEvicted;
}

bool Lives(PodPhase phase) {
  return phase == PodPhase::kPending || phase == PodPhase::kAssumed || phase == PodPhase::kBound;
}

std::vector<StoryLine> Condense(const std::vector<StoryLine>& lines) {
  std::vector<StoryLine> out;
  for (size_t i = 0; i < lines.size();) {
    size_t end = i + 1;
    while (end < lines.size() && lines[end].text == lines[i].text) ++end;
    const size_t again = end - i - 1;
    out.push_back(lines[i]);
    if (again == 1) out.push_back({lines[i + 1].time, "the same"});
    if (again > 1) {
      out.push_back({lines[i + 1].time, absl::StrCat("the same, ", again, " times")});
    }
    i = end;
  }
  return out;
}

}  // namespace

std::string ShortVerdict(absl::string_view text) {
  std::vector<absl::string_view> words;
  const std::vector<std::string> reasons = VerdictReasons(text);
  for (const absl::string_view reason : reasons) words.push_back(absl::StripSuffix(reason, "."));
  return absl::StrJoin(words, ", ");
}

std::string DeviceWords(absl::string_view devices) {
  std::vector<std::string> words;
  for (const absl::string_view device : absl::StrSplit(devices, ';', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(device, absl::MaxSplits(':', 1));
    words.push_back(absl::StrCat("GPU ", pair.first, pair.second.empty() ? "" : " ", pair.second));
  }
  return absl::StrJoin(words, ", ");
}

std::vector<StoryLine> TellStory(const PodInspection& pod) {
  std::vector<StoryLine> lines;
  size_t segment = 0;  // behind the one of the mark
  for (size_t i = 0; i < pod.marks.size(); ++i) {
    const LifeMark& mark = pod.marks[i];
    if (BeginsSegment(mark.kind)) ++segment;
    const LifeSegment* const own =
        segment > 0 && segment <= pod.segments.size() ? &pod.segments[segment - 1] : nullptr;
    // A step that refuses a place is recorded as two things: the place is given back, and the
    // attempt has failed.
    const bool explains_before = mark.kind == LifeMark::Kind::kNoNode && i > 0 &&
                                 pod.marks[i - 1].kind == LifeMark::Kind::kTakenBack &&
                                 pod.marks[i - 1].time == mark.time;
    if (explains_before) {
      absl::StrAppend(&lines.back().text, ": ", ShortVerdict(pod.verdicts[mark.verdict].text));
      continue;
    }
    lines.push_back({mark.time, LineText(mark, pod, own)});
  }
  lines = Condense(lines);
  if (!pod.segments.empty() && Lives(pod.phase)) {
    const LifeSegment& last = pod.segments.back();
    lines.push_back({pod.now, absl::StrCat("still ", LifeSegmentName(last.kind), ", for ",
                                           WaitText(last.to - last.from))});
  }
  return lines;
}

}  // namespace drasim::view
