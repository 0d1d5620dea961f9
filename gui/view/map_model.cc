#include "gui/view/map_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/view/unit_text.h"
#include "model/check.h"
#include "model/number_text.h"

namespace drasim::view {
namespace {

// In the map's units: widths of a GPU.
constexpr float kSliceHeight = 0.75F;
constexpr float kShareHeight = 2.0F;
constexpr float kTileGapX = 1.0F;
constexpr float kTileGapY = 0.6F;
constexpr float kTitleHeight = 2.0F;
constexpr float kColumnGap = 0.12F;
constexpr uint32_t kGpusPerRow = 8;

constexpr uint32_t kNowhere = 0xffff'ffff;

// Scales from which GPUs, and slots, can be told apart.
constexpr float kGpuScale = 1.5F;
constexpr float kSlotScale = 3.0F;
constexpr float kGapScale = 5.0F;  // from which neighbouring slots have a gap
constexpr float kMinScale = 0.05F;
constexpr float kMaxScale = 200.0F;

// Ages that begin a new colour.
struct AgeStep {
  int64_t from_s;
  const char* text;
};
constexpr std::array<AgeStep, 7> kAgeSteps = {{{0, "under 1 min"},
                                               {60, "from 1 min"},
                                               {600, "from 10 min"},
                                               {3'600, "from 1 h"},
                                               {21'600, "from 6 h"},
                                               {86'400, "from 1 d"},
                                               {604'800, "from 7 d"}}};

size_t AgeStepOf(SimDuration age) {
  const int64_t age_s = age.ns() / kSecondNs;
  size_t step = 0;
  while (step + 1 < kAgeSteps.size() && kAgeSteps[step + 1].from_s <= age_s) ++step;
  return step;
}

// Whether a < b where numbers inside the names count as numbers.
bool NaturallyBefore(absl::string_view a, absl::string_view b) {
  const auto is_digit = [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); };
  const absl::string_view whole_a = a;
  const absl::string_view whole_b = b;
  const auto number = [&](absl::string_view* rest) {
    while (rest->size() > 1 && rest->front() == '0' && is_digit((*rest)[1])) rest->remove_prefix(1);
    size_t digits = 0;
    while (digits < rest->size() && is_digit((*rest)[digits])) ++digits;
    const absl::string_view value = rest->substr(0, digits);
    rest->remove_prefix(digits);
    return value;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const absl::string_view number_a = number(&a);
      const absl::string_view number_b = number(&b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

float HeightOf(const MapGpu& gpu) {
  if (gpu.slices > 0) return kSliceHeight * static_cast<float>(gpu.slices);
  return gpu.units == kShareUnits ? kShareHeight : kSliceHeight * static_cast<float>(gpu.units);
}

// Bit per slice that pods hold.
uint32_t HeldSlices(const MapGpu& gpu, absl::Span<const MapSlot> slots) {
  uint32_t held = 0;
  for (const MapSlot& slot : slots) {
    if (!slot.held) continue;
    for (uint32_t unit = slot.start; unit < uint32_t{slot.start} + slot.size && unit < gpu.units;
         ++unit) {
      held |= uint32_t{1} << unit;
    }
  }
  return held;
}

Ink InkOf(Rgb colour, Hatch hatch = Hatch::kNone) {
  Ink ink;
  ink.colour = colour;
  ink.hatch = hatch;
  return ink;
}

// Whether the slices of a GPU can be compared one by one.
bool ComparableBySlice(const MapGpu& a, const MapGpu& b) {
  return a.units != kShareUnits && a.units == b.units && a.replicas == 1 && b.replicas == 1;
}

// The share of a GPU that no instance can cover, 0..1000.
int StrandedMilli(const MapGpu& gpu) {
  if (gpu.units == kShareUnits) return 0;
  return std::min(std::popcount(gpu.stranded) * 1000 / int{gpu.units}, 1000);
}

// The share of a GPU that cannot be used, 0..1000.
int FragmentedMilli(const MapGpu& gpu) {
  return std::clamp(gpu.fragmentation_milli + StrandedMilli(gpu), 0, 1000);
}

// The units in which a node's label counts a GPU.
uint32_t SlicesOf(const MapGpu& gpu) {
  if (gpu.slices > 0) return gpu.slices;
  return gpu.units == kShareUnits ? 1 : gpu.units;
}

// "3", "0.5"
std::string MilliText(int64_t milli) {
  if (milli % 1000 == 0) return absl::StrCat(milli / 1000);
  return FixedText(static_cast<double>(milli) / 1000, 1);
}

// "+7", "-16", "0"
std::string DifferenceMilliText(int64_t milli) {
  if (milli < 0) return absl::StrCat("-", MilliText(-milli));
  return absl::StrCat(milli > 0 ? "+" : "", MilliText(milli));
}

// The last characters of a text, as many as fit; of a number what comes before it is left out, too:
// "000017" instead of "e-000017".
std::string Tail(absl::string_view text, float width, float char_width) {
  const auto room = static_cast<size_t>(std::max(width / char_width, 0.0F));
  if (text.size() <= room) return std::string(text);
  const absl::string_view tail = text.substr(text.size() - room);
  const size_t digit = tail.find_first_of("0123456789");
  return std::string(digit == absl::string_view::npos ? tail : tail.substr(digit));
}

}  // namespace

// --- Input ---

uint32_t ClusterMapData::AddNode(MapNode node) {
  node.first_gpu = static_cast<uint32_t>(gpus.size());
  node.gpu_count = 0;
  nodes.push_back(std::move(node));
  ++version;
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t ClusterMapData::AddGpu(MapGpu gpu, absl::Span<const MapSlot> slots_of_gpu) {
  DRASIM_CHECK(!nodes.empty());
  DRASIM_CHECK(gpu.units == kShareUnits || (gpu.units > 0 && gpu.units <= kMaxSlices));
  DRASIM_CHECK_GT(gpu.replicas, 0);
  const auto index = static_cast<uint32_t>(gpus.size());
  gpu.node = static_cast<uint32_t>(nodes.size() - 1);
  gpu.first_slot = gpu.slot_count = gpu.slot_room = 0;
  has_shares = has_shares || gpu.units == kShareUnits;
  gpus.push_back(gpu);
  ++nodes.back().gpu_count;
  PlaceSlots(index, slots_of_gpu);
  return index;
}

void ClusterMapData::SetSlots(uint32_t gpu, absl::Span<const MapSlot> slots_of_gpu) {
  PlaceSlots(gpu, slots_of_gpu);
  SumUp(&nodes[gpus[gpu].node]);
}

void ClusterMapData::ReplaceGpu(uint32_t gpu, MapGpu by, absl::Span<const MapSlot> slots_of_gpu) {
  MapGpu& target = gpus[gpu];
  by.node = target.node;
  by.first_slot = target.first_slot;
  by.slot_room = target.slot_room;
  const bool had_shares = target.units == kShareUnits;
  target = by;
  PlaceSlots(gpu, slots_of_gpu);
  if (had_shares == (by.units == kShareUnits)) return;
  has_shares = std::any_of(gpus.begin(), gpus.end(),
                           [](const MapGpu& other) { return other.units == kShareUnits; });
}

void ClusterMapData::SumUpNode(uint32_t node) {
  SumUp(&nodes[node]);
  ++version;
}

void ClusterMapData::SumUpNodes() {
  for (MapNode& node : nodes) SumUp(&node);
  ++version;
}

void ClusterMapData::PlaceSlots(uint32_t gpu, absl::Span<const MapSlot> slots_of_gpu) {
  MapGpu& target = gpus[gpu];
  const auto count = static_cast<uint32_t>(slots_of_gpu.size());
  if (count > target.slot_room) {
    // Moves to the end, with room for later growth.
    target.first_slot = static_cast<uint32_t>(slots.size());
    target.slot_room = std::bit_ceil(count);
    slots.resize(slots.size() + target.slot_room);
  }
  std::copy(slots_of_gpu.begin(), slots_of_gpu.end(),
            slots.begin() + static_cast<std::ptrdiff_t>(target.first_slot));
  target.slot_count = count;
  int64_t held = 0;
  for (const MapSlot& slot : slots_of_gpu) {
    if (slot.held) held += slot.size;
  }
  const int64_t whole = int64_t{target.units} * target.replicas;
  target.held_milli = static_cast<int32_t>(std::min<int64_t>(held * 1000 / whole, 1000));
  target.lead = kNoSlot;
  for (uint32_t s = target.first_slot; s < target.first_slot + count; ++s) {
    if (!slots[s].held) continue;
    if (target.lead == kNoSlot || slots[s].size > slots[target.lead].size) target.lead = s;
  }
  ++version;
}

void ClusterMapData::SumUp(MapNode* node) const {
  node->held_milli = node->stranded_milli = node->fragmentation_milli = 0;
  for (uint32_t g = node->first_gpu; g < node->first_gpu + node->gpu_count; ++g) {
    node->held_milli += gpus[g].held_milli;
    node->stranded_milli += StrandedMilli(gpus[g]);
    node->fragmentation_milli += FragmentedMilli(gpus[g]);
  }
  // The first slot of each value, and how many GPUs it leads on. Nodes have few GPUs.
  absl::InlinedVector<std::pair<uint32_t, uint32_t>, 8> counts;
  const auto leader = [&](auto value_of) {
    counts.clear();
    for (uint32_t g = node->first_gpu; g < node->first_gpu + node->gpu_count; ++g) {
      const uint32_t lead = gpus[g].lead;
      if (lead == kNoSlot) continue;
      const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& count) {
        return value_of(slots[count.first]) == value_of(slots[lead]);
      });
      if (known == counts.end()) {
        counts.emplace_back(lead, 1);
      } else {
        ++known->second;
      }
    }
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? kNoSlot : most->first;
  };
  node->lead = MapSlot();
  const uint32_t by_profile = leader([](const MapSlot& slot) { return slot.profile; });
  node->lead.held = by_profile != kNoSlot;
  if (!node->lead.held) return;
  node->lead.profile = slots[by_profile].profile;
  node->lead.tenant = slots[leader([](const MapSlot& slot) { return slot.tenant; })].tenant;
  node->lead.state = slots[leader([](const MapSlot& slot) { return slot.state; })].state;
  int64_t largest = 0;
  for (uint32_t g = node->first_gpu; g < node->first_gpu + node->gpu_count; ++g) {
    if (gpus[g].lead == kNoSlot) continue;
    const int64_t milli = int64_t{slots[gpus[g].lead].size} * 1000 / gpus[g].units;
    if (milli <= largest) continue;
    largest = milli;
    node->lead.since = slots[gpus[g].lead].since;
  }
}

// --- Layout ---

ClusterMap::ClusterMap(const ClusterMapData* data) : data_(data) { Arrange({}, {}, 1); }

const std::string& ClusterMap::KeyOf(const MapNode& node, MapGrouping grouping) const {
  static const std::string kEmpty;
  switch (grouping) {
    case MapGrouping::kNone:
      return kEmpty;
    case MapGrouping::kPool:
      return node.pool;
    case MapGrouping::kModel:
      return node.model;
    case MapGrouping::kLabel:
      return node.label;
  }
  return kEmpty;
}

void ClusterMap::Arrange(MapGrouping grouping, MapOrder order, float aspect, float label_height) {
  DRASIM_CHECK(aspect > 0);
  label_height_ = label_height;
  const std::vector<MapNode>& nodes = data_->nodes;
  order_.clear();
  std::vector<int64_t> rank(nodes.size(), 0);  // smaller comes first
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].gpu_count == 0) continue;
    order_.push_back(n);
    if (order == MapOrder::kAge) rank[n] = nodes[n].since.ns();
    if (order != MapOrder::kFragmentation) continue;
    for (uint32_t g = 0; g < nodes[n].gpu_count; ++g) {
      rank[n] -= FragmentedMilli(data_->gpus[nodes[n].first_gpu + g]);
    }
  }
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    const std::string& key_a = KeyOf(nodes[a], grouping);
    const std::string& key_b = KeyOf(nodes[b], grouping);
    if (key_a != key_b) return NaturallyBefore(key_a, key_b);
    if (rank[a] != rank[b]) return rank[a] < rank[b];
    if (nodes[a].name != nodes[b].name) return NaturallyBefore(nodes[a].name, nodes[b].name);
    return a < b;
  });

  MeasureNames();
  groups_.clear();
  place_of_.assign(nodes.size(), kNowhere);
  std::vector<int64_t> gpus_of_group;
  for (uint32_t i = 0; i < order_.size(); ++i) {
    const MapNode& node = nodes[order_[i]];
    place_of_[order_[i]] = i;
    const std::string& key = KeyOf(node, grouping);
    if (groups_.empty() || key != KeyOf(nodes[order_[groups_.back().first]], grouping)) {
      groups_.emplace_back();
      groups_.back().first = i;
      gpus_of_group.push_back(0);
    }
    Group& group = groups_.back();
    ++group.count;
    gpus_of_group.back() += node.gpu_count;
    group.gpus_per_row = std::max(group.gpus_per_row, std::min(node.gpu_count, kGpusPerRow));
    for (uint32_t g = 0; g < node.gpu_count; ++g) {
      group.column_height =
          std::max(group.column_height, HeightOf(data_->gpus[node.first_gpu + g]));
    }
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    uint32_t most_gpus = 0;
    for (uint32_t n = 0; n < group.count; ++n) {
      most_gpus = std::max(most_gpus, nodes[order_[group.first + n]].gpu_count);
    }
    const uint32_t rows = (most_gpus + group.gpus_per_row - 1) / group.gpus_per_row;
    group.tile_width = static_cast<float>(group.gpus_per_row) + kTileGapX;
    group.tile_height =
        label_height_ + static_cast<float>(rows) * (group.column_height + kColumnGap) + kTileGapY;
    if (grouping == MapGrouping::kNone) continue;
    const std::string& key = KeyOf(nodes[order_[group.first]], grouping);
    group.title =
        absl::StrCat(key.empty() ? "none" : key, ": ", CommaText(group.count),
                     group.count == 1 ? " node, " : " nodes, ", CommaText(gpus_of_group[i]),
                     gpus_of_group[i] == 1 ? " GPU" : " GPUs");
  }

  // The wider, the lower: halve the interval of widths until the ratio fits.
  float narrow = 0;
  float wide = 1;
  for (const Group& group : groups_) {
    narrow = std::max(narrow, group.tile_width);
    wide = std::max(wide, group.tile_width * static_cast<float>(group.count));
  }
  for (int i = 0; i < 24 && wide - narrow > 0.5F; ++i) {
    const float middle = (narrow + wide) / 2;
    if (middle > Stack(middle) * aspect) {
      wide = middle;
    } else {
      narrow = middle;
    }
  }
  height_ = Stack(wide);
  width_ = 0;
  for (const Group& group : groups_) {
    const uint32_t columns = std::min(group.tiles_per_row, group.count);
    width_ = std::max(width_, static_cast<float>(columns) * group.tile_width);
  }
  ++arrangements_;
  drawn_view_.reset();
}

void ClusterMap::MeasureNames() {
  common_prefix_ = longest_name_ = 0;
  absl::string_view common;
  for (size_t i = 0; i < order_.size(); ++i) {
    const absl::string_view name = data_->nodes[order_[i]].name;
    longest_name_ = std::max(longest_name_, name.size());
    if (i == 0) common = name;
    const auto [end, ignored] =
        std::mismatch(common.begin(), common.end(), name.begin(), name.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  // Numbers stay readable: at least three of their digits, or the end of the name.
  constexpr size_t kLeastName = 3;
  common_prefix_ = std::min(common.size(), longest_name_ - std::min(longest_name_, kLeastName));
  for (const uint32_t node : order_) {
    common_prefix_ = std::min(common_prefix_, data_->nodes[node].name.size());
  }
}

void ClusterMap::ArrangeAs(const ClusterMap& other) {
  common_prefix_ = other.common_prefix_;
  longest_name_ = other.longest_name_;
  groups_ = other.groups_;
  order_ = other.order_;
  place_of_ = other.place_of_;
  label_height_ = other.label_height_;
  width_ = other.width_;
  height_ = other.height_;
  ++arrangements_;
  drawn_view_.reset();
}

void ClusterMap::Show(const ClusterMapData* data) {
  data_ = data;
  drawn_view_.reset();
}

float ClusterMap::Stack(float width) {
  float y = 0;
  for (Group& group : groups_) {
    group.top = y;
    group.tiles_top = y + (group.title.empty() ? 0 : kTitleHeight);
    group.tiles_per_row =
        std::max<uint32_t>(1, static_cast<uint32_t>(width / group.tile_width + 0.001F));
    const uint32_t rows = (group.count + group.tiles_per_row - 1) / group.tiles_per_row;
    y = group.tiles_top + static_cast<float>(rows) * group.tile_height;
  }
  return y;
}

Rect ClusterMap::TileOf(const Group& group, uint32_t index) const {
  const uint32_t row = index / group.tiles_per_row;
  const uint32_t column = index % group.tiles_per_row;
  return Rect{static_cast<float>(column) * group.tile_width,
              group.tiles_top + static_cast<float>(row) * group.tile_height,
              group.tile_width - kTileGapX, group.tile_height - kTileGapY};
}

Rect ClusterMap::ColumnOf(const Group& group, const Rect& tile, uint32_t gpu) const {
  const MapGpu& shown = data_->gpus[gpu];
  const uint32_t gpu_of_node = gpu - data_->nodes[shown.node].first_gpu;
  const uint32_t row = gpu_of_node / group.gpus_per_row;
  const uint32_t column = gpu_of_node % group.gpus_per_row;
  return Rect{tile.x + static_cast<float>(column),
              tile.y + label_height_ + static_cast<float>(row) * (group.column_height + kColumnGap),
              1 - kColumnGap, HeightOf(shown)};
}

const ClusterMap::Group& ClusterMap::GroupOf(uint32_t node) const {
  DRASIM_CHECK(node < place_of_.size() && place_of_[node] != kNowhere);
  const auto after =
      std::upper_bound(groups_.begin(), groups_.end(), place_of_[node],
                       [](uint32_t place, const Group& group) { return place < group.first; });
  return *std::prev(after);
}

Rect ClusterMap::ToPixels(const MapView& view, const Rect& rect) {
  return Rect{(rect.x - view.origin.x) * view.scale, (rect.y - view.origin.y) * view.scale,
              rect.width * view.scale, rect.height * view.scale};
}

Rect ClusterMap::SlotIn(const Rect& column, const MapGpu& gpu, const MapSlot& slot) {
  const float unit = column.height / static_cast<float>(gpu.units);
  const float replica = column.width / static_cast<float>(gpu.replicas);
  return Rect{column.x + static_cast<float>(slot.replica) * replica,
              column.y + static_cast<float>(slot.start) * unit, replica,
              static_cast<float>(slot.size) * unit};
}

Rect ClusterMap::NodeRect(const MapView& view, uint32_t node) const {
  const Group& group = GroupOf(node);
  return ToPixels(view, TileOf(group, place_of_[node] - group.first));
}

Rect ClusterMap::GpuRect(const MapView& view, uint32_t gpu) const {
  const uint32_t node = data_->gpus[gpu].node;
  const Group& group = GroupOf(node);
  const Rect tile = TileOf(group, place_of_[node] - group.first);
  return ToPixels(view, ColumnOf(group, tile, gpu));
}

Rect ClusterMap::SlotRect(const MapView& view, uint32_t gpu, const MapSlot& slot) const {
  return SlotIn(GpuRect(view, gpu), data_->gpus[gpu], slot);
}

// --- The view ---

MapView ClusterMap::Fit(float width, float height) const {
  MapView view;
  view.width = width;
  view.height = height;
  constexpr float kLargestFit = 24;
  view.scale = kLargestFit;
  if (width_ > 0 && height_ > 0) {
    view.scale = std::min({kLargestFit, width / width_, height / height_});
  }
  view.scale = std::clamp(view.scale, kMinScale, kMaxScale);
  return view;
}

MapView ClusterMap::Zoomed(const MapView& view, float factor, Point pixel) {
  MapView zoomed = view;
  zoomed.scale = std::clamp(view.scale * factor, kMinScale, kMaxScale);
  zoomed.origin.x = view.origin.x + pixel.x / view.scale - pixel.x / zoomed.scale;
  zoomed.origin.y = view.origin.y + pixel.y / view.scale - pixel.y / zoomed.scale;
  return zoomed;
}

MapView ClusterMap::Showing(const MapView& view, uint32_t node) const {
  const Group& group = GroupOf(node);
  const Rect tile = TileOf(group, place_of_[node] - group.first);
  MapView moved = view;
  const auto shift = [&](float low, float high, float extent, float* origin) {
    const float seen = extent / view.scale;
    if (high > *origin + seen) *origin = high - seen;
    if (low < *origin) *origin = low;
  };
  shift(tile.x, tile.right(), view.width, &moved.origin.x);
  shift(tile.y, tile.bottom(), view.height, &moved.origin.y);
  return moved;
}

MapDetail ClusterMap::DetailOf(const MapView& view) {
  if (view.scale < kGpuScale) return MapDetail::kNode;
  return view.scale < kSlotScale ? MapDetail::kGpu : MapDetail::kSlot;
}

std::optional<MapHit> ClusterMap::HitTest(const MapView& view, Point pixel) const {
  const Point at = {view.origin.x + pixel.x / view.scale, view.origin.y + pixel.y / view.scale};
  if (at.x < 0 || at.y < 0 || groups_.empty()) return std::nullopt;
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), at.y,
                                      [](float y, const Group& group) { return y < group.top; });
  if (after == groups_.begin()) return std::nullopt;
  const Group& group = *std::prev(after);
  if (at.y < group.tiles_top) return std::nullopt;
  const auto row = static_cast<uint32_t>((at.y - group.tiles_top) / group.tile_height);
  const auto column = static_cast<uint32_t>(at.x / group.tile_width);
  if (column >= group.tiles_per_row) return std::nullopt;
  const uint64_t index = uint64_t{row} * group.tiles_per_row + column;
  if (index >= group.count) return std::nullopt;
  const Rect tile = TileOf(group, static_cast<uint32_t>(index));
  if (!tile.Contains(at)) return std::nullopt;

  MapHit hit;
  hit.node = order_[group.first + static_cast<uint32_t>(index)];
  const MapNode& node = data_->nodes[hit.node];
  for (uint32_t g = node.first_gpu; g < node.first_gpu + node.gpu_count; ++g) {
    const Rect place = ColumnOf(group, tile, g);
    if (!place.Contains(at)) continue;
    hit.gpu = g;
    const MapGpu& gpu = data_->gpus[g];
    for (uint32_t s = 0; s < gpu.slot_count; ++s) {
      if (!SlotIn(place, gpu, data_->slots[gpu.first_slot + s]).Contains(at)) continue;
      hit.slot = gpu.first_slot + s;
      break;
    }
    break;
  }
  return hit;
}

// --- Drawing ---

const DrawList& ClusterMap::Draw(const MapView& view, const ClusterMapData* b) {
  const uint64_t b_version = b != nullptr ? b->version : 0;
  if (drawn_view_ == view && drawn_version_ == data_->version && drawn_b_ == b &&
      drawn_b_version_ == b_version) {
    return list_;
  }
  drawn_view_ = view;
  drawn_version_ = data_->version;
  drawn_b_ = b;
  drawn_b_version_ = b_version;
  list_.Clear();
  const float bottom = view.origin.y + view.height / view.scale;
  for (const Group& group : groups_) {
    if (group.top > bottom) break;
    DrawGroup(group, view, b);
  }
  DrawSelection(view);
  return list_;
}

void ClusterMap::DrawSelection(const MapView& view) {
  if (!view.selected.has_value() || view.selected->node >= place_of_.size() ||
      place_of_[view.selected->node] == kNowhere) {
    return;
  }
  const MapHit& selected = *view.selected;
  const Ink ink = InkOf(ThemeOf(view.theme).cursor);
  constexpr float kFrame = 3;
  Rect rect = NodeRect(view, selected.node);
  rect = Rect{rect.x - kFrame, rect.y - kFrame, rect.width + 2 * kFrame, rect.height + 2 * kFrame};
  list_.AddOutline(rect, ink, 1.5F);
  if (!selected.gpu.has_value() || *selected.gpu >= data_->gpus.size()) return;
  const MapNode& node = data_->nodes[selected.node];
  const bool slots = selected.slot.has_value() && *selected.slot < data_->slots.size() &&
                     DetailOf(view) == MapDetail::kSlot;
  const uint32_t pod = slots ? data_->slots[*selected.slot].pod : kNoPod;
  if (pod == kNoPod) {
    list_.AddOutline(GpuRect(view, *selected.gpu), ink, 1.5F);
    return;
  }
  // A pod may hold several instances of its node.
  for (uint32_t g = node.first_gpu; g < node.first_gpu + node.gpu_count; ++g) {
    for (const MapSlot& slot : data_->SlotsOf(data_->gpus[g])) {
      if (slot.pod == pod) list_.AddOutline(SlotRect(view, g, slot), ink, 2);
    }
  }
}

void ClusterMap::DrawGroup(const Group& group, const MapView& view, const ClusterMapData* b) {
  const Theme& theme = ThemeOf(view.theme);
  const float top = view.origin.y;
  const float bottom = top + view.height / view.scale;
  const float left = view.origin.x;
  const float right = left + view.width / view.scale;
  if (!group.title.empty() && kTitleHeight * view.scale >= view.line_height * 0.75F) {
    const Rect title = ToPixels(view, Rect{0, group.top, width_, kTitleHeight});
    list_.AddText({title.x, title.y + title.height / 2}, Anchor::kStart, TextSize::kNormal,
                  theme.text, group.title);
  }
  // Only rows and columns of tiles in sight.
  const uint32_t rows = (group.count + group.tiles_per_row - 1) / group.tiles_per_row;
  const auto clamped = [](float value, uint32_t most) {
    return static_cast<uint32_t>(std::clamp(value, 0.0F, static_cast<float>(most)));
  };
  const uint32_t first_row = clamped((top - group.tiles_top) / group.tile_height, rows);
  const uint32_t end_row = clamped((bottom - group.tiles_top) / group.tile_height + 1, rows);
  const uint32_t first_column = clamped(left / group.tile_width, group.tiles_per_row);
  const uint32_t end_column = clamped(right / group.tile_width + 1, group.tiles_per_row);
  for (uint32_t row = first_row; row < end_row; ++row) {
    for (uint32_t column = first_column; column < end_column; ++column) {
      const uint32_t index = row * group.tiles_per_row + column;
      if (index >= group.count) break;
      DrawNode(group, index, view, b);
    }
  }
}

void ClusterMap::DrawNode(const Group& group, uint32_t index, const MapView& view,
                          const ClusterMapData* b) {
  const uint32_t n = order_[group.first + index];
  const MapNode& node = data_->nodes[n];
  const Rect tile = TileOf(group, index);
  const MapDetail detail = DetailOf(view);
  if (detail == MapDetail::kNode) {
    DrawSummary(SummaryOfNode(n, b), ToPixels(view, tile), view);
    return;
  }
  if (label_height_ * view.scale >= view.line_height * 0.75F) {
    DrawLabel(node, ToPixels(view, tile), view, b);
  }
  for (uint32_t g = node.first_gpu; g < node.first_gpu + node.gpu_count; ++g) {
    const Rect column = ToPixels(view, ColumnOf(group, tile, g));
    if (detail == MapDetail::kGpu) {
      DrawSummary(SummaryOfGpu(g, b), column, view);
    } else {
      DrawGpu(g, column, view, b);
    }
  }
}

void ClusterMap::DrawLabel(const MapNode& node, const Rect& pixels, const MapView& view,
                           const ClusterMapData* b) {
  const Theme& theme = ThemeOf(view.theme);
  const float y = pixels.y + label_height_ * view.scale / 2;
  int64_t held = 0;
  int64_t held_b = 0;
  int64_t units = 0;
  for (uint32_t g = node.first_gpu; g < node.first_gpu + node.gpu_count; ++g) {
    const MapGpu& gpu = data_->gpus[g];
    const uint32_t slices = SlicesOf(gpu);
    units += int64_t{slices} * 1000;
    held += int64_t{gpu.held_milli} * slices;
    if (b != nullptr && g < b->gpus.size()) held_b += int64_t{b->gpus[g].held_milli} * slices;
  }
  std::string share;
  Rgb share_colour = theme.dim_text;
  if (view.colour == MapColour::kDifference) {
    share = DifferenceMilliText(held_b - held);
    if (held_b != held) share_colour = theme.categories[held > held_b ? 0 : 1];
  } else {
    share = absl::StrCat(MilliText(held), "/", units / 1000);
  }
  const auto chars = static_cast<size_t>(std::max(pixels.width / view.char_width, 0.0F));
  // All nodes of a size get labels of one form: the widest share decides what there is room for.
  const size_t digits = absl::StrCat(units / 1000).size();
  const size_t short_name = longest_name_ - common_prefix_;
  const bool is_full = longest_name_ + 2 * digits + 2 <= chars;
  const bool has_total =
      view.colour != MapColour::kDifference && short_name + 2 * digits + 2 <= chars;
  const bool both = short_name + digits + 2 <= chars;
  if (!has_total) share = share.substr(0, share.find('/'));
  const absl::string_view name = absl::string_view(node.name).substr(is_full ? 0 : common_prefix_);
  const size_t share_chars = both ? share.size() + 1 : 0;
  const float name_width = pixels.width - static_cast<float>(share_chars) * view.char_width;
  list_.AddText({pixels.x, y}, Anchor::kStart, TextSize::kSmall,
                node.available ? theme.text : theme.dim_text,
                Tail(name, name_width, view.char_width));
  if (both) {
    list_.AddText({pixels.right(), y}, Anchor::kEnd, TextSize::kSmall, share_colour, share);
  }
}

void ClusterMap::DrawGpu(uint32_t g, const Rect& column, const MapView& view,
                         const ClusterMapData* b) {
  const Theme& theme = ThemeOf(view.theme);
  const MapGpu& gpu = data_->gpus[g];
  const bool usable = gpu.healthy && data_->nodes[gpu.node].available;
  if (view.colour == MapColour::kDifference) {
    list_.AddRect(column, InkOf(theme.free_cell));
    const bool in_b = b != nullptr && g < b->gpus.size();
    DrawDifference(gpu, in_b ? &b->gpus[g] : nullptr, b, column, theme);
    return;
  }
  const bool by_gpu = view.colour == MapColour::kFragmentation;
  const Rgb ground = by_gpu ? SequenceColour(theme, FragmentedMilli(gpu)) : theme.free_cell;
  list_.AddRect(column, InkOf(ground));
  if (!usable) list_.AddRect(column, InkOf(theme.muted_cell, Hatch::kCrossed));
  if (gpu.units != kShareUnits && !by_gpu) {
    // Runs of stranded slices.
    const float unit = column.height / static_cast<float>(gpu.units);
    for (uint32_t slice = 0; slice < gpu.units; ++slice) {
      if ((gpu.stranded >> slice & 1) == 0) continue;
      uint32_t end = slice;
      while (end < gpu.units && (gpu.stranded >> end & 1) != 0) ++end;
      list_.AddRect(Rect{column.x, column.y + static_cast<float>(slice) * unit, column.width,
                         static_cast<float>(end - slice) * unit},
                    InkOf(theme.stranded, Hatch::kRising));
      slice = end;
    }
  }
  const float gap = view.scale >= kGapScale ? 1.0F : 0.0F;
  for (const MapSlot& slot : data_->SlotsOf(gpu)) {
    Rect rect = SlotIn(column, gpu, slot);
    if (rect.height > 2 * gap) rect.height -= gap;
    if (gpu.replicas > 1 && rect.width > 2 * gap) rect.width -= gap;
    const Ink ink = SlotInk(slot, view, theme);
    if (!slot.held) {
      list_.AddOutline(rect, ink);
      continue;
    }
    if (by_gpu) {
      list_.AddOutline(rect, InkOf(TextOn(ground)));
      continue;
    }
    list_.AddRect(rect, ink);
    const bool has_name = slot.profile < data_->profiles.size();
    if (!has_name || rect.height < view.line_height) continue;
    const std::string& name = data_->profiles[slot.profile];
    if (static_cast<float>(name.size() + 1) * view.char_width > rect.width) continue;
    list_.AddText({rect.x + rect.width / 2, rect.y + rect.height / 2}, Anchor::kMiddle,
                  TextSize::kSmall, TextOn(ink.colour), name);
  }
}

void ClusterMap::DrawDifference(const MapGpu& a, const MapGpu* b, const ClusterMapData* b_data,
                                const Rect& column, const Theme& theme) {
  const Ink both = InkOf(theme.muted_cell);
  const Ink only_a = InkOf(theme.categories[0]);
  const Ink only_b = InkOf(theme.categories[1], Hatch::kFalling);
  if (b == nullptr || !ComparableBySlice(a, *b)) {
    // The shares as bars from the top: the common part, then the rest of the larger one.
    const int held_a = a.held_milli;
    const int held_b = b != nullptr ? b->held_milli : 0;
    const float common = column.height * static_cast<float>(std::min(held_a, held_b)) / 1000;
    const float larger = column.height * static_cast<float>(std::max(held_a, held_b)) / 1000;
    list_.AddRect(Rect{column.x, column.y, column.width, common}, both);
    list_.AddRect(Rect{column.x, column.y + common, column.width, larger - common},
                  held_a > held_b ? only_a : only_b);
    return;
  }
  const uint32_t in_a = HeldSlices(a, data_->SlotsOf(a));
  const uint32_t in_b = HeldSlices(*b, b_data->SlotsOf(*b));
  const float unit = column.height / static_cast<float>(a.units);
  const auto kind = [&](uint32_t slice) { return (in_a >> slice & 1) + 2 * (in_b >> slice & 1); };
  for (uint32_t slice = 0; slice < a.units;) {
    uint32_t end = slice;
    while (end < a.units && kind(end) == kind(slice)) ++end;
    const Rect rect = {column.x, column.y + static_cast<float>(slice) * unit, column.width,
                       static_cast<float>(end - slice) * unit};
    if (kind(slice) == 1) list_.AddRect(rect, only_a);
    if (kind(slice) == 2) list_.AddRect(rect, only_b);
    if (kind(slice) == 3) list_.AddRect(rect, both);
    slice = end;
  }
}

Ink ClusterMap::SlotInk(const MapSlot& slot, const MapView& view, const Theme& theme) const {
  switch (view.colour) {
    case MapColour::kProfile: {
      const size_t count = std::max<size_t>(data_->profiles.size(), 1);
      return InkOf(StepColour(theme, std::min<size_t>(slot.profile, count - 1), count));
    }
    case MapColour::kTenant:
      return CategoryInk(theme, slot.tenant);
    case MapColour::kState:
      return CategoryInk(theme, slot.state);
    case MapColour::kAge:
      return InkOf(StepColour(theme, AgeStepOf(view.now - slot.since), kAgeSteps.size()));
    case MapColour::kStranded:
    case MapColour::kFragmentation:
    case MapColour::kDifference:
      return InkOf(theme.muted_cell);
  }
  return InkOf(theme.muted_cell);
}

ClusterMap::Summary ClusterMap::SummaryOfGpu(uint32_t g, const ClusterMapData* b) const {
  const MapGpu& gpu = data_->gpus[g];
  Summary summary;
  summary.usable = gpu.healthy && data_->nodes[gpu.node].available;
  summary.held = gpu.held_milli;
  summary.stranded = StrandedMilli(gpu);
  summary.fragmentation = FragmentedMilli(gpu);
  if (b != nullptr && g < b->gpus.size()) summary.held_in_b = b->gpus[g].held_milli;
  if (gpu.lead != kNoSlot) summary.lead = &data_->slots[gpu.lead];
  return summary;
}

ClusterMap::Summary ClusterMap::SummaryOfNode(uint32_t n, const ClusterMapData* b) const {
  const MapNode& node = data_->nodes[n];
  const int64_t count = node.gpu_count;
  Summary summary;
  summary.usable = node.available;
  summary.held = node.held_milli / count;
  // Rounded up, so that a single stranded slice does not vanish.
  summary.stranded = (node.stranded_milli + count - 1) / count;
  summary.fragmentation = node.fragmentation_milli / count;
  if (b != nullptr && n < b->nodes.size()) summary.held_in_b = b->nodes[n].held_milli / count;
  if (node.lead.held) summary.lead = &node.lead;
  return summary;
}

void ClusterMap::DrawSummary(const Summary& summary, const Rect& rect, const MapView& view) {
  const Theme& theme = ThemeOf(view.theme);
  if (!summary.usable) {
    list_.AddRect(rect, InkOf(theme.muted_cell, Hatch::kCrossed));
    return;
  }
  // Less than half a pixel at either end would not be seen.
  const auto height_of = [&](int64_t milli) {
    constexpr float kLeastPart = 0.5F;
    const float height =
        rect.height * static_cast<float>(std::clamp<int64_t>(milli, 0, 1000)) / 1000;
    if (rect.height <= 2 * kLeastPart) return height;
    if (height < kLeastPart) return 0.0F;
    return rect.height - height < kLeastPart ? rect.height : height;
  };
  // A part of the bar between two heights.
  const auto part = [&](float from, float to, Rgb colour) {
    if (to > from) list_.AddRect(Rect{rect.x, rect.y + from, rect.width, to - from}, InkOf(colour));
  };
  if (view.colour == MapColour::kFragmentation) {
    const auto milli = static_cast<int>(std::clamp<int64_t>(summary.fragmentation, 0, 1000));
    part(0, rect.height, SequenceColour(theme, milli));
    return;
  }
  if (view.colour == MapColour::kDifference) {
    const float common = height_of(std::min(summary.held, summary.held_in_b));
    const float larger = height_of(std::max(summary.held, summary.held_in_b));
    part(0, common, theme.muted_cell);
    part(common, larger, theme.categories[summary.held > summary.held_in_b ? 0 : 1]);
    part(larger, rect.height, theme.free_cell);
    return;
  }
  const float held = summary.lead == nullptr ? 0 : height_of(summary.held);
  float stranded = 0;
  if (summary.stranded > 0) {
    // Any stranded slice must be seen.
    constexpr float kLeastStranded = 1.5F;
    stranded = std::min(std::max(height_of(summary.stranded), kLeastStranded), rect.height);
  }
  const float free_end = rect.height - stranded;
  if (held > 0) {
    part(0, std::min(held, free_end), SlotInk(*summary.lead, view, theme).colour);
  }
  part(held, free_end, theme.free_cell);
  part(free_end, rect.height, theme.stranded);
}

// --- Texts ---

std::vector<MapLegendRow> ClusterMap::Legend(MapColour colour, ThemeKind kind) const {
  const Theme& theme = ThemeOf(kind);
  std::vector<MapLegendRow> rows;
  const auto add = [&rows](const Ink& ink, absl::string_view text) {
    MapLegendRow row;
    row.ink = ink;
    row.text = std::string(text);
    rows.push_back(std::move(row));
  };
  const Ink stranded = InkOf(theme.stranded, Hatch::kRising);
  const Ink free = InkOf(theme.free_cell);
  const auto add_free = [&] {
    add(free, "free");
    add(stranded, "free, stranded by geometry or layout");
  };
  constexpr size_t kMostNames = 16;  // further ones would repeat colours and hatchings too closely
  switch (colour) {
    case MapColour::kProfile:
      for (size_t i = data_->profiles.size(); i-- > 0;) {
        add(InkOf(StepColour(theme, i, data_->profiles.size())), data_->profiles[i]);
      }
      add_free();
      break;
    case MapColour::kStranded:
      add(InkOf(theme.muted_cell), "held");
      add_free();
      break;
    case MapColour::kFragmentation:
      for (const int milli : {0, 250, 500, 750, 1000}) {
        add(InkOf(SequenceColour(theme, milli)), absl::StrCat(milli / 10, " %"));
      }
      break;
    case MapColour::kTenant:
    case MapColour::kState: {
      const std::vector<std::string>& names =
          colour == MapColour::kTenant ? data_->tenants : data_->states;
      for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
        add(CategoryInk(theme, i), names[i].empty() ? "none" : names[i]);
      }
      if (names.size() > kMostNames) {
        add(free, absl::StrCat(names.size() - kMostNames, " more"));
      }
      add_free();
      break;
    }
    case MapColour::kAge:
      for (size_t i = 0; i < kAgeSteps.size(); ++i) {
        add(InkOf(StepColour(theme, i, kAgeSteps.size())), kAgeSteps[i].text);
      }
      add_free();
      break;
    case MapColour::kDifference:
      add(InkOf(theme.categories[0]), "only A");
      add(InkOf(theme.categories[1], Hatch::kFalling), "only B");
      add(InkOf(theme.muted_cell), "both");
      add(free, "neither");
      break;
  }
  return rows;
}

std::string HitText(const ClusterMapData& data, const MapHit& hit,
                    absl::FunctionRef<std::string(uint32_t pod)> pod_name) {
  const MapNode& node = data.nodes[hit.node];
  std::string text = node.name;
  if (!node.available) absl::StrAppend(&text, ", not available");
  if (!hit.gpu.has_value()) {
    absl::StrAppend(&text, "\n", node.gpu_count, node.gpu_count == 1 ? " GPU" : " GPUs",
                    node.model.empty() ? "" : " ", node.model);
    return text;
  }
  const MapGpu& gpu = data.gpus[*hit.gpu];
  absl::StrAppend(&text, " · GPU ", *hit.gpu - node.first_gpu, gpu.healthy ? "" : ", unhealthy");
  for (const MapSlot& slot : data.SlotsOf(gpu)) {
    absl::StrAppend(&text, "\n");
    if (gpu.replicas > 1) absl::StrAppend(&text, "replica ", int{slot.replica}, " ");
    if (gpu.units == kShareUnits) {
      absl::StrAppend(&text, FixedText(static_cast<double>(slot.size) / 10, 1), " %");
    } else if (slot.size == 1) {
      absl::StrAppend(&text, slot.start);
    } else {
      absl::StrAppend(&text, slot.start, "–", slot.start + slot.size - 1);
    }
    if (slot.profile < data.profiles.size()) {
      absl::StrAppend(&text, " ", data.profiles[slot.profile]);
    }
    if (!slot.held) absl::StrAppend(&text, ", idle");
    if (slot.held && slot.pod != kNoPod) absl::StrAppend(&text, " ", pod_name(slot.pod));
  }
  if (gpu.units == kShareUnits) return text;
  const int free = int{gpu.units} - std::popcount(HeldSlices(gpu, data.SlotsOf(gpu)));
  const int stranded = std::popcount(gpu.stranded);
  absl::StrAppend(&text, "\nfree ", free, " of ", gpu.units, " slices, usable ", free - stranded,
                  ", stranded ", stranded);
  absl::string_view separator = "\nfits ";
  for (size_t p = 0; p < std::min<size_t>(data.profiles.size(), 32); ++p) {
    if ((gpu.fits >> p & 1) == 0) continue;
    absl::StrAppend(&text, separator, data.profiles[p]);
    separator = ", ";
  }
  if (gpu.fits == 0) absl::StrAppend(&text, "\nfits nothing more");
  return text;
}

// --- Two runs ---

bool SameCluster(const ClusterMapData& a, const ClusterMapData& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const MapNode& in_a, const MapNode& in_b) {
                      return in_a.gpu_count == in_b.gpu_count && in_a.name == in_b.name;
                    });
}

