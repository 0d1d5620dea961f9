#include "gui/view/table_model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "model/check.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

// Rows that are sorted together: more than a screen has, so that a picture sorts once or twice.
constexpr size_t kBlock = 256;
// Parts from this length on are narrowed down with a sample of their rows.
constexpr size_t kLongPart = 65'536;
constexpr size_t kSample = 1024;

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
  if (sort_column_ != column) {
    has_keys_ = false;
    filter_makes_keys_ = false;
  }
  sort_column_ = column;
  descending_ = descending;
  by_number_ = source_->columns()[column].kind == TableColumn::Kind::kNumber;
  block_sorted_.clear();
}

void TableModel::Filter(std::function<bool(size_t)> keep) {
  BeginFilter(std::move(keep));
  ContinueFilter(source_->rows());
}

void TableModel::BeginFilter(std::function<bool(size_t)> keep, size_t first) {
  keep_ = std::move(keep);
  order_.clear();
  first_ = first;
  filtered_ = first;
  filter_makes_keys_ = sort_column_.has_value() && by_number_;
  if (filter_makes_keys_) keys_.resize(source_->rows());
  has_keys_ = false;
  block_sorted_.clear();
}

bool TableModel::ContinueFilter(size_t rows) {
  const size_t all = source_->rows();
  const size_t end = filtered_ + std::min(rows, all - std::min(filtered_, all));
  for (; filtered_ < end; ++filtered_) {
    if (keep_ && !keep_(filtered_)) continue;
    order_.push_back(static_cast<uint32_t>(filtered_));
    if (filter_makes_keys_) keys_[filtered_] = source_->Number(filtered_, *sort_column_);
  }
  has_keys_ = filter_makes_keys_;
  block_sorted_.clear();
  return filtered_ >= all;
}

void TableModel::Refresh() {
  BeginFilter(std::move(keep_), first_);
  ContinueFilter(source_->rows());
}

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
  auto next = std::lower_bound(cuts_.begin(), cuts_.end(), at);
  if (*next == at) return;
  const auto place = [this](size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto before = [this](uint32_t a, uint32_t b) { return Before(a, b); };
  const size_t begin = *(next - 1);
  const size_t end = *next;
  // Near the beginning of a long part, one look at each row leaves a few of them: those before a
  // row of a sample that most likely lies a little behind `at`.
  if (end - begin >= kLongPart && at - begin < (end - begin) / 16) {
    std::array<uint32_t, kSample> sample;
    for (size_t i = 0; i < kSample; ++i) sample[i] = order_[begin + (end - begin) / kSample * i];
    const size_t rank = (at - begin) * kSample / (end - begin) + kSample / 32;
    std::nth_element(sample.begin(), sample.begin() + rank, sample.end(), before);
    const auto middle = std::partition(place(begin), place(end),
                                       [&](uint32_t row) { return Before(row, sample[rank]); });
    const auto cut = static_cast<size_t>(middle - order_.begin());
    if (cut > begin) next = cuts_.insert(next, cut) + (cut < at ? 1 : 0);
    if (cut == at) return;
  }
  std::nth_element(place(*(next - 1)), place(at), place(*next), before);
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
