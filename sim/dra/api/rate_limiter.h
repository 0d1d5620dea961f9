// RateLimiter: the token bucket of API server clients (client-go util/flowcontrol and
// golang.org/x/time/rate). It fills with `qps` tokens a second up to `burst`; a caller without a
// token waits for its turn.
#ifndef DRASIM_SIM_DRA_API_RATE_LIMITER_H_
#define DRASIM_SIM_DRA_API_RATE_LIMITER_H_

#include <cstdint>

#include "model/time.h"

namespace drasim {

class RateLimiter {
 public:
  // qps 0: no limit. REQUIRES: qps >= 0; burst >= 1 unless qps is 0.
  RateLimiter(double qps, int64_t burst);

  // Takes a token and returns the time until it is available (0: now). Times never decrease. Exact:
  // counts in whole nanoseconds per token, rounded up once. O(1).
  SimDuration Take(SimTime now);

  // For checkpoints (plane_archive.h), like all members of this name. The rest comes from options.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& r) {
    a(r.empty_at_ns_);
  }

 private:
  int64_t ns_per_token_ = 0;  // 0: no limit
  int64_t burst_ns_ = 0;      // time in which the empty bucket fills
  int64_t empty_at_ns_;       // when the bucket was, or will be, empty
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_RATE_LIMITER_H_
