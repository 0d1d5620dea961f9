// The history of a suite as a page.
//
//   const std::string html = HistoryPage(runs, "https://example.org/commit/{commit}");
#ifndef DRASIM_SIM_BENCH_HISTORY_PAGE_H_
#define DRASIM_SIM_BENCH_HISTORY_PAGE_H_

#include <string>
#include <vector>

#include "sim/bench/bench_history.h"

namespace drasim::bench {

// One HTML page, which refers to nothing outside but commits: for each group that changed a trend
// line per figure and a list of its steps, then the groups that never changed. `commit_url` has
// {commit} in the place of the hash; empty: no links. Equal histories give equal bytes.
std::string HistoryPage(const std::vector<HistoryRun>& runs, const std::string& commit_url);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_HISTORY_PAGE_H_
