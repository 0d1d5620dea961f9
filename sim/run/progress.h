// Progress of a command, on standard error: a bar with the time left where that is a terminal, else
// a line every ten seconds.
#ifndef DRASIM_SIM_RUN_PROGRESS_H_
#define DRASIM_SIM_RUN_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace drasim {

// The one place besides run.json that reads the wall clock; nothing of it reaches a result. Not
// thread-safe.
class Progress {
 public:
  enum class Style { kSilent, kBar, kLines };

  // Silent when `quiet` and when there is nothing to do.
  Progress(std::string label, uint64_t total, bool quiet);
  // For tests: prints to `out`; `seconds` tells the time since any moment.
  Progress(std::string label, uint64_t total, Style style, std::FILE* out,
           std::function<double()> seconds);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Redraws the bar at most ten times a second. When all is done but the command still works, the
  // time left is not known: the text of `rest`, if there is one, then stands in place of it.
  void Update(uint64_t done, const std::function<std::string()>& rest = nullptr);
  // Removes the bar; lines stay.
  void Clear();

 private:
  std::string label_;
  uint64_t total_;
  Style style_;
  std::FILE* out_;
  std::function<double()> seconds_;
  double start_s_;
  double next_s_;  // when to print again
  bool drawn_ = false;
};

// The progress of several runs together, from any thread.
class RunsProgress {
 public:
  RunsProgress(std::string label, size_t runs, bool quiet);
  // Run number `run` has come so far: 0..1.
  void Update(size_t run, double share);
  void Clear();

 private:
  // A whole run counts as so many.
  static constexpr uint64_t kParts = 1000;

  std::mutex mutex_;
  std::vector<uint64_t> parts_;  // by run
  uint64_t done_ = 0;            // their sum
  Progress progress_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_PROGRESS_H_
