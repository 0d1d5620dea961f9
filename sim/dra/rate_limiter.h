// Token buckets, as clients of the API server use them (client-go util/flowcontrol and
// golang.org/x/time/rate): `qps` tokens a second, at most `burst` at a time; a
// caller that finds none waits for its token, in order.
#ifndef DRASIM_SIM_DRA_RATE_LIMITER_H_
#define DRASIM_SIM_DRA_RATE_LIMITER_H_

#include <cstdint>

#include "model/time.h"

namespace drasim {

class RateLimiter {
 public:
  // qps 0: no limit. REQUIRES: qps >= 0; burst >= 1 unless qps is 0.
  RateLimiter(double qps, int64_t burst);

  // Takes a token; returns how long until it is there (0: at once). Times never decrease. Exact:
  // counts in whole nanoseconds per token, rounded up once. O(1).
  SimDuration Take(SimTime now);

 private:
  int64_t ns_per_token_ = 0;  // 0: no limit
  int64_t burst_ns_ = 0;      // in which the empty bucket fills
  int64_t empty_at_ns_;       // when the bucket was, or will be, empty with nobody waiting
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_RATE_LIMITER_H_
