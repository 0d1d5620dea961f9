// The score card of a suite's results: how good is each policy, compared with a reference, with the
// others, and with the best that any policy could reach.
//
//   ASSIGN_OR_RETURN(const BenchResults results, ReadBenchResults("results/bench"));
//   ASSIGN_OR_RETURN(const Card card, MakeCard(results.table, {}, {.reference = "best-fit"}));
//
// docs/score_card.md has the method. All numbers come from additions, multiplications, divisions
// and square roots in a fixed order, so a card has the same bytes on every machine.
#ifndef DRASIM_SIM_BENCH_CARD_H_
#define DRASIM_SIM_BENCH_CARD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/card_ranks.h"
#include "sim/bench/suite.h"
#include "sim/compare/paired.h"

namespace drasim::bench {

// The most GPU milli that any policy could allocate in the samples of an entry, by seed.
struct SampleBound {
  int64_t capacity_milli = 0;
  int64_t bound_milli = 0;
};
using SampleBounds = std::map<std::pair<std::string, uint64_t>, SampleBound>;  // by entry and seed

struct CardOptions {
  std::string reference;  // a policy; empty: the first by name that most scenarios have
  // Names of metrics whose trade-off counts; empty: the scenario's primary metric and, where they
  // differ, gpu_allocation_percent_end and pods_unschedulable, or mean_queueing_seconds and
  // gpu_utilisation_percent in a replay.
  std::vector<std::string> front;
};

// A policy in a scenario. Figures are means over seeds, of the primary metric unless it is said.
struct CardLine {
  std::string policy;
  size_t seeds = 0;
  std::optional<double> mean;
  PairedDifference difference;  // from the reference; n is 0 for the reference itself
  // Share of the seeds in which no policy is better; those that tie share a seed.
  double won = 0;
  // Percentage points of GPU allocation at the end below the bound; absent without one.
  std::optional<double> below_bound;
  bool on_front = false;  // no policy is better in one of the metrics and as good in all others
};

struct CardScenario {
  std::string entry;
  std::string queue;  // empty in a fill
  Primary primary;
  bool random = false;
  std::optional<double> bound_percent;  // mean over seeds of the bound of GPU allocation
  std::vector<std::string> front;       // the metrics of the front
  std::vector<CardLine> lines;          // by policy
};

struct Card {
  std::string suite;
  int32_t version = 0;
  std::string reference;
  std::vector<CardScenario> scenarios;
  // Over the scenarios that all of these policies have run.
  std::vector<std::string> ranked;
  RankSummary ranks;
};

// InvalidArgument for an unknown reference or metric, and for results of no scenario with two
// policies. Internal if a policy is above a bound.
absl::StatusOr<Card> MakeCard(const BenchTable& table, const SampleBounds& bounds,
                              const CardOptions& options);

// The card for people and for programs: lines in text, a document in JSON, a row per scenario and
// policy in CSV.
std::string CardText(const Card& card);
std::string CardJson(const Card& card);
std::string CardCsv(const Card& card);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_CARD_H_
