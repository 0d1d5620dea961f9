// The use of devices, and the part of them that no pod can use; updated with each record.
//
// Amounts are in milli-GPU of memory slices (a unit of an A100 is 125), so that amounts of
// different products add up, or in compute slices where the name says so. The free units of a GPU
// are split in this order:
//   geometry  units that no further legal placement can cover beside the units held (MIG); on a GPU
//             with a static layout, also units that the layout could not have covered
//   layout    on a GPU with a static layout, units outside of its instances
//   other     units on a node without the CPU, memory or pod slots for the smallest pod of the
//             workload
//   usable    all others
// Stranded units are geometry + layout + other. On a GPU without MIG only `other` can be stranded.
#ifndef DRASIM_SIM_RECORD_DEVICE_REPORT_H_
#define DRASIM_SIM_RECORD_DEVICE_REPORT_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/record.h"
#include "model/state_io.h"
#include "sim/record/gpu_layouts.h"

namespace drasim {

// Sums over available nodes.
struct DeviceAmounts {
  int64_t capacity = 0;            // milli of memory slices: 1000 per GPU
  int64_t held = 0;                // by pods, as granted
  int64_t wanted = 0;              // compute that these pods asked for, before lowering
  int64_t waste = 0;               // granted compute minus wanted, where positive, pod by pod
  int64_t shortfall = 0;           // wanted minus granted compute, where positive
  int64_t waste_memory_mib = 0;    // granted minus wanted memory, of pods that asked for an amount
  int64_t granted_memory_mib = 0;  // of the same pods
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

class DeviceReport : public RecordSink {
 public:
  // `layout`: empty if no GPU has a static layout; called at each update. Counts every node of
  // `cluster` as it is now.
  DeviceReport(const ClusterState& cluster, std::vector<TypicalRequest> typical,
               LayoutLookup layout);

  void OnRecord(const Record& record, const ClusterState& cluster) override;

  // As of the last record.
  const DeviceAmounts& now() const { return sums_; }
  // Averages over the time from the first record to `end`, in the same units; now() if no time has
  // passed.
  DeviceAmounts Mean(SimTime end) const;
  // The number of further instances that the GPUs have room for, with or without a static layout,
  // by profile name. CPU and memory are not considered. O(nodes x profiles).
  std::vector<std::pair<std::string, int64_t>> MoreThatFit() const;
  int64_t admission_failures(AdmissionFailure failure) const {
    return failures_[static_cast<size_t>(failure)];
  }
  int64_t admission_failures() const;
  // GPU milli requested by pods that were ever bound and admitted, and by all that arrived.
  int64_t accepted_milli() const { return accepted_milli_; }
  int64_t arrived_milli() const { return arrived_milli_; }
  // The same, in pods.
  int64_t accepted_pods() const { return accepted_pods_; }
  int64_t arrived_pods() const { return arrived_pods_; }

  void Save(StateWriter& out) const override;
  // The cluster, and the state that `layout` reads, must be loaded already.
  absl::Status Load(StateReader& in) override;

 private:
  // One node's part of the sums.
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
  std::array<int64_t, kLastDeviceFailure + 1> failures_{};
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
