// Splits a job whose amounts are known as a whole into pods of a given size.
//
// Many traces give a job's GPUs or cores, but not its nodes. Since schedulers of such clusters hand
// out whole nodes to large jobs, a job of 20 GPUs on nodes of 8 is two full pods
// of 8 and a smaller one of 4; whatever else it asks for is shared out in proportion.
#ifndef DRASIM_TRACES_JOB_SPLIT_H_
#define DRASIM_TRACES_JOB_SPLIT_H_

#include <cstdint>

namespace drasim {

// More pods than this are taken for a mistake in the trace.
inline constexpr int64_t kMaxPodsPerJob = 100'000;

// The request of a pod or of a whole job, in base units. None is negative.
struct PodAmounts {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpu_count = 0;
  int64_t gpu_milli = 0;  // of each GPU

  bool operator==(const PodAmounts&) const = default;
};

// The pods of a job, each as a part of `whole`. Not split: one pod with all of it.
struct JobSplit {
  int64_t full_pods = 1;
  int64_t full = 1;   // the part of each of these
  int64_t rest = 0;   // the part of one smaller pod more; 0: there is none
  int64_t whole = 1;  // above 0

  int64_t pods() const { return full_pods + (rest > 0 ? 1 : 0); }
  bool operator==(const JobSplit&) const = default;
};

// A job with GPUs is split by them, one without by its CPU cores; a limit of 0 splits nothing. A
// job within the limit stays one pod. REQUIRES: limits are not negative and below 2^31.
JobSplit SplitJob(const PodAmounts& job, int64_t gpus_per_pod, int64_t cores_per_pod);

// `amount` * `part` / `whole`, rounded up. REQUIRES: amount >= 0, 0 <= part <= whole, whole > 0.
int64_t PartOf(int64_t amount, int64_t part, int64_t whole);

// The same of each amount; the share of a GPU is kept.
PodAmounts PartOf(const PodAmounts& job, int64_t part, int64_t whole);

}  // namespace drasim

#endif  // DRASIM_TRACES_JOB_SPLIT_H_
