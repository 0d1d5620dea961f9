#include "policies/dra/slice_inventory.h"

#include <algorithm>
#include <cstddef>
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
  // `views`: what the allocator needs to live. The counts outlive the search.
  AllocatorSearch(std::shared_ptr<const void> views, std::unique_ptr<StructuredAllocator> allocator,
                  ChoiceCounts* counts)
      : views_(std::move(views)), allocator_(std::move(allocator)), counts_(*counts) {}

  SearchResult Allocate(const kube::Node& node, absl::Span<const ClaimRef> claims) override {
    std::vector<const kube::ResourceClaimV1*> pointers;
    for (const ClaimRef& claim : claims) {
      pointers.push_back(claim.get());
      // The allocator knows claims by their addresses, which must not be used again.
      seen_.push_back(claim);
    }
    AllocationAnswer answer = allocator_->Allocate(node, pointers);
    if (answer.choice.has_value()) counts_.Add(*answer.choice);
    return {OutcomeOf(answer.outcome), std::move(answer.error), std::move(answer.results),
            answer.steps, answer.choice.has_value() ? answer.choice->rank : 0};
  }

 private:
  std::shared_ptr<const void> views_;
  std::vector<ClaimRef> seen_;
  std::unique_ptr<StructuredAllocator> allocator_;
  ChoiceCounts& counts_;
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

void SliceInventory::BeforeChange() {
  views_ = nullptr;
  if (!options_.strict_upstream) ledger_.Update(slices_, UseOf(cluster_.inventory()));
}

void SliceInventory::Publish(const kube::ResourceSlice& slice, Publication* publication) {
  const absl::StatusOr<SliceFacts> facts = SliceFactsOf(slice);
  publication->status = facts.status();
  if (!facts.ok()) {
    if (publication->id.valid()) cluster_.WithdrawSlice(publication->id);
    publication->id = SliceId();
  } else if (publication->id.valid()) {
    cluster_.ReplaceSlice(publication->id, *facts);
  } else {
    publication->id = cluster_.PublishSlice(*facts);
  }
}

bool SliceInventory::Put(std::shared_ptr<const kube::ResourceSlice> slice) {
  BeforeChange();
  const auto [place, is_new] = places_.try_emplace(slice->metadata().name(), slices_.size());
  if (is_new) {
    slices_.emplace_back();
    publications_.emplace_back();
  }
  if (!rules_.empty()) {
    auto tainted = std::make_shared<kube::ResourceSlice>(*slice);
    AppendTaintsOfRules(rules_, tainted.get());
    slice = std::move(tainted);
  }
  slices_[place->second] = std::move(slice);
  Publish(*slices_[place->second], &publications_[place->second]);
  return !is_new;
}

bool SliceInventory::Put(const kube::ResourceSlice& slice) {
  return Put(std::make_shared<const kube::ResourceSlice>(slice));
}

bool SliceInventory::Remove(absl::string_view name) {
  const auto found = places_.find(name);
  if (found == places_.end()) return false;
  BeforeChange();
  const size_t place = found->second;
  places_.erase(found);
  if (publications_[place].id.valid()) cluster_.WithdrawSlice(publications_[place].id);
  slices_.erase(slices_.begin() + static_cast<std::ptrdiff_t>(place));
  publications_.erase(publications_.begin() + static_cast<std::ptrdiff_t>(place));
  for (size_t i = place; i < slices_.size(); ++i) places_[slices_[i]->metadata().name()] = i;
  return true;
}

absl::StatusOr<std::shared_ptr<const SliceInventory::Views>> SliceInventory::CurrentViews() {
  if (views_ != nullptr) return views_;
  auto views = std::make_shared<Views>();
  views->slices = slices_;
  std::vector<CatalogSource> sources;
  for (size_t i = 0; i < slices_.size(); ++i) {
    const absl::Status& status = publications_[i].status;
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("ResourceSlice ", slices_[i]->metadata().name(), ": ", status.message()));
    }
    sources.push_back({publications_[i].id, slices_[i].get()});
  }
  ASSIGN_OR_RETURN(views->catalog,
                   DeviceCatalog::Make(&cluster_.inventory(), &cluster_.device_columns(), sources));
  views->pools = std::make_shared<NodePools>(options_, views->catalog, drift_);
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
                   StructuredAllocator::Make(views->pools, verdicts_, classes, use));
  return std::make_unique<AllocatorSearch>(views, std::move(allocator), &choice_counts_);
}

}  // namespace drasim
