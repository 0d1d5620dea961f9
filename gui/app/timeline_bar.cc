#include "gui/app/timeline_bar.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gui/app/app.h"
#include "gui/app/app_view.h"
#include "gui/app/commands.h"
#include "gui/app/plot_draw.h"
#include "gui/app/text_draw.h"
#include "gui/session/run_session.h"
#include "gui/view/palette.h"
#include "gui/view/timeline.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

using view::Rect;

constexpr float kHeightInEm = 7.0F;
constexpr float kLeftInEm = 17.0F;
// More marks than this are not told apart by anyone; the first ones are kept.
constexpr size_t kMostMarks = 2000;
constexpr size_t kMostTicks = 12;

struct StepChoice {
  view::StepUnit unit;
  const char* name;
};
constexpr StepChoice kSteps[] = {{view::StepUnit::kRecord, "step record"},
                                 {view::StepUnit::kAttempt, "step attempt"},
                                 {view::StepUnit::kEvent, "step event"},
                                 {view::StepUnit::kDivergence, "step divergence"}};

std::string SpeedText(int64_t speed, bool by_record) {
  if (!by_record) return absl::StrCat("speed ", view::CommaText(speed), "x");
  return absl::StrCat(view::CommaText(speed * kPlayedRecordsPerSecond), " records/s");
}

enum class Icon : uint8_t { kStart, kBack, kPlay, kPause, kForward, kEnd };

// Drawn, not written: no font has to know the signs.
void DrawIcon(Icon icon, const Rect& box, Rgb colour, ImDrawList* to) {
  const float size = box.height * 0.24F;
  const float x = box.x + box.width / 2;
  const float y = box.y + box.height / 2;
  const ImU32 ink = Packed(colour);
  const float line = std::max(1.5F, box.height * 0.07F);
  const auto chevron = [&](float at, float way) {
    const ImVec2 points[] = {ImVec2(at - way * size / 2, y - size), ImVec2(at + way * size / 2, y),
                             ImVec2(at - way * size / 2, y + size)};
    to->AddPolyline(points, 3, ink, 0, line);
  };
  switch (icon) {
    case Icon::kStart:
    case Icon::kEnd: {
      const float way = icon == Icon::kEnd ? 1.0F : -1.0F;
      chevron(x - way * size / 2, way);
      to->AddLine(ImVec2(x + way * size * 0.7F, y - size), ImVec2(x + way * size * 0.7F, y + size),
                  ink, line);
      break;
    }
    case Icon::kBack:
      chevron(x, -1);
      break;
    case Icon::kForward:
      chevron(x, 1);
      break;
    case Icon::kPlay:
      to->AddTriangleFilled(ImVec2(x - size * 0.7F, y - size * 1.1F), ImVec2(x + size * 1.1F, y),
                            ImVec2(x - size * 0.7F, y + size * 1.1F), ink);
      break;
    case Icon::kPause:
      to->AddRectFilled(ImVec2(x - size, y - size), ImVec2(x - size * 0.3F, y + size), ink);
      to->AddRectFilled(ImVec2(x + size * 0.3F, y - size), ImVec2(x + size, y + size), ink);
      break;
  }
}

// Labels that do not overlap, placed in the order of their weight.
class LabelLane {
 public:
  explicit LabelLane(float right) : right_(right) {}
  // Whether the span is free; it is taken then.
  bool Take(float begin, float end) {
    if (end > right_) return false;
    const auto after = taken_.lower_bound(begin);
    if (after != taken_.end() && after->first < end) return false;
    if (after != taken_.begin() && std::prev(after)->second > begin) return false;
    taken_[begin] = end;
    return true;
  }

 private:
  float right_;
  std::map<float, float> taken_;
};

}  // namespace

float TimelineBar::Height() { return std::round(kHeightInEm * ImGui::GetFontSize()); }

void TimelineBar::Draw(const Rect& area, App* app) {
  const AppState& state = app->state();
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(Corner(area), FarCorner(area), Packed(state.theme().panel));
  draw->AddRect(Corner(area), FarCorner(area), Packed(state.theme().grid));
  const float em = ImGui::GetFontSize();
  const float pad = std::round(em * 0.4F);
  const float left = std::min(kLeftInEm * em, area.width * 0.5F);
  DrawTransport({area.x + pad, area.y + pad, left - 2 * pad, area.height - 2 * pad}, app);
  const Rect scrubber = {area.x + left, area.y + pad, area.width - left - 2 * pad,
                         area.height - 2 * pad};
  if (scrubber.width > 2 * em) DrawScrubber(scrubber, app);
}

