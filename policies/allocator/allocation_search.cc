#include "policies/allocator/allocation_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

void AppendAmount(const ExactAmount& amount, std::string* text) {
  absl::StrAppend(text, "=", absl::Int128High64(amount), ".", absl::Int128Low64(amount));
}

// Whether the device consumes a negative amount of any counter.
bool GivesBack(const PoolView& pool, uint32_t device) {
  const auto uses = pool.uses.find(device);
  return uses != pool.uses.end() &&
         std::any_of(uses->second.begin(), uses->second.end(),
                     [](const CounterUse& use) { return use.amount < 0; });
}

}  // namespace

AllocationSearch::AllocationSearch(NodePools* pools, SelectorVerdicts* verdicts,
                                   const UseIndex* use, ClaimPlan* plan)
    : pools_(pools),
      catalog_(pools->catalog()),
      options_(pools->options()),
      verdicts_(verdicts),
      use_(use),
      plan_(plan),
      listed_(plan->request_count()),
      claims_of_device_(catalog_.devices().size()) {
  for (const PlannedClaim& claim : plan->claims()) {
    taken_of_claim_.push_back(0);
    chosen_.emplace_back(claim.groups.size());
    constraints_.emplace_back();
    values_.emplace_back(claim.constraints.size());
    for (const ConstraintPlan& constraint : claim.constraints) {
      constraints_.back().emplace_back(constraint.distinct, options_.features.list_type_attributes);
    }
  }
}

AllocationSearch::Outcome AllocationSearch::Fail(std::string error) {
  error_ = std::move(error);
  return Outcome::kError;
}

AllocationSearch::Outcome AllocationSearch::Run(const NodeView& node) {
  node_ = &node;
  steps_ = 0;
  error_.clear();
  solution_.clear();
  if (!node.error.empty()) return Fail(node.error);
  if (!Prepare()) return Outcome::kError;
  pruning_ = nullptr;
  const int64_t unlimited = std::numeric_limits<int64_t>::max();
  budget_ = options_.count_steps ? unlimited : options_.steps_before_pruning;
  Outcome outcome = Step(Position());
  if (outcome == Outcome::kGaveUp) {
    budget_ = unlimited;
    if (!PreparePruning()) pruning_ = nullptr;
    outcome = Step(Position());
  }
  if (outcome == Outcome::kFound) {
    solution_ = taken_;
    while (!taken_.empty()) Undo();
  }
  return outcome == Outcome::kTooMany ? Outcome::kNone : outcome;
}

bool AllocationSearch::Prepare() {
  for (const PlannedClaim& claim : plan_->claims()) {
    int64_t devices = 0;
    for (const RequestGroup& group : claim.groups) {
      error_ = group.error;
      if (!error_.empty()) return false;
      int64_t least = std::numeric_limits<int64_t>::max();
      for (const uint32_t option : group.options) {
        const RequestPlan& request = plan_->request(option);
        error_ = request.error;
        if (!error_.empty()) return false;
        if (request.all && !PrepareAll(option)) return false;
        const int64_t count =
            request.all ? static_cast<int64_t>(listed_[option].size()) : request.count;
        least = std::min(least, count);
      }
      if (least > kMaxClaimResults - devices) {
        error_ = absl::StrCat("claim ", claim.text, ", request ", group.name, ": adding ", least,
                              " devices exceeds the claim limit of ", kMaxClaimResults, ", with ",
                              devices, " already accounted for");
        return false;
      }
      devices += least;
    }
    error_ = claim.error;
    if (!error_.empty()) return false;
  }
  return true;
}

