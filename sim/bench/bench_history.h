// Results of a suite over many commits: a file with a line of JSON (drasim.bench-history/v1) for
// each run. history_page.h draws it.
//
//   RETURN_IF_ERROR(AppendHistory("history.jsonl", HistoryRunOf(results, "4f2a9c1")));
//   ASSIGN_OR_RETURN(const std::vector<HistoryRun> runs, ParseHistory(text, "history.jsonl"));
#ifndef DRASIM_SIM_BENCH_BENCH_HISTORY_H_
#define DRASIM_SIM_BENCH_BENCH_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/bench/bench_run.h"

namespace drasim::bench {

// An entry with one queue and one policy, over its seeds.
struct HistoryGroup {
  std::string fingerprint;  // of all seeds
  // The primary metric and the counters of work, as means over the seeds.
  std::map<std::string, double> figures;
};

struct HistoryRun {
  std::string commit;
  std::string suite;
  int32_t version = 0;
  std::map<std::string, HistoryGroup> groups;  // by CellId::GroupName
};

HistoryRun HistoryRunOf(const BenchResults& results, const std::string& commit);

// Adds a line to the file, which is made if it is not there. Errors of files.
absl::Status AppendHistory(const std::string& path, const HistoryRun& run);

// InvalidArgument ("FILE:LINE: ...") for lines that are no such JSON, such as a torn one.
absl::StatusOr<std::vector<HistoryRun>> ParseHistory(absl::string_view text,
                                                     absl::string_view file);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_HISTORY_H_
