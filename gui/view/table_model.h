// A table of up to a million rows as a view shows it: sorted by a column, filtered, exported.
//
// The rows stay where they are, in a TableSource; the model orders their indices. Usage:
//
//   TableModel table(&pods);            // a PodTable, a NodeTable, ...
//   table.Filter([&](size_t row) { return filter.Matches(pods.Facts(row)); });
//   table.SortBy(PodTable::kWaits, /*descending=*/true);
//   for (size_t i = first; i < last; ++i) Draw(pods, table.row(i));
#ifndef DRASIM_GUI_VIEW_TABLE_MODEL_H_
#define DRASIM_GUI_VIEW_TABLE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim::view {

struct TableColumn {
  enum class Kind : uint8_t {
    kText,    // left-aligned, sorted by bytes
    kNumber,  // right-aligned, sorted by Number()
  };
  std::string name;
  Kind kind = Kind::kText;
};

class TableSource {
 public:
  // In Number(): the cell is empty. Such rows come last in either direction.
  static constexpr int64_t kNoNumber = std::numeric_limits<int64_t>::min();

  virtual ~TableSource() = default;
  virtual absl::Span<const TableColumn> columns() const = 0;
  virtual size_t rows() const = 0;
  // The key of a kNumber column, and of a kText column. The text stays valid as long as the source
  // does not change.
  virtual int64_t Number(size_t row, size_t column) const = 0;
  virtual absl::string_view Text(size_t row, size_t column) const = 0;
  // The cell for people: "10h35m", "48/64".
  virtual std::string Shown(size_t row, size_t column) const = 0;
  // The cell for programs, unquoted: exact seconds, plain integers, empty without a value.
  virtual std::string Exact(size_t row, size_t column) const = 0;
};

// Not thread-safe: reading sorts as far as it must.
class TableModel {
 public:
  // `source` must outlive the model. All rows, in the source's order.
  explicit TableModel(const TableSource* source);

  // Rows with equal keys keep the source's order in either direction, so the result depends on
  // nothing but the rows. Sorting is put off until row() is asked for, and sorts no more than its
  // neighbourhood: showing some rows anywhere in n costs O(n) the first time, then nothing.
  // REQUIRES: the column exists.
  void SortBy(size_t column, bool descending);
  std::optional<size_t> sort_column() const { return sort_column_; }
  bool descending() const { return descending_; }

  // Keeps the rows for which `keep` is true; null keeps all. The order stays. O(rows).
  void Filter(std::function<bool(size_t row)> keep);
  // The same in slices, for tables that take longer than a frame: begins without rows, then looks
  // at `rows` further ones. True once it has seen all; only then the table is complete.
  // Rows before `first` are dropped unseen.
  void BeginFilter(std::function<bool(size_t row)> keep, size_t first = 0);
  bool ContinueFilter(size_t rows);
  // After the source has changed: filters and sorts again. O(rows).
  void Refresh();

  // Rows that pass the filter.
  size_t size() const { return order_.size(); }
  // The source's row at that place. REQUIRES: index < size().
  size_t row(size_t index);
  // The place of the source's row; none if the filter drops it. O(rows), without sorting.
  std::optional<size_t> IndexOf(size_t row);

  // RFC 4180 with a header, in the present order and without the rows that the filter drops.
  std::string Csv();

 private:
  bool Before(uint32_t a, uint32_t b) const;
  void MakeKeys();
  void MakeTextKeys();
  void BeginSorting();
  void Cut(size_t at);
  void SortBlock(size_t block);

  const TableSource* source_;
  std::function<bool(size_t)> keep_;
  std::optional<size_t> sort_column_;
  bool descending_ = false;
  bool by_number_ = false;
  size_t first_ = 0;     // row of the source that the filter sees
  size_t filtered_ = 0;  // the row at which the filter goes on
  // The filter makes the keys, too: in a long table, reaching a row costs more than either.
  bool filter_makes_keys_ = false;
  // By row of the source: the number, or eight bytes of the text behind what all texts begin with.
  // Only meaningful for rows in order_.
  std::vector<int64_t> keys_;
  bool has_keys_ = false;
  std::vector<uint32_t> order_;  // rows of the source
  // Parts of order_ that hold the right rows, in any order: from each place to the next one.
  std::vector<size_t> cuts_;
  std::vector<bool> block_sorted_;  // by block of order_; empty before row() asks
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_TABLE_MODEL_H_