bool AllocationSearch::PrepareAll(uint32_t request) {
  const RequestPlan& plan = plan_->request(request);
  const std::string subject = absl::StrCat("claim ", plan_->claims()[plan.claim].text, ", request ",
                                           plan.name, ": asks for all devices, but resource pool ");
  listed_[request].clear();
  size_t segment = 0;
  for (const PoolView* pool : node_->pools) {
    if (pool->incomplete || pool->invalid) {
      error_ = absl::StrCat(subject, catalog_.pools()[pool->pool].Text(), " is currently ",
                            pool->incomplete ? "being updated" : "invalid");
      return false;
    }
    for (; segment < node_->segments.size() && node_->segments[segment].pool == pool; ++segment) {
      const DeviceSegment& devices = node_->segments[segment];
      if (!node_->FitsOperations(devices, options_.features.optional_node_operations)) continue;
      for (uint32_t device = devices.begin; device < devices.end; ++device) {
        const uint32_t kind = catalog_.devices()[device].kind;
        const KindVerdict verdict = plan_->VerdictOf(request, kind);
        if (verdict == KindVerdict::kSelectorError) {
          error_ = plan_->SelectorError(request, kind, DeviceText(device));
          return false;
        }
        if (verdict == KindVerdict::kNo || !node_->Allows(devices, device)) continue;
        if (verdict == KindVerdict::kCapacityError) {
          error_ = plan_->CapacityError(request, kind, catalog_.devices()[device].device->name());
          return false;
        }
        listed_[request].push_back({static_cast<uint32_t>(segment), device});
      }
    }
  }
  return true;
}

bool AllocationSearch::ListCandidates(uint32_t request) {
  const RequestPlan& plan = plan_->request(request);
  const bool gate = options_.features.optional_node_operations;
  std::vector<DevicePlace> candidates;
  for (uint32_t segment = 0; segment < node_->segments.size(); ++segment) {
    const DeviceSegment& devices = node_->segments[segment];
    if (!node_->FitsOperations(devices, gate)) continue;
    for (uint32_t device = devices.begin; device < devices.end; ++device) {
      if (!plan.admin && use_->IsDedicated(device)) continue;
      const KindVerdict verdict = plan_->VerdictOf(request, catalog_.devices()[device].kind);
      if (verdict == KindVerdict::kSelectorError) return false;
      if (verdict == KindVerdict::kNo || verdict == KindVerdict::kRefused) continue;
      if (!node_->Allows(devices, device)) continue;
      if (verdict == KindVerdict::kCapacityError) return false;
      // Bounds hold only if devices are taken once and take something.
      const bool repeats = catalog_.devices()[device].multiple && !SearchIsSorted(options_);
      if (repeats || GivesBack(*devices.pool, device)) return false;
      candidates.push_back({segment, device});
    }
  }
  pruning_->SetCandidates(request, std::move(candidates));
  return true;
}

bool AllocationSearch::PreparePruning() {
  pruning_ = std::make_unique<SearchPruning>(plan_->request_count());
  for (uint32_t request = 0; request < plan_->request_count(); ++request) {
    const RequestPlan& plan = plan_->request(request);
    const std::vector<ConstraintPlan>& constraints = plan_->claims()[plan.claim].constraints;
    const bool constrained =
        std::any_of(constraints.begin(), constraints.end(),
                    [request](const ConstraintPlan& one) { return one.applies[request]; });
    // Both meet errors while devices are taken.
    if (constrained && (plan.all || !plan.derived_list.empty())) return false;
    if (!plan.all && !ListCandidates(request)) return false;
  }
  for (uint32_t request = 0; request < plan_->request_count(); ++request) {
    for (const DevicePlace& place : pruning_->candidates(request)) {
      if (!pruning_->has_class(place.device)) {
        pruning_->SetClass(place.device, ClassOf(place));
      }
    }
  }
  for (uint32_t claim = 0; claim < plan_->claims().size(); ++claim) IndexMatches(claim);
  return true;
}

void AllocationSearch::IndexMatches(uint32_t claim) {
  const PlannedClaim& planned = plan_->claims()[claim];
  std::vector<std::unique_ptr<MatchIndex>> matches(planned.constraints.size());
  for (size_t i = 0; i < matches.size(); ++i) {
    const ConstraintPlan& constraint = planned.constraints[i];
    if (constraint.distinct) continue;
    matches[i] = std::make_unique<MatchIndex>();
    for (const RequestGroup& group : planned.groups) {
      for (const uint32_t option : group.options) {
        if (!constraint.applies[option]) continue;
        for (const DevicePlace& place : pruning_->candidates(option)) {
          const bool shared = catalog_.devices()[place.device].multiple;
          matches[i]->Add(option, place, shared, *ValueFor(claim, i, option, place.device));
        }
      }
    }
    matches[i]->Finish(planned, constraint, *plan_);
  }
  pruning_->AddClaim(std::move(matches));
}

