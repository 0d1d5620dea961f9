#include "policies/allocator/branch_pruner.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "policies/allocator/assignment_bound.h"

namespace drasim {
namespace {

// Failed states are worth their memory only in part of the searches.
constexpr size_t kMaxFailedStates = 200'000;

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

bool BranchPruner::FillReach(uint32_t request) {
  const ClaimPlan& claims = *search_.plan_;
  const RequestPlan& plan = claims.request(request);
  const NodeView& node = *search_.node_;
  Reach& reach = reach_[request];
  const std::vector<ConstraintPlan>& constraints = claims.claims()[plan.claim].constraints;
  const bool constrained =
      std::any_of(constraints.begin(), constraints.end(),
                  [request](const ConstraintPlan& one) { return one.applies[request]; });
  // Values that a request derives are not those of its devices' classes.
  if (constrained && !plan.derived_list.empty()) return false;
  if (plan.all) {
    reach.may_fail = constrained;
    for (const DevicePlace& place : search_.listed_[request]) {
      if (GivesBack(*node.segments[place.segment].pool, place.device)) return false;
    }
    return true;
  }
  const bool gate = search_.options_.features.optional_node_operations;
  for (uint32_t segment = 0; segment < node.segments.size(); ++segment) {
    const DeviceSegment& devices = node.segments[segment];
    if (!node.FitsOperations(devices, gate)) continue;
    for (uint32_t device = devices.begin; device < devices.end; ++device) {
      if (!plan.admin && search_.use_->IsDedicated(device)) continue;
      const CatalogDevice& row = search_.catalog_.devices()[device];
      const KindVerdict verdict = search_.plan_->VerdictOf(request, row.kind);
      if (verdict == KindVerdict::kNo || verdict == KindVerdict::kRefused) continue;
      if (verdict == KindVerdict::kSelectorError) {
        reach.errors.push_back(device);
        continue;
      }
      if (!node.Allows(devices, device)) continue;
      if (verdict == KindVerdict::kCapacityError) {
        reach.errors.push_back(device);
        continue;
      }
      // Bounds hold only if devices are taken once and take something.
      const bool repeats = row.multiple && !SearchIsSorted(search_.options_);
      if (repeats || GivesBack(*devices.pool, device)) return false;
      reach.candidates.push_back({segment, device});
    }
  }
  return true;
}

void BranchPruner::FillLeast(uint32_t request) {
  const RequestPlan& plan = search_.plan_->request(request);
  Reach& reach = reach_[request];
  bool first = true;
  for (const DevicePlace& place : reach.candidates) {
    const PoolView& pool = *search_.node_->segments[place.segment].pool;
    std::vector<ExactAmount> taken(counter_names_.size());
    // Shares of a device are charged once.
    const bool shared = search_.catalog_.devices()[place.device].multiple;
    if (!shared && search_.Charges(plan, place.device)) {
      for (const CounterUse& use : pool.uses.at(place.device)) {
        const TextId name = pool.counter_names[use.counter];
        const auto at = std::find(counter_names_.begin(), counter_names_.end(), name);
        taken[static_cast<size_t>(at - counter_names_.begin())] += use.amount;
      }
    }
    if (first) reach.least = taken;
    first = false;
    for (size_t i = 0; i < taken.size(); ++i) reach.least[i] = std::min(reach.least[i], taken[i]);
  }
  reach.least.resize(counter_names_.size());
}

bool BranchPruner::Prepare() {
  const ClaimPlan& plan = *search_.plan_;
  reach_.resize(plan.request_count());
  bool safe = true;
  for (uint32_t request = 0; request < plan.request_count(); ++request) {
    if (!FillReach(request)) return false;
    safe = safe && reach_[request].errors.empty() && !reach_[request].may_fail;
  }
  for (const PlannedClaim& claim : plan.claims()) {
    int64_t most = 0;
    for (const RequestGroup& group : claim.groups) {
      int64_t largest = 0;
      for (const uint32_t option : group.options) {
        const RequestPlan& request = plan.request(option);
        largest =
            std::max(largest, request.all ? static_cast<int64_t>(search_.listed_[option].size())
                                          : request.count);
      }
      most += std::min(largest, kMaxClaimResults + 1);  // counts may be the greatest there are
    }
    // "Too many devices" ends loops that otherwise go on, and might come to an error.
    if (most > kMaxClaimResults && !safe) return false;
  }
  for (const PoolView* pool : search_.node_->pools) {
    for (const TextId name : pool->counter_names) {
      const auto at = std::find(counter_names_.begin(), counter_names_.end(), name);
      if (at == counter_names_.end()) counter_names_.push_back(name);
    }
  }
  for (uint32_t request = 0; request < plan.request_count(); ++request) FillLeast(request);
  for (uint32_t claim = 0; claim < plan.claims().size(); ++claim) IndexMatches(claim);
  if (SearchIsSorted(search_.options_)) return true;
  // A device without a comparable value may only be the first of a constraint.
  for (uint32_t request = 0; request < plan.request_count(); ++request) {
    const uint32_t claim = plan.request(request).claim;
    const std::vector<ConstraintPlan>& constraints = plan.claims()[claim].constraints;
    for (size_t i = 0; i < constraints.size(); ++i) {
      if (!constraints[i].applies[request]) continue;
      for (const DevicePlace& place : reach_[request].candidates) {
        const ConstraintValue* value = search_.ValueFor(claim, i, request, place.device);
        order_is_free_ = order_is_free_ && value->form != ConstraintValue::Form::kUnknown;
      }
    }
  }
  return true;
}

void BranchPruner::IndexMatches(uint32_t claim) {
  const PlannedClaim& planned = search_.plan_->claims()[claim];
  std::vector<std::unique_ptr<MatchIndex>> matches(planned.constraints.size());
  for (size_t i = 0; i < matches.size(); ++i) {
    const ConstraintPlan& constraint = planned.constraints[i];
    if (constraint.distinct) continue;
    matches[i] = std::make_unique<MatchIndex>();
    for (const RequestGroup& group : planned.groups) {
      for (const uint32_t option : group.options) {
        if (!constraint.applies[option]) continue;
        for (const DevicePlace& place : reach_[option].candidates) {
          const bool shared = search_.catalog_.devices()[place.device].multiple;
          matches[i]->Add(option, place, shared, *search_.ValueFor(claim, i, option, place.device));
        }
      }
    }
    matches[i]->Finish(planned, constraint, *search_.plan_);
  }
  matches_.push_back(std::move(matches));
}

const std::vector<DevicePlace>& BranchPruner::CandidatesNow(uint32_t claim,
                                                            uint32_t request) const {
  const std::vector<DevicePlace>* fewest = &reach_[request].candidates;
  const std::vector<ConstraintPlan>& constraints = search_.plan_->claims()[claim].constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    if (!constraints[i].applies[request]) continue;
    const DeviceValue* element = search_.constraints_[claim][i].FixedElement();
    if (element == nullptr) continue;
    const std::vector<DevicePlace>& having = matches_[claim][i]->Having(request, *element);
    if (having.size() < fewest->size()) fewest = &having;
  }
  return *fewest;
}

bool BranchPruner::MayMatch(uint32_t claim, uint32_t request, uint32_t device) {
  const std::vector<ConstraintPlan>& constraints = search_.plan_->claims()[claim].constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const MatchIndex* match = matches_[claim][i].get();
    if (match == nullptr || !constraints[i].applies[request]) continue;
    if (search_.constraints_[claim][i].size() > 0) continue;
    if (!match->MayBegin(*search_.ValueFor(claim, i, request, device))) return false;
  }
  return true;
}

