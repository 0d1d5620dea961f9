// AllocatorRounds: an allocator case that is answered several times. The slices are read once.
#ifndef DRASIM_SIM_SDRA_ALLOCATOR_ROUNDS_H_
#define DRASIM_SIM_SDRA_ALLOCATOR_ROUNDS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "sim/sdra/allocator_case.h"

namespace drasim {

class AllocatorRounds {
 public:
  // `given` must outlive it. `options` without the features, which are the case's. Errors of
  // DeviceCatalog::Make.
  static absl::StatusOr<AllocatorRounds> Make(const AllocatorCase& given, AllocatorOptions options,
                                              const VerdictsMaker& verdicts);

  // Forgets pools and verdicts, as after a change of the slices.
  void Forget();

  // One answer for each node, from a new allocator, as in one pod's scheduling cycle. Without
  // results as in StructuredAllocator::Decide. Errors of StructuredAllocator::Make.
  absl::StatusOr<std::vector<AllocationAnswer>> Answer(bool with_results);

 private:
  AllocatorRounds(const AllocatorCase& given, AllocatorOptions options, VerdictsMaker verdicts,
                  std::shared_ptr<DeviceCatalog> catalog);

  const AllocatorCase* given_;
  AllocatorOptions options_;
  VerdictsMaker make_verdicts_;
  std::shared_ptr<DeviceCatalog> catalog_;
  std::shared_ptr<NodePools> pools_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  std::vector<const proto::kube::DeviceClass*> classes_;
  std::vector<AskedClaim> claims_;
};

// One answer for each node. `options` without the features, which are the case's.
absl::StatusOr<std::vector<AllocationAnswer>> AnswerAllocatorCase(const AllocatorCase& given,
                                                                  AllocatorOptions options,
                                                                  const VerdictsMaker& verdicts);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_ALLOCATOR_ROUNDS_H_
