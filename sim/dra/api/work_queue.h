// WorkQueue: client-go's rate-limited work queue (util/workqueue) in virtual time, the controllers'
// source of keys.
//
// A waiting key is not added twice; a key in work is remembered and returns to the queue when its
// work is done. A key added with a rate limit waits for its own backoff (5 ms * 2^failures, at most
// 1000 s) or its turn in a shared bucket (10 a second, burst 100), whichever is later.
#ifndef DRASIM_SIM_DRA_API_WORK_QUEUE_H_
#define DRASIM_SIM_DRA_API_WORK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "model/time.h"
#include "sim/dra/api/rate_limiter.h"

namespace drasim {

class WorkQueue {
 public:
  using Key = uint64_t;

  // `workers`: the limit on keys in work.
  explicit WorkQueue(int workers);

  // Adds the key now, or at the end of its present work. O(1).
  void Add(Key key);
  // Counts a failure and returns the delay after which the caller is to Add the key. O(1).
  SimDuration DelayAfterFailure(Key key, SimTime now);
  // Clears the key's failures.
  void Forget(Key key);

  // The next key, if there is one and a worker is free; it is in work until Done.
  std::optional<Key> Get();
  void Done(Key key);

  bool CanGet() const { return !waiting_.empty() && busy_ < workers_; }
  bool IsBusy(Key key) const;
  size_t waiting() const { return waiting_.size(); }
  int busy() const { return busy_; }
  // Clears waiting keys, keys in work and failures. For a restart.
  void Clear();

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& q) {
    a(q.busy_, q.waiting_, q.states_, q.bucket_);
  }

 private:
  struct State {
    bool waiting = false;
    bool busy = false;
    bool again = false;  // added while busy
    uint32_t failures = 0;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.waiting, s.busy, s.again, s.failures);
    }
  };
  int workers_;
  int busy_ = 0;
  std::deque<Key> waiting_;
  absl::flat_hash_map<Key, State> states_;  // of keys that wait, are in work, or have failures
  RateLimiter bucket_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_WORK_QUEUE_H_
