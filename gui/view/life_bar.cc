#include "gui/view/life_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/view/ticks.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_text.h"
#include "model/time.h"

namespace drasim::view {
namespace {

// Outcomes of attempts and ends of stays, in the order of the legend. Placing a pod is no outcome:
// it is bound or taken back later.
enum class Outcome : uint8_t { kTakenBack, kNoNode, kTurnedAway, kEvicted, kBound, kEnded };
constexpr size_t kOutcomes = 6;

std::optional<Outcome> OutcomeOf(LifeMark::Kind kind) {
  switch (kind) {
    case LifeMark::Kind::kNoNode:
      return Outcome::kNoNode;
    case LifeMark::Kind::kTakenBack:
      return Outcome::kTakenBack;
    case LifeMark::Kind::kTurnedAway:
      return Outcome::kTurnedAway;
    case LifeMark::Kind::kEvicted:
      return Outcome::kEvicted;
    case LifeMark::Kind::kBound:
      return Outcome::kBound;
    case LifeMark::Kind::kFinished:
    case LifeMark::Kind::kFailed:
    case LifeMark::Kind::kDeleted:
    case LifeMark::Kind::kDropped:
      return Outcome::kEnded;
    case LifeMark::Kind::kArrived:
    case LifeMark::Kind::kPlaced:
    case LifeMark::Kind::kAdmitted:
    case LifeMark::Kind::kStarted:
      return std::nullopt;
  }
  return std::nullopt;
}

absl::string_view OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kTakenBack:
      return "placed, taken back";
    case Outcome::kNoNode:
      return "found no node";
    case Outcome::kTurnedAway:
      return "turned away by the node";
    case Outcome::kEvicted:
      return "evicted";
    case Outcome::kBound:
      return "bound";
    case Outcome::kEnded:
      return "ended";
  }
  return "";
}

Ink OutcomeInk(const Theme& theme, Outcome outcome) {
  static constexpr std::array<size_t, kOutcomes> kCategory = {1, 6, 2, 4, 3, 7};
  return CategoryInk(theme, kCategory[static_cast<size_t>(outcome)]);
}

Ink SegmentInk(const Theme& theme, LifeSegment::Kind kind) {
  Ink ink;
  switch (kind) {
    case LifeSegment::Kind::kWaiting:
      ink.colour = theme.free_cell;
      break;
    case LifeSegment::Kind::kStarting:
      ink.colour = theme.muted_cell;
      break;
    case LifeSegment::Kind::kRunning:
      ink.colour = theme.categories[0];
      break;
  }
  return ink;
}

}  // namespace

std::optional<size_t> LifeBar::ColumnAt(Point point) const {
  constexpr float kReach = 2;
  if (point.y < bar.y || point.y >= bar.bottom()) return std::nullopt;
  std::optional<size_t> nearest;
  float nearest_distance = kReach;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Rect& rect = columns[i].rect;
    const float distance = std::max({rect.x - point.x, point.x - rect.right(), 0.0F});
    if (distance > nearest_distance || (nearest.has_value() && distance == nearest_distance)) {
      continue;
    }
    nearest = i;
    nearest_distance = distance;
  }
  return nearest;
}

