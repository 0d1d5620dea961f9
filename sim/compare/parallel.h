// Independent work on several threads: the cells of a comparison, the runs of a sweep.
#ifndef DRASIM_SIM_COMPARE_PARALLEL_H_
#define DRASIM_SIM_COMPARE_PARALLEL_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace drasim {

// Calls work(i) for i in [0, n) on up to `jobs` threads. After the first error, which is returned,
// no further call begins. `done` is called after each success, one at a time.
absl::Status ForEachInParallel(size_t n, size_t jobs,
                               const std::function<absl::Status(size_t)>& work,
                               const std::function<void(size_t)>& done);

// The number of threads in a flag's value; all cores if empty. InvalidArgument unless 1..256.
absl::StatusOr<size_t> ParseJobs(const std::string& text);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_PARALLEL_H_