// Devices with equal texts can be exchanged in any solution.
std::string AllocationSearch::ClassOf(const DevicePlace& place) {
  const CatalogDevice& row = catalog_.devices()[place.device];
  const DeviceSegment& segment = node_->segments[place.segment];
  std::string text = absl::StrCat(
      row.multiple ? "m" : "", use_->IsDedicated(place.device), use_->IsShared(place.device),
      node_->Allows(segment, place.device), segment.skips_node_operations, " ");
  for (uint32_t request = 0; request < plan_->request_count(); ++request) {
    absl::StrAppend(&text, static_cast<int>(plan_->VerdictOf(request, row.kind)));
  }
  for (uint32_t claim = 0; claim < values_.size(); ++claim) {
    for (size_t i = 0; i < values_[claim].size(); ++i) {
      // Requests that derive attributes under a constraint are not pruned: any other will do.
      const ConstraintPlan& constraint = plan_->claims()[claim].constraints[i];
      uint32_t request = 0;
      while (request < constraint.applies.size() && !constraint.applies[request]) ++request;
      if (request == constraint.applies.size()) continue;
      const ConstraintValue* value = ValueFor(claim, i, request, place.device);
      absl::StrAppend(&text, " ", static_cast<int>(value->form));
      for (const DeviceValue& element : value->elements) {
        absl::StrAppend(&text, ",", static_cast<int>(element.kind), ":", element.bits);
      }
    }
  }
  const DeviceKind& kind = catalog_.kinds()[row.kind];
  // Amounts matter where several shares meet.
  if (row.multiple) absl::StrAppend(&text, " c", kind.capacities);
  if (const std::vector<ExactAmount>* consumed = use_->ConsumedOf(place.device)) {
    absl::StrAppend(&text, " c", kind.capacities);
    for (const ExactAmount& amount : *consumed) AppendAmount(amount, &text);
  }
  if (!kind.consumes_counters) return text;
  absl::StrAppend(&text, " p", segment.pool->id);
  for (const CounterUse& use : segment.pool->uses.at(place.device)) {
    absl::StrAppend(&text, " ", use.counter);
    AppendAmount(use.amount, &text);
  }
  const auto groups = segment.pool->group_uses.find(place.device);
  if (groups == segment.pool->group_uses.end()) return text;
  for (const GroupUse& group : groups->second) {
    absl::StrAppend(&text, " g", group.set);
    for (const TextId name : group.groups) absl::StrAppend(&text, ",", name.value());
  }
  return text;
}

AllocationSearch::Outcome AllocationSearch::Step(const Position& at) {
  if (++steps_ > budget_) return Outcome::kGaveUp;
  if (at.claim >= plan_->claims().size()) return Outcome::kFound;
  const PlannedClaim& claim = plan_->claims()[at.claim];
  if (at.group >= claim.groups.size()) {
    Position next;
    next.claim = at.claim + 1;
    const Outcome outcome = Step(next);
    return outcome == Outcome::kTooMany ? Outcome::kNone : outcome;
  }
  const RequestGroup& group = claim.groups[at.group];
  const bool begins = at.number == 0 && at.option < 0;
  if (pruning_ != nullptr && begins && !MayComplete(at.claim, at.group)) return Outcome::kNone;
  if (group.prioritized && at.option < 0) return TryOptions(at);
  const uint32_t request = group.options[at.option < 0 ? 0 : static_cast<size_t>(at.option)];
  const RequestPlan& plan = plan_->request(request);
  if (plan.all && listed_[request].empty()) return Outcome::kNone;
  const int64_t count = plan.all ? static_cast<int64_t>(listed_[request].size()) : plan.count;
  if (at.number >= count) {
    Position next;
    next.claim = at.claim;
    next.group = at.group + 1;
    return Step(next);
  }
  if (count - at.number > kMaxClaimResults - taken_of_claim_[at.claim]) return Outcome::kTooMany;
  if (plan.all) return TakeListed(at, request);
  return pruning_ == nullptr ? TakeAny(at, request) : TakePruned(at, request);
}