bool BranchPruner::IsSafe(uint32_t claim, uint32_t request) const {
  const Reach& reach = reach_[request];
  const RequestPlan& plan = search_.plan_->request(request);
  return !reach.may_fail &&
         std::all_of(reach.errors.begin(), reach.errors.end(),
                     [&](uint32_t device) { return search_.IsInUse(claim, plan, device); });
}

std::vector<BranchPruner::Need> BranchPruner::NeedsFrom(const Position& at) const {
  std::vector<Need> needs;
  const std::vector<PlannedClaim>& claims = search_.plan_->claims();
  for (uint32_t claim = at.claim; claim < claims.size(); ++claim) {
    const uint32_t first = claim == at.claim ? at.group : 0;
    for (uint32_t group = first; group < claims[claim].groups.size(); ++group) {
      const RequestGroup& given = claims[claim].groups[group];
      Need need;
      need.claim = claim;
      need.options = &given.options;
      if (!given.prioritized) need.option = 0;
      if (claim == at.claim && group == at.group) {
        if (at.option >= 0) need.option = at.option;
        need.number = at.number;
        need.start = at.start;
      }
      needs.push_back(need);
    }
  }
  return needs;
}

template <typename Predicate>
bool BranchPruner::AnyOption(const Need& need, Predicate predicate) {
  if (need.option >= 0) return predicate((*need.options)[static_cast<size_t>(need.option)]);
  return std::any_of(need.options->begin(), need.options->end(), predicate);
}

