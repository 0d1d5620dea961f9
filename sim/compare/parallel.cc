#include "sim/compare/parallel.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace drasim {

absl::Status ForEachInParallel(size_t n, size_t jobs,
                               const std::function<absl::Status(size_t)>& work,
                               const std::function<void(size_t)>& done) {
  std::mutex mutex;
  size_t next = 0;
  absl::Status first_error;
  const auto worker = [&] {
    while (true) {
      size_t i = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (next >= n || !first_error.ok()) return;
        i = next++;
      }
      const absl::Status status = work(i);
      const std::lock_guard<std::mutex> lock(mutex);
      if (status.ok()) {
        done(i);
      } else if (first_error.ok()) {
        first_error = status;
      }
    }
  };
  std::vector<std::thread> threads;
  try {
    for (size_t t = 1; t < std::min(jobs, n); ++t) threads.emplace_back(worker);
  } catch (const std::system_error&) {
    // A limit on memory or on threads: those that there are do the work.
  }
  worker();
  for (std::thread& thread : threads) thread.join();
  return first_error;
}

absl::StatusOr<size_t> ParseJobs(const std::string& text) {
  if (text.empty()) return std::max<size_t>(1, std::thread::hardware_concurrency());
  uint64_t jobs = 0;
  if (!absl::SimpleAtoi(text, &jobs) || jobs < 1 || jobs > 256) {
    return absl::InvalidArgumentError(
        absl::StrCat("--jobs: found '", text, "', expected a number from 1 to 256"));
  }
  return static_cast<size_t>(jobs);
}

}  // namespace drasim