MapDifference DifferenceOf(const ClusterMapData& a, const ClusterMapData& b) {
  DRASIM_CHECK_EQ(a.gpus.size(), b.gpus.size());
  MapDifference sum;
  for (size_t g = 0; g < a.gpus.size(); ++g) {
    const MapGpu& in_a = a.gpus[g];
    const MapGpu& in_b = b.gpus[g];
    if (ComparableBySlice(in_a, in_b)) {
      const uint32_t held_a = HeldSlices(in_a, a.SlotsOf(in_a));
      const uint32_t held_b = HeldSlices(in_b, b.SlotsOf(in_b));
      sum.only_a += int64_t{std::popcount(held_a & ~held_b)} * 1000;
      sum.only_b += int64_t{std::popcount(held_b & ~held_a)} * 1000;
      sum.both += int64_t{std::popcount(held_a & held_b)} * 1000;
      sum.neither += (int64_t{in_a.units} - std::popcount(held_a | held_b)) * 1000;
      continue;
    }
    const auto slices = static_cast<int64_t>(std::max(SlicesOf(in_a), SlicesOf(in_b)));
    sum.only_a += std::max(in_a.held_milli - in_b.held_milli, 0) * slices;
    sum.only_b += std::max(in_b.held_milli - in_a.held_milli, 0) * slices;
    sum.both += std::min(in_a.held_milli, in_b.held_milli) * slices;
    sum.neither += (1000 - std::max(in_a.held_milli, in_b.held_milli)) * slices;
  }
  return sum;
}