bool BranchPruner::IsSafeFrom(const Position& at) const {
  const std::vector<Need> needs = NeedsFrom(at);
  return std::none_of(needs.begin(), needs.end(), [this](const Need& need) {
    return AnyOption(need, [&](uint32_t request) { return !IsSafe(need.claim, request); });
  });
}

int64_t BranchPruner::WantedOf(const Need& need, uint32_t request) const {
  const RequestPlan& plan = search_.plan_->request(request);
  const int64_t count =
      plan.all ? static_cast<int64_t>(search_.listed_[request].size()) : plan.count;
  return count - need.number;
}

bool BranchPruner::IsAvailable(const Need& need, uint32_t request, const DevicePlace& place,
                               bool constrained) {
  const RequestPlan& plan = search_.plan_->request(request);
  if (search_.IsInUse(need.claim, plan, place.device)) return false;
  if (!search_.HasRoom(request, place.device)) return false;
  if (search_.Charges(plan, place.device)) {
    const PoolView& pool = *search_.node_->segments[place.segment].pool;
    if (!search_.StateOf(pool).MayCharge(place.device)) return false;
  }
  if (!constrained) return true;
  const std::vector<ConstraintPlan>& constraints = search_.plan_->claims()[need.claim].constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    if (!constraints[i].applies[request]) continue;
    const ConstraintValue* value = search_.ValueFor(need.claim, i, request, place.device);
    if (!search_.constraints_[need.claim][i].MayAdd(*value)) return false;
  }
  return true;
}

bool BranchPruner::HasFree(uint32_t claim, uint32_t request,
                           const std::vector<DevicePlace>& candidates, size_t next,
                           int64_t wanted) const {
  const RequestPlan& plan = search_.plan_->request(request);
  for (size_t i = next; i < candidates.size() && wanted > 0; ++i) {
    if (!search_.IsInUse(claim, plan, candidates[i].device)) --wanted;
  }
  return wanted <= 0;
}

bool BranchPruner::HasEnough(const Need& need, uint32_t request, bool constrained, int64_t wanted) {
  if (wanted <= 0) return true;
  const RequestPlan& plan = search_.plan_->request(request);
  const std::vector<DevicePlace>& candidates =
      constrained ? CandidatesNow(need.claim, request) : reach_[request].candidates;
  auto next = std::lower_bound(candidates.begin(), candidates.end(), need.start);
  CounterBound bound;
  int64_t available = 0;
  for (; next != candidates.end(); ++next) {
    if (!IsAvailable(need, request, *next, constrained)) continue;
    const PoolView& pool = *search_.node_->segments[next->segment].pool;
    const bool charged = search_.Charges(plan, next->device);
    bound.Add(pool, charged ? &search_.StateOf(pool) : nullptr, next->device);
    // More devices never lower the bound.
    if (++available >= wanted && bound.most() >= wanted) return true;
  }
  return false;
}

