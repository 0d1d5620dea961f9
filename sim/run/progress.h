// Progress of a command on standard error: on a terminal, a bar with the remaining time; otherwise
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

// Reads the wall clock, which otherwise only run.json does; no result depends on it. Not
// thread-safe.
class Progress {
 public:
  enum class Style { kSilent, kBar, kLines };

  // Silent if `quiet` or `total` is 0.
  Progress(std::string label, uint64_t total, bool quiet);
  // For tests: prints to `out`; `seconds` is a clock with any origin.
  Progress(std::string label, uint64_t total, Style style, std::FILE* out,
           std::function<double()> seconds);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Redraws the bar at most ten times a second. Once `done` reaches the total, `rest` (if any)
  // supplies the text in place of the remaining time, which is unknown while the command goes on.
  void Update(uint64_t done, const std::function<std::string()>& rest = nullptr);
  // Erases the bar; lines remain.
  void Clear();

 private:
  std::string label_;
  uint64_t total_;
  Style style_;
  std::FILE* out_;
  std::function<double()> seconds_;
  double start_s_;
  double next_s_;  // time of the next print
  bool drawn_ = false;
};

// Combined progress of several runs. Thread-safe.
class RunsProgress {
 public:
  RunsProgress(std::string label, size_t runs, bool quiet);
  // Sets the finished share (0..1) of run number `run`.
  void Update(size_t run, double share);
  void Clear();

 private:
  // Resolution: parts per run.
  static constexpr uint64_t kParts = 1000;

  std::mutex mutex_;
  std::vector<uint64_t> parts_;  // by run
  uint64_t done_ = 0;            // their sum
  Progress progress_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_PROGRESS_H_
