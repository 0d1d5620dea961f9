#include "policies/allocator/choice_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "model/check.h"

namespace drasim {
namespace {

// Steps after which branches without a solution are looked for.
constexpr int64_t kStepsBeforePruning = 256;

}  // namespace

DeviceCatalog& ChoiceView::catalog() const { return search_.pools_->catalog(); }
const NodeView& ChoiceView::node() const { return *search_.node_; }
const UseIndex& ChoiceView::use() const { return *search_.use_; }
const ClaimPlan& ChoiceView::plan() const { return *search_.plan_; }

const std::vector<ExactAmount>& ChoiceView::Left(const PoolView& pool) const {
  return search_.StateOf(pool).left();
}

bool ChoiceView::IsTaken(uint32_t device) const {
  return search_.use_->IsHeld(device) || search_.claims_of_device_[device] != 0 ||
         search_.shares_.contains(device);
}

uint32_t ChoiceSearch::RequestAt(const Position& at) const {
  const RequestGroup& group = search_.plan_->claims()[at.claim].groups[at.group];
  return group.options[at.option < 0 ? 0 : static_cast<size_t>(at.option)];
}

int64_t ChoiceSearch::CountOf(uint32_t request) const {
  const RequestPlan& plan = search_.plan_->request(request);
  return plan.all ? static_cast<int64_t>(search_.listed_[request].size()) : plan.count;
}

bool ChoiceSearch::HasSeveralDevices() const {
  int64_t most = 0;
  for (const PlannedClaim& claim : search_.plan_->claims()) {
    for (const RequestGroup& group : claim.groups) {
      int64_t largest = 0;
      for (const uint32_t option : group.options) largest = std::max(largest, CountOf(option));
      most += std::min(largest, kMaxClaimResults);
    }
  }
  return most > 1;
}

void ChoiceSearch::Begin() {
  choice_ = Choice();
  alternatives_ = 0;
  best_.reset();
  descended_.reset();
  candidates_.assign(search_.plan_->request_count(), std::nullopt);
  chosen_.clear();
  for (const PlannedClaim& claim : search_.plan_->claims()) {
    chosen_.emplace_back(claim.groups.size());
  }
  measure_ = policy_.Measure(view_);
  in_order_ = SearchIsSorted(search_.options_);
  pruner_ = nullptr;
  twins_ = nullptr;
  if (!HasSeveralDevices()) {
    in_order_ = true;
    return;
  }
  pruner_ = search_.make_pruner_(&search_);
  if (!pruner_->Prepare()) {
    pruner_ = nullptr;
    return;
  }
  in_order_ = in_order_ || pruner_->order_is_free();
  twins_ = std::make_unique<DeviceTwins>(view_, *measure_, pruner_.get());
}

const std::vector<DevicePlace>& ChoiceSearch::CandidatesOf(uint32_t request) {
  std::optional<std::vector<DevicePlace>>& known = candidates_[request];
  if (known.has_value()) return *known;
  known.emplace();
  const NodeView& node = *search_.node_;
  const RequestPlan& plan = search_.plan_->request(request);
  const size_t end =
      node.invalid_pool == nullptr ? node.segments.size() : node.invalid_before_segment;
  for (uint32_t segment = 0; segment < end; ++segment) {
    const DeviceSegment& devices = node.segments[segment];
    if (!node.FitsOperations(devices, search_.options_.features.optional_node_operations)) continue;
    for (uint32_t device = devices.begin; device < devices.end; ++device) {
      if (!plan.admin && search_.use_->IsDedicated(device)) continue;
      const uint32_t kind = search_.catalog_.devices()[device].kind;
      if (search_.plan_->VerdictOf(request, kind) != KindVerdict::kCandidate) continue;
      if (node.Allows(devices, device)) known->push_back({segment, device});
    }
  }
  return *known;
}

bool ChoiceSearch::Take(const Position& at, uint32_t request, const DevicePlace& place, bool must) {
  if (choice_.steps >= budget_) {
    choice_.exhausted = true;
    return false;
  }
  ++choice_.steps;
  if (search_.Take(at.claim, request, place, must) != AllocationSearch::Outcome::kFound) {
    return false;
  }
  measure_->Take(search_.taken_.back());
  if (twins_ != nullptr) twins_->Take(search_.taken_.back());
  return true;
}

void ChoiceSearch::Undo() {
  const TakenDevice last = search_.taken_.back();
  search_.Undo();
  measure_->Undo(last);
  if (twins_ != nullptr) twins_->Undo(last);
}

void ChoiceSearch::Keep(std::optional<ChoiceSolution>* solution) const {
  solution->emplace();
  (*solution)->cost = Cost();
  (*solution)->rank = measure_->NodeRank();
  (*solution)->taken = search_.taken_;
  (*solution)->chosen = chosen_;
}

bool ChoiceSearch::MayBeBetter() const {
  const SolutionCost cost = Cost();
  if (best_.has_value() && cost >= best_->cost) return false;
  return !descended_.has_value() || cost <= descended_->cost;
}

ChoiceSearch::Position ChoiceSearch::NextGroup(const Position& at) const {
  Position next;
  next.claim = at.claim;
  next.group = at.group + 1;
  return next;
}

ChoiceSearch::Position ChoiceSearch::NextDevice(const Position& at,
                                                const DevicePlace& place) const {
  Position next = at;
  ++next.number;
  next.start = DevicePlace();
  if (!in_order_) return next;
  next.start = {place.segment, place.device + 1};
  return next;
}

// --- Solutions that are known beforehand ---

bool ChoiceSearch::Replay(ChoiceSolution* solution) {
  const int64_t budget = std::exchange(budget_, std::numeric_limits<int64_t>::max());
  size_t taken = 0;
  for (const TakenDevice& device : solution->taken) {
    Position at;
    at.claim = device.claim;
    const bool must = search_.plan_->request(device.request).all;
    if (!Take(at, device.request, {device.segment, device.device}, must)) break;
    ++taken;
  }
  const bool works = taken == solution->taken.size();
  if (works) {
    ++choice_.solutions;
    for (const std::vector<uint32_t>& groups : solution->chosen) {
      for (const uint32_t option : groups) solution->cost.alternatives += option;
    }
    solution->cost.cost = measure_->Cost();
    solution->rank = measure_->NodeRank();
  }
  for (; taken > 0; --taken) Undo();
  choice_.steps = 0;
  budget_ = budget;
  return works;
}

bool ChoiceSearch::Descend(const Position& at) {
  if (at.claim >= search_.plan_->claims().size()) {
    ++choice_.solutions;
    Keep(&descended_);
    return true;
  }
  const PlannedClaim& claim = search_.plan_->claims()[at.claim];
  if (at.group >= claim.groups.size()) {
    Position next;
    next.claim = at.claim + 1;
    return Descend(next);
  }
  const RequestGroup& group = claim.groups[at.group];
  if (group.prioritized && at.option < 0) {
    for (uint32_t option = 0; option < group.options.size(); ++option) {
      Position next = at;
      next.option = static_cast<int32_t>(option);
      chosen_[at.claim][at.group] = option;
      alternatives_ += option;
      const bool found = Descend(next);
      alternatives_ -= option;
      if (found) return true;
    }
    return false;
  }
  const uint32_t request = RequestAt(at);
  const int64_t count = CountOf(request);
  const bool all = search_.plan_->request(request).all;
  if (all && count == 0) return false;
  if (at.number >= count) return Descend(NextGroup(at));
  if (count - at.number > kMaxClaimResults - search_.taken_of_claim_[at.claim]) return false;
  if (!all) return DescendAny(at, request);
  const DevicePlace place = search_.listed_[request][static_cast<size_t>(at.number)];
  if (!Take(at, request, place, /*must=*/true)) return false;
  const bool found = Descend(NextDevice(at, place));
  Undo();
  return found;
}

// Here a request takes its devices in any order.
bool ChoiceSearch::DescendAny(const Position& at, uint32_t request) {
  std::optional<SolutionCost> least;
  DevicePlace best;
  absl::flat_hash_set<DeviceTwins::Key> tried;
  const RequestPlan& plan = search_.plan_->request(request);
  for (const DevicePlace& place : CandidatesOf(request)) {
    if (search_.IsInUse(at.claim, plan, place.device)) continue;
    if (search_.shares_.contains(place.device) && SearchIsSorted(search_.options_) &&
        at.number > 0) {
      // A request takes but one share of a device.
      const auto same = [&](const TakenDevice& one) {
        return one.device == place.device && one.request == request;
      };
      const std::vector<TakenDevice>& taken = search_.taken_;
      if (std::any_of(taken.begin(), taken.end(), same)) continue;
    }
    if (twins_ != nullptr && !tried.insert(twins_->KeyOf(place)).second) continue;
    if (!search_.HasRoom(request, place.device)) continue;
    if (!Take(at, request, place, /*must=*/false)) {
      if (choice_.exhausted) return false;
      continue;
    }
    const SolutionCost cost = Cost();
    Undo();
    if (least.has_value() && *least <= cost) continue;
    least = cost;
    best = place;
  }
  if (!least.has_value() || !Take(at, request, best, /*must=*/false)) return false;
  Position next = at;
  ++next.number;
  const bool found = Descend(next);
  Undo();
  return found;
}

// --- All solutions ---

void ChoiceSearch::Step(const Position& at) {
  if (choice_.exhausted) return;
  if (at.claim >= search_.plan_->claims().size()) {
    ++choice_.solutions;
    if (MayBeBetter()) Keep(&best_);
    return;
  }
  const PlannedClaim& claim = search_.plan_->claims()[at.claim];
  if (at.group >= claim.groups.size()) {
    Position next;
    next.claim = at.claim + 1;
    return Step(next);
  }
  if (pruner_ != nullptr && choice_.steps > kStepsBeforePruning &&
      pruner_->CannotComplete(at, /*jointly=*/false)) {
    return;
  }
  const RequestGroup& group = claim.groups[at.group];
  if (group.prioritized && at.option < 0) {
    for (uint32_t option = 0; option < group.options.size(); ++option) {
      Position next = at;
      next.option = static_cast<int32_t>(option);
      chosen_[at.claim][at.group] = option;
      alternatives_ += option;
      if (MayBeBetter()) Step(next);
      alternatives_ -= option;
    }
    return;
  }
  const uint32_t request = RequestAt(at);
  const int64_t count = CountOf(request);
  const bool all = search_.plan_->request(request).all;
  if (all && count == 0) return;
  if (at.number >= count) return Step(NextGroup(at));
  if (count - at.number > kMaxClaimResults - search_.taken_of_claim_[at.claim]) return;
  if (all) return TakeListed(at, request);
  TakeAny(at, request);
}

void ChoiceSearch::TakeListed(const Position& at, uint32_t request) {
  const DevicePlace place = search_.listed_[request][static_cast<size_t>(at.number)];
  if (!Take(at, request, place, /*must=*/true)) return;
  if (MayBeBetter()) Step(NextDevice(at, place));
  Undo();
}

void ChoiceSearch::TakeAny(const Position& at, uint32_t request) {
  const std::vector<DevicePlace>& candidates = CandidatesOf(request);
  const RequestPlan& plan = search_.plan_->request(request);
  absl::flat_hash_set<DeviceTwins::Key> tried;
  auto next = std::lower_bound(candidates.begin(), candidates.end(), at.start);
  for (; next != candidates.end() && !choice_.exhausted; ++next) {
    if (search_.IsInUse(at.claim, plan, next->device)) continue;
    if (!search_.HasRoom(request, next->device)) continue;
    if (twins_ != nullptr && !tried.insert(twins_->KeyOf(*next)).second) continue;
    if (!Take(at, request, *next, /*must=*/false)) continue;
    if (MayBeBetter()) Step(NextDevice(at, *next));
    Undo();
  }
}

Choice ChoiceSearch::Run(const NodeView& node, const AllocationSearch& found) {
  ChoiceSolution first;
  first.taken = found.solution_;
  first.chosen = found.chosen_;
  if (&found != &search_) {
    search_.node_ = &node;
    DRASIM_CHECK(search_.Prepare());
  }
  Begin();
  if (Replay(&first)) best_ = first;
  if (MayBeBetter()) {
    if (HasSeveralDevices()) Descend(Position());
    Step(Position());
  }
  // Only where the search has ended early.
  if (descended_.has_value() && (!best_.has_value() || descended_->cost < best_->cost)) {
    best_ = std::move(descended_);
    // In the order of the candidates, request by request.
    auto begin = best_->taken.begin();
    while (begin != best_->taken.end()) {
      const auto end = std::find_if(begin, best_->taken.end(), [&](const TakenDevice& device) {
        return device.request != begin->request;
      });
      std::sort(begin, end, [](const TakenDevice& left, const TakenDevice& right) {
        return DevicePlace{left.segment, left.device} < DevicePlace{right.segment, right.device};
      });
      begin = end;
    }
  }
  if (!best_.has_value()) best_ = std::move(first);
  choice_.rank = std::min(best_->rank, kWorstChoiceRank);
  search_.solution_ = std::move(best_->taken);
  search_.chosen_ = std::move(best_->chosen);
  search_.error_.clear();
  search_.ForgetLeftovers();
  return choice_;
}

}  // namespace drasim