AllocationSearch::Outcome AllocationSearch::TryOptions(const Position& at) {
  const RequestGroup& group = plan_->claims()[at.claim].groups[at.group];
  bool all_exceed = true;
  for (size_t option = 0; option < group.options.size(); ++option) {
    Position next = at;
    next.option = static_cast<int32_t>(option);
    const Outcome outcome = Step(next);
    if (outcome == Outcome::kTooMany) continue;
    all_exceed = false;
    if (outcome == Outcome::kError || outcome == Outcome::kGaveUp) return outcome;
    if (outcome != Outcome::kFound) continue;
    chosen_[at.claim][at.group] = static_cast<uint32_t>(option);
    return outcome;
  }
  return all_exceed ? Outcome::kTooMany : Outcome::kNone;
}

AllocationSearch::Outcome AllocationSearch::NextDevice(const Position& at, Place start) {
  Position next = at;
  ++next.number;
  next.start = SearchIsSorted(options_) ? start : Place();
  return Step(next);
}

AllocationSearch::Outcome AllocationSearch::TakeListed(const Position& at, uint32_t request) {
  const Place place = listed_[request][static_cast<size_t>(at.number)];
  const Outcome taken = Take(at.claim, request, place, /*must=*/true);
  if (taken != Outcome::kFound) return taken;
  const Outcome outcome = NextDevice(at, Place());
  if (outcome != Outcome::kFound) Undo();
  return outcome;
}

AllocationSearch::Outcome AllocationSearch::TakeAny(const Position& at, uint32_t request) {
  const RequestPlan& plan = plan_->request(request);
  const size_t segments = node_->segments.size();
  for (uint32_t segment = at.start.segment; segment < segments; ++segment) {
    const DeviceSegment& devices = node_->segments[segment];
    if (!node_->FitsOperations(devices, options_.features.optional_node_operations)) continue;
    const bool resumed = segment == at.start.segment && at.start.device > devices.begin;
    for (uint32_t device = resumed ? at.start.device : devices.begin; device < devices.end;
         ++device) {
      if (IsInUse(at.claim, plan, device)) continue;
      const uint32_t kind = catalog_.devices()[device].kind;
      const KindVerdict verdict = plan_->VerdictOf(request, kind);
      if (verdict == KindVerdict::kNo || verdict == KindVerdict::kRefused) continue;
      if (verdict == KindVerdict::kSelectorError) {
        return Fail(plan_->SelectorError(request, kind, DeviceText(device)));
      }
      if (!node_->Allows(devices, device)) continue;
      if (verdict == KindVerdict::kCapacityError) {
        return Fail(plan_->CapacityError(request, kind, DeviceText(device)));
      }
      if (!HasRoom(request, device)) continue;
      const Outcome taken = Take(at.claim, request, {segment, device}, /*must=*/false);
      if (taken == Outcome::kError) return taken;
      if (taken == Outcome::kNone) continue;
      const Outcome outcome = NextDevice(at, {segment, device + 1});
      if (outcome == Outcome::kFound) return outcome;
      Undo();
      if (outcome != Outcome::kNone) return outcome;
    }
  }
  return Outcome::kNone;
}

bool AllocationSearch::MayComplete(uint32_t claim, uint32_t group) const {
  for (; claim < plan_->claims().size(); ++claim, group = 0) {
    const PlannedClaim& planned = plan_->claims()[claim];
    for (; group < planned.groups.size(); ++group) {
      const std::vector<uint32_t>& options = planned.groups[group].options;
      const bool may = std::any_of(options.begin(), options.end(), [&](uint32_t option) {
        const RequestPlan& plan = plan_->request(option);
        if (plan.all) return !listed_[option].empty();
        int64_t free = 0;
        for (const DevicePlace& place : pruning_->candidates(option)) {
          if (free >= plan.count) break;
          if (!IsInUse(claim, plan, place.device)) ++free;
        }
        return free >= plan.count;
      });
      if (!may) return false;
    }
  }
  return true;
}