// --- Transport ---

void TimelineBar::DrawTransport(const Rect& area, App* app) {
  AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  struct Button {
    Icon icon;
    const char* id;
    const char* command;
  };
  const bool playing = state.timeline.playing();
  const std::array<Button, 5> buttons = {{{Icon::kStart, "##start", "start"},
                                          {Icon::kBack, "##back", "back"},
                                          {playing ? Icon::kPause : Icon::kPlay, "##play", "play"},
                                          {Icon::kForward, "##forward", "forward"},
                                          {Icon::kEnd, "##end", "end"}}};
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  const float gap = std::round(em * 0.25F);
  const float width =
      std::min(2.1F * em, (area.width - gap * (buttons.size() - 1)) / buttons.size());
  const float height = std::round(em * 1.6F);
  for (size_t i = 0; i < buttons.size(); ++i) {
    const Rect box = {area.x + static_cast<float>(i) * (width + gap), area.y, width, height};
    ImGui::SetCursorScreenPos(Corner(box));
    if (ImGui::InvisibleButton(buttons[i].id, ImVec2(box.width, box.height))) {
      RunCommand(buttons[i].command, app);
    }
    const view::Theme& theme = state.theme();
    const bool strong = i == 2 || ImGui::IsItemHovered();
    const Rgb fill = view::Blend(theme.panel, theme.categories[0], strong ? 450 : 150);
    draw->AddRectFilled(Corner(box), FarCorner(box), Packed(fill), 2);
    DrawIcon(buttons[i].icon, box, theme.text, draw);
  }
  const float row = em * 1.15F;
  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y + height + gap));
  DrawChoices(area.width, app);
  DrawClock({area.x, area.y + height + gap + row, area.width, area.height - height - gap - row},
            app);
}

void TimelineBar::DrawChoices(float width, App* app) {
  AppState& state = app->state();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto field = [&](const char* id, const char* popup, float x, const std::string& text) {
    const std::string shown = FittingText(text, width * 0.52F, state.fonts.small);
    ImGui::SetCursorScreenPos(ImVec2(x, at.y));
    const float text_width = TextWidth(shown, state.fonts.small);
    if (ImGui::InvisibleButton(id,
                               ImVec2(std::max(text_width, 1.0F), FontHeight(state.fonts.small)))) {
      ImGui::OpenPopup(popup);
    }
    const bool hovered = ImGui::IsItemHovered();
    DrawTextAt(ImVec2(x, at.y), hovered ? state.theme().text : state.theme().dim_text, shown,
               state.fonts.small, ImGui::GetWindowDrawList());
  };
  const StepChoice* const chosen =
      std::find_if(std::begin(kSteps), std::end(kSteps),
                   [&](const StepChoice& choice) { return choice.unit == state.step_unit; });
  field("##step", "##steps", at.x, chosen->name);
  const bool by_record = state.a.overview != nullptr && state.a.overview->by_record;
  const std::string speed = SpeedText(state.timeline.speed(), by_record);
  field("##speed", "##speeds", at.x + width * 0.54F, speed);
  if (ImGui::BeginPopup("##steps")) {
    for (const StepChoice& choice : kSteps) {
      if (ImGui::Selectable(choice.name, choice.unit == state.step_unit)) {
        state.step_unit = choice.unit;
      }
    }
    ImGui::EndPopup();
  }
  if (ImGui::BeginPopup("##speeds")) {
    for (const int64_t choice : view::kPlaySpeeds) {
      if (ImGui::Selectable(SpeedText(choice, by_record).c_str(),
                            choice == state.timeline.speed())) {
        state.timeline.SetSpeed(choice);
      }
    }
    ImGui::EndPopup();
  }
}

