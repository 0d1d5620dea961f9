// A progress bar with the time left, on standard error and only where that is a terminal.
#ifndef DRASIM_SIM_APP_PROGRESS_H_
#define DRASIM_SIM_APP_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

// The one place besides run.json that reads the wall clock; nothing of it reaches a result. Not
// thread-safe.
class Progress {
 public:
  // Silent when `quiet`, when standard error is no terminal, or when there is nothing to do.
  Progress(std::string label, uint64_t total, bool quiet);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Redraws at most ten times a second.
  void Update(uint64_t done);
  void Clear();

 private:
  std::string label_;
  uint64_t total_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_APP_PROGRESS_H_
