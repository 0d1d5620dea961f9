#include "gui/app/live_table.h"

#include <imgui.h>

#include <chrono>
#include <utility>

namespace drasim::gui {
namespace {

constexpr std::chrono::milliseconds kSlice(1);
constexpr size_t kRowsBetweenLooks = 4096;  // at the time
constexpr double kSecondsBetween = 0.25;    // refreshes of a long table

}  // namespace

void LiveTable::SortBy(size_t column, bool descending) {
  sort_column_ = column;
  descending_ = descending;
  if (shown_.model != nullptr) shown_.model->SortBy(column, descending);
}

void LiveTable::Filter(RowsOf rows_of) {
  rows_of_ = std::move(rows_of);
  ++filter_;
}

void LiveTable::Begin(const std::shared_ptr<const RunSnapshot>& run) {
  next_.run = run;
  next_.model = std::make_unique<view::TableModel>(source_of_(*run));
  next_.filter = filter_;
  // First the order: the filter makes its keys.
  if (shown_.model != nullptr) {
    sort_column_ = shown_.model->sort_column();
    descending_ = shown_.model->descending();
  }
  if (sort_column_.has_value()) next_.model->SortBy(*sort_column_, descending_);
  Rows rows = rows_of_ ? rows_of_(*run) : Rows();
  next_.model->BeginFilter(std::move(rows.keep), rows.first);
}

void LiveTable::Finish() {
  if (shown_.model != nullptr) {
    sort_column_ = shown_.model->sort_column();
    descending_ = shown_.model->descending();
  }
  if (sort_column_.has_value()) next_.model->SortBy(*sort_column_, descending_);
  shown_ = std::exchange(next_, Stand());
  refreshed_at_ = ImGui::GetTime();
}

void LiveTable::Update(const std::shared_ptr<const RunSnapshot>& newest, AppState* app) {
  if (newest == nullptr || source_of_(*newest) == nullptr) {
    shown_ = Stand();
    next_ = Stand();
    return;
  }
  if (next_.model == nullptr) {
    const bool same_filter = shown_.filter == filter_;
    if (shown_.run == newest && same_filter) return;
    const bool is_long = source_of_(*newest)->rows() > kLongTable;
    if (is_long && ready() && same_filter && ImGui::GetTime() - refreshed_at_ < kSecondsBetween) {
      app->wants_frame = true;
      return;
    }
    Begin(newest);
    // Without older rows there is nothing to look at meanwhile.
    if (!is_long || !ready()) {
      next_.model->ContinueFilter(source_of_(*newest)->rows());
      return Finish();
    }
  } else if (next_.filter != filter_) {
    Begin(newest);
  }
  const auto end = std::chrono::steady_clock::now() + kSlice;
  while (!next_.model->ContinueFilter(kRowsBetweenLooks)) {
    if (std::chrono::steady_clock::now() < end) continue;
    app->wants_frame = true;
    return;
  }
  Finish();
}

}  // namespace drasim::gui
