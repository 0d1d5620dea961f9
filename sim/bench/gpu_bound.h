// An upper bound of the GPU milli that any scheduler could have allocated at once in a cluster.
//
// Pods of one kind and nodes of one kind are counted, not told apart. A linear program places
// amounts of pods on kinds of nodes. Its rows hold for every placement:
//
//   * the pods of a kind that there are;
//   * per kind of node, the sums of CPU, memory, pod slots, extended resources and GPU milli;
//   * per GPU, exactly what fits on one: it serves one whole GPU of a pod, or shares of at most
//   1000
//     milli (of which no sum beyond the best reachable one), or one of the sets of MIG instances
//     that its state table allows;
//   * for what cannot be split, dual feasible functions: a function f with sum f(a_i) <= f(C) for
//     all amounts with sum a_i <= C turns one resource of a node, or the shares of a GPU, into
//     further rows (Fekete and Schepers, "New classes of fast lower bounds for bin packing
//     problems", 2001; Clautiaux, Alves and Valerio de Carvalho, "A survey of dual-feasible and
//     superadditive functions", 2010).
//
// Whatever is left out (order of arrival, pod affinity, spread) can only lower what is reachable.
#ifndef DRASIM_SIM_BENCH_GPU_BOUND_H_
#define DRASIM_SIM_BENCH_GPU_BOUND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/mig_table.h"

namespace drasim::bench {

struct BoundNodeKind {
  int64_t nodes = 0;
  int64_t cpu_milli = 0;  // of each node, as the rest
  int64_t memory_bytes = 0;
  int64_t pods = 0;
  int64_t gpus = 0;
  std::vector<int64_t> extended;  // by resource, the same for all kinds
  const MigTable* mig = nullptr;  // of all its GPUs; null: none
  // GPUs of several models: only sums of milli are bounded.
  bool mixed = false;
};

struct BoundPodKind {
  int64_t pods = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpu_count = 0;  // GPUs, each in part or in whole
  int64_t gpu_milli = 0;  // of each
  std::vector<int64_t> extended;
  // By kind of node. `allowed`: whether an empty node could take one; `milli`: what its MIG
  // instances count there; `instances`: their profiles in the node's table.
  struct Place {
    bool allowed = true;
    int64_t mig_milli = 0;
    std::vector<uint8_t> instances;
  };
  std::vector<Place> places;
};

struct BoundInput {
  std::vector<BoundNodeKind> nodes;
  std::vector<BoundPodKind> pods;
};

// GPU milli. O(the linear program); its size is kinds of pods times kinds of nodes, with a few
// dozen rows for each kind of node.
int64_t GpuMilliBound(const BoundInput& input);

// 100 * milli / capacity with four significant digits, rounded up: "97.64". "-" without capacity.
std::string PercentRoundedUp(int64_t milli, int64_t capacity_milli);

// The sets of MIG instances that a GPU can hold, as counts by profile, without those that a larger
// set contains. O(states x sets).
std::vector<std::vector<uint8_t>> FullestMigSets(const MigTable& table);
// The largest sum of shares, each at most `most` times, that is at most `limit`. O(shares * limit).
int64_t LargestSum(const std::vector<int64_t>& shares, int64_t limit);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_GPU_BOUND_H_
