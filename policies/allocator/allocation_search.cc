#include "policies/allocator/allocation_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "policies/allocator/search_counts.h"
#include "policies/allocator/search_pruning.h"

namespace drasim {
AllocationSearch::AllocationSearch(NodePools* pools, SelectorVerdicts* verdicts,
                                   const UseIndex* use, ClaimPlan* plan,
                                   SearchPrunerMaker make_pruner, const ReleaseRules* rules)
    : pools_(pools),
      catalog_(pools->catalog()),
      options_(pools->options()),
      rules_(rules == nullptr ? pools->rules() : *rules),
      verdicts_(verdicts),
      use_(use),
      plan_(plan),
      make_pruner_(std::move(make_pruner)),
      listed_(plan->request_count()),
      claims_of_device_(pools->TakeMarks()) {
  for (const PlannedClaim& claim : plan->claims()) {
    taken_of_claim_.push_back(0);
    chosen_.emplace_back(claim.groups.size());
    constraints_.emplace_back();
    values_.emplace_back(claim.constraints.size());
    for (const ConstraintPlan& constraint : claim.constraints) {
      constraints_.back().emplace_back(constraint.distinct, options_.features.list_type_attributes,
                                       rules_);
    }
  }
}

AllocationSearch::~AllocationSearch() { pools_->ReturnMarks(std::move(claims_of_device_)); }

AllocationSearch::Outcome AllocationSearch::Fail(std::string error) {
  error_ = std::move(error);
  return Outcome::kError;
}

AllocationSearch::Outcome AllocationSearch::Run(const NodeView& node) {
  tried_ = 0;
  const Outcome outcome = Search(node);
  if (SearchCounts* const counts = options_.counts; counts != nullptr) {
    ++counts->searches;
    counts->steps += static_cast<uint64_t>(steps_);
    counts->candidates += tried_;
  }
  return outcome;
}

AllocationSearch::Outcome AllocationSearch::Search(const NodeView& node) {
  node_ = &node;
  steps_ = 0;
  error_.clear();
  solution_.clear();
  if (!node.error.empty()) return Fail(node.error);
  if (!Prepare()) return Outcome::kError;
  pruner_ = nullptr;
  const int64_t unlimited = std::numeric_limits<int64_t>::max();
  budget_ = options_.count_steps ? unlimited : options_.steps_before_pruning;
  Outcome outcome = Step(Position());
  if (outcome == Outcome::kGaveUp) {
    if (options_.counts != nullptr) options_.counts->steps += static_cast<uint64_t>(steps_);
    ForgetLeftovers();
    budget_ = unlimited;
    steps_ = 0;
    has_failed_ = false;
    pruner_ = make_pruner_(this);
    if (DependsOnTheWay() || !pruner_->Prepare()) pruner_ = nullptr;
    outcome = Step(Position());
  }
  if (outcome == Outcome::kFound) {
    solution_ = taken_;
    while (!taken_.empty()) Undo();
  }
  ForgetLeftovers();
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
        error_ = absl::StrCat("claim ", claim.text(), ", request ", group.name, ": adding ", least,
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
  const std::string subject =
      absl::StrCat("claim ", plan_->claims()[plan.claim].text(), ", request ", plan.name,
                   ": asks for all devices, but resource pool ");
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
        if (!rules_.all_by_size && !HasRoom(request, device)) continue;
        listed_[request].push_back({static_cast<uint32_t>(segment), device});
      }
    }
  }
  return true;
}

bool AllocationSearch::DependsOnTheWay() const {
  if (node_->invalid_pool != nullptr) return true;
  const DraFeatures& features = options_.features;
  if (!rules_.gives_back && (features.partitionable_devices || features.consumable_capacity)) {
    return true;
  }
  return std::any_of(
      plan_->claims().begin(), plan_->claims().end(), [&](const PlannedClaim& claim) {
        return std::any_of(claim.constraints.begin(), claim.constraints.end(),
                           [&](const ConstraintPlan& constraint) {
                             return constraint.distinct
                                        ? !rules_.distinct_by_device
                                        : !rules_.restores_common && features.list_type_attributes;
                           });
      });
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
  return pruner_ == nullptr ? TakeGroup(at) : StepPruned(at);
}

AllocationSearch::Outcome AllocationSearch::StepPruned(const Position& at) {
  if (pruner_->CannotComplete(at, /*jointly=*/steps_ == 1 || has_failed_)) return Outcome::kNone;
  const bool begins = at.number == 0 && at.option < 0;
  if (!begins || !has_failed_ || !pruner_->IsSafeFrom(at)) return TakeGroup(at);
  std::string state = pruner_->StateAt(at);
  if (pruner_->HasFailed(state)) return Outcome::kNone;
  const Outcome outcome = TakeGroup(at);
  if (outcome == Outcome::kNone) pruner_->SetFailed(std::move(state));
  return outcome;
}

