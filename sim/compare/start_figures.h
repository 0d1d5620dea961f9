// How pods came to work in a run, as comparisons show it; and which reasons of failed attempts are
// steps on the way rather than verdicts.
#ifndef DRASIM_SIM_COMPARE_START_FIGURES_H_
#define DRASIM_SIM_COMPARE_START_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/record/start_report.h"

namespace drasim {

// Times in seconds, of starts (start_report.h says what they and their parts are).
struct StartFigures {
  bool present = false;  // the run kept a report on starts
  // Calls to the API server by all components, over the pods that arrived; none where the run has
  // no API server, or no pods.
  std::optional<double> api_writes_per_pod;
  std::optional<double> api_reads_per_pod;
  // Pods whose claims are allocated and that are not bound; none without claims.
  std::optional<double> pods_pinned_mean;
  std::optional<double> pods_pinned_most;
  std::optional<double> pods_pinned_at_end;
  // Of starts; meaningless when pods_started is 0.
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

// Whether an attempt that failed for this reason left the pod waiting for a driver that has been
// asked to allocate something.
bool IsWaitForDriver(absl::string_view reason);
// Whether the reason says nothing about room: the attempt was a step of a pod's negotiation for its
// claims, or met a stale object. It may come to any end.
bool IsNoVerdict(absl::string_view reason);

// The 1-based indices of the reasons for which `is` holds.
std::vector<uint8_t> ReasonIndices(absl::Span<const std::string> reasons,
                                   bool (*is)(absl::string_view));

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_START_FIGURES_H_
