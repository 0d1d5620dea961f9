#include "gui/view/table_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace table_model_test {

using view::TableColumn;
using view::TableModel;
using view::TableSource;

// A column of texts and one of numbers.
class Rows : public TableSource {
 public:
  void Add(std::string text, int64_t number) { rows_.emplace_back(std::move(text), number); }

  absl::Span<const TableColumn> columns() const override { return columns_; }
  size_t rows() const override { return rows_.size(); }
  int64_t Number(size_t row, size_t) const override { return rows_[row].second; }
  absl::string_view Text(size_t row, size_t) const override { return rows_[row].first; }
  std::string Shown(size_t row, size_t column) const override {
    return absl::StrCat("<", Exact(row, column), ">");
  }
  std::string Exact(size_t row, size_t column) const override {
    if (column == 0) return rows_[row].first;
    return rows_[row].second == kNoNumber ? "" : absl::StrCat(rows_[row].second);
  }

 private:
  std::vector<TableColumn> columns_ = {{"na,me", TableColumn::Kind::kText},
                                       {"number", TableColumn::Kind::kNumber}};
  std::vector<std::pair<std::string, int64_t>> rows_;
};

std::vector<size_t> OrderOf(TableModel* table) {
  std::vector<size_t> order;
  for (size_t i = 0; i < table->size(); ++i) order.push_back(table->row(i));
  return order;
}

using Order = std::vector<size_t>;

TEST(TableModelTest, SortsStablyWithEmptyCellsLast) {
  Rows rows;
  rows.Add("b", 2);
  rows.Add("a", TableSource::kNoNumber);
  rows.Add("b", 1);
  rows.Add("a", 2);
  TableModel table(&rows);
  EXPECT_EQ(OrderOf(&table), (Order{0, 1, 2, 3}));
  table.SortBy(0, false);
  EXPECT_EQ(OrderOf(&table), (Order{1, 3, 0, 2}));
  table.SortBy(0, true);
  EXPECT_EQ(OrderOf(&table), (Order{0, 2, 1, 3}));
  table.SortBy(1, false);
  EXPECT_EQ(OrderOf(&table), (Order{2, 0, 3, 1}));
  table.SortBy(1, true);
  EXPECT_EQ(OrderOf(&table), (Order{0, 3, 2, 1}));
  EXPECT_EQ(table.IndexOf(3), 1u);
  table.Filter([](size_t row) { return row != 0; });
  EXPECT_EQ(OrderOf(&table), (Order{3, 2, 1}));
  EXPECT_EQ(table.IndexOf(0), std::nullopt);
  table.Filter(nullptr);
  EXPECT_EQ(OrderOf(&table), (Order{0, 3, 2, 1}));
}

TEST(TableModelTest, SortingOnDemandEqualsSortingAtOnce) {
  Random random(7, "tables");
  Rows rows;
  for (int i = 0; i < 20'000; ++i) {
    rows.Add(absl::StrCat("pod-", random.Below(500)), static_cast<int64_t>(random.Below(1000)));
  }
  for (const size_t column : {size_t{0}, size_t{1}}) {
    for (const bool descending : {false, true}) {
      Order expected(rows.rows());
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = i;
      std::stable_sort(expected.begin(), expected.end(), [&](size_t a, size_t b) {
        if (descending) std::swap(a, b);
        return column == 0 ? rows.Text(a, 0) < rows.Text(b, 0)
                           : rows.Number(a, 1) < rows.Number(b, 1);
      });
      TableModel table(&rows);
      table.SortBy(column, descending);
      // Here and there first, then everything.
      for (const size_t i : {size_t{3}, size_t{5000}, size_t{777}, rows.rows() - 1}) {
        EXPECT_EQ(table.row(i), expected[i]);
      }
      EXPECT_EQ(OrderOf(&table), expected);
    }
  }
}

TEST(TableModelTest, WritesCsvInThePresentOrder) {
  Rows rows;
  rows.Add("say \"hi\"", 2);
  rows.Add("two\nlines", 1);
  rows.Add("gone", 3);
  rows.Add("", TableSource::kNoNumber);
  TableModel table(&rows);
  table.SortBy(1, false);
  table.Filter([](size_t row) { return row != 2; });
  EXPECT_EQ(table.Csv(), "\"na,me\",number\n\"two\nlines\",1\n\"say \"\"hi\"\"\",2\n,\n");
}

