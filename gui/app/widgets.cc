#include "gui/app/widgets.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/app/plot_draw.h"
#include "gui/view/draw_list.h"
#include "gui/view/rgb.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_text.h"

namespace drasim::gui {
namespace {

ImVec2 SizeOf(absl::string_view text) {
  return ImGui::CalcTextSize(text.data(), text.data() + text.size());
}

// Two positions of one label in a window are two items.
void PushPlaceId() {
  const ImVec2 at = ImGui::GetCursorPos();
  ImGui::PushID(static_cast<int>(at.y));
  ImGui::PushID(static_cast<int>(at.x));
}
void PopPlaceId() {
  ImGui::PopID();
  ImGui::PopID();
}

bool KeyPressed(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); }

}  // namespace

void Text(absl::string_view text) {
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

void DimText(absl::string_view text, const AppState& app) {
  ImGui::PushStyleColor(ImGuiCol_Text, Packed(app.theme().dim_text));
  Text(text);
  ImGui::PopStyleColor();
}

void StrongText(absl::string_view text, const AppState& app) {
  ImGui::PushFont(app.fonts.strong);
  Text(text);
  ImGui::PopFont();
}

void WrappedText(absl::string_view text) {
  ImGui::PushTextWrapPos(0);
  Text(text);
  ImGui::PopTextWrapPos();
}

void WrappedDimText(absl::string_view text, const AppState& app) {
  ImGui::PushTextWrapPos(0);
  DimText(text, app);
  ImGui::PopTextWrapPos();
}

Rgb LinkColour(const AppState& app) {
  const view::Theme& theme = app.theme();
  return view::Blend(theme.categories[0], theme.text, 350);
}

bool TextButton(absl::string_view label, const AppState& app) {
  // ImGui refuses items without a size.
  if (label.empty()) return false;
  PushPlaceId();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = SizeOf(label);
  const bool clicked = ImGui::InvisibleButton("text", size);
  const ImU32 colour = Packed(LinkColour(app));
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddText(at, colour, label.data(), label.data() + label.size());
  if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    const float y = at.y + size.y - 1;
    list->AddLine(ImVec2(at.x, y), ImVec2(at.x + size.x, y), colour);
  }
  PopPlaceId();
  return clicked;
}

bool Link(const ObjectRef& object, AppState* app) { return Link(object, object.name, app); }

bool Link(const ObjectRef& object, absl::string_view label, AppState* app) {
  if (!TextButton(label, *app)) return false;
  app->Select(object);
  return true;
}

view::Point Picture(const view::DrawList& list, float width, float height, const AppState& app) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(ImVec2(std::max(width, 1.0F), std::max(height, 1.0F)));
  Paint(list, at, app, ImGui::GetWindowDrawList());
  return {at.x, at.y};
}

std::optional<view::Point> MouseIn(view::Point origin) {
  if (!ImGui::IsItemHovered()) return std::nullopt;
  const ImVec2 mouse = ImGui::GetMousePos();
  return view::Point{mouse.x - origin.x, mouse.y - origin.y};
}

void LegendLine::Add(const view::Ink& ink, absl::string_view text) {
  const float side = std::floor(ImGui::GetTextLineHeight() * 0.7F);
  const float gap = std::floor(side * 0.5F);
  const float width = side + gap + SizeOf(text).x;
  if (!empty_) {
    ImGui::SameLine(0, 2 * side);
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
  }
  empty_ = false;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  view::Rect square;
  square.x = at.x;
  square.y = std::floor(at.y + (ImGui::GetTextLineHeight() - side) / 2);
  square.width = square.height = side;
  PaintInk(square, ink, app_, ImGui::GetWindowDrawList());
  ImGui::Dummy(ImVec2(side, ImGui::GetTextLineHeight()));
  ImGui::SameLine(0, gap);
  DimText(text, app_);
}

void Fact(absl::string_view label, absl::string_view value, const AppState& app) {
  DimText(label, app);
  ImGui::SameLine(ImGui::GetFontSize() * 9);
  WrappedText(value);
}

