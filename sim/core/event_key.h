// The place of an event in time, in a form that is compared fast.
#ifndef DRASIM_SIM_CORE_EVENT_KEY_H_
#define DRASIM_SIM_CORE_EVENT_KEY_H_

#include <cstdint>
#include <limits>

namespace drasim {

// The default is later than every event.
struct EventKey {
  int64_t time_ns = std::numeric_limits<int64_t>::max();
  uint64_t order = std::numeric_limits<uint64_t>::max();  // decides between equal times
};

// Without branches: which of two siblings is earlier is a coin toss to a branch predictor.
struct EarlierKey {
  bool operator()(const EventKey& x, const EventKey& y) const {
    const auto earlier = static_cast<unsigned>(x.time_ns < y.time_ns);
    const auto same_time = static_cast<unsigned>(x.time_ns == y.time_ns);
    const auto lower = static_cast<unsigned>(x.order < y.order);
    return (earlier | (same_time & lower)) != 0;
  }
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_EVENT_KEY_H_