const std::vector<DevicePlace>& AllocationSearch::CandidatesNow(uint32_t claim,
                                                                uint32_t request) const {
  const std::vector<DevicePlace>* fewest = &pruning_->candidates(request);
  const PlannedClaim& planned = plan_->claims()[claim];
  for (size_t i = 0; i < planned.constraints.size(); ++i) {
    if (!planned.constraints[i].applies[request]) continue;
    const DeviceValue* element = constraints_[claim][i].FixedElement();
    if (element == nullptr) continue;
    const std::vector<DevicePlace>& having = pruning_->match(claim, i)->Having(request, *element);
    if (having.size() < fewest->size()) fewest = &having;
  }
  return *fewest;
}

bool AllocationSearch::MayMatch(uint32_t claim, uint32_t request, uint32_t device) {
  const PlannedClaim& planned = plan_->claims()[claim];
  for (size_t i = 0; i < planned.constraints.size(); ++i) {
    const MatchIndex* match = pruning_->match(claim, i);
    if (match == nullptr || !planned.constraints[i].applies[request]) continue;
    if (constraints_[claim][i].size() > 0) continue;
    if (!match->MayBegin(*ValueFor(claim, i, request, device))) return false;
  }
  return true;
}

AllocationSearch::Outcome AllocationSearch::TakePruned(const Position& at, uint32_t request) {
  const RequestPlan& plan = plan_->request(request);
  const std::vector<DevicePlace>& candidates = CandidatesNow(at.claim, request);
  size_t next = static_cast<size_t>(
      std::lower_bound(candidates.begin(), candidates.end(), at.start) - candidates.begin());
  const auto in_use = [&](size_t i) { return IsInUse(at.claim, plan, candidates[i].device); };
  int64_t free = 0;
  for (size_t i = next; i < candidates.size(); ++i) free += in_use(i) ? 0 : 1;
  const int64_t wanted = plan.count - at.number;
  // Where each set of devices is tried once, devices that are passed over do not come back.
  const bool sorted = SearchIsSorted(options_);
  if (free < wanted || CountersAllow(at, request, candidates, next) < wanted) {
    return Outcome::kNone;
  }
  TriedClasses tried;
  for (; next < candidates.size() && (!sorted || free >= wanted); ++next) {
    const DevicePlace& place = candidates[next];
    if (in_use(next)) continue;
    --free;
    const uint64_t others = claims_of_device_[place.device];
    const bool is_shared = shares_.contains(place.device);
    const uint32_t device_class = pruning_->class_of(place.device);
    if (!is_shared && !tried.Add(device_class, others)) continue;
    if (!MayMatch(at.claim, request, place.device)) continue;
    if (!HasRoom(request, place.device)) continue;
    const Outcome taken = Take(at.claim, request, place, /*must=*/false);
    if (taken == Outcome::kNone) continue;
    if (taken != Outcome::kFound) return taken;
    const Outcome outcome = NextDevice(at, {place.segment, place.device + 1});
    if (outcome == Outcome::kFound) return outcome;
    Undo();
    if (outcome != Outcome::kNone) return outcome;
  }
  return Outcome::kNone;
}

int64_t AllocationSearch::CountersAllow(const Position& at, uint32_t request,
                                        const std::vector<DevicePlace>& candidates, size_t next) {
  const RequestPlan& plan = plan_->request(request);
  CounterBound bound;
  for (size_t i = next; i < candidates.size(); ++i) {
    const uint32_t device = candidates[i].device;
    if (IsInUse(at.claim, plan, device)) continue;
    const PoolView& pool = *node_->segments[candidates[i].segment].pool;
    const bool charged = Charges(plan, device);
    bound.Add(pool, charged ? &StateOf(pool) : nullptr, device);
  }
  return bound.most();
}

bool AllocationSearch::IsInUse(uint32_t claim, const RequestPlan& request, uint32_t device) const {
  if (request.admin) return (claims_of_device_[device] >> claim & 1) != 0;
  return use_->IsDedicated(device) || claims_of_device_[device] != 0;
}

