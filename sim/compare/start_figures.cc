#include "sim/compare/start_figures.h"

#include "model/number_text.h"

namespace drasim {

StartFigures StartFiguresOf(const StartReport& report) {
  const StartTimes times = report.Times();
  StartFigures f;
  f.present = true;
  f.pods_started = times.starts;
  f.cycles_per_pod = times.attempts;
  f.mean_queue_seconds = times.queue.mean;
  f.p95_queue_seconds = times.queue.p95;
  f.mean_negotiation_seconds = times.negotiation.mean;
  f.p95_negotiation_seconds = times.negotiation.p95;
  f.mean_prepare_seconds = times.prepare.mean;
  f.p95_prepare_seconds = times.prepare.p95;
  f.mean_total_seconds = times.total.mean;
  f.p95_total_seconds = times.total.p95;
  if (report.pinned().has_value()) {
    f.pods_pinned_mean = RoundDecimals(report.pinned()->mean, 6);
    f.pods_pinned_most = static_cast<double>(report.pinned()->most);
    f.pods_pinned_at_end = static_cast<double>(report.pinned()->at_end);
  }
  if (report.pods_arrived() == 0) return f;
  const auto per_pod = [&](std::optional<uint64_t> calls) -> std::optional<double> {
    if (!calls.has_value()) return std::nullopt;
    return RoundDecimals(static_cast<double>(*calls) / static_cast<double>(report.pods_arrived()),
                         6);
  };
  f.api_writes_per_pod = per_pod(report.api_writes());
  f.api_reads_per_pod = per_pod(report.api_reads());
  return f;
}

}  // namespace drasim
