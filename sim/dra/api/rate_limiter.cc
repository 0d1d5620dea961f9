#include "sim/dra/api/rate_limiter.h"

#include <algorithm>
#include <cmath>

#include "model/check.h"

namespace drasim {
namespace {

// Longer than any run (73 years); sums of three of them fit 64 bits.
constexpr int64_t kLimiterForeverNs = int64_t{1} << 61;

int64_t NsPerToken(double qps) {
  if (qps == 0) return 0;
  const double ns = std::ceil(static_cast<double>(kSecondNs) / qps);
  if (ns >= static_cast<double>(kLimiterForeverNs)) return kLimiterForeverNs;
  return std::max<int64_t>(1, static_cast<int64_t>(ns));
}

}  // namespace

RateLimiter::RateLimiter(double qps, int64_t burst)
    : ns_per_token_(NsPerToken(qps)), empty_at_ns_(-kLimiterForeverNs) {
  DRASIM_CHECK(qps >= 0 && std::isfinite(qps));
  if (ns_per_token_ == 0) return;
  DRASIM_CHECK_GE(burst, int64_t{1});
  // The product may overflow; at this size a larger bucket makes no difference.
  burst_ns_ = burst > kLimiterForeverNs / ns_per_token_ ? kLimiterForeverNs : burst * ns_per_token_;
}

SimDuration RateLimiter::Take(SimTime now) {
  if (ns_per_token_ == 0) return SimDuration();
  // The bucket's content is the time since it was empty, up to its size. A token moves that time by
  // one interval; if it lies in the future, it is when the token becomes available.
  empty_at_ns_ = std::max(empty_at_ns_, now.ns() - burst_ns_);
  empty_at_ns_ = std::min(empty_at_ns_ + ns_per_token_, kLimiterForeverNs);
  return SimDuration(std::max<int64_t>(0, empty_at_ns_ - now.ns()));
}

}  // namespace drasim
