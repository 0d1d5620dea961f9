#include "policies/dra/slice_inventory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/kube/slice_facts_of.h"
#include "model/status_macros.h"
#include "policies/allocator/asked_claim.h"
#include "policies/allocator/device_use.h"
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
  using Maker = std::function<std::unique_ptr<StructuredAllocator>()>;
  // `views`: what the allocator needs to live. The counts outlive the search.
  AllocatorSearch(std::shared_ptr<const void> views, std::shared_ptr<HeldDevices> held,
                  PlanCache* plans, const DeviceInventory* inventory, Maker make,
                  ChoiceCounts* counts)
      : views_(std::move(views)),
        held_(std::move(held)),
        plans_(plans),
        inventory_(inventory),
        make_(std::move(make)),
        counts_(*counts) {}

  SearchResult Allocate(const kube::Node& node, absl::Span<const ClaimRef> claims) override {
    const absl::Status synced = Refresh();
    if (!synced.ok()) return {SearchOutcome::kError, std::string(synced.message()), {}, 0};
    AllocationAnswer answer = allocator_->Allocate(node, Asked(claims));
    if (answer.choice.has_value()) counts_.Add(*answer.choice);
    return {OutcomeOf(answer.outcome), std::move(answer.error), std::move(answer.results),
            answer.steps, answer.choice.has_value() ? answer.choice->rank : 0};
  }

  const NodeOutcomes* DecideNodes(absl::Span<const ClaimRef> claims) override {
    if (held_->nodes().empty() || !Refresh().ok()) return nullptr;
    return allocator_->DecideNodes(Asked(claims));
  }

  void RankNodes(absl::Span<const ClaimRef> claims, absl::Span<const NodeId> nodes,
                 absl::Span<int64_t> ranks) override {
    DRASIM_CHECK(Refresh().ok());
    std::vector<const NodeView*> views;
    views.reserve(nodes.size());
    for (const NodeId node : nodes) views.push_back(held_->nodes()[node.value()]);
    allocator_->RankAll(views, Asked(claims), ranks, &counts_);
  }

 private:
  // Devices must not change while an allocator lives.
  absl::Status Refresh() {
    RETURN_IF_ERROR(held_->Sync(*inventory_));
    if (allocator_ != nullptr && changes_ == held_->synced()) return absl::OkStatus();
    changes_ = held_->synced();
    allocator_ = make_();
    allocator_->SharePlans(plans_, [this](size_t claim) { return devices_[claim]; });
    return absl::OkStatus();
  }

  AskedClaims Asked(absl::Span<const ClaimRef> claims) {
    asked_.clear();
    devices_.clear();
    for (const ClaimRef& claim : claims) {
      // The allocator knows claims by the addresses of their specifications, which must not be used
      // again.
      const bool seen = std::find(seen_.begin(), seen_.end(), claim) != seen_.end();
      if (!seen) seen_.push_back(claim);
      devices_.push_back(claim.devices());
      const auto* const devices = devices_.back().get();
      asked_.emplace_back(devices != nullptr ? devices : &kube::DeviceClaim::default_instance(),
                          claim.ns(), claim.name());
    }
    return asked_;
  }

  std::shared_ptr<const void> views_;
  std::shared_ptr<HeldDevices> held_;
  PlanCache* plans_;  // of the views
  const DeviceInventory* inventory_;
  Maker make_;
  uint64_t changes_ = 0;
  std::vector<ClaimRef> seen_;
  // The claims of the call under way.
  std::vector<DevicesRef> devices_;
  std::vector<AskedClaim> asked_;
  std::unique_ptr<StructuredAllocator> allocator_;
  ChoiceCounts& counts_;
};

}  // namespace

SliceInventory::SliceInventory(const AllocatorOptions& options,
                               const SelectorVerdictsMaker& make_verdicts, ClusterState* cluster)
    : options_(options),
      cluster_(*cluster),
      verdicts_(make_verdicts(&cluster->device_columns(), options.features)) {
  verdicts_->set_counts(options.counts);
}

void SliceInventory::AddClass(kube::DeviceClass device_class) {
  if (views_ != nullptr) views_->plans->Clear();
  classes_.push_back(std::make_shared<kube::DeviceClass>(std::move(device_class)));
}

void SliceInventory::PutRule(kube::DeviceTaintRule rule) {
  for (kube::DeviceTaintRule& known : rules_) {
    if (known.metadata().name() != rule.metadata().name()) continue;
    known = std::move(rule);
    return;
  }
  rules_.push_back(std::move(rule));
}