TEST(TableModelTest, FollowsAGrowingSource) {
  Rows rows;
  rows.Add("b", 1);
  TableModel table(&rows);
  table.SortBy(0, false);
  EXPECT_EQ(OrderOf(&table), (Order{0}));
  rows.Add("a", 2);
  EXPECT_EQ(table.size(), 1u);
  table.Refresh();
  EXPECT_EQ(OrderOf(&table), (Order{1, 0}));
}

// Shared beginnings, texts that end early, bytes above 127, and differences behind the eighth byte.
TEST(TableModelTest, SortsTextsByAllTheirBytes) {
  const std::vector<std::string> texts = {
      "pod-b",           "pod-",  "pod-a12345678z",        "pod-a12345678y", "pod-\xff",
      "pod-a12345678y1", "pod-b", std::string("pod-\0", 5)};
  Rows rows;
  for (const std::string& text : texts) rows.Add(text, 0);
  Order expected(texts.size());
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = i;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](size_t a, size_t b) { return texts[a] < texts[b]; });
  TableModel table(&rows);
  table.SortBy(0, false);
  EXPECT_EQ(OrderOf(&table), expected);
  // Other rows have another beginning in common.
  table.Filter([](size_t row) { return row == 2 || row == 3 || row == 5; });
  EXPECT_EQ(OrderOf(&table), (Order{3, 5, 2}));
  table.SortBy(0, true);
  EXPECT_EQ(OrderOf(&table), (Order{2, 5, 3}));
}

TEST(TableModelTest, FilteringInSlicesEqualsFilteringAtOnce) {
  Rows rows;
  for (int i = 0; i < 1000; ++i) rows.Add("row", (i * 7919) % 1000);
  const auto keep = [](size_t row) { return row % 3 == 0; };
  TableModel at_once(&rows);
  at_once.SortBy(1, true);
  at_once.Filter(keep);
  TableModel in_slices(&rows);
  in_slices.SortBy(1, true);
  in_slices.BeginFilter(keep);
  EXPECT_EQ(in_slices.size(), 0u);
  int slices = 1;
  while (!in_slices.ContinueFilter(300)) {
    // Rows found so far can be read already.
    EXPECT_EQ(in_slices.row(0) % 3, 0u);
    ++slices;
  }
  EXPECT_EQ(slices, 4);
  EXPECT_EQ(OrderOf(&in_slices), OrderOf(&at_once));
  EXPECT_EQ(in_slices.size(), 334u);
}

TEST(TableModelTest, FindsAnyRowWithoutDisturbingTheOrder) {
  Random random(11, "tables");
  Rows rows;
  for (int i = 0; i < 3000; ++i) rows.Add("row", static_cast<int64_t>(random.Below(700)));
  TableModel table(&rows);
  table.SortBy(1, true);
  const Order order = OrderOf(&table);
  for (size_t i = 0; i < order.size(); i += 97) EXPECT_EQ(table.IndexOf(order[i]), i);
}

// A column that counts how often its cells are read.
class CountingRows : public Rows {
 public:
  int64_t Number(size_t row, size_t column) const override {
    ++reads;
    return Rows::Number(row, column);
  }
  mutable size_t reads = 0;
};

TEST(TableModelTest, RowsInSightAreSortedOnce) {
  CountingRows rows;
  for (int i = 0; i < 100'000; ++i) rows.Add("row", (i * 7919) % 100'000);
  TableModel table(&rows);
  table.SortBy(1, false);
  EXPECT_EQ(rows.reads, 0u);
  for (int frame = 0; frame < 3; ++frame) {
    for (size_t i = 50'000; i < 50'050; ++i) {
      EXPECT_EQ(rows.Exact(table.row(i), 1), absl::StrCat(i));
    }
  }
  EXPECT_EQ(rows.reads, 100'000u);
  table.SortBy(1, true);
  EXPECT_EQ(rows.Exact(table.row(0), 1), "99999");
  EXPECT_EQ(rows.reads, 100'000u);
}

}  // namespace table_model_test
}  // namespace drasim