std::string InstantText(SimTime at, const AppState& app) {
  const bool by_record = app.a.overview != nullptr && app.a.overview->by_record;
  if (by_record) return app.a.overview->TimeText(at);
  // Nanoseconds say nothing beside hours.
  constexpr int64_t kMillisecondNs = kSecondNs / 1000;
  return view::TimeText(
      at < SimTime(kSecondNs) ? at : SimTime(at.ns() / kMillisecondNs * kMillisecondNs));
}

std::string LengthText(SimDuration length, const AppState& app) {
  const bool by_record = app.a.overview != nullptr && app.a.overview->by_record;
  return by_record ? absl::StrCat(view::CommaText(length.ns()), " records")
                   : view::WaitText(length);
}

bool Choice(absl::string_view label, absl::Span<const absl::string_view> names, int* chosen,
            const AppState& app) {
  const view::Theme& theme = app.theme();
  bool changed = false;
  // Without a label, by what it offers.
  const absl::string_view id = label.empty() && !names.empty() ? names[0] : label;
  ImGui::PushID(id.data(), id.data() + id.size());
  if (!label.empty()) {
    ImGui::AlignTextToFramePadding();
    DimText(label, app);
    ImGui::SameLine();
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) ImGui::SameLine();
    ImGui::PushID(static_cast<int>(i));
    const bool is_chosen = static_cast<int>(i) == *chosen;
    const Rgb fill = is_chosen ? theme.categories[0] : theme.grid;
    ImGui::PushStyleColor(ImGuiCol_Button, Packed(fill));
    ImGui::PushStyleColor(ImGuiCol_Text, Packed(is_chosen ? view::TextOn(fill) : theme.text));
    const std::string name(names[i]);
    if (ImGui::Button(name.c_str()) && !is_chosen) {
      *chosen = static_cast<int>(i);
      changed = true;
    }
    ImGui::PopStyleColor(2);
    ImGui::PopID();
  }
  ImGui::PopID();
  return changed;
}

// --- Tables ---

namespace {

// The child window of a table while it is drawn.
class TableFrame {
 public:
  TableFrame(const TableLook& look, const view::TableSource& source, view::TableModel* table,
             AppState* app)
      : look_(look),
        source_(source),
        table_(*table),
        app_(*app),
        storage_(ImGui::GetStateStorage()),
        list_(ImGui::GetWindowDrawList()),
        scale_(app->looks.scale),
        row_height_(std::floor(ImGui::GetTextLineHeight() + 4 * scale_)),
        pad_(std::floor(5 * scale_)),
        square_(std::floor(ImGui::GetTextLineHeight() * 0.7F)) {}

  void Draw() {
    window_ = ImGui::GetWindowPos();
    size_ = ImVec2(ImGui::GetWindowSize().x, ImGui::GetWindowSize().y);
    const ImVec2 inner = ImGui::GetContentRegionAvail();
    body_top_ = window_.y + row_height_;
    body_height_ = std::max(inner.y - row_height_, row_height_);
    MakeColumns(inner.x);
    ReadScroll();
    TakeKeys();
    const bool hovered = ImGui::IsWindowHovered();
    const ImVec2 mouse = ImGui::GetMousePos();
    DrawRows(hovered && mouse.y >= body_top_ && mouse.x < window_.x + inner.x &&
             mouse.y < body_top_ + body_height_);
    DrawHeader(hovered && mouse.y < body_top_ && mouse.x < window_.x + inner.x);
    // All rows together make the window scroll.
    ImGui::SetCursorPos(ImVec2(0, 0));
    ImGui::Dummy(ImVec2(total_width_, row_height_ + content_height_));
  }

 private:
  struct Column {
    size_t index = 0;    // of the source
    float x = 0;         // of the window, without scrolling
    float width = 0;     // with padding
    ImGuiID needed = 0;  // of the storage: the width of its widest text so far
    bool is_number = false;
  };

  // Beyond this, float coordinates would lose pixels. A longer table scrolls in larger steps.
  static constexpr float kMaxContent = 4e6F;

  float TextWidth(absl::string_view text) const { return SizeOf(text).x; }