void TimelineBar::DrawClock(const Rect& area, App* app) {
  const AppState& state = app->state();
  const view::Theme& theme = state.theme();
  const RunOverview* const run = state.a.overview.get();
  const view::TimeTarget& cursor = state.timeline.cursor();
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  const std::string clock =
      run != nullptr ? run->TimeText(cursor.time) : view::ClockText(cursor.time);
  const bool large = TextWidth(clock, state.fonts.large) <= area.width;
  const ImFont* const font = large ? state.fonts.large : state.fonts.strong;
  DrawTextAt(Corner(area), theme.text, FittingText(clock, area.width, font), font, draw);
  ImGui::SetCursorScreenPos(Corner(area));
  if (ImGui::InvisibleButton("##clock", ImVec2(area.width, FontHeight(font))))
    RunCommand("go_to", app);
  std::string below;
  if (run != nullptr && state.a.snapshot != nullptr) {
    const auto record = static_cast<int64_t>(state.a.snapshot->record);
    const auto records = static_cast<int64_t>(run->records);
    if (state.comparing() && state.b.snapshot != nullptr) {
      below = absl::StrCat("A record ", view::CommaText(record), " · B record ",
                           view::CommaText(static_cast<int64_t>(state.b.snapshot->record)));
    } else if (run->by_record) {
      below = absl::StrCat("of ", view::CommaText(records), " records");
    } else {
      const std::string end = absl::StrCat(
          "of ", view::DurationText(SimDuration(run->end.ns() / kSecondNs * kSecondNs)));
      const std::string place = absl::StrCat(" · record ", view::CommaText(record));
      below = absl::StrCat(end, place, " of ", view::CommaText(records));
      if (TextWidth(below, state.fonts.small) > area.width) below = absl::StrCat(end, place);
    }
  }
  DrawTextAt(ImVec2(area.x, area.y + FontHeight(font)), theme.dim_text,
             FittingText(below, area.width, state.fonts.small), state.fonts.small, draw);
}

