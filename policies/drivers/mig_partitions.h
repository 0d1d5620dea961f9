// MIG instances of one GPU product as devices of structured DRA: capacities, counters and names as
// NVIDIA's driver makes them (kubernetes-sigs/dra-driver-nvidia-gpu, partitions.go and mig.go).
//
// A counter set stands for a GPU: its engines, multiprocessors and memory, each the maximum over
// all profiles, and one counter per unit of the placement axis. An instance consumes its capacities
// and the units that it covers; the whole GPU consumes all.
#ifndef DRASIM_POLICIES_DRIVERS_MIG_PARTITIONS_H_
#define DRASIM_POLICIES_DRIVERS_MIG_PARTITIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/mig_product.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// "-mig-1g5gb-me-20-3": what follows the GPU's name in the name of a device with that profile and
// start. Dots are left out, a plus is a dash.
std::string MigDeviceSuffix(const MigProfile& profile, int32_t start);

// The seven capacities of an instance: multiprocessors, copyEngines, decoders, encoders,
// jpegEngines, ofaEngines, memory. InvalidArgument, with product and profile, when the catalogue
// lacks one of them.
absl::Status SetMigCapacities(const MigProduct& product, const MigProfile& profile,
                              proto::kube::Device* device);

// The devices of one GPU with DynamicMIG. Immutable.
class MigPartitions {
 public:
  // InvalidArgument when the catalogue lacks an amount or an id of some profile. O(placements).
  static absl::StatusOr<MigPartitions> Make(const MigProduct& product);

  // Totals of a GPU, without the name of the set.
  const proto::kube::CounterSet& totals() const { return totals_; }
  // Capacity and consumption of the whole GPU, without names and attributes.
  const proto::kube::Device& whole() const { return whole_; }
  // An instance for each profile and start, by name. The name is a suffix (MigDeviceSuffix), the
  // counter set has no name, and of the attributes there are type and profile.
  absl::Span<const proto::kube::Device> partitions() const { return partitions_; }

 private:
  MigPartitions() = default;

  proto::kube::CounterSet totals_;
  proto::kube::Device whole_;
  std::vector<proto::kube::Device> partitions_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_MIG_PARTITIONS_H_
