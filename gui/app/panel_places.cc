#include "gui/app/panel_places.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace drasim::gui {
namespace {

using view::Rect;

// The smallest readable panel, in lines of text.
constexpr float kLeastWidth = 24;
constexpr float kLeastHeight = 13;

using Tabs = std::vector<Room>;

void AddTab(bool present, Room room, std::vector<Tabs>* row) {
  if (present) row->push_back({room});
}

void MergeLast(std::vector<Tabs>* row) {
  const Tabs last = std::move(row->back());
  row->pop_back();
  row->back().insert(row->back().end(), last.begin(), last.end());
}

void MergeNarrow(float width, float em, std::vector<Tabs>* row) {
  while (row->size() > 1 && width < static_cast<float>(row->size()) * kLeastWidth * em +
                                        static_cast<float>(row->size() - 1) * PanelGap(em)) {
    MergeLast(row);
  }
}

// The splitters of a row with that many columns.
std::vector<Splitter> SplittersOf(bool upper, bool comparing, size_t columns) {
  if (columns < 2) return {};
  if (upper) return {Splitter::kUpper};
  if (comparing) return {Splitter::kCompareLower};
  if (columns == 2) return {Splitter::kLowerTwo};
  return {Splitter::kLowerFirst, Splitter::kLowerSecond};
}

// The beginning of the gap at a splitter. Both sides keep at least `before` and `after`.
float GapAt(float begin, float length, float share, float before, float after, float gap) {
  const float most = std::max(before, length - gap - after);
  return begin + std::round(std::clamp(share * length, std::min(before, most), most));
}

class Placer {
 public:
  explicit Placer(const PlacesRequest& request) : request_(request) {}

  PanelPlaces Place() {
    FindRows();
    if (upper_.empty() || lower_.empty()) {
      PlaceRow(request_.area, !upper_.empty(), upper_.empty() ? lower_ : upper_);
      return std::move(places_);
    }
    const Splitter id = compares_ ? Splitter::kCompareRows : Splitter::kRows;
    const Rect& area = request_.area;
    const float gap = PanelGap(request_.em);
    const float least = kLeastHeight * request_.em;
    const float at = GapAt(area.y, area.height, Share(id), least, least, gap);
    PlaceRow({area.x, area.y, area.width, at - area.y}, true, upper_);
    PlaceRow({area.x, at + gap, area.width, area.bottom() - at - gap}, false, lower_);
    places_.splitters.push_back({id, {area.x, at, area.width, gap}, false, area.y, area.height});
    return std::move(places_);
  }

 private:
  float Share(Splitter id) const { return request_.splitters[static_cast<size_t>(id)]; }

  void FindRows() {
    const ViewSet& views = request_.views;
    compares_ = request_.comparing && views.Has(ViewKind::kCompare);
    const bool tables = views.Has(ViewKind::kPods) || views.Has(ViewKind::kNodes) ||
                        views.Has(ViewKind::kClaims) || views.Has(ViewKind::kTenants);
    const bool inspects = views.Has(ViewKind::kInspect);
    AddTab(views.Has(ViewKind::kMap), Room::kMap, &upper_);
    AddTab(views.Has(ViewKind::kPlots), Room::kPlots, compares_ ? &lower_ : &upper_);
    if (compares_) {
      Tabs tabs = {Room::kCompare};
      if (tables) tabs.push_back(Room::kTables);
      if (inspects) tabs.insert(tabs.end(), {Room::kInspector, Room::kNode});
      lower_.push_back(std::move(tabs));
    } else {
      AddTab(tables, Room::kTables, &lower_);
      AddTab(inspects, Room::kNode, &lower_);
      AddTab(inspects, Room::kInspector, &lower_);
    }
    const float width = request_.area.width;
    MergeNarrow(width, request_.em, &upper_);
    MergeNarrow(width, request_.em, &lower_);
    const float least = 2 * kLeastHeight * request_.em + PanelGap(request_.em);
    if (upper_.empty() || lower_.empty() || request_.area.height >= least) return;
    // One row: the upper panels stand at the left of the lower ones.
    while (upper_.size() > 1) MergeLast(&upper_);
    while (lower_.size() > 1) MergeLast(&lower_);
    upper_.push_back(std::move(lower_.front()));
    lower_.clear();
    MergeNarrow(width, request_.em, &upper_);
  }

  void PlaceRow(const Rect& row, bool upper, const std::vector<Tabs>& columns) {
    const float gap = PanelGap(request_.em);
    const float least = kLeastWidth * request_.em;
    const std::vector<Splitter> splitters = SplittersOf(upper, compares_, columns.size());
    float x = row.x;
    for (size_t i = 0; i < columns.size(); ++i) {
      float end = row.right();
      if (i < splitters.size()) {
        const float before = x - row.x + least;
        const auto behind = static_cast<float>(columns.size() - 1 - i);
        const float after = behind * least + (behind - 1) * gap;
        end = GapAt(row.x, row.width, Share(splitters[i]), before, after, gap);
        places_.splitters.push_back(
            {splitters[i], {end, row.y, gap, row.height}, true, row.x, row.width});
      }
      places_.rooms.push_back({{x, row.y, end - x, row.height}, columns[i]});
      x = end + gap;
    }
  }

  const PlacesRequest& request_;
  bool compares_ = false;
  std::vector<Tabs> upper_;
  std::vector<Tabs> lower_;
  PanelPlaces places_;
};

}  // namespace

SplitterPlaces DefaultSplitters() {
  return {0.51F, 0.54F, 0.45F, 0.30F, 0.65F, 0.43F, 0.635F, 0.58F, 0.74F};
}

float PanelGap(float em) { return std::max(3.0F, std::round(em * 0.3F)); }

PanelPlaces PlacePanels(const PlacesRequest& request) { return Placer(request).Place(); }

std::vector<Rect> StackPanels(const Rect& room, size_t count, float share, float em) {
  std::vector<Rect> parts;
  const float gap = PanelGap(em);
  if (count == 2) {
    const float least = std::min(kLeastHeight * em / 2, room.height / 3);
    const float at = GapAt(room.y, room.height, share, least, least, gap);
    parts.push_back({room.x, room.y, room.width, at - room.y});
    parts.push_back({room.x, at + gap, room.width, room.bottom() - at - gap});
    return parts;
  }
  const auto pieces = static_cast<float>(count);
  const float height = (room.height - gap * (pieces - 1)) / pieces;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back({room.x, room.y + static_cast<float>(i) * (height + gap), room.width, height});
  }
  return parts;
}

}  // namespace drasim::gui
