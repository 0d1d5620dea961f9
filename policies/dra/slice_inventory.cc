#include "policies/dra/slice_inventory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/kube/slice_facts_of.h"
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

SliceInventory::SliceInventory(const AllocatorOptions& options,
                               const SelectorVerdictsMaker& make_verdicts, ClusterState* cluster)
    : options_(options),
      cluster_(*cluster),
      verdicts_(make_verdicts(&cluster->device_columns(), options.features)) {}

void SliceInventory::AddClass(kube::DeviceClass device_class) {
  classes_.push_back(std::make_shared<kube::DeviceClass>(std::move(device_class)));
}

void SliceInventory::Publish(Slice* slice) {
  const absl::StatusOr<SliceFacts> facts = SliceFactsOf(*slice->object);
  slice->status = facts.status();
  if (!facts.ok()) {
    if (slice->id.valid()) cluster_.WithdrawSlice(slice->id);
    slice->id = SliceId();
  } else if (slice->id.valid()) {
    cluster_.ReplaceSlice(slice->id, *facts);
  } else {
    slice->id = cluster_.PublishSlice(*facts);
  }
}

bool SliceInventory::Put(const kube::ResourceSlice& slice) {
  views_ = nullptr;
  auto tainted = std::make_shared<kube::ResourceSlice>(slice);
  AppendTaintsOfRules(rules_, tainted.get());
  for (Slice& present : slices_) {
    if (present.object->metadata().name() != slice.metadata().name()) continue;
    present.object = std::move(tainted);
    Publish(&present);
    return true;
  }
  slices_.push_back({std::move(tainted), SliceId(), absl::OkStatus()});
  Publish(&slices_.back());
  return false;
}

bool SliceInventory::Remove(absl::string_view name) {
  const auto found = std::find_if(slices_.begin(), slices_.end(), [&](const Slice& slice) {
    return slice.object->metadata().name() == name;
  });
  if (found == slices_.end()) return false;
  if (found->id.valid()) cluster_.WithdrawSlice(found->id);
  slices_.erase(found);
  views_ = nullptr;
  return true;
}

absl::StatusOr<std::shared_ptr<const SliceInventory::Views>> SliceInventory::CurrentViews() {
  if (views_ != nullptr) return views_;
  auto views = std::make_shared<Views>();
  std::vector<CatalogSource> sources;
  for (const Slice& slice : slices_) {
    if (!slice.status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "ResourceSlice ", slice.object->metadata().name(), ": ", slice.status.message()));
    }
    views->slices.push_back(slice.object);
    sources.push_back({slice.id, slice.object.get()});
  }
  ASSIGN_OR_RETURN(views->catalog,
                   DeviceCatalog::Make(&cluster_.inventory(), &cluster_.device_columns(), sources));
  views->pools = std::make_shared<NodePools>(options_, views->catalog);
  views_ = views;
  return views_;
}

absl::StatusOr<std::unique_ptr<DeviceSearch>> SliceInventory::NewSearch(const DeviceUse& use) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Views> views, CurrentViews());
  std::vector<const kube::DeviceClass*> classes;
  for (const auto& device_class : classes_) classes.push_back(device_class.get());
  ASSIGN_OR_RETURN(std::unique_ptr<StructuredAllocator> allocator,
                   StructuredAllocator::Make(views->pools, verdicts_, classes, use));
  return std::make_unique<AllocatorSearch>(views, std::move(allocator));
}

}  // namespace drasim
