// Benchmark suites: named scenarios with the queues, policies and seeds that they run with, and the
// one figure by which each is judged.
//
//   ASSIGN_OR_RETURN(const Suite suite, ReadSuite("bench/suite/core.yaml"));
//   ASSIGN_OR_RETURN(const Filter filter, Filter::Make("^fill/"));
//   ASSIGN_OR_RETURN(const std::vector<BenchCell> cells,
//                    MakeBenchCells(suite, Tier::kSmoke, filter));
//
// docs/benchmarks.md describes the file for users, model/proto/suite.proto key by key.
#ifndef DRASIM_SIM_BENCH_SUITE_H_
#define DRASIM_SIM_BENCH_SUITE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/sdra/case_answers.h"
#include "sim/sdra/case_set.h"
#include "sim/sdra/case_worlds.h"

namespace drasim::bench {

// Entries of a tier also run in the later ones.
enum class Tier : uint8_t { kSmoke, kPr, kNightly };
absl::string_view TierName(Tier tier);
// InvalidArgument, beginning with `origin`, for any other text than a name.
absl::StatusOr<Tier> ParseTier(absl::string_view text, absl::string_view origin);

// A difference that does not matter: in the metric's unit, or in percent of the base.
struct Margin {
  double value = 0;
  bool percent = false;

  // In the metric's unit, for a base with that mean.
  double Of(double base_mean) const;
  std::string Text() const;  // "0.5", "1%"
};
// InvalidArgument, beginning with `origin`, for anything but a finite number from 0 on, with or
// without a percent sign. Empty: 0.
absl::StatusOr<Margin> ParseMargin(absl::string_view text, absl::string_view origin);

struct Primary {
  std::string metric;  // a name of BenchMetrics()
  bool higher_is_better = true;
  Margin margin;
};

struct SuiteInput {
  std::string path;  // relative to the working directory
  std::string sha256;
};

// Cases for structured DRA: a file, or else a generated world.
struct SuiteCases {
  std::string file;  // path, relative to the working directory
  CaseKind kind = CaseKind::kSdra;
  std::string world;
  CaseWorldSize size;
  CaseRunOptions run;
};

struct SuiteEntry {
  std::string name;
  std::string scenario;               // path, relative to the working directory; empty: none
  std::vector<std::string> settings;  // KEY=VALUE
  std::vector<std::string> policies;  // empty: the scenario's; else as in comparison.policies
  std::vector<std::string> queues;    // likewise
  std::vector<uint64_t> seeds;        // empty: the scenario's
  Tier tier = Tier::kSmoke;
  Primary primary;
  std::vector<SuiteInput> inputs;
  bool cost = false;  // its cells' instructions, CPU time and memory are judged, too
  std::string world;  // as for WorldOf (sim/compare/worlds.h); empty: the scenario as it is
  std::optional<SuiteCases> cases;  // in place of a scenario
};

struct Suite {
  std::string name;  // of the file, without folder and extension
  int32_t version = 0;
  std::vector<SuiteEntry> entries;
  // The file, to place errors in.
  std::string file;
  std::string text;
};

// InvalidArgument, as "FILE:LINE:COLUMN: KEY: found ..., expected ...", for anything that the
// schema does not know, for missing keys, names that repeat, unknown metrics and a direction that
// contradicts the metric's. Errors of OpenByteSource.
absl::StatusOr<Suite> ReadSuite(const std::string& path);

// The error with the place of its key (KeyOfError) in the suite's file.
absl::Status InSuite(const Suite& suite, const absl::Status& status);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_SUITE_H_
