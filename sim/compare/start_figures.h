// Figures on the starts of pods in a run, for comparisons.
#ifndef DRASIM_SIM_COMPARE_START_FIGURES_H_
#define DRASIM_SIM_COMPARE_START_FIGURES_H_

#include <cstdint>
#include <optional>

#include "sim/record/start_report.h"

namespace drasim {

// Times in seconds. start_report.h defines starts and the parts of their time.
struct StartFigures {
  bool present = false;  // the run kept a report on starts
  // Calls to the API server by all components, per pod that arrived. Empty without an API server or
  // without pods.
  std::optional<double> api_writes_per_pod;
  std::optional<double> api_reads_per_pod;
  // Pods that are not bound although their claims are allocated. Empty without claims.
  std::optional<double> pods_pinned_mean;
  std::optional<double> pods_pinned_most;
  std::optional<double> pods_pinned_at_end;
  // Per start; meaningless when pods_started is 0.
  double cycles_per_pod = 0;  // scheduling attempts
  double mean_queue_seconds = 0;
  double p95_queue_seconds = 0;
  double mean_negotiation_seconds = 0;
  double p95_negotiation_seconds = 0;
  double mean_prepare_seconds = 0;
  double p95_prepare_seconds = 0;
  double mean_total_seconds = 0;
  double p95_total_seconds = 0;
  int64_t pods_started = 0;  // a pod that started again after an eviction counts again

  bool operator==(const StartFigures&) const = default;
};

StartFigures StartFiguresOf(const StartReport& report);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_START_FIGURES_H_