bool BranchPruner::MayComplete(const Need& need, uint32_t request, bool constrained) {
  const RequestPlan& plan = search_.plan_->request(request);
  if (!plan.all) return HasEnough(need, request, constrained, WantedOf(need, request));
  const std::vector<DevicePlace>& listed = search_.listed_[request];
  if (listed.empty()) return false;
  for (size_t i = static_cast<size_t>(need.number); i < listed.size(); ++i) {
    const uint32_t device = listed[i].device;
    const bool share = search_.catalog_.devices()[device].multiple &&
                       search_.options_.features.consumable_capacity;
    if (!(plan.admin && share) && search_.IsInUse(need.claim, plan, device)) return false;
  }
  return true;
}

bool BranchPruner::CannotComplete(const Position& at, bool jointly) {
  const std::vector<Need> needs = NeedsFrom(at);
  for (const Need& need : needs) {
    const bool has_errors =
        AnyOption(need, [&](uint32_t request) { return !IsSafe(need.claim, request); });
    if (has_errors) return false;
    // Constraints begin afresh in the next claim.
    const bool constrained = need.claim == at.claim;
    const bool may =
        AnyOption(need, [&](uint32_t request) { return MayComplete(need, request, constrained); });
    if (!may) return true;
  }
  return jointly && (!CountersSuffice(needs) || !CanAssign(at, needs));
}

bool BranchPruner::CountersSuffice(const std::vector<Need>& needs) {
  if (counter_names_.empty()) return true;
  std::vector<ExactAmount> left(counter_names_.size());
  for (const PoolView* pool : search_.node_->pools) {
    if (pool->invalid || pool->counters.empty()) continue;
    const std::vector<ExactAmount>& amounts = search_.StateOf(*pool).left();
    for (size_t i = 0; i < amounts.size(); ++i) {
      const auto at =
          std::find(counter_names_.begin(), counter_names_.end(), pool->counter_names[i]);
      const size_t name = static_cast<size_t>(at - counter_names_.begin());
      left[name] += std::max(amounts[i], ExactAmount(0));
    }
  }
  for (const Need& need : needs) {
    for (size_t name = 0; name < left.size(); ++name) {
      ExactAmount least = std::numeric_limits<ExactAmount>::max();
      AnyOption(need, [&](uint32_t request) {
        const bool all = search_.plan_->request(request).all;
        const ExactAmount each = all ? ExactAmount(0) : reach_[request].least[name];
        least = std::min(least, each * WantedOf(need, request));
        return false;
      });
      left[name] -= least;
      if (left[name] < 0) return false;
    }
  }
  return true;
}

int64_t BranchPruner::SlotsOf(uint32_t device, int64_t most) {
  const CatalogDevice& row = search_.catalog_.devices()[device];
  if (!row.multiple || !search_.options_.features.consumable_capacity) return 1;
  const DeviceKind& kind = search_.catalog_.kinds()[row.kind];
  const DeviceCapacities& capacities = search_.catalog_.capacities(kind.capacities);
  const std::vector<ExactAmount>* consumed = search_.use_->ConsumedOf(device);
  const auto shares = search_.shares_.find(device);
  for (size_t i = 0; i < capacities.size(); ++i) {
    ExactAmount left = capacities[i].nanos;
    if (consumed != nullptr) left -= (*consumed)[i];
    if (shares != search_.shares_.end()) left -= shares->second.amounts[i];
    ExactAmount least = std::numeric_limits<ExactAmount>::max();
    for (uint32_t request = 0; request < reach_.size(); ++request) {
      if (search_.plan_->VerdictOf(request, row.kind) != KindVerdict::kCandidate) continue;
      least = std::min(least, search_.plan_->DemandOf(request, kind.capacities).nanos[i]);
    }
    if (least <= 0) continue;
    most =
        std::min(most, left < 0 ? int64_t{0}
                                : static_cast<int64_t>(std::min(left / least, ExactAmount(most))));
  }
  return most;
}