// --- The fit list ---

FitPicture DrawFitList(absl::Span<const FitRow> rows, float width, float char_width,
                       float line_height, ThemeKind kind) {
  const Theme& theme = ThemeOf(kind);
  FitPicture picture;
  int64_t most = 1;
  std::vector<std::string> counts;
  size_t widest = 0;
  for (const FitRow& row : rows) {
    most = std::max({most, row.fits, row.waits});
    counts.push_back(absl::StrCat("fit ", CommaText(row.fits), ", wait ", CommaText(row.waits)));
    widest = std::max(widest, row.profile.size() + 2 + counts.back().size());
  }
  const float gap = 2 * char_width;
  const float least = static_cast<float>(widest) * char_width;
  // As many as have room, but no empty ones.
  const auto room = static_cast<size_t>(std::max(0.0F, (width + gap) / (least + gap)));
  const size_t columns = std::max<size_t>(1, std::min(room, rows.size()));
  const float cell_width = (width + gap) / static_cast<float>(columns) - gap;
  const float cell_height = line_height * 2.25F;
  const float bar_height = line_height * 0.3F;
  const auto bar = [&](int64_t value) {
    return cell_width * static_cast<float>(static_cast<double>(value) / static_cast<double>(most));
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const float x = static_cast<float>(i % columns) * (cell_width + gap);
    const size_t line = i / columns;
    const float y = static_cast<float>(line) * cell_height;
    picture.boxes.push_back(Rect{x, y, cell_width, cell_height});
    picture.list.AddText({x, y + line_height / 2}, Anchor::kStart, TextSize::kSmall, theme.text,
                         rows[i].profile);
    picture.list.AddText({x + cell_width, y + line_height / 2}, Anchor::kEnd, TextSize::kSmall,
                         theme.dim_text, counts[i]);
    const float bars = y + line_height * 1.1F;
    picture.list.AddRect(Rect{x, bars, bar(rows[i].fits), bar_height}, InkOf(rows[i].colour));
    picture.list.AddRect(Rect{x, bars + bar_height + 1, bar(rows[i].waits), bar_height},
                         InkOf(theme.categories[1], Hatch::kRising));
    picture.height = y + cell_height;
  }
  return picture;
}

}  // namespace drasim::view
