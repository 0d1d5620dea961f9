// ProgressWatch: counts that show whether a run still makes progress.
//
// Every record except a failed attempt is progress. The watch guards against two dangers: attempts
// that fail endlessly within one instant (time would not advance), and rounds in which every
// waiting job fails while nothing else happens (see standstill.h).
#ifndef DRASIM_SIM_CORE_PROGRESS_WATCH_H_
#define DRASIM_SIM_CORE_PROGRESS_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/time.h"

namespace drasim {

class ProgressWatch {
 public:
  // Something other than a failed attempt has happened: the counts begin again.
  void Note(SimTime now) {
    last_progress_ = now;
    failed_at_instant_ = 0;
    if (jobs_in_round_ == 0 && rounds_in_vain_ == 0) return;
    ++retry_round_;
    jobs_in_round_ = 0;
    rounds_in_vain_ = 0;
  }
  // The work of a job has ended, though its pods may still be on their nodes: the time counts as
  // progress, the counts stay.
  void NoteEndOfWork(SimTime now) { last_progress_ = now; }
  // The time of the last record that was not about an attempt.
  SimTime last_progress() const { return last_progress_; }

  // The clock has moved.
  void BeginInstant() { failed_at_instant_ = 0; }
  // An attempt has failed.
  void CountFailure() { ++failed_at_instant_; }
  // True when the number of failed attempts at this instant requires time to advance before the
  // next one. `waiting` returns the number of waiting jobs; it is called only after many failures.
  template <typename Waiting>
  bool AttemptsSpent(Waiting waiting) const {
    return failed_at_instant_ > kFailuresPerInstant &&
           failed_at_instant_ > kFailuresPerInstant * (1 + waiting());
  }

  void AddJob() { round_of_job_.push_back(0); }
  // The job's failed attempt counts for the present round, once.
  void CountInRound(JobId job) {
    uint64_t& round = round_of_job_[job.value()];
    if (round == retry_round_) return;
    round = retry_round_;
    ++jobs_in_round_;
  }
  // Whether every one of the `in_line` jobs has failed since the last progress, `rounds` times
  // over.
  bool TriedInVain(uint32_t rounds, size_t in_line) {
    if (jobs_in_round_ >= in_line) {
      ++rounds_in_vain_;
      ++retry_round_;
      jobs_in_round_ = 0;
    }
    return rounds_in_vain_ >= rounds;
  }

 private:
  friend class EngineCheckpoint;

  // Failed attempts per waiting job at one instant without progress. A job that is kept waiting by
  // claims may rightly fail once for each other job.
  static constexpr uint64_t kFailuresPerInstant = 1000;

  SimTime last_progress_;
  // Rounds of attempts since then: in each, every job in line has failed once.
  uint64_t retry_round_ = 1;            // the present round; a number is never used twice
  uint64_t jobs_in_round_ = 0;          // jobs that have failed in it
  uint32_t rounds_in_vain_ = 0;         // completed rounds
  uint64_t failed_at_instant_ = 0;      // attempts, since the clock moved or anything else happened
  std::vector<uint64_t> round_of_job_;  // the last round in which the job failed
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_PROGRESS_WATCH_H_