  // The needed width of a column only grows, so that nothing jumps while one scrolls.
  void Need(ImGuiID needed, float width) {
    if (width > storage_->GetFloat(needed)) storage_->SetFloat(needed, width);
  }

  void MakeColumns(float width) {
    total_width_ = 0;
    const auto columns = source_.columns();
    for (const size_t index : look_.columns) {
      Column column;
      column.index = index;
      column.is_number = columns[index].kind == view::TableColumn::Kind::kNumber;
      const std::string& name = columns[index].name;
      column.needed = ImGui::GetID(name.data(), name.data() + name.size());
      // Behind the name stands the sort mark.
      Need(column.needed, TextWidth(name) + row_height_ * 0.7F);
      // No single long text pushes all other columns out of sight; the last column may be cut.
      column.width =
          std::ceil(std::min(storage_->GetFloat(column.needed), kMaxColumn * scale_) + 2 * pad_);
      column.x = total_width_;
      total_width_ += column.width;
      columns_.push_back(column);
    }
    if (columns_.empty()) return;
    Column& last = columns_.back();
    if (!last.is_number) {
      // Texts at the end, such as verdicts, take what is left and are cut there.
      const float least = std::min(last.width, kLeastLast * scale_);
      total_width_ = std::max(last.x + least, width);
      last.width = total_width_ - last.x;
    }
    total_width_ = std::max(total_width_, width);
  }

  void ReadScroll() {
    const double all = static_cast<double>(table_.size()) * static_cast<double>(row_height_);
    content_height_ = static_cast<float>(std::min(all, static_cast<double>(kMaxContent)));
    const double hidden = all - static_cast<double>(body_height_);
    const double scrollable = static_cast<double>(content_height_ - body_height_);
    ratio_ = hidden > 0 && scrollable > 0 ? hidden / scrollable : 1;
    top_ = static_cast<double>(ImGui::GetScrollY()) * ratio_;
    scroll_x_ = ImGui::GetScrollX();
  }

  void ScrollTo(size_t index) {
    const double from = static_cast<double>(index) * static_cast<double>(row_height_);
    const double lowest = from + static_cast<double>(row_height_ - body_height_);
    const double top = std::max(std::min(top_, from), lowest);
    if (top == top_) return;
    top_ = std::max(top, 0.0);
    ImGui::SetScrollY(static_cast<float>(top_ / ratio_));
  }

  ObjectRef ObjectOf(size_t row, size_t column, ObjectKind kind) const {
    ObjectRef object;
    object.kind = kind;
    object.name = std::string(source_.Text(row, column));
    return object;
  }

  bool IsSelected(size_t row) const {
    return look_.link_kind != ObjectKind::kNone && app_.selected.kind == look_.link_kind &&
           source_.Text(row, look_.link_column) == app_.selected.name;
  }

  // The selected row's place. O(1) if it is where it was; else O(rows).
  std::optional<size_t> SelectedIndex() {
    if (app_.selected.kind != look_.link_kind) return std::nullopt;
    const ImGuiID id = ImGui::GetID("selected");
    const auto known = static_cast<size_t>(std::max(storage_->GetInt(id), 0));
    if (known < table_.size() && IsSelected(table_.row(known))) return known;
    for (size_t row = 0; row < source_.rows(); ++row) {
      if (!IsSelected(row)) continue;
      const std::optional<size_t> index = table_.IndexOf(row);
      if (index.has_value()) return index;
    }
    return std::nullopt;
  }

  void SelectIndex(size_t index) {
    storage_->SetInt(ImGui::GetID("selected"), static_cast<int>(index));
    app_.Select(ObjectOf(table_.row(index), look_.link_column, look_.link_kind));
  }

