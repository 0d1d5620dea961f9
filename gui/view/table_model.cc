#include "gui/view/table_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/check.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

// More rows than a screen has, so that the first picture sorts once.
constexpr size_t kFirstSorted = 256;

}  // namespace

TableModel::TableModel(const TableSource* source) : source_(source) { Refresh(); }

void TableModel::SortBy(size_t column, bool descending) {
  DRASIM_CHECK_LT(column, source_->columns().size());
  sort_column_ = column;
  descending_ = descending;
  by_number_ = source_->columns()[column].kind == TableColumn::Kind::kNumber;
  keys_.clear();
  if (by_number_) {
    keys_.reserve(source_->rows());
    for (size_t r = 0; r < source_->rows(); ++r) keys_.push_back(source_->Number(r, column));
  }
  sorted_ = 0;
}

void TableModel::Unsort() {
  sort_column_.reset();
  keys_.clear();
  std::sort(order_.begin(), order_.end());
  sorted_ = order_.size();
}

void TableModel::Filter(std::function<bool(size_t)> keep) {
  keep_ = std::move(keep);
  order_.clear();
  for (size_t r = 0; r < source_->rows(); ++r) {
    if (!keep_ || keep_(r)) order_.push_back(static_cast<uint32_t>(r));
  }
  sorted_ = sort_column_.has_value() ? 0 : order_.size();
}

void TableModel::Refresh() {
  Filter(std::move(keep_));
  if (sort_column_.has_value()) SortBy(*sort_column_, descending_);
}

bool TableModel::Before(uint32_t a, uint32_t b) const {
  if (by_number_) {
    const int64_t left = keys_[a];
    const int64_t right = keys_[b];
    if (left == right) return a < b;
    if (left == TableSource::kNoNumber) return false;
    if (right == TableSource::kNoNumber) return true;
    return descending_ ? left > right : left < right;
  }
  const int order = source_->Text(a, *sort_column_).compare(source_->Text(b, *sort_column_));
  if (order == 0) return a < b;
  return descending_ ? order > 0 : order < 0;
}

void TableModel::SortUpTo(size_t count) {
  const auto before = [this](uint32_t a, uint32_t b) { return Before(a, b); };
  while (sorted_ < count) {
    // Doubling: whoever scrolls to the end pays O(n log n) in all.
    const size_t target = std::min(order_.size(), std::max({count, 2 * sorted_, kFirstSorted}));
    const auto from = order_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto to = order_.begin() + static_cast<std::ptrdiff_t>(target);
    if (to != order_.end()) std::nth_element(from, to, order_.end(), before);
    std::sort(from, to, before);
    sorted_ = target;
  }
}

size_t TableModel::row(size_t index) {
  DRASIM_CHECK_LT(index, order_.size());
  SortUpTo(index + 1);
  return order_[index];
}

std::optional<size_t> TableModel::IndexOf(size_t row) {
  SortUpTo(order_.size());
  const auto found = std::find(order_.begin(), order_.end(), static_cast<uint32_t>(row));
  if (found == order_.end()) return std::nullopt;
  return static_cast<size_t>(found - order_.begin());
}

std::string TableModel::Csv() {
  SortUpTo(order_.size());
  const size_t columns = source_->columns().size();
  std::string csv;
  for (size_t c = 0; c < columns; ++c) {
    if (c > 0) csv += ',';
    AppendCsvField(source_->columns()[c].name, &csv);
  }
  csv += '\n';
  for (const uint32_t row : order_) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) csv += ',';
      AppendCsvField(source_->Exact(row, c), &csv);
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace drasim::view
