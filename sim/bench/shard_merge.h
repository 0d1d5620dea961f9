// Joins the results of the shards of a run into the results that a single run would have left.
#ifndef DRASIM_SIM_BENCH_SHARD_MERGE_H_
#define DRASIM_SIM_BENCH_SHARD_MERGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/bench/bench_run.h"

namespace drasim::bench {

struct MergeSummary {
  size_t shards = 0;
  size_t cells = 0;
  std::vector<CellProblem> missing;  // cells of a suite that did not run or failed
};

// Writes into `out`, the caller's own folder, what the shards in `dirs` have left, in the order of
// the whole run: of a suite cells.csv, missing.csv, bench.yaml and costs.csv, of a sweep sweep.csv.
// All but costs.csv are byte for byte those of a run without shards. The lists of finished cells
// are joined too, so that the same command without --shard goes on in `out`.
//
// InvalidArgument, naming folder and cell, if the shards do not belong together (ReadShards;
// also suite, version and selection), if one has not ended, lacks a cell or has one that is not
// its own, or is `out` itself, and for damaged files.
absl::StatusOr<MergeSummary> MergeShards(const std::vector<std::string>& dirs,
                                         const std::string& out);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_SHARD_MERGE_H_