bool TimelineBar::DrawGoTo(bool is_new, App* app) {
  AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  if (is_new) {
    typed_.clear();
    typed_error_.clear();
    ImGui::SetNextWindowFocus();
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float width = std::min(26 * em, display.x - em);
  ImGui::SetNextWindowPos(ImVec2(std::min(em, display.x - width), 5 * em));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  bool stays = true;
  ImGui::Begin("##goto", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove);
  ImGui::TextUnformatted("Go to");
  ImGui::SameLine();
  if (is_new) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  ImGui::InputTextWithHint("##time", "20h, 12:30:00, +10m, 50%, end, record 1234", &typed_);
  const bool entered =
      ImGui::IsKeyPressed(GLFW_KEY_ENTER, false) || ImGui::IsKeyPressed(GLFW_KEY_KP_ENTER, false);
  if (entered) {
    view::TypedPlace place;
    place.now = state.timeline.cursor().time;
    place.end = state.timeline.end();
    if (state.a.opened()) place.clock = state.a.session->clock();
    place.by_record = state.a.overview != nullptr && state.a.overview->by_record;
    const absl::StatusOr<view::TimeTarget> target = view::ParseTarget(typed_, place);
    if (target.ok()) {
      state.timeline.Pause();
      state.timeline.MoveTo(*target);
      stays = false;
    } else {
      typed_error_ = std::string(target.status().message());
    }
  }
  if (!typed_error_.empty()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(typed_error_.c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::End();
  return stays;
}

// --- Scrubber ---

float TimelineBar::XOf(const Rect& area, SimTime time) const {
  if (end_ <= SimTime()) return area.x;
  const double share = static_cast<double>(time.ns()) / static_cast<double>(end_.ns());
  return area.x + static_cast<float>(std::clamp(share, 0.0, 1.0) * area.width);
}

SimTime TimelineBar::TimeAt(const Rect& area, float x) const {
  if (area.width <= 0) return SimTime();
  const double share = std::clamp(static_cast<double>((x - area.x) / area.width), 0.0, 1.0);
  if (share >= 1) return end_;
  return SimTime(static_cast<int64_t>(static_cast<double>(end_.ns()) * share));
}

TimelineBar::Curve TimelineBar::Sample(const RunOverview* run, const char* metric,
                                       size_t columns) const {
  Curve curve;
  const view::Pyramid* const data = run == nullptr ? nullptr : run->Find(metric);
  if (data == nullptr || data->empty() || columns == 0 || end_ <= SimTime()) return curve;
  std::vector<SimTime> edges;
  for (size_t i = 0; i <= columns; ++i) {
    const absl::int128 at = absl::int128(end_.ns()) * static_cast<int64_t>(i);
    edges.emplace_back(static_cast<int64_t>(at / static_cast<int64_t>(columns)));
  }
  curve.columns.resize(columns);
  data->QueryColumns(edges, absl::MakeSpan(curve.columns));
  // A column without a sample shows the value that still holds.
  double level = 0;
  for (size_t i = 0; i < columns; ++i) {
    view::SampleSummary& column = curve.columns[i];
    if (column.empty()) {
      if (edges[i] > run->end) break;
      column = {level, level, level, level, 1};
    }
    level = column.last;
  }
  curve.highest = data->QuerySamples(0, data->size()).max;
  return curve;
}

void TimelineBar::Refresh(const Rect& area, const AppState& state) {
  if (a_ == state.a.overview && b_ == state.b.overview && width_ == area.width &&
      end_ == state.timeline.end()) {
    return;
  }
  a_ = state.a.overview;
  b_ = state.b.overview;
  width_ = area.width;
  end_ = state.timeline.end();
  const auto columns = static_cast<size_t>(std::max(area.width, 0.0F));
  const auto load_of = [&](const RunOverview* run) {
    Curve load = Sample(run, "gpu_allocated_milli", columns);
    const view::Pyramid* const room = run == nullptr ? nullptr : run->Find("gpu_capacity_milli");
    const double most = room == nullptr ? 0 : room->QuerySamples(0, room->size()).max;
    if (most > 0) {
      load.highest = most;
      return load;
    }
    return Sample(run, "pods_resident", columns);
  };
  a_load_ = load_of(a_.get());
  b_load_ = load_of(b_.get());
  a_queue_ = Sample(a_.get(), "pods_waiting", columns);
  ticks_.clear();
  marks_.clear();
  if (a_ == nullptr || end_ <= SimTime()) return;
  const int most = std::clamp(static_cast<int>(area.width / (6 * ImGui::GetFontSize())), 2,
                              static_cast<int>(kMostTicks));
  if (a_->by_record) {
    for (const view::Tick& tick :
         view::LinearScale(0, static_cast<double>(end_.ns()), std::max(most, 3), view::Unit::kCount)
             .ticks) {
      if (tick.value <= static_cast<double>(end_.ns())) ticks_.push_back(tick);
    }
  } else {
    ticks_ = view::TimeTicks(SimTime(), end_, most);
  }
  // Newest mark by node, to be ended by its next event.
  std::map<std::string, size_t> lasting;
  for (const RunEvent& event : a_->events) {
    const auto open = lasting.find(event.node);
    if (open != lasting.end()) {
      marks_[open->second].end = event.at.time;
      lasting.erase(open);
    }
    if (marks_.size() == kMostMarks) continue;
    Mark mark;
    mark.begin = event.at.time;
    mark.end = event.at.time;
    mark.text = absl::StrCat(event.node, " ", event.text);
    mark.ink = event.lasts ? 1 : 2;
    if (event.lasts) {
      mark.end = a_->end;
      lasting[event.node] = marks_.size();
    }
    marks_.push_back(std::move(mark));
  }
}

void TimelineBar::DrawScrubber(const Rect& area, App* app) {
  AppState& state = app->state();
  Refresh(area, state);
  const float em = ImGui::GetFontSize();
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  const float lane = std::round(FontHeight(state.fonts.small) + em * 0.45F);
  const Rect plot = {area.x, area.y, area.width, area.height - lane};
  const Rect below = {area.x, plot.bottom(), area.width, lane};
  draw->AddRectFilled(Corner(plot), FarCorner(plot), Packed(state.theme().window));
  if (state.a.overview == nullptr) return;
  draw->PushClipRect(Corner(area), FarCorner(area), true);
  DrawCurves(plot, state, draw);
  DrawWindow(plot, state, draw);
  DrawTicks(plot, state, draw);
  DrawLane(below, state, draw);
  draw->PopClipRect();
  DrawCursor(plot, state, draw);
  Steer(plot, app);
  SteerBookmarks(below, app);
}

void TimelineBar::DrawCurves(const Rect& area, const AppState& state, ImDrawList* to) const {
  const view::Theme& theme = state.theme();
  const auto y_of = [&](const Curve& curve, double value) {
    const double share = curve.highest > 0 ? std::clamp(value / curve.highest, 0.0, 1.0) : 0;
    return area.bottom() - static_cast<float>(share) * area.height * 0.94F;
  };
  const auto column = [&](size_t i) { return area.x + static_cast<float>(i); };
  const bool two = b_ != nullptr;
  if (two) {
    const size_t shared = std::min(a_load_.columns.size(), b_load_.columns.size());
    for (size_t i = 0; i < shared; ++i) {
      const float a = y_of(a_load_, a_load_.columns[i].last);
      const float b = y_of(b_load_, b_load_.columns[i].last);
      to->AddRectFilled(ImVec2(column(i), std::min(a, b)), ImVec2(column(i) + 1, std::max(a, b)),
                        Packed(theme.categories[b > a ? 1 : 0], 60));
    }
  } else {
    for (size_t i = 0; i < a_load_.columns.size(); ++i) {
      if (a_load_.columns[i].empty()) continue;
      to->AddRectFilled(ImVec2(column(i), y_of(a_load_, a_load_.columns[i].max)),
                        ImVec2(column(i) + 1, area.bottom()), Packed(theme.categories[0], 170));
    }
  }
  // A vertical bar per column loses no spike; neighbours are joined.
  const auto line = [&](const Curve& curve, Rgb colour) {
    float before = -1;
    for (size_t i = 0; i < curve.columns.size(); ++i) {
      if (curve.columns[i].empty()) break;
      float top = y_of(curve, curve.columns[i].max);
      float bottom = y_of(curve, curve.columns[i].min);
      if (before >= 0) {
        top = std::min(top, before);
        bottom = std::max(bottom, before);
      }
      to->AddRectFilled(ImVec2(column(i), top - 0.5F), ImVec2(column(i) + 1, bottom + 1),
                        Packed(colour));
      before = y_of(curve, curve.columns[i].last);
    }
  };
  if (two) {
    line(a_load_, theme.categories[0]);
    line(b_load_, theme.categories[1]);
  } else if (queues()) {
    line(a_queue_, theme.categories[1]);
  }
}

void TimelineBar::DrawWindow(const Rect& area, const AppState& state, ImDrawList* to) const {
  const view::Timeline& timeline = state.timeline;
  if (timeline.shows_everything()) return;
  const float begin = XOf(area, timeline.window_begin());
  const float end = std::max(XOf(area, timeline.window_end()), begin + 2);
  const ImU32 shade = Packed(state.theme().window, 150);
  to->AddRectFilled(Corner(area), ImVec2(begin, area.bottom()), shade);
  to->AddRectFilled(ImVec2(end, area.y), FarCorner(area), shade);
  to->AddRect(ImVec2(begin, area.y), ImVec2(end, area.bottom()), Packed(state.theme().dim_text));
  const float middle = area.y + area.height / 2;
  const float handle = ImGui::GetFontSize() * 0.6F;
  for (const float x : {begin, end}) {
    to->AddRectFilled(ImVec2(x - 2, middle - handle), ImVec2(x + 2, middle + handle),
                      Packed(state.theme().dim_text), 2);
  }
}

void TimelineBar::DrawTicks(const Rect& area, const AppState& state, ImDrawList* to) const {
  const ImFont* const font = state.fonts.small;
  for (const view::Tick& tick : ticks_) {
    const float x = XOf(area, SimTime(static_cast<int64_t>(tick.value)));
    to->AddLine(ImVec2(x, area.y), ImVec2(x, area.bottom()), Packed(state.theme().grid, 120));
    if (x + 3 + TextWidth(tick.label, font) > area.right()) continue;
    DrawTextAt(ImVec2(x + 3, area.y + 1), state.theme().dim_text, tick.label, font, to);
  }
}

void TimelineBar::DrawLane(const Rect& area, const AppState& state, ImDrawList* to) {
  const view::Theme& theme = state.theme();
  const ImFont* const font = state.fonts.small;
  const float bar = std::round(ImGui::GetFontSize() * 0.25F);
  const float text_y = area.y + bar + 2;
  // The legend keeps the right end to itself where the lane is long enough.
  struct Key {
    Rgb colour;
    std::string text;
  };
  std::vector<Key> keys;
  if (b_ != nullptr) {
    keys.push_back({theme.categories[0], "A handed out"});
    keys.push_back({theme.categories[1], "B"});
  } else {
    keys.push_back(
        {theme.categories[0], a_->gpus > 0 ? "GPUs handed out, 0-100 %" : "pods on nodes"});
    if (queues()) {
      keys.push_back({theme.categories[1],
                      absl::StrCat("pods waiting, 0-",
                                   view::CommaText(static_cast<int64_t>(a_queue_.highest)))});
    }
  }
  const float square = FontHeight(font) * 0.6F;
  float legend = 0;
  for (const Key& key : keys) legend += square + TextWidth(key.text, font) + 18;
  float right = area.right();
  if (legend < area.width * 0.45F) {
    float x = area.right() - legend + 14;
    for (const Key& key : keys) {
      to->AddRectFilled(ImVec2(x, text_y + square * 0.3F),
                        ImVec2(x + square, text_y + square * 1.3F), Packed(key.colour));
      DrawTextAt(ImVec2(x + square + 4, text_y), theme.dim_text, key.text, font, to);
      x += square + TextWidth(key.text, font) + 18;
    }
    right -= legend;
  }
  LabelLane lane(right);
  const auto label = [&](float x, const std::string& text, Rgb colour) {
    if (!lane.Take(x, x + TextWidth(text, font) + 6)) return;
    DrawTextAt(ImVec2(x, text_y), colour, text, font, to);
  };
  // The user's own bookmarks come first.
  for (const view::Bookmark& bookmark : state.timeline.bookmarks()) {
    const float x = XOf(area, bookmark.at.time);
    to->AddTriangleFilled(ImVec2(x - 4, area.y), ImVec2(x + 4, area.y), ImVec2(x, area.y + 6),
                          Packed(theme.text));
    label(x, bookmark.name, theme.text);
  }
  if (state.comparing() && state.comparison != nullptr) {
    const std::shared_ptr<const RunComparison> found = state.comparison->result();
    if (found != nullptr && !found->divergences.empty()) {
      const float x = XOf(area, found->divergences.front().time);
      to->AddLine(ImVec2(x, area.y), ImVec2(x, area.bottom()), Packed(theme.categories[3]), 2);
      const auto count = static_cast<int64_t>(found->divergences.size());
      label(x + 4,
            count == 1 ? "the divergence"
                       : absl::StrCat("first of ", view::CommaText(count), " divergences"),
            theme.text);
    }
  }
  float drawn_to = area.x - 1;
  for (const Mark& mark : marks_) {
    const float begin = XOf(area, mark.begin);
    const float end = std::max(XOf(area, mark.end), begin + 3);
    if (end > drawn_to) {
      to->AddRectFilled(ImVec2(begin, area.y + 1), ImVec2(end, area.y + 1 + bar),
                        Packed(theme.categories[mark.ink % view::kCategories], 200));
    }
    drawn_to = std::max(drawn_to, end);
    label(begin, mark.text, theme.dim_text);
  }
}

void TimelineBar::SteerBookmarks(const Rect& area, App* app) {
  view::Timeline& timeline = app->state().timeline;
  const absl::Span<const view::Bookmark> bookmarks = timeline.bookmarks();
  if (bookmarks.empty()) return;
  ImGui::SetCursorScreenPos(Corner(area));
  ImGui::InvisibleButton("##bookmarks", ImVec2(area.width, area.height),
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  // The last mark that begins at or before the mouse, with its label.
  const float mouse = ImGui::GetIO().MousePos.x;
  const float reach = ImGui::GetFontSize() * 0.5F;
  std::optional<size_t> hit;
  for (size_t i = 0; i < bookmarks.size() && ImGui::IsItemHovered(); ++i) {
    const float x = XOf(area, bookmarks[i].at.time);
    const float width = TextWidth(bookmarks[i].name, app->state().fonts.small);
    if (mouse >= x - reach && mouse <= x + std::max(width, reach)) hit = i;
  }
  if (hit.has_value()) {
    const view::Bookmark& bookmark = bookmarks[*hit];
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    ImGui::SetTooltip("%s\nright-click to rename or remove", bookmark.name.c_str());
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
      timeline.Pause();
      timeline.MoveTo(bookmark.at);
    } else if (ImGui::IsMouseReleased(ImGuiMouseButton_Right)) {
      bookmark_ = bookmark.at;
      bookmark_name_ = bookmark.name;
      ImGui::OpenPopup("##bookmark");
    }
  }
  if (!ImGui::BeginPopup("##bookmark")) return;
  size_t index = 0;
  while (index < bookmarks.size() && bookmarks[index].at != bookmark_) ++index;
  if (index == bookmarks.size()) {
    ImGui::CloseCurrentPopup();
  } else {
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(14 * ImGui::GetFontSize());
    ImGui::InputText("##name", &bookmark_name_);
    const bool entered =
        ImGui::IsKeyPressed(GLFW_KEY_ENTER, false) || ImGui::IsKeyPressed(GLFW_KEY_KP_ENTER, false);
    if ((ImGui::Selectable("Rename") || entered) && !bookmark_name_.empty()) {
      timeline.RenameBookmark(index, bookmark_name_);
      app->SaveSettings();
      ImGui::CloseCurrentPopup();
    } else if (ImGui::Selectable("Remove")) {
      timeline.RemoveBookmark(index);
      app->SaveSettings();
    }
  }
  ImGui::EndPopup();
}

void TimelineBar::DrawCursor(const Rect& area, const AppState& state, ImDrawList* to) const {
  const float x = std::round(XOf(area, state.timeline.cursor().time));
  const ImU32 ink = Packed(state.theme().cursor);
  const float size = ImGui::GetFontSize() * 0.3F;
  to->AddLine(ImVec2(x, area.y), ImVec2(x, area.bottom() + 2), ink, 2);
  to->AddTriangleFilled(ImVec2(x - size, area.y), ImVec2(x + size, area.y),
                        ImVec2(x, area.y + size * 1.4F), ink);
}

void TimelineBar::Steer(const Rect& area, App* app) {
  view::Timeline& timeline = app->state().timeline;
  ImGui::SetCursorScreenPos(Corner(area));
  ImGui::InvisibleButton("##scrubber", ImVec2(area.width, area.height));
  const ImGuiIO& io = ImGui::GetIO();
  const float x = io.MousePos.x;
  const float begin = XOf(area, timeline.window_begin());
  const float end = XOf(area, timeline.window_end());
  constexpr float kReach = 5;
  const bool zoomed = !timeline.shows_everything();
  const bool hovered = ImGui::IsItemHovered();
  Drag here = Drag::kCursor;
  const bool in_top = io.MousePos.y < area.y + area.height * 0.3F;
  if (zoomed && x >= begin && x <= end && in_top) here = Drag::kWindow;
  if (std::abs(x - begin) <= kReach) here = Drag::kBegin;
  if (std::abs(x - end) <= kReach) here = Drag::kEnd;
  if (hovered && here != Drag::kCursor) {
    ImGui::SetMouseCursor(here == Drag::kWindow ? ImGuiMouseCursor_Hand
                                                : ImGuiMouseCursor_ResizeEW);
  }
  if (hovered && io.MouseWheel != 0) {
    timeline.Zoom(io.MouseWheel > 0 ? 800 : 1250, TimeAt(area, x));
  }
  if (hovered && ImGui::IsMouseDoubleClicked(0) && in_top) timeline.ShowEverything();
  if (ImGui::IsItemActivated()) {
    drag_ = here;
    grabbed_ = TimeAt(area, x);
    grabbed_begin_ = timeline.window_begin();
    grabbed_end_ = timeline.window_end();
    if (drag_ == Drag::kCursor) timeline.Pause();
  }
  if (!ImGui::IsItemActive()) drag_ = Drag::kNone;
  const SimTime now = TimeAt(area, x);
  switch (drag_) {
    case Drag::kNone:
      break;
    case Drag::kCursor:
      if (now != timeline.cursor().time) timeline.MoveTo({now});
      break;
    case Drag::kWindow: {
      // Kept as long as it is at both ends of the run.
      const SimDuration length = grabbed_end_ - grabbed_begin_;
      // A run may have been closed meanwhile, so that the window is longer than the rest of the
      // run.
      const int64_t last = std::max<int64_t>(timeline.end().ns() - length.ns(), 0);
      const SimTime from(std::clamp(grabbed_begin_.ns() + (now - grabbed_).ns(), int64_t{0}, last));
      timeline.SetWindow(from, from + length);
      break;
    }
    case Drag::kBegin:
      timeline.SetWindow(std::min(now, timeline.window_end()), timeline.window_end());
      break;
    case Drag::kEnd:
      timeline.SetWindow(timeline.window_begin(), std::max(now, timeline.window_begin()));
      break;
  }
}

}  // namespace drasim::gui
