// The FGD experiments: every golden row, and the published tables.
//
// A cell is one run of one trace by one policy with one seed, in the artifact's order, inflated to
// 1.3 times the cluster's GPUs. It takes some 25 ms, so all tests share one cache of cells.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"
#include "sim/record/load_table.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace fgd_test {

struct FgdCellKey {
  std::string trace;   // "default": the list openb_pod_list_default
  std::string policy;  // as the published tables name it: "GpuPacking"
  uint64_t seed = 0;
  friend bool operator<(const FgdCellKey& a, const FgdCellKey& b) {
    return std::tie(a.trace, a.policy, a.seed) < std::tie(b.trace, b.policy, b.seed);
  }
};

constexpr absl::string_view kFgdNodesFile = "traces/openb/openb_node_list_gpu_node.csv";

std::map<FgdCellKey, CellResult>& Cache() {
  static auto* const cache = new std::map<FgdCellKey, CellResult>();
  return *cache;
}

// drasim's name of a published policy; empty if there is none.
std::string PolicyOfFgd(absl::string_view published) {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"Random", "random"},          {"DotProd", "dotprod"},  {"GpuClustering", "gpu-clustering"},
      {"GpuPacking", "gpu-packing"}, {"BestFit", "best-fit"}, {"FGD", "fgd"}};
  for (const auto& [theirs, ours] : kNames) {
    if (theirs == published) return std::string(ours);
  }
  return std::string();
}

// The pod list of a trace, inside the folder of shared data.
std::string FgdPodsFile(absl::string_view trace) {
  return absl::StrCat("traces/openb/openb_pod_list_", trace, ".csv.gz");
}

absl::StatusOr<CellResult> RunFgdCell(const FgdCellKey& key) {
  proto::Scenario scenario;
  scenario.set_mode("fill");
  scenario.set_order("artifact");
  scenario.set_seed(key.seed);
  scenario.mutable_cluster()->set_path(SharedPath(kFgdNodesFile));
  scenario.mutable_workload()->mutable_trace()->set_path(SharedPath(FgdPodsFile(key.trace)));
  scenario.mutable_workload()->mutable_tuning()->set_ratio(1.3);
  scenario.mutable_scheduler()->set_policy(PolicyOfFgd(key.policy));
  const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  if (!spec.ok()) return spec.status();
  return RunCell(*spec);
}

// Runs, on two threads, those of the cells that have not been run yet.
absl::Status ComputeFgdCells(const std::vector<FgdCellKey>& keys) {
  std::vector<FgdCellKey> missing;
  for (const FgdCellKey& key : keys) {
    if (Cache().count(key) == 0) missing.push_back(key);
  }
  std::vector<CellResult> results(missing.size());
  const absl::Status ran = ForEachInParallel(
      missing.size(), /*threads=*/2,
      [&](size_t i) -> absl::Status {
        absl::StatusOr<CellResult> cell = RunFgdCell(missing[i]);
        if (!cell.ok()) return cell.status();
        results[i] = *std::move(cell);
        return absl::OkStatus();
      },
      [](size_t) {});
  if (!ran.ok()) return ran;
  for (size_t i = 0; i < missing.size(); ++i) Cache()[missing[i]] = std::move(results[i]);
  return absl::OkStatus();
}

// A cell that ComputeFgdCells was asked for. Good until the end of the program.
const CellResult& FgdCell(const FgdCellKey& key) {
  const auto found = Cache().find(key);
  DRASIM_CHECK(found != Cache().end());
  return found->second;
}

// The lines of a CSV file without quotes, split; the header first.
std::vector<std::vector<std::string>> ReadPlainCsv(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> fields = absl::StrSplit(line, ',');
    rows.push_back(std::move(fields));
  }
  return rows;
}

// ---- Golden rows: each integer, both decimals and all three hashes. The rows come from a program
// that was written from the description of the experiments alone and reproduces every published
// cell. ----

constexpr char kHeader[] =
    "trace,seed,policy,n_pods,arrived_gpu_milli,failed_pods,used_gpu_milli,used_cpu_milli,"
    "final_frag_milli,final_frag_ratio_pct,order_hash,rank_hash,placement_hash";

std::string RowOf(const FgdCellKey& key) {
  const CellResult& cell = FgdCell(key);
  return absl::StrCat(
      absl::StrCat(key.trace, ",", key.seed, ",", key.policy, ",", cell.pods_arrived, ",",
                   cell.gpu_arrived_milli, ",", cell.pods_unschedulable, ",",
                   cell.gpu_allocated_milli, ",", cell.cpu_allocated_milli, ","),
      FixedText(cell.fragmentation_milli, 2), ",", FixedText(cell.fragmentation_ratio_percent, 2),
      ",", HexHash(cell.hashes.order), ",", HexHash(cell.hashes.rank), ",",
      HexHash(cell.hashes.placement));
}

TEST(FgdGoldenTest, EveryRow) {
  DRASIM_NEEDS_SHARED_DATA("expected/fgd_golden.csv", kFgdNodesFile);
  const std::vector<std::vector<std::string>> rows =
      ReadPlainCsv(SharedPath("expected/fgd_golden.csv"));
  ASSERT_EQ(rows.size(), 251u);  // a header, and 5 traces x 10 seeds x 5 policies
  ASSERT_EQ(absl::StrJoin(rows[0], ","), kHeader);
  std::vector<FgdCellKey> keys;
  for (size_t i = 1; i < rows.size(); ++i) {
    FgdCellKey key;
    key.trace = rows[i][0];
    ASSERT_TRUE(absl::SimpleAtoi(rows[i][1], &key.seed)) << rows[i][1];
    key.policy = rows[i][2];
    DRASIM_NEEDS_SHARED_DATA(FgdPodsFile(key.trace));
    keys.push_back(key);
  }
  ASSERT_EQ(ComputeFgdCells(keys), absl::OkStatus());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(RowOf(keys[i]), absl::StrJoin(rows[i + 1], ","));
    const CellResult& cell = FgdCell(keys[i]);
    EXPECT_EQ(cell.pods_scheduled, cell.pods_arrived - cell.pods_unschedulable);
    EXPECT_EQ(cell.gpu_capacity_milli, 6212000);
    EXPECT_TRUE(cell.warnings.empty()) << cell.warnings[0];
  }
}

// ---- The published tables: every figure of the deterministic policies to the printed digit, and
// Random, which is reproducible in distribution only, within three standard deviations. ----

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

}  // namespace fgd_test
}  // namespace drasim
