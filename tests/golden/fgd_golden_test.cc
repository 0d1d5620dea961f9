// Every golden row of the FGD experiments: each integer, both decimals and all three hashes.
//
// The rows come from a program that was written from the description of the experiments alone and
// reproduces every published cell.
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "tests/golden/fgd_cells.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace fgd_golden_test {

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

}  // namespace fgd_golden_test
}  // namespace drasim
