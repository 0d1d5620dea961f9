// A score card with everything that it was made from, so that somebody else can make it again.
//
// Files of a bundle:
//   suite/NAME.yaml, suite/scenarios/*.yaml   the suite with its scenarios; inputs by their paths
//   card.yaml                                 reference, front and division
//   cells.csv, missing.csv, bench.yaml        results (bench_run.h); costs.csv, too
//   bounds.csv                                GpuMilliBound of every sample that has one
//   card.txt, card.json, card.csv             the card
#ifndef DRASIM_SIM_BENCH_CARD_BUNDLE_H_
#define DRASIM_SIM_BENCH_CARD_BUNDLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/card.h"
#include "sim/bench/suite.h"

namespace drasim::bench {

// A card's division. Closed: the suite as it is (its seeds, all cells of the tier pr or of all
// tiers, nothing missing or failed) with the default reference and front. Open: anything else.
struct Division {
  bool closed = false;
  std::vector<std::string> reasons;  // why it is open
};
Division DivisionOf(const BenchRunOptions& run, const BenchRunSummary& summary,
                    const CardOptions& options);

// The bounds of the samples of these cells that CheckBoundable allows: one per entry and seed.
// O(a run for each), on `jobs` threads.
absl::StatusOr<SampleBounds> ComputeBounds(const std::vector<BenchCell>& cells, size_t jobs);
// entry,seed,gpu_capacity_milli,bound_milli,bound_percent
std::string BoundsCsv(const SampleBounds& bounds);

struct BundleResult {
  BenchRunSummary run;
  Division division;
  Card card;
};
// Copies the suite into `dir`, an output folder of the caller's own, runs its cells there (those of
// an earlier call are kept) and makes the card. Errors of RunBench and MakeCard; FailedPrecondition
// if a cell failed.
absl::StatusOr<BundleResult> MakeBundle(const Suite& suite, const BenchRunOptions& run,
                                        const CardOptions& options, const std::string& dir);

// Makes the bundle's card again in `scratch`, an empty folder. Returns the files whose bytes
// differ, as "FILE:LINE: found ..., expected ...": none if the bundle is reproduced.
// InvalidArgument for a folder that is no bundle, NotFound where an input is missing.
absl::StatusOr<std::vector<std::string>> VerifyBundle(const std::string& bundle,
                                                      const std::string& scratch,
                                                      const BenchRunOptions& run);

// Whether a file of that name, in an output folder, is one of a bundle.
bool IsBundleFile(absl::string_view name);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_CARD_BUNDLE_H_
