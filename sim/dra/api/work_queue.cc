#include "sim/dra/api/work_queue.h"

#include <algorithm>

#include "model/check.h"

namespace drasim {
namespace {

// client-go util/workqueue, DefaultControllerRateLimiter.
constexpr int64_t kFirstBackoffNs = 5'000'000;
constexpr int64_t kLongestBackoffNs = 1000 * kSecondNs;
constexpr uint32_t kMostDoublings = 18;  // 5 ms * 2^18 is over 1000 s
constexpr double kQueueTokensPerSecond = 10;
constexpr int64_t kQueueBurst = 100;

}  // namespace

WorkQueue::WorkQueue(int workers) : workers_(workers), bucket_(kQueueTokensPerSecond, kQueueBurst) {
  DRASIM_CHECK_GT(workers, 0);
}

void WorkQueue::Add(Key key) {
  State& state = states_[key];
  if (state.busy) {
    state.again = true;
  } else if (!state.waiting) {
    state.waiting = true;
    waiting_.push_back(key);
  }
}

SimDuration WorkQueue::DelayAfterFailure(Key key, SimTime now) {
  State& state = states_[key];
  const int64_t backoff_ns = std::min(kFirstBackoffNs << state.failures, kLongestBackoffNs);
  // Further failures make no difference.
  state.failures = std::min(state.failures + 1, kMostDoublings);
  return std::max(SimDuration(backoff_ns), bucket_.Take(now));
}

void WorkQueue::Forget(Key key) {
  const auto found = states_.find(key);
  if (found == states_.end()) return;
  State& state = found->second;
  state.failures = 0;
  if (!state.waiting && !state.busy) states_.erase(found);
}

std::optional<WorkQueue::Key> WorkQueue::Get() {
  if (!CanGet()) return std::nullopt;
  const Key key = waiting_.front();
  waiting_.pop_front();
  State& state = states_[key];
  state.waiting = false;
  state.busy = true;
  ++busy_;
  return key;
}

void WorkQueue::Done(Key key) {
  const auto found = states_.find(key);
  DRASIM_CHECK(found != states_.end() && found->second.busy);
  State& state = found->second;
  state.busy = false;
  --busy_;
  if (state.again) {
    state.again = false;
    state.waiting = true;
    waiting_.push_back(key);
  } else if (state.failures == 0) {
    states_.erase(found);
  }
}

bool WorkQueue::IsBusy(Key key) const {
  const auto found = states_.find(key);
  return found != states_.end() && found->second.busy;
}

void WorkQueue::Clear() {
  busy_ = 0;
  waiting_.clear();
  states_.clear();
  bucket_ = RateLimiter(kQueueTokensPerSecond, kQueueBurst);
}

}  // namespace drasim