bool BranchPruner::CanAssign(const Position& at, const std::vector<Need>& needs) {
  struct Wanted {
    const Need* need = nullptr;
    int64_t units = 0;
  };
  std::vector<Wanted> wanted;
  int64_t total = 0;
  for (const Need& need : needs) {
    int64_t least = std::numeric_limits<int64_t>::max();
    const bool apart = AnyOption(need, [&](uint32_t request) {
      least = std::min(least, WantedOf(need, request));
      return search_.plan_->request(request).all || search_.plan_->request(request).admin;
    });
    if (apart || least <= 0) continue;
    wanted.push_back({&need, least});
    total += least;
  }
  AssignmentBound bound;
  for (const Wanted& one : wanted) {
    // A need with as many devices as are wanted in all is met in any case.
    const Need& need = *one.need;
    std::vector<uint32_t> devices;
    absl::flat_hash_set<uint32_t> seen;
    const bool constrained = need.claim == at.claim;
    const bool plenty = AnyOption(need, [&](uint32_t request) {
      const std::vector<DevicePlace>& candidates = reach_[request].candidates;
      auto next = std::lower_bound(candidates.begin(), candidates.end(), need.start);
      for (; next != candidates.end(); ++next) {
        if (static_cast<int64_t>(devices.size()) >= total) return true;
        if (!IsAvailable(need, request, *next, constrained)) continue;
        if (seen.insert(next->device).second) devices.push_back(next->device);
      }
      return static_cast<int64_t>(devices.size()) >= total;
    });
    if (plenty) continue;
    for (const uint32_t device : devices) bound.SetSlots(device, SlotsOf(device, total));
    bound.AddNeed(one.units, devices);
  }
  return bound.Fits();
}

// Devices with equal texts can be exchanged in any solution, if their counters are equal, too.
std::string BranchPruner::ClassText(const DevicePlace& place) {
  const CatalogDevice& row = search_.catalog_.devices()[place.device];
  const DeviceSegment& segment = search_.node_->segments[place.segment];
  const UseIndex& use = *search_.use_;
  ClaimPlan* plan = search_.plan_;
  std::string text = absl::StrCat(
      row.multiple ? "m" : "", use.IsDedicated(place.device), use.IsShared(place.device),
      search_.node_->Allows(segment, place.device), segment.skips_node_operations, " ");
  for (uint32_t request = 0; request < plan->request_count(); ++request) {
    absl::StrAppend(&text, static_cast<int>(plan->VerdictOf(request, row.kind)));
  }
  for (uint32_t claim = 0; claim < search_.values_.size(); ++claim) {
    for (size_t i = 0; i < search_.values_[claim].size(); ++i) {
      // Requests that derive attributes under a constraint are not pruned: any other will do.
      const ConstraintPlan& constraint = plan->claims()[claim].constraints[i];
      uint32_t request = 0;
      while (request < constraint.applies.size() &&
             (!constraint.applies[request] || plan->request(request).claim != claim)) {
        ++request;
      }
      if (request == constraint.applies.size()) continue;
      const ConstraintValue* value = search_.ValueFor(claim, i, request, place.device);
      absl::StrAppend(&text, " ", static_cast<int>(value->form));
      for (const DeviceValue& element : value->elements) {
        absl::StrAppend(&text, ",", static_cast<int>(element.kind), ":", element.bits);
      }
    }
  }
  const DeviceKind& kind = search_.catalog_.kinds()[row.kind];
  // Amounts matter where several shares meet.
  if (row.multiple) absl::StrAppend(&text, " c", kind.capacities);
  if (const std::vector<ExactAmount>* consumed = use.ConsumedOf(place.device)) {
    absl::StrAppend(&text, " c", kind.capacities);
    for (const ExactAmount& amount : *consumed) AppendAmount(amount, &text);
  }
  return text;
}