  void TakeKeys() {
    if (!look_.takes_keys || ImGui::GetIO().WantTextInput || table_.size() == 0 ||
        look_.link_kind == ObjectKind::kNone) {
      return;
    }
    const auto page = static_cast<int64_t>(std::max(body_height_ / row_height_ - 1, 1.0F));
    int64_t step = 0;
    if (KeyPressed(ImGuiKey_DownArrow)) step = 1;
    if (KeyPressed(ImGuiKey_UpArrow)) step = -1;
    if (KeyPressed(ImGuiKey_PageDown)) step = page;
    if (KeyPressed(ImGuiKey_PageUp)) step = -page;
    const bool enter = KeyPressed(ImGuiKey_Enter) || KeyPressed(ImGuiKey_KeyPadEnter);
    if (step == 0 && !enter) return;
    const std::optional<size_t> at = SelectedIndex();
    if (at.has_value() && step == 0) return ScrollTo(*at);
    const auto last = static_cast<int64_t>(table_.size()) - 1;
    const int64_t to = at.has_value() ? static_cast<int64_t>(*at) + step : 0;
    const auto index = static_cast<size_t>(std::clamp(to, int64_t{0}, last));
    SelectIndex(index);
    ScrollTo(index);
  }

  ObjectKind LinkKind(size_t column) const {
    for (const auto& [other, kind] : look_.other_links) {
      if (other == column) return kind;
    }
    return column == look_.link_column ? look_.link_kind : ObjectKind::kNone;
  }

