// The published tables of the FGD experiments: every figure of the deterministic policies to the
// printed digit, and Random, which is reproducible in distribution only, within three standard
// deviations.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "model/number_text.h"
#include "sim/record/load_table.h"
#include "tests/golden/fgd_cells.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace fgd_published_test {

constexpr uint64_t kFirstSeed = 42;
constexpr uint64_t kSeeds = 10;

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

// With n - 1.
double StandardDeviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// A column of the published table: "alloc_mean_100", "fragratio_mean_25", "unalloc_mean_100", ...
struct Figure {
  std::string table;      // alloc, unalloc, fragratio, fragamt
  std::string statistic;  // mean, sd, median
  int64_t load = 0;
};

bool ParseFigure(const std::string& column, Figure* figure) {
  const std::vector<std::string> parts = absl::StrSplit(column, '_');
  if (parts.size() != 3) return false;
  figure->table = parts[0];
  figure->statistic = parts[1];
  return absl::SimpleAtoi(parts[2], &figure->load);
}

// The figure over all seeds of one trace and policy; NaN for one that we do not know.
double Compute(const Figure& figure, const std::string& trace, const std::string& policy) {
  std::vector<double> values;
  for (uint64_t s = 0; s < kSeeds; ++s) {
    FgdCellKey key;
    key.trace = trace;
    key.policy = policy;
    key.seed = kFirstSeed + s;
    const LoadRow* row = FgdCell(key).AtLoad(figure.load);
    if (row == nullptr) return std::nan("");
    if (figure.table == "alloc" || figure.table == "unalloc") {
      values.push_back(row->gpu_allocation_percent);
    } else if (figure.table == "fragratio") {
      values.push_back(row->fragmentation_percent_of_idle);
    } else if (figure.table == "fragamt") {
      values.push_back(row->fragmentation_percent_of_total);
    } else {
      return std::nan("");
    }
  }
  if (figure.statistic == "sd") return StandardDeviation(values);
  if (figure.statistic == "median") return Median(values);
  if (figure.statistic != "mean") return std::nan("");
  return figure.table == "unalloc" ? 100 - Mean(values) : Mean(values);
}

class FgdPublishedTest : public ::testing::Test {
 protected:
  // Reads the table and runs every cell behind its rows of the policies for which `wanted` is true.
  template <typename Wanted>
  void Load(const Wanted& wanted) {
    rows_ = ReadPlainCsv(SharedPath("expected/fgd_published.csv"));
    ASSERT_GE(rows_.size(), 31u);
    ASSERT_EQ(rows_[0][0], "trace");
    ASSERT_EQ(rows_[0][1], "policy");
    ASSERT_EQ(rows_[0][2], "n_seeds");
    std::vector<FgdCellKey> keys;
    for (size_t i = 1; i < rows_.size(); ++i) {
      ASSERT_EQ(rows_[i].size(), rows_[0].size());
      ASSERT_EQ(rows_[i][2], absl::StrCat(kSeeds));
      if (!wanted(rows_[i][1])) continue;
      for (uint64_t s = 0; s < kSeeds; ++s) {
        FgdCellKey key;
        key.trace = rows_[i][0];
        key.policy = rows_[i][1];
        key.seed = kFirstSeed + s;
        keys.push_back(key);
      }
    }
    ASSERT_EQ(ComputeFgdCells(keys), absl::OkStatus());
  }
  // One line on the first pod list that is not there; empty when all are.
  static std::string MissingLists() {
    const std::vector<std::vector<std::string>> rows =
        ReadPlainCsv(SharedPath("expected/fgd_published.csv"));
    for (size_t i = 1; i < rows.size(); ++i) {
      std::string missing = MissingSharedData({FgdPodsFile(rows[i][0])});
      if (!missing.empty()) return FgdPodsFile(rows[i][0]);
    }
    return std::string();
  }

  std::vector<std::vector<std::string>> rows_;
};

TEST_F(FgdPublishedTest, EveryFigureOfTheDeterministicPolicies) {
  DRASIM_NEEDS_SHARED_DATA("expected/fgd_published.csv", kFgdNodesFile);
  const std::string missing = MissingLists();
  if (!missing.empty()) DRASIM_NEEDS_SHARED_DATA(missing);
  ASSERT_NO_FATAL_FAILURE(Load([](const std::string& policy) { return policy != "Random"; }));
  size_t figures = 0;
  for (size_t i = 1; i < rows_.size(); ++i) {
    const std::vector<std::string>& row = rows_[i];
    if (row[1] == "Random") continue;
    ASSERT_NE(PolicyOfFgd(row[1]), "") << row[1];
    for (size_t c = 3; c < row.size(); ++c) {
      Figure figure;
      ASSERT_TRUE(ParseFigure(rows_[0][c], &figure)) << rows_[0][c];
      double published = 0;
      ASSERT_TRUE(absl::SimpleAtod(row[c], &published)) << row[c];
      // Printed with three decimals, without zeros at the end.
      EXPECT_EQ(FixedText(Compute(figure, row[0], row[1]), 3), FixedText(published, 3))
          << row[0] << " " << row[1] << " " << rows_[0][c];
      ++figures;
    }
  }
  EXPECT_GE(figures, 675u);  // 27 figures of 5 policies on 5 traces
}

TEST_F(FgdPublishedTest, RandomWithinThreeStandardDeviations) {
  DRASIM_NEEDS_SHARED_DATA("expected/fgd_published.csv", kFgdNodesFile);
  const std::string missing = MissingLists();
  if (!missing.empty()) DRASIM_NEEDS_SHARED_DATA(missing);
  ASSERT_NO_FATAL_FAILURE(Load([](const std::string& policy) { return policy == "Random"; }));
  const auto number = [this](const std::vector<std::string>& row, const std::string& column) {
    const auto at = std::find(rows_[0].begin(), rows_[0].end(), column);
    double value = std::nan("");
    EXPECT_TRUE(at != rows_[0].end() &&
                absl::SimpleAtod(row[static_cast<size_t>(at - rows_[0].begin())], &value))
        << column;
    return value;
  };
  size_t figures = 0;
  for (size_t i = 1; i < rows_.size(); ++i) {
    if (rows_[i][1] != "Random") continue;
    for (const int64_t load : {100, 130}) {
      Figure figure;
      figure.table = "alloc";
      figure.statistic = "mean";
      figure.load = load;
      const double published = number(rows_[i], absl::StrCat("alloc_mean_", load));
      const double deviation = number(rows_[i], absl::StrCat("alloc_sd_", load));
      EXPECT_GT(deviation, 0);
      EXPECT_LE(std::fabs(Compute(figure, rows_[i][0], "Random") - published), 3 * deviation)
          << rows_[i][0] << " at " << load;
      ++figures;
    }
  }
  EXPECT_GE(figures, 10u);
}

}  // namespace fgd_published_test
}  // namespace drasim