bool SliceInventory::RemoveRule(absl::string_view name) {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [name](const auto& rule) {
    return rule.metadata().name() == name;
  });
  if (found == rules_.end()) return false;
  rules_.erase(found);
  return true;
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

// --- Checkpoints ---

std::vector<size_t> SliceInventory::PublishedPlaces() const {
  std::vector<size_t> places;
  for (size_t i = 0; i < publications_.size(); ++i) {
    if (publications_[i].id.valid()) places.push_back(i);
  }
  std::sort(places.begin(), places.end(), [this](size_t left, size_t right) {
    return publications_[left].id < publications_[right].id;
  });
  return places;
}

bool SliceInventory::Restore(const std::vector<size_t>& places) {
  views_ = nullptr;
  drift_.clear();
  places_.clear();
  publications_.assign(slices_.size(), Publication());
  std::vector<SliceFacts> facts;
  for (const size_t place : places) {
    if (place >= slices_.size() || slices_[place] == nullptr) return false;
    absl::StatusOr<SliceFacts> read = SliceFactsOf(*slices_[place]);
    if (!read.ok()) return false;
    facts.push_back(*std::move(read));
  }
  const std::vector<SliceId> ids = cluster_.RestoreSlices(facts);
  for (size_t i = 0; i < places.size(); ++i) publications_[places[i]].id = ids[i];
  for (size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i] == nullptr) return false;
    if (!places_.try_emplace(slices_[i]->metadata().name(), i).second) return false;
    if (!publications_[i].id.valid()) publications_[i].status = SliceFactsOf(*slices_[i]).status();
  }
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
  views->held = std::make_shared<HeldDevices>(views->pools);
  views->plans = std::make_shared<PlanCache>();
  std::vector<const NodeView*> nodes;
  nodes.reserve(nodes_.size());
  for (const kube::Node& node : nodes_) nodes.push_back(&views->pools->ViewOf(node));
  views->held->SetNodes(std::move(nodes));
  views_ = views;
  return views_;
}

ServedDevices SliceInventory::CountDevices(const kube::DeviceClass& device_class,
                                           const kube::Node& node) {
  const absl::StatusOr<std::shared_ptr<const Views>> views = CurrentViews();
  if (!views.ok()) return {};
  std::vector<int> selectors;
  for (const kube::DeviceSelector& selector : device_class.spec().selectors()) {
    selectors.push_back(verdicts_->Selector(selector.cel().expression()));
    if (!verdicts_->CompileError(selectors.back()).empty()) return {};
  }
  const DeviceCatalog& catalog = *(*views)->catalog;
  const NodeView& view = (*views)->pools->ViewOf(node);
  ServedDevices counted;
  for (const DeviceSegment& segment : view.segments) {
    for (uint32_t d = segment.begin; d < segment.end; ++d) {
      if (!view.Allows(segment, d)) continue;
      const CatalogDevice& device = catalog.devices()[d];
      const DeviceRow content = catalog.kinds()[device.kind].row;
      bool matches = true;
      for (const int selector : selectors) {
        const SelectorVerdict verdict = verdicts_->Evaluate(selector, content);
        if (verdict == SelectorVerdict::kError) return {};
        matches = verdict == SelectorVerdict::kYes;
        if (!matches) break;
      }
      if (!matches) continue;
      ++counted.all;
      if (cluster_.inventory().use(device.row->row).is_held()) ++counted.held;
    }
  }
  return counted;
}

absl::StatusOr<std::unique_ptr<DeviceSearch>> SliceInventory::NewSearch() {
  if (!options_.strict_upstream) {
    ledger_.Update(slices_, UseOf(cluster_.inventory()));
    std::vector<CounterDrift> drift = ledger_.Drift(slices_);
    if (drift != drift_) views_ = nullptr;
    drift_ = std::move(drift);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const Views> views, CurrentViews());
  RETURN_IF_ERROR(views->held->Sync(cluster_.inventory()));
  const auto make = [this, held = views->held] {
    std::vector<const kube::DeviceClass*> classes;
    for (const auto& device_class : classes_) classes.push_back(device_class.get());
    return StructuredAllocator::Make(held, verdicts_, classes);
  };
  return std::make_unique<AllocatorSearch>(views, views->held, views->plans.get(),
                                           &cluster_.inventory(), make, &choice_counts_);
}

}  // namespace drasim