void BranchPruner::AppendCounters(const DevicePlace& place, std::string* text) const {
  const uint32_t kind = search_.catalog_.devices()[place.device].kind;
  if (!search_.catalog_.kinds()[kind].consumes_counters) return;
  const PoolView& pool = *search_.node_->segments[place.segment].pool;
  absl::StrAppend(text, " p", pool.id);
  for (const CounterUse& charged : pool.uses.at(place.device)) {
    absl::StrAppend(text, " ", charged.counter);
    AppendAmount(charged.amount, text);
  }
  const auto groups = pool.group_uses.find(place.device);
  if (groups == pool.group_uses.end()) return;
  for (const GroupUse& group : groups->second) {
    absl::StrAppend(text, " g", group.set);
    for (const TextId name : group.groups) absl::StrAppend(text, ",", name.value());
  }
}

uint32_t BranchPruner::ClassId(const std::string& text) {
  return class_ids_.try_emplace(text, static_cast<uint32_t>(class_ids_.size())).first->second;
}

uint32_t BranchPruner::ClassBesideCounters(const DevicePlace& place) {
  return ClassId(ClassText(place));
}

uint32_t BranchPruner::ShareOf(uint32_t device) {
  const auto shares = search_.shares_.find(device);
  if (shares == search_.shares_.end()) return 0;
  std::string text;
  for (const ExactAmount& amount : shares->second.amounts) AppendAmount(amount, &text);
  return share_ids_.try_emplace(text, static_cast<uint32_t>(share_ids_.size()) + 1).first->second;
}

TriedClasses::Key BranchPruner::ClassOf(const DevicePlace& place) {
  const auto [known, added] = classes_.try_emplace(place.device);
  if (added) {
    std::string text = ClassText(place);
    AppendCounters(place, &text);
    known->second = ClassId(text);
  }
  return {known->second, ShareOf(place.device), search_.claims_of_device_[place.device]};
}

std::string BranchPruner::StateAt(const Position& at) {
  struct Entry {
    TriedClasses::Key key;
    bool charged = false;
    uint32_t shared_device = 0;  // 1 + device; 0: held alone
    auto Order() const {
      return std::make_tuple(key.device_class, key.shares, key.claims, charged, shared_device);
    }
  };
  std::vector<Entry> entries;
  for (const TakenDevice& taken : search_.taken_) {
    Entry entry;
    entry.key = ClassOf({taken.segment, taken.device});
    entry.charged = taken.charged && !taken.shared;
    if (taken.shared) entry.shared_device = taken.device + 1;
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& left, const Entry& right) { return left.Order() < right.Order(); });
  std::string state = absl::StrCat(at.claim, " ", at.group, " ", search_.taken_of_claim_[at.claim]);
  uint32_t last_shared = 0;
  for (const Entry& entry : entries) {
    // A device counts once, whoever shares it.
    if (entry.shared_device != 0 && entry.shared_device == last_shared) continue;
    last_shared = entry.shared_device;
    absl::StrAppend(&state, ";", entry.key.device_class, ",", entry.key.shares, ",",
                    entry.key.claims, entry.charged ? "c" : "",
                    entry.shared_device != 0 ? "s" : "");
  }
  for (const ConstraintState& constraint : search_.constraints_[at.claim]) {
    absl::StrAppend(&state, "|", constraint.Content());
  }
  return state;
}

void BranchPruner::SetFailed(std::string state) {
  if (failed_.size() < kMaxFailedStates) failed_.insert(std::move(state));
}

}  // namespace drasim
