// client-go's rate-limited work queue (util/workqueue) in virtual time: what controllers take their
// keys from.
//
// A key that is waiting is not added twice; one that is being worked on is remembered and comes
// again when it is done. Added with a rate limit it waits the longer of its own backoff
// (5 ms * 2^failures, at most 1000 s) and its turn in a bucket shared by all such keys (10 a
// second, burst 100).
#ifndef DRASIM_SIM_DRA_WORK_QUEUE_H_
#define DRASIM_SIM_DRA_WORK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/types/optional.h"
#include "model/time.h"
#include "sim/dra/rate_limiter.h"

namespace drasim {

class WorkQueue {
 public:
  using Key = uint64_t;

  // At most `workers` keys are worked on at a time.
  explicit WorkQueue(int workers);

  // Now, or when it is done with. O(1).
  void Add(Key key);
  // The delay after which the caller is to Add the key again; counts a failure. O(1).
  SimDuration DelayAfterFailure(Key key, SimTime now);
  // Its failures no longer count.
  void Forget(Key key);

  // The next key to work on, if there is one and a worker is free: it is in work until Done.
  absl::optional<Key> Get();
  void Done(Key key);

  bool CanGet() const { return !waiting_.empty() && busy_ < workers_; }
  bool IsBusy(Key key) const;
  size_t waiting() const { return waiting_.size(); }
  int busy() const { return busy_; }
  // Nothing waits, nothing is in work, no failure counts. For a restart.
  void Clear();

 private:
  struct State {
    bool waiting = false;
    bool busy = false;
    bool again = false;  // added while busy
    uint32_t failures = 0;
  };
  int workers_;
  int busy_ = 0;
  std::deque<Key> waiting_;
  absl::flat_hash_map<Key, State> states_;  // of keys of which something is known
  RateLimiter bucket_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_WORK_QUEUE_H_
