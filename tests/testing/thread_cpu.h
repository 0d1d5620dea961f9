// CPU time for tests that compare the costs of two things in one process.
#ifndef DRASIM_TESTS_TESTING_THREAD_CPU_H_
#define DRASIM_TESTS_TESTING_THREAD_CPU_H_

#include <algorithm>
#include <ctime>
#include <limits>

namespace drasim {

// Seconds of CPU of the calling thread.
inline double ThreadCpuSeconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The least cost of `work` in that many repeats: others on the machine can only add to it.
template <typename Work>
double LeastCpuSeconds(int repeats, Work work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const double begin = ThreadCpuSeconds();
    work();
    least = std::min(least, ThreadCpuSeconds() - begin);
  }
  return least;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_THREAD_CPU_H_
