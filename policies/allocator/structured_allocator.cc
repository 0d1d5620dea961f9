#include "policies/allocator/structured_allocator.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "policies/allocator/allocation_results.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/use_index.h"

namespace drasim {
namespace {

using proto::kube::ResourceClaimV1;

// A claim is one bit of a word in the search.
constexpr size_t kMaxClaims = 64;

}  // namespace

// The parts that an allocator keeps: the plan of the latest claims, and the search with it.
class AllocatorState {
 public:
  AllocatorState(std::shared_ptr<NodePools> pools, std::shared_ptr<SelectorVerdicts> verdicts,
                 UseIndex use)
      : pools_(std::move(pools)), verdicts_(std::move(verdicts)), use_(std::move(use)) {}

  void AddClass(const proto::kube::DeviceClass* device_class) {
    classes_[device_class->metadata().name()] = device_class;
  }

  AllocationAnswer Decide(const proto::kube::Node& node,
                          absl::Span<const ResourceClaimV1* const> claims) {
    AllocationAnswer answer;
    if (claims.size() > kMaxClaims) {
      answer.outcome = AllocationOutcome::kError;
      answer.error =
          absl::StrCat("found ", claims.size(), " claims, expected at most ", kMaxClaims);
      return answer;
    }
    if (search_ == nullptr ||
        !std::equal(claims.begin(), claims.end(), claims_.begin(), claims_.end())) {
      claims_.assign(claims.begin(), claims.end());
      search_ = nullptr;
      plan_ = std::make_unique<ClaimPlan>(pools_->options(), pools_->catalog(), classes_,
                                          verdicts_.get(), claims_);
      search_ =
          std::make_unique<AllocationSearch>(pools_.get(), verdicts_.get(), &use_, plan_.get());
    }
    const NodeView& view = pools_->ViewOf(node);
    const AllocationSearch::Outcome outcome = search_->Run(view);
    if (pools_->options().count_steps) answer.steps = search_->steps();
    if (outcome == AllocationSearch::Outcome::kFound) {
      answer.outcome = AllocationOutcome::kAllocated;
    } else if (outcome == AllocationSearch::Outcome::kError) {
      answer.outcome = AllocationOutcome::kError;
      answer.error = search_->error();
    } else if (view.any_invalid && pools_->rules().passes_invalid_pools) {
      answer.outcome = AllocationOutcome::kNodeError;
      answer.error = "invalid resource pools were encountered";
    }
    return answer;
  }

  AllocationAnswer Allocate(const proto::kube::Node& node,
                            absl::Span<const ResourceClaimV1* const> claims) {
    AllocationAnswer answer = Decide(node, claims);
    if (answer.outcome != AllocationOutcome::kAllocated) return answer;
    auto results = AllocationResults(*pools_, plan_.get(), *search_, node.metadata().name());
    if (results.ok()) {
      answer.results = *std::move(results);
    } else {
      answer.outcome = AllocationOutcome::kError;
      answer.error = std::string(results.status().message());
    }
    return answer;
  }

 private:
  std::shared_ptr<NodePools> pools_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  UseIndex use_;
  DeviceClassIndex classes_;
  std::vector<const ResourceClaimV1*> claims_;
  std::unique_ptr<ClaimPlan> plan_;
  std::unique_ptr<AllocationSearch> search_;
};

absl::StatusOr<std::unique_ptr<StructuredAllocator>> StructuredAllocator::Make(
    std::shared_ptr<NodePools> pools, std::shared_ptr<SelectorVerdicts> verdicts,
    absl::Span<const proto::kube::DeviceClass* const> classes, const DeviceUse& use) {
  ASSIGN_OR_RETURN(UseIndex index, UseIndex::Make(pools->catalog(), use));
  auto state =
      std::make_unique<AllocatorState>(std::move(pools), std::move(verdicts), std::move(index));
  for (const proto::kube::DeviceClass* device_class : classes) state->AddClass(device_class);
  return std::unique_ptr<StructuredAllocator>(new StructuredAllocator(std::move(state)));
}

StructuredAllocator::StructuredAllocator(std::unique_ptr<AllocatorState> state)
    : state_(std::move(state)) {}

StructuredAllocator::~StructuredAllocator() = default;

AllocationAnswer StructuredAllocator::Allocate(const proto::kube::Node& node,
                                               absl::Span<const ResourceClaimV1* const> claims) {
  return state_->Allocate(node, claims);
}

AllocationAnswer StructuredAllocator::Decide(const proto::kube::Node& node,
                                             absl::Span<const ResourceClaimV1* const> claims) {
  return state_->Decide(node, claims);
}

}  // namespace drasim
