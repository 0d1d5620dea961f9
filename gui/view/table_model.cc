#include "gui/view/table_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/check.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

// Rows that are sorted together: more than a screen has, so that a picture sorts once or twice.
constexpr size_t kBlock = 256;

size_t CommonPrefix(absl::string_view a, absl::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  size_t length = 0;
  while (length < most && a[length] == b[length]) ++length;
  return length;
}

// The first eight bytes, as a number that compares like them.
int64_t TextKey(absl::string_view text) {
  uint64_t key = 0;
  for (size_t i = 0; i < sizeof key; ++i) {
    key = key << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return static_cast<int64_t>(key ^ uint64_t{1} << 63);
}

}  // namespace

TableModel::TableModel(const TableSource* source) : source_(source) { Filter(nullptr); }

void TableModel::SortBy(size_t column, bool descending) {
  DRASIM_CHECK_LT(column, source_->columns().size());
  if (sort_column_ != column) has_keys_ = false;
  sort_column_ = column;
  descending_ = descending;
  by_number_ = source_->columns()[column].kind == TableColumn::Kind::kNumber;
  block_sorted_.clear();
}

void TableModel::Filter(std::function<bool(size_t)> keep) {
  BeginFilter(std::move(keep));
  ContinueFilter(source_->rows());
}

void TableModel::BeginFilter(std::function<bool(size_t)> keep) {
  keep_ = std::move(keep);
  order_.clear();
  filtered_ = 0;
  has_keys_ = false;
  block_sorted_.clear();
}

bool TableModel::ContinueFilter(size_t rows) {
  const size_t all = source_->rows();
  const size_t end = filtered_ + std::min(rows, all - std::min(filtered_, all));
  for (; filtered_ < end; ++filtered_) {
    if (!keep_ || keep_(filtered_)) order_.push_back(static_cast<uint32_t>(filtered_));
  }
  has_keys_ = false;
  block_sorted_.clear();
  return filtered_ >= all;
}

void TableModel::Refresh() { Filter(std::move(keep_)); }

void TableModel::MakeKeys() {
  keys_.resize(source_->rows());
  has_keys_ = true;
  if (!by_number_) return MakeTextKeys();
  for (const uint32_t row : order_) keys_[row] = source_->Number(row, *sort_column_);
}

// Names are long and alike ("pod-0001234"), so comparing them costs most of the sorting; their
// differences are short.
void TableModel::MakeTextKeys() {
  if (order_.empty()) return;
  const absl::string_view first = source_->Text(order_.front(), *sort_column_);
  size_t prefix = first.size();
  for (const uint32_t row : order_) {
    if (prefix == 0) break;
    prefix = CommonPrefix(first.substr(0, prefix), source_->Text(row, *sort_column_));
  }
  for (const uint32_t row : order_) {
    keys_[row] = TextKey(source_->Text(row, *sort_column_).substr(prefix));
  }
}

bool TableModel::Before(uint32_t a, uint32_t b) const {
  const int64_t left = keys_[a];
  const int64_t right = keys_[b];
  if (left != right) {
    if (by_number_ && left == TableSource::kNoNumber) return false;
    if (by_number_ && right == TableSource::kNoNumber) return true;
    return descending_ ? left > right : left < right;
  }
  if (by_number_) return a < b;
  const int order = source_->Text(a, *sort_column_).compare(source_->Text(b, *sort_column_));
  if (order == 0) return a < b;
  return descending_ ? order > 0 : order < 0;
}

void TableModel::BeginSorting() {
  if (!has_keys_) MakeKeys();
  if (!block_sorted_.empty()) return;
  block_sorted_.assign((order_.size() + kBlock - 1) / kBlock, false);
  cuts_ = {0, order_.size()};
}

// Moves rows until those before `at` precede those behind it.
void TableModel::Cut(size_t at) {
  const auto next = std::lower_bound(cuts_.begin(), cuts_.end(), at);
  if (*next == at) return;
  const auto place = [this](size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(place(*(next - 1)), place(at), place(*next),
                   [this](uint32_t a, uint32_t b) { return Before(a, b); });
  cuts_.insert(next, at);
}

void TableModel::SortBlock(size_t block) {
  BeginSorting();
  if (block_sorted_[block]) return;
  const size_t begin = block * kBlock;
  const size_t end = std::min(begin + kBlock, order_.size());
  Cut(begin);
  Cut(end);
  std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin),
            order_.begin() + static_cast<std::ptrdiff_t>(end),
            [this](uint32_t a, uint32_t b) { return Before(a, b); });
  block_sorted_[block] = true;
}

size_t TableModel::row(size_t index) {
  DRASIM_CHECK_LT(index, order_.size());
  if (sort_column_.has_value()) SortBlock(index / kBlock);
  return order_[index];
}

std::optional<size_t> TableModel::IndexOf(size_t row) {
  if (sort_column_.has_value()) BeginSorting();
  const auto wanted = static_cast<uint32_t>(row);
  if (std::find(order_.begin(), order_.end(), wanted) == order_.end()) return std::nullopt;
  const auto before = [&](uint32_t other) {
    return sort_column_.has_value() ? Before(other, wanted) : other < wanted;
  };
  return static_cast<size_t>(std::count_if(order_.begin(), order_.end(), before));
}

std::string TableModel::Csv() {
  if (sort_column_.has_value()) {
    BeginSorting();
    std::sort(order_.begin(), order_.end(),
              [this](uint32_t a, uint32_t b) { return Before(a, b); });
    block_sorted_.assign(block_sorted_.size(), true);
  }
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
