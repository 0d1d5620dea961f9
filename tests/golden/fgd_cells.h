// Cells of the published FGD experiments: one run of one trace by one policy with one seed, in the
// artifact's order, inflated to 1.3 times the cluster's GPUs.
//
// A cell takes some 25 ms, so all tests of a program share one cache of them.
#ifndef DRASIM_TESTS_GOLDEN_FGD_CELLS_H_
#define DRASIM_TESTS_GOLDEN_FGD_CELLS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/compare/cell.h"

namespace drasim {

struct FgdCellKey {
  std::string trace;   // "default": the list openb_pod_list_default
  std::string policy;  // as the published tables name it: "GpuPacking"
  uint64_t seed = 0;
  friend bool operator<(const FgdCellKey& a, const FgdCellKey& b) {
    return std::tie(a.trace, a.policy, a.seed) < std::tie(b.trace, b.policy, b.seed);
  }
};

// drasim's name of a published policy; empty if there is none.
std::string PolicyOfFgd(absl::string_view published);
// The pod list of a trace, and the node list, inside the folder of shared data.
std::string FgdPodsFile(absl::string_view trace);
inline constexpr absl::string_view kFgdNodesFile = "traces/openb/openb_node_list_gpu_node.csv";

// Runs, on two threads, those of the cells that have not been run yet.
absl::Status ComputeFgdCells(const std::vector<FgdCellKey>& keys);
// A cell that ComputeFgdCells was asked for. Good until the end of the program.
const CellResult& FgdCell(const FgdCellKey& key);

// The lines of a CSV file without quotes, split; the header first.
std::vector<std::vector<std::string>> ReadPlainCsv(const std::string& path);

}  // namespace drasim

#endif  // DRASIM_TESTS_GOLDEN_FGD_CELLS_H_
