#include "traces/job_split.h"

#include "model/check.h"

namespace drasim {
namespace {

constexpr int64_t kCoreMilli = 1000;

JobSplit Cut(int64_t whole, int64_t full) {
  JobSplit split;
  if (whole <= full) return split;
  split.full_pods = whole / full;
  split.full = full;
  split.rest = whole % full;
  split.whole = whole;
  return split;
}

}  // namespace

JobSplit SplitJob(const PodAmounts& job, int64_t gpus_per_pod, int64_t cores_per_pod) {
  DRASIM_CHECK(gpus_per_pod >= 0 && cores_per_pod >= 0);
  if (job.gpu_count > 0) {
    return gpus_per_pod == 0 ? JobSplit() : Cut(job.gpu_count, gpus_per_pod);
  }
  return cores_per_pod == 0 ? JobSplit() : Cut(job.cpu_milli, cores_per_pod * kCoreMilli);
}

int64_t PartOf(int64_t amount, int64_t part, int64_t whole) {
  DRASIM_CHECK(amount >= 0 && part >= 0 && part <= whole && whole > 0);
  if (part == whole) return amount;
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(amount) * static_cast<Wide>(part);
  const Wide divisor = static_cast<Wide>(whole);
  return static_cast<int64_t>((product + divisor - 1) / divisor);
}

PodAmounts PartOf(const PodAmounts& job, int64_t part, int64_t whole) {
  PodAmounts amounts;
  amounts.cpu_milli = PartOf(job.cpu_milli, part, whole);
  amounts.memory_bytes = PartOf(job.memory_bytes, part, whole);
  amounts.gpu_count = PartOf(job.gpu_count, part, whole);
  amounts.gpu_milli = job.gpu_milli;
  return amounts;
}

}  // namespace drasim