LifeBar DrawLifeBar(const PodInspection& pod, const LifeBarFrame& frame) {
  const Theme& theme = ThemeOf(frame.theme);
  LifeBar result;
  SimTime begin = std::max(pod.arrival, SimTime());
  SimTime end = begin;
  for (const LifeSegment& segment : pod.segments) end = std::max(end, segment.to);
  // A pod that has just arrived has no life yet.
  if (end == begin) end = begin + SimDuration(frame.by_record ? 1 : kSecondNs);
  result.bar = {0, 0, std::max(frame.width, 1.0F), std::floor(frame.line_height)};
  result.height = result.bar.height + frame.line_height;
  const Rect& bar = result.bar;
  const auto x_of = [&](SimTime time) {
    const double share = static_cast<double>((std::clamp(time, begin, end) - begin).ns()) /
                         static_cast<double>((end - begin).ns());
    return static_cast<float>(share * static_cast<double>(bar.width));
  };

  std::array<SimDuration, 3> lengths{};
  for (const LifeSegment& segment : pod.segments) {
    const float left = x_of(segment.from);
    const float width = std::max(x_of(segment.to) - left, 1.0F);
    result.list.AddRect({std::min(left, bar.width - width), bar.y, width, bar.height},
                        SegmentInk(theme, segment.kind));
    SimDuration& length = lengths[static_cast<size_t>(segment.kind)];
    length = length + (segment.to - segment.from);
  }

  // Marks by pixel column.
  std::array<int64_t, kOutcomes> counts{};
  std::vector<std::array<int64_t, kOutcomes>> shares;  // by column
  for (size_t m = 0; m < pod.marks.size(); ++m) {
    const std::optional<Outcome> outcome = OutcomeOf(pod.marks[m].kind);
    const float x = std::min(std::floor(x_of(pod.marks[m].time)), bar.width - 1);
    if (outcome.has_value()) {
      ++counts[static_cast<size_t>(*outcome)];
      if (result.columns.empty() || result.columns.back().rect.x != x) {
        LifeColumn column;
        column.rect = {x, bar.y, 1, bar.height};
        column.first = m;
        result.columns.push_back(column);
        shares.push_back({});
      }
      ++shares.back()[static_cast<size_t>(*outcome)];
    }
    if (!result.columns.empty() && result.columns.back().rect.x == x) {
      result.columns.back().count = m + 1 - result.columns.back().first;
    }
  }
  for (size_t c = 0; c < result.columns.size(); ++c) {
    Rect& rect = result.columns[c].rect;
    // A lonely mark is easier to see with two pixels.
    const bool has_room = c + 1 == result.columns.size()
                              ? rect.x + 2 <= bar.width
                              : result.columns[c + 1].rect.x - rect.x >= 3;
    if (has_room) rect.width = 2;
    int64_t all = 0;
    for (const int64_t count : shares[c]) all += count;
    float y = bar.y;
    for (size_t o = 0; o < kOutcomes; ++o) {
      if (shares[c][o] == 0) continue;
      const float height = bar.height * static_cast<float>(shares[c][o]) / static_cast<float>(all);
      result.list.AddRect({rect.x, y, rect.width, height},
                          OutcomeInk(theme, static_cast<Outcome>(o)));
      y += height;
    }
  }

  const int max_ticks = std::max(2, static_cast<int>(bar.width / (10 * frame.char_width)));
  for (const Tick& tick : TimeTicks(begin, end, max_ticks)) {
    const auto ns = static_cast<int64_t>(tick.value);
    const std::string label = frame.by_record ? CommaText(ns) : tick.label;
    const float half = frame.char_width * static_cast<float>(label.size() + 1) / 2;
    const float x = std::clamp(x_of(SimTime(ns)), half, std::max(half, bar.width - half));
    result.list.AddText({x, bar.bottom() + frame.line_height / 2}, Anchor::kMiddle,
                        TextSize::kSmall, theme.dim_text, label);
  }

  for (size_t o = 0; o < kOutcomes; ++o) {
    if (counts[o] == 0) continue;
    const auto outcome = static_cast<Outcome>(o);
    std::string text = absl::StrCat(CommaText(counts[o]), " ", OutcomeText(outcome));
    // A pod ends once, in one way.
    if (outcome == Outcome::kEnded) text = std::string(LifeMarkName(pod.marks.back().kind));
    result.legend.push_back({OutcomeInk(theme, outcome), std::move(text)});
  }
  for (const LifeSegment::Kind kind :
       {LifeSegment::Kind::kWaiting, LifeSegment::Kind::kStarting, LifeSegment::Kind::kRunning}) {
    const SimDuration length = lengths[static_cast<size_t>(kind)];
    if (length <= SimDuration()) continue;
    const std::string text =
        frame.by_record ? absl::StrCat(CommaText(length.ns()), " records") : WaitText(length);
    result.legend.push_back(
        {SegmentInk(theme, kind), absl::StrCat(LifeSegmentName(kind), " for ", text)});
  }
  return result;
}

std::string LifeColumnText(const PodInspection& pod, const LifeColumn& column, bool by_record) {
  constexpr size_t kMost = 8;
  std::string text;
  const size_t end = std::min(column.first + column.count, pod.marks.size());
  for (size_t m = column.first; m < end; ++m) {
    const LifeMark& mark = pod.marks[m];
    if (m - column.first == kMost) {
      absl::StrAppend(&text, "and ", CommaText(static_cast<int64_t>(end - m)), " more\n");
      break;
    }
    absl::StrAppend(
        &text, by_record ? absl::StrCat("record ", CommaText(mark.time.ns())) : TimeText(mark.time),
        " ", LifeMarkName(mark.kind));
    if (!mark.node.empty()) absl::StrAppend(&text, " on ", mark.node);
    const bool has_verdict =
        mark.kind == LifeMark::Kind::kNoNode || mark.kind == LifeMark::Kind::kTurnedAway;
    if (has_verdict && mark.verdict < pod.verdicts.size()) {
      absl::StrAppend(&text, ": ", pod.verdicts[mark.verdict].text);
    }
    if (!mark.text.empty()) absl::StrAppend(&text, ": ", mark.text);
    text += '\n';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace drasim::view
