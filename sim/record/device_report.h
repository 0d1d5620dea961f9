// What devices are used for, and what of them nobody can use, kept up to date record by record.
//
// All amounts are in milli-GPU of memory slices (a unit of an A100 is 125), so that products add
// up, or in compute slices where named. For each GPU:
//   free      what no pod holds
//   geometry  free units that no further legal placement can cover beside what is held (MIG), and,
//             of a GPU that is laid out ahead, what its layout could not have covered either
//   layout    of a GPU that is laid out ahead, free units in none of its instances, those that
//             geometry takes left out
//   other     what is left of the free units on a node that cannot take even the smallest pod of
//             the workload for want of CPU, memory or pod slots
//   usable    the rest
// Stranded is geometry + layout + other. A GPU without MIG has free units, of which only `other`
// can be stranded.
#ifndef DRASIM_SIM_RECORD_DEVICE_REPORT_H_
#define DRASIM_SIM_RECORD_DEVICE_REPORT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/record.h"
#include "model/state_io.h"

namespace drasim {

// Sums over available nodes.
struct DeviceAmounts {
  int64_t capacity = 0;          // milli of memory slices: 1000 per GPU
  int64_t held = 0;              // by pods, as granted
  int64_t wanted = 0;            // by those pods, before lowering, of compute
  int64_t waste = 0;             // granted compute minus wanted, where positive, pod by pod
  int64_t shortfall = 0;         // wanted minus granted compute, where positive
  int64_t waste_memory_mib = 0;  // granted minus wanted memory of pods that said how much they want
  int64_t granted_memory_mib = 0;  // of these pods
  int64_t free = 0;
  int64_t stranded_geometry = 0;
  int64_t stranded_layout = 0;
  int64_t stranded_other = 0;
  int64_t compute_capacity = 0;   // milli: 1000 per GPU
  int64_t compute_stranded = 0;   // compute slices, as milli of a GPU's
  double slot_fragmentation = 0;  // FGD's measure over slots, milli
  int64_t stranded() const { return stranded_geometry + stranded_layout + stranded_other; }
};

// One kind of request of the workload, for the slot-level measure.
struct TypicalRequest {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::string mig_profile;  // one instance of it; empty: whole GPUs, a share, or none
  int32_t whole_gpus = 0;
  int32_t share_milli = 0;
  double weight = 0;  // they sum to 1
};

// How a GPU is laid out ahead of pods; asked for at each update. `enabled` false: not laid out.
struct StaticLayout {
  bool enabled = false;
  MigState state = 0;
};
using LayoutLookup = std::function<StaticLayout(NodeId node, size_t gpu)>;

class DeviceReport : public RecordSink {
 public:
  // `layout`: empty when no GPU is laid out ahead. Counts every node of `cluster` as it is now.
  DeviceReport(const ClusterState& cluster, std::vector<TypicalRequest> typical,
               LayoutLookup layout);

  void OnRecord(const Record& record, const ClusterState& cluster) override;

  // As of the last record.
  const DeviceAmounts& now() const { return sums_; }
  // Averages over the time from the first record to `end`; `now()` when no time has passed.
  // capacity and the rest keep their units.
  DeviceAmounts Mean(SimTime end) const;
  // Per profile name, sorted: how many more instances would fit now (without CPU and memory), laid
  // out ahead or not. O(nodes x profiles).
  std::vector<std::pair<std::string, int64_t>> MoreThatFit() const;
  int64_t admission_failures(AdmissionFailure failure) const {
    return failures_[static_cast<size_t>(failure)];
  }
  int64_t admission_failures() const;
  // GPU milli asked for by pods that were ever bound and let in, and by all that arrived.
  int64_t accepted_milli() const { return accepted_milli_; }
  int64_t arrived_milli() const { return arrived_milli_; }
  // The same, in pods.
  int64_t accepted_pods() const { return accepted_pods_; }
  int64_t arrived_pods() const { return arrived_pods_; }

  void Save(StateWriter& out) const override;
  // Expects the cluster, and what `layout` looks at, to be loaded already.
  absl::Status Load(StateReader& in) override;

 private:
  // What one node adds to the sums.
  DeviceAmounts AmountsOf(NodeId node) const;
  void Update(NodeId node);
  void Advance(SimTime to);

  const ClusterState* cluster_;
  std::vector<TypicalRequest> typical_;
  LayoutLookup layout_;
  int64_t smallest_cpu_milli_ = 0;
  int64_t smallest_memory_bytes_ = 0;
  std::vector<DeviceAmounts> of_node_;
  DeviceAmounts sums_;
  std::array<int64_t, kLastAdmissionFailure + 1> failures_{};
  std::vector<bool> accepted_;  // by pod
  int64_t accepted_milli_ = 0;
  int64_t arrived_milli_ = 0;
  int64_t accepted_pods_ = 0;
  int64_t arrived_pods_ = 0;
  bool started_ = false;
  SimTime since_;
  SimTime first_;
  std::array<double, 16> integrals_{};
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_DEVICE_REPORT_H_