AllocationSearch::Outcome AllocationSearch::TakeGroup(const Position& at) {
  const RequestGroup& group = plan_->claims()[at.claim].groups[at.group];
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
  const bool prunes = pruner_ != nullptr && pruner_->IsSafe(at.claim, request);
  return prunes ? TakePruned(at, request) : TakeAny(at, request);
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

AllocationSearch::Outcome AllocationSearch::NextDevice(const Position& at, Place start,
                                                       bool in_order) {
  Position next = at;
  ++next.number;
  next.start = in_order ? start : Place();
  return Step(next);
}

AllocationSearch::Outcome AllocationSearch::TakeListed(const Position& at, uint32_t request) {
  const Place place = listed_[request][static_cast<size_t>(at.number)];
  const Outcome taken = Take(at.claim, request, place, /*must=*/true);
  if (taken != Outcome::kFound) return taken;
  const Outcome outcome = NextDevice(at, Place(), /*in_order=*/false);
  if (outcome != Outcome::kFound) Undo();
  return outcome;
}

bool AllocationSearch::MeetsInvalidPool(size_t segment) {
  if (node_->invalid_pool == nullptr || segment < node_->invalid_before_segment) return false;
  const PoolView& pool = *node_->invalid_pool;
  error_ =
      absl::StrCat("pool ", catalog_.pools()[pool.pool].name, " is invalid: ", pool.invalid_reason);
  return true;
}

AllocationSearch::Outcome AllocationSearch::TakeAny(const Position& at, uint32_t request) {
  const RequestPlan& plan = plan_->request(request);
  const size_t segments = node_->segments.size();
  for (uint32_t segment = at.start.segment; segment < segments; ++segment) {
    if (node_->invalid_pool != nullptr && MeetsInvalidPool(segment)) return Outcome::kError;
    const DeviceSegment& devices = node_->segments[segment];
    if (!node_->FitsOperations(devices, options_.features.optional_node_operations)) continue;
    const bool resumed = segment == at.start.segment && at.start.device > devices.begin;
    for (uint32_t device = resumed ? at.start.device : devices.begin; device < devices.end;
         ++device) {
      if (IsInUse(at.claim, plan, device)) continue;
      const uint32_t kind = catalog_.devices()[device].kind;
      const KindVerdict verdict = plan_->VerdictOf(request, kind);
      if (verdict == KindVerdict::kNo) continue;
      // Before 1.36 a refused device leaves its traces.
      if (verdict == KindVerdict::kRefused && rules_.gives_back) continue;
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
      const Outcome outcome = NextDevice(at, {segment, device + 1}, SearchIsSorted(options_));
      if (outcome == Outcome::kFound) return outcome;
      Undo();
      if (outcome != Outcome::kNone) return outcome;
      has_failed_ = true;
    }
  }
  return MeetsInvalidPool(segments) ? Outcome::kError : Outcome::kNone;
}

AllocationSearch::Outcome AllocationSearch::TakePruned(const Position& at, uint32_t request) {
  const RequestPlan& plan = plan_->request(request);
  const std::vector<DevicePlace>& candidates = pruner_->CandidatesNow(at.claim, request);
  size_t next = static_cast<size_t>(
      std::lower_bound(candidates.begin(), candidates.end(), at.start) - candidates.begin());
  const bool exchanges = pruner_->IsSafeFrom(at);
  // Where each set of devices is tried once, devices that are passed over do not come back.
  const bool in_order = SearchIsSorted(options_) || (exchanges && pruner_->order_is_free());
  bool failed = false;
  TriedClasses tried;
  for (; next < candidates.size(); ++next) {
    if (in_order && failed &&
        !pruner_->HasFree(at.claim, request, candidates, next, plan.count - at.number)) {
      return Outcome::kNone;
    }
    const DevicePlace& place = candidates[next];
    if (IsInUse(at.claim, plan, place.device)) continue;
    const TriedClasses::Key device_class = pruner_->ClassOf(place);
    const bool is_new = tried.Add(device_class);
    if (exchanges && (!is_new || !pruner_->MayMatch(at.claim, request, place.device))) continue;
    if (!HasRoom(request, place.device)) continue;
    const Outcome taken = Take(at.claim, request, place, /*must=*/false);
    if (taken == Outcome::kNone) continue;
    if (taken != Outcome::kFound) return taken;
    const Outcome outcome = NextDevice(at, {place.segment, place.device + 1}, in_order);
    if (outcome == Outcome::kFound) return outcome;
    Undo();
    if (outcome != Outcome::kNone) return outcome;
    failed = true;
    has_failed_ = true;
  }
  return Outcome::kNone;
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
  if (state == nullptr) state = std::make_unique<PoolState>(pool, *use_, rules_);
  return *state;
}

bool AllocationSearch::Charges(const RequestPlan& request, uint32_t device) const {
  const CatalogDevice& row = catalog_.devices()[device];
  if (!catalog_.kinds()[row.kind].consumes_counters) return false;
  if (request.admin && !options_.strict_upstream) return false;
  // The first share pays for all, unless it has admin access and need not pay.
  const bool share = row.multiple && options_.features.consumable_capacity;
  if (!share || !rules_.first_share_pays) return true;
  const bool is_shared =
      rules_.bare_shares_count ? use_->IsShared(device) : use_->ConsumedOf(device) != nullptr;
  const auto shares = shares_.find(device);
  return !is_shared && (shares == shares_.end() || shares->second.paid == 0);
}

AllocationSearch::Outcome AllocationSearch::Take(uint32_t claim, uint32_t request, Place place,
                                                 bool must) {
  ++tried_;
  const RequestPlan& plan = plan_->request(request);
  const uint32_t device = place.device;
  const CatalogDevice& row = catalog_.devices()[device];
  const DeviceKind& kind = catalog_.kinds()[row.kind];
  const bool share = row.multiple && options_.features.consumable_capacity;
  const bool in_use = plan.admin && share ? false : IsInUse(claim, plan, device);
  if (in_use) return Outcome::kNone;
  const bool charge = Charges(plan, device);
  const bool refused = plan_->VerdictOf(request, row.kind) == KindVerdict::kRefused;
  const PoolView& pool = *node_->segments[place.segment].pool;
  if (refused && (rules_.gives_back || !options_.features.partitionable_devices)) {
    return Outcome::kNone;
  }
  if (charge && !StateOf(pool).Charge(device)) return Outcome::kNone;
  const TakenDevice taken = {claim, request, device, place.segment, pool.id, charge, share};
  Outcome outcome = refused ? Outcome::kNone : AddToConstraints(claim, request, device, must);
  const bool lacks_room = outcome == Outcome::kFound && must && !HasRoom(request, device);
  if (lacks_room) outcome = Outcome::kNone;
  if (outcome != Outcome::kFound) {
    GiveUp(claim, request, taken, lacks_room);
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
  taken_.push_back(taken);
  ++taken_of_claim_[claim];
  return Outcome::kFound;
}

void AllocationSearch::GiveUp(uint32_t claim, uint32_t request, const TakenDevice& device,
                              bool lacks_room) {
  if (rules_.gives_back) {
    if (lacks_room) {
      RemoveFromConstraints(claim, request, plan_->claims()[claim].constraints.size());
    }
    if (device.charged) pool_states_[device.pool]->Discharge(device.device);
    return;
  }
  has_leftovers_ = has_leftovers_ || device.charged || lacks_room;
  if (lacks_room && !device.shared) claims_of_device_[device.device] |= uint64_t{1} << claim;
}

void AllocationSearch::ForgetLeftovers() {
  if (!has_leftovers_) return;
  has_leftovers_ = false;
  pool_states_.clear();
  std::fill(claims_of_device_.begin(), claims_of_device_.end(), 0);
  for (size_t claim = 0; claim < constraints_.size(); ++claim) {
    constraints_[claim].clear();
    for (const ConstraintPlan& constraint : plan_->claims()[claim].constraints) {
      constraints_[claim].emplace_back(constraint.distinct, options_.features.list_type_attributes,
                                       rules_);
    }
  }
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
  if (!last.charged) return;
  if (rules_.gives_back || !last.shared) {
    pool_states_[last.pool]->Discharge(last.device);
  } else {
    has_leftovers_ = true;
  }
}

AllocationSearch::Outcome AllocationSearch::AddToConstraints(uint32_t claim, uint32_t request,
                                                             uint32_t device, bool must) {
  const PlannedClaim& planned = plan_->claims()[claim];
  for (size_t i = 0; i < planned.constraints.size(); ++i) {
    if (!planned.constraints[i].applies[request]) continue;
    const ConstraintValue* value = ValueFor(claim, i, request, device);
    const bool added =
        value != nullptr && constraints_[claim][i].Add(*value, plan_->request(request).group);
    if (added) continue;
    RemoveFromConstraints(claim, request, i);
    if (value == nullptr) return Outcome::kError;
    if (!must) return Outcome::kNone;
    return Fail(absl::StrCat("claim ", planned.text(), ", request ", plan_->request(request).name,
                             ": cannot add device ", DeviceText(device),
                             " because a claim constraint would not be satisfied"));
  }
  return Outcome::kFound;
}

void AllocationSearch::RemoveFromConstraints(uint32_t claim, uint32_t request, size_t count) {
  const PlannedClaim& planned = plan_->claims()[claim];
  for (size_t i = 0; i < count; ++i) {
    if (planned.constraints[i].applies[request]) {
      constraints_[claim][i].Remove(plan_->request(request).group);
    }
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
