#include "policies/dra/slice_inventory.h"

#include <algorithm>
#include <utility>

#include "model/status_macros.h"
#include "policies/allocator/structured_allocator.h"
#include "policies/dra/taint_rules.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

SearchOutcome OutcomeOf(AllocationOutcome outcome) {
  switch (outcome) {
    case AllocationOutcome::kAllocated:
      return SearchOutcome::kFound;
    case AllocationOutcome::kDoesNotFit:
      return SearchOutcome::kDoesNotFit;
    case AllocationOutcome::kNodeError:
      return SearchOutcome::kNodeRejected;
    case AllocationOutcome::kError:
      break;
  }
  return SearchOutcome::kError;
}

class AllocatorSearch : public DeviceSearch {
 public:
  // `views`: what the allocator needs to live.
  AllocatorSearch(std::shared_ptr<const void> views, std::unique_ptr<StructuredAllocator> allocator)
      : views_(std::move(views)), allocator_(std::move(allocator)) {}

  SearchResult Allocate(const kube::Node& node, absl::Span<const ClaimRef> claims) override {
    std::vector<const kube::ResourceClaimV1*> pointers;
    for (const ClaimRef& claim : claims) {
      pointers.push_back(claim.get());
      // The allocator knows claims by their addresses, which must not be used again.
      seen_.push_back(claim);
    }
    AllocationAnswer answer = allocator_->Allocate(node, pointers);
    return {OutcomeOf(answer.outcome), std::move(answer.error), std::move(answer.results),
            answer.steps};
  }

 private:
  std::shared_ptr<const void> views_;
  std::vector<ClaimRef> seen_;
  std::unique_ptr<StructuredAllocator> allocator_;
};

}  // namespace

void SliceInventory::AddClass(kube::DeviceClass device_class) {
  classes_.push_back(std::make_shared<kube::DeviceClass>(std::move(device_class)));
}

void SliceInventory::BeforeChange() {
  views_ = nullptr;
  if (options_.strict_upstream || holders_ == nullptr) return;
  const absl::StatusOr<DeviceUse> use = holders_();
  if (use.ok()) ledger_.Update(slices_, *use);
}

bool SliceInventory::Put(const kube::ResourceSlice& slice) {
  BeforeChange();
  auto tainted = std::make_shared<kube::ResourceSlice>(slice);
  AppendTaintsOfRules(rules_, tainted.get());
  for (auto& present : slices_) {
    if (present->metadata().name() != slice.metadata().name()) continue;
    present = std::move(tainted);
    return true;
  }
  slices_.push_back(std::move(tainted));
  return false;
}

bool SliceInventory::Remove(absl::string_view name) {
  const auto found = std::find_if(slices_.begin(), slices_.end(), [&](const auto& slice) {
    return slice->metadata().name() == name;
  });
  if (found == slices_.end()) return false;
  BeforeChange();
  slices_.erase(found);
  return true;
}

absl::StatusOr<std::shared_ptr<const SliceInventory::Views>> SliceInventory::CurrentViews() {
  if (views_ != nullptr) return views_;
  auto views = std::make_shared<Views>();
  views->slices = slices_;
  std::vector<const kube::ResourceSlice*> slices;
  for (const auto& slice : slices_) slices.push_back(slice.get());
  ASSIGN_OR_RETURN(views->catalog, DeviceCatalog::Make(slices));
  views->pools = std::make_shared<NodePools>(options_, views->catalog, drift_);
  views->verdicts = make_verdicts_(&views->catalog->columns(), options_.features);
  views_ = views;
  return views_;
}

absl::StatusOr<std::unique_ptr<DeviceSearch>> SliceInventory::NewSearch(const DeviceUse& use) {
  if (!options_.strict_upstream) {
    ledger_.Update(slices_, use);
    std::vector<CounterDrift> drift = ledger_.Drift(slices_);
    if (drift != drift_) views_ = nullptr;
    drift_ = std::move(drift);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const Views> views, CurrentViews());
  std::vector<const kube::DeviceClass*> classes;
  for (const auto& device_class : classes_) classes.push_back(device_class.get());
  ASSIGN_OR_RETURN(std::unique_ptr<StructuredAllocator> allocator,
                   StructuredAllocator::Make(views->pools, views->verdicts, classes, use));
  return std::make_unique<AllocatorSearch>(views, std::move(allocator));
}

}  // namespace drasim