bool AllocationSearch::HasRoom(uint32_t request, uint32_t device) const {
  if (!options_.features.consumable_capacity) return true;
  const std::vector<ExactAmount>* consumed = use_->ConsumedOf(device);
  const auto shares = shares_.find(device);
  if (consumed == nullptr && shares == shares_.end()) return true;
  const DeviceKind& kind = catalog_.kinds()[catalog_.devices()[device].kind];
  const CapacityDemand& demand = plan_->DemandOf(request, kind.capacities);
  const DeviceCapacities& capacities = catalog_.capacities(kind.capacities);
  for (size_t i = 0; i < capacities.size(); ++i) {
    ExactAmount sum = demand.nanos[i];
    if (consumed != nullptr) sum += (*consumed)[i];
    if (shares != shares_.end()) sum += shares->second.amounts[i];
    if (sum > capacities[i].nanos) return false;
  }
  return true;
}

PoolState& AllocationSearch::StateOf(const PoolView& pool) {
  if (pool_states_.size() <= pool.id) pool_states_.resize(pools_->view_count());
  std::unique_ptr<PoolState>& state = pool_states_[pool.id];
  if (state == nullptr) state = std::make_unique<PoolState>(pool, *use_);
  return *state;
}

bool AllocationSearch::Charges(const RequestPlan& request, uint32_t device) const {
  const CatalogDevice& row = catalog_.devices()[device];
  if (!catalog_.kinds()[row.kind].consumes_counters) return false;
  if (request.admin && !options_.strict_upstream) return false;
  if (!row.multiple || !options_.features.consumable_capacity) return true;
  // The first share pays for all; one with admin access may not have paid.
  const auto shares = shares_.find(device);
  return !use_->IsShared(device) && (shares == shares_.end() || shares->second.paid == 0);
}

AllocationSearch::Outcome AllocationSearch::Take(uint32_t claim, uint32_t request, Place place,
                                                 bool must) {
  const RequestPlan& plan = plan_->request(request);
  const uint32_t device = place.device;
  const CatalogDevice& row = catalog_.devices()[device];
  const DeviceKind& kind = catalog_.kinds()[row.kind];
  const bool share = row.multiple && options_.features.consumable_capacity;
  const bool in_use = plan.admin && share ? false : IsInUse(claim, plan, device);
  if (in_use) return Outcome::kNone;
  if (plan_->VerdictOf(request, row.kind) == KindVerdict::kRefused) return Outcome::kNone;
  const bool charge = Charges(plan, device);
  const PoolView& pool = *node_->segments[place.segment].pool;
  if (charge && !StateOf(pool).Charge(device)) return Outcome::kNone;
  Outcome outcome = AddToConstraints(claim, request, device, must);
  if (outcome == Outcome::kFound && must && !HasRoom(request, device)) {
    RemoveFromConstraints(claim, request, plan_->claims()[claim].constraints.size());
    outcome = Outcome::kNone;
  }
  if (outcome != Outcome::kFound) {
    if (charge) StateOf(pool).Discharge(device);
    return outcome;
  }
  if (share) {
    Shares& shares = shares_[device];
    const CapacityDemand& demand = plan_->DemandOf(request, kind.capacities);
    shares.amounts.resize(demand.nanos.size());
    for (size_t i = 0; i < demand.nanos.size(); ++i) shares.amounts[i] += demand.nanos[i];
    ++shares.count;
    shares.paid += charge ? 1 : 0;
  } else {
    claims_of_device_[device] |= uint64_t{1} << claim;
  }
  taken_.push_back({claim, request, device, pool.id, charge, share});
  ++taken_of_claim_[claim];
  return Outcome::kFound;
}

void AllocationSearch::Undo() {
  const TakenDevice last = taken_.back();
  taken_.pop_back();
  --taken_of_claim_[last.claim];
  if (last.shared) {
    Shares& shares = shares_[last.device];
    const DeviceKind& kind = catalog_.kinds()[catalog_.devices()[last.device].kind];
    const CapacityDemand& demand = plan_->DemandOf(last.request, kind.capacities);
    for (size_t i = 0; i < demand.nanos.size(); ++i) shares.amounts[i] -= demand.nanos[i];
    shares.paid -= last.charged ? 1 : 0;
    if (--shares.count == 0) shares_.erase(last.device);
  } else {
    claims_of_device_[last.device] &= ~(uint64_t{1} << last.claim);
  }
  RemoveFromConstraints(last.claim, last.request, plan_->claims()[last.claim].constraints.size());
  if (last.charged) pool_states_[last.pool]->Discharge(last.device);
}

