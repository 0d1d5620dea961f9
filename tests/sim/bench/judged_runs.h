// Runs whose decisions are judged, and judgements of lists of decisions.
#ifndef DRASIM_TESTS_SIM_BENCH_JUDGED_RUNS_H_
#define DRASIM_TESTS_SIM_BENCH_JUDGED_RUNS_H_

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "sim/bench/judge.h"
#include "sim/bench/judge_decisions.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/core/decision_list.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/run_spec.h"

namespace drasim::bench {

inline DecisionFileOptions FileOptionsOf(const RunSpec& spec) {
  DecisionFileOptions options;
  options.replay = spec.is_replay();
  options.grace_period = spec.engine.interruption.grace_period;
  return options;
}

// Runs the scenario with its own scheduler, and leaves its files in `dir`.
inline CellResult RunInto(const RunSpec& spec, const std::string& dir) {
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(spec);
  EXPECT_EQ(sim.status(), absl::OkStatus());
  absl::StatusOr<std::unique_ptr<RunOutputs>> outputs = RunOutputs::Attach(sim->get(), dir);
  EXPECT_EQ(outputs.status(), absl::OkStatus());
  EXPECT_EQ((*sim)->Start(), absl::OkStatus());
  EXPECT_EQ((*sim)->Run(), absl::OkStatus());
  EXPECT_EQ((*outputs)->Complete(0), absl::OkStatus());
  return CellOf(**sim);
}

inline Judgement JudgeList(const RunSpec& spec, absl::StatusOr<DecisionList> list) {
  EXPECT_EQ(list.status(), absl::OkStatus());
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(
      FollowDecisions(spec, std::make_shared<const DecisionList>(*std::move(list))));
  EXPECT_EQ(sim.status(), absl::OkStatus());
  EXPECT_EQ((*sim)->Start(), absl::OkStatus());
  EXPECT_EQ((*sim)->Run(), absl::OkStatus());
  return JudgementOf(**sim);
}

// The impossible placements, one a line.
inline std::string ProblemsOf(const Judgement& judged) {
  return judged.problems.empty() ? "" : absl::StrCat(absl::StrJoin(judged.problems, "\n"), "\n");
}

inline void ExpectSameFigures(const CellResult& run, const Judgement& judged) {
  for (const CellMetric& metric : AllMetrics()) {
    const double want = metric.value(run);
    const double got = metric.value(judged.figures);
    if (std::isnan(want) && std::isnan(got)) continue;
    EXPECT_EQ(got, want) << metric.name;
  }
  EXPECT_EQ(ProblemsOf(judged), "");
  EXPECT_EQ(judged.followed, judged.placements);
  EXPECT_GT(judged.followed, 0u);
}

}  // namespace drasim::bench

#endif  // DRASIM_TESTS_SIM_BENCH_JUDGED_RUNS_H_
