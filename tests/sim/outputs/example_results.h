// A set of results with everything that formats must escape or keep apart.
#ifndef DRASIM_TESTS_SIM_OUTPUTS_EXAMPLE_RESULTS_H_
#define DRASIM_TESTS_SIM_OUTPUTS_EXAMPLE_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

inline ResultFigure ExampleFigure(const std::string& name, std::optional<uint64_t> seed,
                                  const std::string& metric, double value) {
  ResultFigure figure;
  figure.name = name;
  figure.labels = {{"entry", name.substr(0, name.find('/'))}, {"1 odd-label", "a\"b\\c\nd"}};
  figure.seed = seed;
  figure.metric = metric;
  figure.value = value;
  return figure;
}

inline ResultSet ExampleResults() {
  ResultSet results;
  results.command = "bench compare";
  results.summary = "4 cells: 1 same, 3 <others>";
  results.checks = {
      {"fill/-/fgd/1", "fill", CheckOutcome::kPassed, "", "", 0, 0, 0.25},
      {"fill/-/fgd/2", "fill", CheckOutcome::kFailed, "worse: 50% <\"&'>, a\nb", "a,b:c.csv", 7, 3,
       0.5},
      {"gangs/fifo/fgd/1", "gangs", CheckOutcome::kChanged, "other", "base.csv", 9, 0, 0},
      {"late/-/fgd/1", "gangs", CheckOutcome::kMissing, "gone\x01", "", 0, 0, 0},
  };
  results.tables = {{"A|B", {"x", "y|z"}, {{"1", "a<b>"}, {"two\nlines", ""}}}};
  results.text = "plain ```\n";
  results.figures = {
      ExampleFigure("fill/-/fgd", 1, "goodput", 0.5),
      ExampleFigure("fill/-/fgd", 1, "mean_jct_seconds", 120),
      ExampleFigure("fill/-/fgd", 1, "cpu_seconds", 0.25),
      ExampleFigure("fill/-/fgd", 2, "goodput", 0.75),
      ExampleFigure("fill/-/fgd", 2, "cpu_seconds", 0.5),
      ExampleFigure("gangs/fifo/fgd", std::nullopt, "gpu_allocation_percent_end", 1e-7),
  };
  results.figures.back().low = -0.5;
  results.figures.back().high = 2.5;
  return results;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_OUTPUTS_EXAMPLE_RESULTS_H_
