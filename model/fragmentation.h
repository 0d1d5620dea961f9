// The fragmentation measure of FGD: how much idle GPU a target workload could not use.
//
// Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent", USENIX ATC 2023, with the rules of the published artifact.
// Policies and metrics share this one function, so a policy optimises exactly the figure in the
// report.
//
// The target workload is a list of typical pods with weights. For a node, each typical pod puts the
// node's idle GPU into one of seven cases; a case's amount is the weighted idle milli-GPU. All
// cases but kSatisfied are fragments.
#ifndef DRASIM_MODEL_FRAGMENTATION_H_
#define DRASIM_MODEL_FRAGMENTATION_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/shape_table.h"

namespace drasim {

// The paper's quadrants and the artifact's extra cases, in the order in which the artifact sums
// them.
enum class FragCase : uint8_t {
  kLackBoth = 0,  // Q1: neither enough devices nor enough CPU
  kLackGpu =
      1,  // Q2: enough CPU, too few devices (also the idle parts too small for a satisfied pod)
  kSatisfied = 2,  // Q3: the pod fits
  kLackCpu = 3,    // Q4: enough devices, too little CPU
  kNoGpuFits = 4,  // XL: the typical pod wants no GPU and its CPU fits
  kNoGpuLack = 5,  // XR: the typical pod wants no GPU and its CPU does not fit
  kNoAccess = 6,   // NA: GPUs whose model is not acceptable
};
inline constexpr int kFragCases = 7;
absl::string_view FragCaseName(FragCase c);  // "Q1", "Q2", "Q3", "Q4", "XL", "XR", "NA"

// One typical pod. Weights sum to 1 (up to rounding).
struct TypicalPod {
  int64_t cpu_milli = 0;
  int32_t gpu_milli = 0;  // per device; 0 when it wants no GPU
  int32_t gpu_count = 0;
  uint64_t model_mask = 0;
  std::string gpu_spec;
  double weight = 0;
};

// The shortest list of the most popular requests that covers `popularity_percent` of the pods. A
// request is (CPU, GPU milli, GPU count, spec text); among equally popular requests the larger
// comes first. `pods_by_shape[s]` is the number of pods of shape s. O(S log S).
std::vector<TypicalPod> BuildTypicalPods(const ShapeTable& shapes,
                                         absl::Span<const int64_t> pods_by_shape,
                                         double popularity_percent);

// The measure's input from a node, real or hypothetical. Device idle amounts are in 0..1000, in any
// order.
//
// On a node with several models, a typical pod sees the node as if it had only the GPUs of
// acceptable models, with all of its CPU; the others count as kNoAccess.
struct GpuNodeView {
  int64_t cpu_milli_idle = 0;
  uint64_t model_bit = 0;  // 0 with several models
  absl::Span<const int16_t> device_milli_idle;
  // With several models: the ModelId of each device, beside device_milli_idle. Else empty.
  absl::Span<const uint8_t> device_models = {};
};

// Evaluates nodes against one target workload. Immutable after construction; safe to share between
// threads.
class FragmentationModel {
 public:
  explicit FragmentationModel(std::vector<TypicalPod> typical);

  // Fragmented milli-GPU of the node: the sum of every case but kSatisfied. The sums run in the
  // artifact's order, because the last bit decides FGD's scores. O(typical pods + devices).
  double Amount(const GpuNodeView& node) const;

  // The number of different CPU requests of typical pods that this idle CPU satisfies. The amount
  // depends on idle CPU only through this number. O(log typical pods).
  uint32_t CpuRank(int64_t cpu_milli_idle) const;

  // Adds sign * (idle milli by case and typical pod) of the node to `totals`, laid out
  // [case][typical]. Integers, hence exact and independent of the order of updates.
  void AddParts(const GpuNodeView& node, int sign, absl::Span<int64_t> totals) const;

  size_t size() const { return typical_.size(); }
  const std::vector<TypicalPod>& typical() const { return typical_; }

 private:
  // One bucket for each share of 1..1000 milli, and one for the devices that satisfy every
  // threshold.
  static constexpr size_t kMaxThresholds = kDeviceMilli + 2;

  struct Compact {
    int64_t cpu_milli;
    uint64_t model_mask;
    double weight;
    int16_t gpu_count;  // 0 marks a typical pod without GPU
    int16_t threshold;  // index into thresholds
    int32_t gpu_milli;
  };
  // By distinct per-device request: the number of devices that satisfy it, and the idle sum of the
  // others.
  struct Profile {
    int32_t idle = 0;
    std::array<int16_t, kMaxThresholds> fitting;
    std::array<int32_t, kMaxThresholds> too_small_milli;
  };
  void BuildProfile(absl::Span<const int16_t> idle, Profile& out) const;
  // Calls add(index of the typical pod, case, milli) for the node's parts, in the order of typical
  // pods. O(typical pods x devices).
  template <typename Add>
  void ForEachMixedPart(const GpuNodeView& node, Add add) const;
  double MixedAmount(const GpuNodeView& node) const;

  std::vector<TypicalPod> typical_;
  std::vector<Compact> compact_;
  std::vector<int64_t> cpu_requests_;  // ascending, different
  int thresholds_ = 0;
  std::array<uint16_t, kDeviceMilli + 1> rank_;  // number of thresholds <= idle amount
};

// The seven cluster-wide amounts, in milli-GPU.
struct FragmentationReport {
  std::array<double, kFragCases> by_case{};
  double amount_milli() const;  // fragments
  double idle_milli() const;    // all seven
  double ratio_percent() const {
    return idle_milli() > 0 ? 100 * amount_milli() / idle_milli() : 0;
  }
  // Fragmentation by the paper's own quadrants: Q1, Q2 and Q4 over idle.
  double q124_percent() const;
};

// Keeps the cluster-wide report current at O(typical pods) per changed node, whatever the size of
// the cluster. A report without changes since the last one costs nothing.
class FragmentationTracker {
 public:
  // `model` must outlive the tracker.
  explicit FragmentationTracker(const FragmentationModel* model) : model_(model) {}
  // Replaces the node's former contribution by its present one.
  void Update(const ClusterState& cluster, NodeId node);
  FragmentationReport Report() const;

 private:
  // The result of the latest Report(), until the next Update.
  mutable FragmentationReport report_;
  mutable bool is_reported_ = false;

  const FragmentationModel* model_;
  std::vector<int64_t> totals_;       // [case][typical]
  std::vector<int64_t> cpu_counted_;  // per node; -1: not counted yet
  std::vector<int16_t> idle_counted_;
};

// The view of a node of the cluster. Valid until the cluster changes.
inline GpuNodeView ViewOf(const ClusterState& cluster, NodeId id) {
  const NodeRow& row = cluster.node(id);
  if (row.is_mixed()) {
    return {row.cpu_milli_idle, 0, cluster.device_milli_idle(id), cluster.mixed_gpu_models(id)};
  }
  return {row.cpu_milli_idle, uint64_t{1} << (row.model & 63), cluster.device_milli_idle(id), {}};
}

}  // namespace drasim

#endif  // DRASIM_MODEL_FRAGMENTATION_H_