  void DrawRows(bool hovered) {
    const view::Theme& theme = app_.theme();
    const ImVec2 mouse = ImGui::GetMousePos();
    const ImVec2 from(window_.x, body_top_);
    const ImVec2 to(window_.x + size_.x, body_top_ + body_height_);
    ImGui::PushClipRect(from, to, /*intersect_with_current_clip_rect=*/true);
    const auto height = static_cast<double>(row_height_);
    const auto first = static_cast<size_t>(std::max(top_ / height, 0.0));
    for (size_t i = first; i < table_.size(); ++i) {
      const float y =
          std::floor(body_top_ + static_cast<float>(static_cast<double>(i) * height - top_));
      if (y >= to.y) break;
      const size_t row = table_.row(i);
      const bool under_mouse = hovered && mouse.y >= y && mouse.y < y + row_height_;
      const ImVec2 upper(window_.x, y);
      const ImVec2 lower(window_.x + size_.x, y + row_height_);
      if (IsSelected(row)) {
        list_->AddRectFilled(upper, lower, Packed(theme.categories[0], 90));
      } else if (under_mouse) {
        list_->AddRectFilled(upper, lower, Packed(theme.grid, 200));
      } else if (i % 2 == 1) {
        list_->AddRectFilled(upper, lower, Packed(theme.grid, 70));
      }
      for (const Column& column : columns_) DrawCell(column, row, y, under_mouse);
      if (under_mouse && look_.link_kind != ObjectKind::kNone && clicked_ == ObjectKind::kNone) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) SelectIndex(i);
      }
    }
    ImGui::PopClipRect();
  }

  void DrawCell(const Column& column, size_t row, float y, bool under_mouse) {
    const view::Theme& theme = app_.theme();
    const std::string text = look_.shown && look_.dim_column == column.index
                                 ? look_.shown(row)
                                 : source_.Shown(row, column.index);
    const float text_width = TextWidth(text);
    const bool has_square = look_.square && column.index == look_.square_column;
    const float square_room = has_square ? square_ + pad_ : 0;
    Need(column.needed, text_width + square_room);
    const float left = window_.x + column.x - scroll_x_ + pad_;
    const float room = column.width - 2 * pad_ - square_room;
    const float x = column.is_number ? std::max(left, left + room - text_width) : left;
    const float text_y = y + (row_height_ - ImGui::GetTextLineHeight()) / 2;
    const bool over = under_mouse && ImGui::GetMousePos().x >= left - pad_ &&
                      ImGui::GetMousePos().x < left - pad_ + column.width;
    const ObjectKind kind = LinkKind(column.index);
    const bool other_link =
        over && kind != ObjectKind::kNone && column.index != look_.link_column && !text.empty();
    ImU32 colour = Packed(look_.dim_column == column.index ? theme.dim_text : theme.text);
    if (other_link) colour = Packed(LinkColour(app_));
    const ImVec4 clip(left, y, left + std::max(room, 0.0F), y + row_height_);
    list_->AddText(ImGui::GetFont(), ImGui::GetFontSize(), ImVec2(x, text_y), colour, text.data(),
                   text.data() + text.size(), 0.0F, text_width > room ? &clip : nullptr);
    if (has_square) {
      const view::Ink* const ink = look_.square(row);
      if (ink != nullptr) {
        view::Rect square;
        square.x = left + room + pad_;
        square.y = std::floor(y + (row_height_ - square_) / 2);
        square.width = square.height = square_;
        PaintInk(square, *ink, app_, list_);
      }
    }
    if (!over) return;
    if (text_width > room) {
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(ImGui::GetFontSize() * 40);
      Text(text);
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
    if (other_link && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      clicked_ = kind;
      app_.Select(ObjectOf(row, column.index, kind));
    }
  }

  void DrawHeader(bool hovered) {
    const view::Theme& theme = app_.theme();
    const ImVec2 mouse = ImGui::GetMousePos();
    const ImVec2 to(window_.x + size_.x, body_top_);
    list_->AddRectFilled(window_, to, Packed(theme.panel));
    list_->AddLine(ImVec2(window_.x, body_top_ - 1), ImVec2(to.x, body_top_ - 1),
                   Packed(theme.grid));
    for (const Column& column : columns_) {
      const std::string& name = source_.columns()[column.index].name;
      const float left = window_.x + column.x - scroll_x_ + pad_;
      const float room = column.width - 2 * pad_;
      const bool sorted = table_.sort_column() == column.index;
      const float mark = sorted ? row_height_ * 0.6F : 0;
      const float text_width = TextWidth(name);
      const float x = column.is_number ? left + room - text_width - mark : left;
      const float y = window_.y + (row_height_ - ImGui::GetTextLineHeight()) / 2;
      const bool over = hovered && mouse.x >= left - pad_ && mouse.x < left - pad_ + column.width;
      list_->AddText(ImVec2(x, y), Packed(over || sorted ? theme.text : theme.dim_text),
                     name.data(), name.data() + name.size());
      if (sorted) DrawSortMark(ImVec2(x + text_width + mark * 0.65F, y));
      if (!over) continue;
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) continue;
      // Large numbers are of interest first.
      table_.SortBy(column.index, sorted ? !table_.descending() : column.is_number);
      ImGui::SetScrollY(0);
    }
  }

  void DrawSortMark(ImVec2 at) {
    const float height = ImGui::GetTextLineHeight();
    const float half = std::floor(height * 0.25F);
    const float middle = at.y + height / 2;
    const float tip = table_.descending() ? half : -half;
    list_->AddTriangleFilled(ImVec2(at.x - half, middle - tip * 0.7F),
                             ImVec2(at.x + half, middle - tip * 0.7F),
                             ImVec2(at.x, middle + tip * 0.7F), Packed(app_.theme().text));
  }

  static constexpr float kMaxColumn = 260;  // of texts, in pixels at scale 1
  static constexpr float kLeastLast = 90;

  const TableLook& look_;
  const view::TableSource& source_;
  view::TableModel& table_;
  AppState& app_;
  ImGuiStorage* storage_;
  ImDrawList* list_;
  float scale_;
  float row_height_;
  float pad_;
  float square_;

  ImVec2 window_;
  ImVec2 size_;
  float body_top_ = 0;
  float body_height_ = 0;
  float total_width_ = 0;
  float content_height_ = 0;
  double ratio_ = 1;  // pixels of rows per pixel of scrolling
  double top_ = 0;    // pixels of rows above the body
  float scroll_x_ = 0;
  std::vector<Column> columns_;
  ObjectKind clicked_ = ObjectKind::kNone;  // a link inside a row
};

}  // namespace

void DrawTable(const TableLook& look, const view::TableSource& source, view::TableModel* table,
               AppState* app) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild(look.id.c_str(), ImVec2(0, 0), false,
                    ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleVar();
  TableFrame(look, source, table, app).Draw();
  ImGui::EndChild();
}

}  // namespace drasim::gui
