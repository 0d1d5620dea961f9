#include "policies/queues/estimates.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/random.h"

namespace drasim {
namespace {

constexpr int64_t kLongestNs = kUnboundedEstimate.ns() - 1;

}  // namespace

SimDuration AttemptRunTime(const JobTable& jobs, JobId job) {
  const JobRow& row = jobs.row(job);
  return row.retry < row.retries ? jobs.failed_attempts(job)[row.retry] : row.run_time;
}

EstimateModel::EstimateModel(uint64_t seed, double noise, bool exact)
    : seed_(seed), noisy_(noise > 0), exact_(exact) {
  absl::StatusOr<Distribution> factor = Distribution::LogNormal(/*median=*/1, noise);
  DRASIM_CHECK(factor.ok());
  factor_ = *std::move(factor);
}

SimDuration EstimateModel::Estimate(const JobTable& jobs, JobId job) const {
  const JobRow& row = jobs.row(job);
  int64_t ns = 0;
  if (row.has_estimate && !exact_) {
    ns = row.estimate.ns();
  } else if (row.has_run_time) {
    ns = AttemptRunTime(jobs, job).ns();
  } else {
    return kUnboundedEstimate;
  }
  ns = std::clamp<int64_t>(ns, 0, kLongestNs);
  if (!noisy_) return SimDuration(ns);
  Random stream(seed_, absl::StrCat("estimates/job-", job.value()));
  const double noisy_ns = static_cast<double>(ns) * factor_.Sample(stream);
  // Compared as a double, since a larger value may not fit into 64 bits.
  if (noisy_ns >= static_cast<double>(kUnboundedEstimate.ns())) return SimDuration(kLongestNs);
  return SimDuration(static_cast<int64_t>(noisy_ns));
}

}  // namespace drasim