AllocationSearch::Outcome AllocationSearch::AddToConstraints(uint32_t claim, uint32_t request,
                                                             uint32_t device, bool must) {
  const PlannedClaim& planned = plan_->claims()[claim];
  for (size_t i = 0; i < planned.constraints.size(); ++i) {
    if (!planned.constraints[i].applies[request]) continue;
    const ConstraintValue* value = ValueFor(claim, i, request, device);
    const bool added = value != nullptr && constraints_[claim][i].Add(*value);
    if (added) continue;
    RemoveFromConstraints(claim, request, i);
    if (value == nullptr) return Outcome::kError;
    if (!must) return Outcome::kNone;
    return Fail(absl::StrCat("claim ", planned.text, ", request ", plan_->request(request).name,
                             ": cannot add device ", DeviceText(device),
                             " because a claim constraint would not be satisfied"));
  }
  return Outcome::kFound;
}

void AllocationSearch::RemoveFromConstraints(uint32_t claim, uint32_t request, size_t count) {
  const PlannedClaim& planned = plan_->claims()[claim];
  for (size_t i = 0; i < count; ++i) {
    if (planned.constraints[i].applies[request]) constraints_[claim][i].Remove();
  }
}

const ConstraintValue* AllocationSearch::ValueFor(uint32_t claim, size_t constraint,
                                                  uint32_t request, uint32_t device) {
  const bool derives = !plan_->request(request).derived_list.empty();
  const uint64_t key =
      static_cast<uint64_t>(derives ? request + 1 : 0) << 32 | catalog_.devices()[device].kind;
  std::unique_ptr<ConstraintValue>& value = values_[claim][constraint][key];
  if (value == nullptr) {
    absl::StatusOr<ConstraintValue> found =
        FindValue(plan_->claims()[claim].constraints[constraint].attribute, request, device);
    if (!found.ok()) {
      error_ = std::string(found.status().message());
      return nullptr;
    }
    value = std::make_unique<ConstraintValue>(*std::move(found));
  }
  return value.get();
}

absl::StatusOr<ConstraintValue> AllocationSearch::FindValue(const std::string& attribute,
                                                            uint32_t request, uint32_t device) {
  const bool lists = options_.features.list_type_attributes;
  const DeviceRow row = catalog_.kinds()[catalog_.devices()[device].kind].row;
  DeviceColumns& columns = pools_->catalog().columns();
  for (const proto::kube::DerivedAttribute* derived : plan_->request(request).derived_list) {
    if (derived->name() != attribute) continue;
    const absl::StatusOr<DeviceValue> value = verdicts_->Derive(derived->expression(), row);
    if (value.ok()) return ConstraintValueOf(columns, *value, lists);
    return absl::InvalidArgumentError(absl::StrCat("evaluate derived attribute ", attribute,
                                                   " on device ", DeviceText(device),
                                                   " failed: ", value.status().message()));
  }
  const size_t slash = attribute.find('/');
  const LayoutId layout = columns.layout(row);
  const TextId driver = columns.driver(row);
  const bool full = slash != std::string::npos;
  const TextId domain = full ? columns.texts().Intern(attribute.substr(0, slash)) : driver;
  const TextId id = columns.texts().Intern(full ? attribute.substr(slash + 1) : attribute);
  int slot = columns.ExactAttributeSlot(layout, domain, id, /*bare=*/!full);
  if (slot < 0 && full && domain == driver) {
    slot = columns.ExactAttributeSlot(layout, domain, id, /*bare=*/true);
  }
  if (slot < 0) return ConstraintValue();
  return ConstraintValueOf(columns, columns.values(row)[static_cast<size_t>(slot)], lists);
}

std::string AllocationSearch::DeviceText(uint32_t device) const {
  const CatalogDevice& row = catalog_.devices()[device];
  return absl::StrCat(catalog_.pools()[catalog_.slices()[row.slice].pool].Text(), "/",
                      row.device->name());
}

}  // namespace drasim
