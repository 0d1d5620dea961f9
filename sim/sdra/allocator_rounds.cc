#include "sim/sdra/allocator_rounds.h"

#include <utility>

#include "model/status_macros.h"

namespace drasim {

absl::StatusOr<AllocatorRounds> AllocatorRounds::Make(const AllocatorCase& given,
                                                      AllocatorOptions options,
                                                      const VerdictsMaker& verdicts) {
  options.features = given.features;
  std::vector<const proto::kube::ResourceSlice*> slices;
  for (const proto::kube::ResourceSlice& slice : given.slices) slices.push_back(&slice);
  ASSIGN_OR_RETURN(std::shared_ptr<DeviceCatalog> catalog, DeviceCatalog::Make(slices));
  return AllocatorRounds(given, std::move(options), verdicts, std::move(catalog));
}

AllocatorRounds::AllocatorRounds(const AllocatorCase& given, AllocatorOptions options,
                                 VerdictsMaker verdicts, std::shared_ptr<DeviceCatalog> catalog)
    : given_(&given),
      options_(std::move(options)),
      make_verdicts_(std::move(verdicts)),
      catalog_(std::move(catalog)) {
  for (const proto::kube::DeviceClass& one : given.classes) classes_.push_back(&one);
  for (const proto::kube::ResourceClaimV1& one : given.claims) claims_.push_back(&one);
  Forget();
}

void AllocatorRounds::Forget() {
  pools_ = std::make_shared<NodePools>(options_, catalog_);
  verdicts_ = make_verdicts_(&catalog_->columns(), options_.features);
}

absl::StatusOr<std::vector<AllocationAnswer>> AllocatorRounds::Answer(bool with_results) {
  ASSIGN_OR_RETURN(const std::unique_ptr<StructuredAllocator> allocator,
                   StructuredAllocator::Make(pools_, verdicts_, classes_, given_->use));
  std::vector<AllocationAnswer> answers;
  answers.reserve(given_->nodes.size());
  for (const proto::kube::Node& node : given_->nodes) {
    answers.push_back(with_results ? allocator->Allocate(node, claims_)
                                   : allocator->Decide(node, claims_));
  }
  return answers;
}

absl::StatusOr<std::vector<AllocationAnswer>> AnswerAllocatorCase(const AllocatorCase& given,
                                                                  AllocatorOptions options,
                                                                  const VerdictsMaker& verdicts) {
  ASSIGN_OR_RETURN(AllocatorRounds rounds,
                   AllocatorRounds::Make(given, std::move(options), verdicts));
  return rounds.Answer(/*with_results=*/true);
}

}  // namespace drasim
