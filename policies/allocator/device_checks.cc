#include "policies/allocator/device_checks.h"

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/quantity.h"
#include "policies/allocator/device_taints.h"

namespace drasim {
namespace {

// An exact amount, in binary units where it is a multiple of them.
std::string NanosText(ExactAmount nanos) {
  constexpr int64_t kNano = 1'000'000'000;
  constexpr int64_t kMebi = int64_t{1} << 20;
  const ExactAmount units = nanos / kNano;
  const bool fits = units <= std::numeric_limits<int64_t>::max() / 1000 &&
                    units >= std::numeric_limits<int64_t>::min() / 1000;
  if (!fits) return "more than can be shown";
  const int64_t whole = static_cast<int64_t>(units);
  if (nanos % kNano == 0) {
    const bool binary = whole != 0 && whole % kMebi == 0;
    return Quantity::FromUnits(whole,
                               binary ? Quantity::Format::kBinarySi : Quantity::Format::kDecimalSi)
        .ToString();
  }
  return Quantity::FromMilli(static_cast<int64_t>(nanos / 1'000'000)).ToString();
}

std::string DeviceTaintText(const proto::kube::DeviceTaint& taint) {
  return absl::StrCat(taint.key(), taint.value().empty() ? "" : "=", taint.value(), ":",
                      taint.effect());
}

std::string MendOfCompileError(absl::string_view error) {
  if (!absl::StrContains(error, "no matching overload")) return "";
  if (absl::StrContains(error, "kubernetes.Quantity")) {
    return "compare a quantity with .compareTo(quantity(\"...\")), which is -1, 0 or 1";
  }
  if (absl::StrContains(error, "kubernetes.Semver")) {
    return "compare a version with .compareTo(semver(\"...\")), which is -1, 0 or 1";
  }
  return "";
}

std::string SizeText(const RequestPlan& plan, const DeviceCapacities& capacities) {
  std::vector<std::string> found;
  for (const auto& [name, amount] : plan.capacity) {
    const auto has = std::find_if(capacities.begin(), capacities.end(),
                                  [&name = name](const auto& c) { return c.name == name; });
    if (has == capacities.end()) {
      found.push_back(absl::StrCat("no capacity ", name));
    } else if (has->value.Compare(amount) < 0) {
      found.push_back(absl::StrCat(name, " is ", has->value.ToString()));
    }
  }
  if (found.empty()) return "the request policy of its capacity does not allow that";
  return absl::StrJoin(found, ", ");
}

}  // namespace

DeviceChecks::DeviceChecks(NodePools* pools, SelectorVerdicts* verdicts, ClauseVerdicts* clauses,
                           const UseIndex* use, ClaimPlan* plan, const DeviceHolderTexts* holders)
    : catalog_(pools->catalog()),
      pools_(*pools),
      options_(pools->options()),
      rules_(pools->rules()),
      verdicts_(*verdicts),
      clauses_(*clauses),
      index_(*use),
      plan_(*plan),
      holders_(*holders),
      requests_(plan->request_count()) {
  for (uint32_t i = 0; i < requests_.size(); ++i) {
    requests_[i].kinds.resize(catalog_.kinds().size());
    FillSelectors(i);
  }
}

DeviceId DeviceChecks::IdOf(uint32_t device) const {
  const CatalogPool& pool = catalog_.pools()[catalog_.slices()[DeviceAt(device).slice].pool];
  return {pool.driver, pool.name, DeviceAt(device).device->name()};
}

std::string DeviceChecks::ShortText(uint32_t device) const {
  const DeviceId id = IdOf(device);
  return absl::StrCat(id.pool, "/", id.device);
}

std::string DeviceChecks::HolderText(uint32_t device) const {
  const auto found = holders_.find(IdOf(device));
  if (found == holders_.end() || found->second.empty()) return "another claim";
  const size_t more = found->second.size() - 1;
  return absl::StrCat(found->second[0], more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

void DeviceChecks::FillSelectors(uint32_t index) {
  const RequestPlan& plan = plan_.request(index);
  if (plan.device_class == nullptr) return;
  std::vector<std::string>& texts = requests_[index].selectors;
  for (const auto& selector : plan.device_class->spec().selectors()) {
    texts.push_back(selector.cel().expression());
  }
  requests_[index].class_selectors = texts.size();
  const PlannedClaim& claim = plan_.claims()[plan.claim];
  const auto& request = claim.claim.devices->requests(static_cast<int>(plan.group));
  const auto add = [&](const auto& selectors) {
    for (const auto& selector : selectors) {
      texts.push_back(selector.cel().expression());
    }
  };
  if (plan.parent.empty()) {
    add(request.exactly().selectors());
    return;
  }
  const std::vector<uint32_t>& options = claim.groups[plan.group].options;
  const auto at = std::find(options.begin(), options.end(), index) - options.begin();
  add(request.first_available(static_cast<int>(at)).selectors());
}

void DeviceChecks::CheckSelectors(uint32_t request, const DeviceKind& kind, bool is_error,
                                  std::vector<FailedCheck>* checks) {
  const RequestPlan& plan = plan_.request(request);
  const RequestWork& work = requests_[request];
  bool first = true;
  for (size_t i = 0; i < work.selectors.size(); ++i) {
    const bool of_class = i < work.class_selectors;
    const int id = of_class ? plan.class_selectors[i] : plan.selectors[i - work.class_selectors];
    FailedCheck check;
    check.stage = of_class ? DeviceStage::kClass : DeviceStage::kSelectors;
    const std::string& compile_error = verdicts_.CompileError(id);
    if (!compile_error.empty()) {
      check.why = work.selectors[i];
      check.found = compile_error;
      check.mend = MendOfCompileError(compile_error);
      check.error = first && is_error;
    } else {
      const SelectorVerdict verdict = verdicts_.Evaluate(id, kind.row);
      if (verdict == SelectorVerdict::kYes) continue;
      const ClauseFailure& failure = clauses_.Explain(work.selectors[i], kind.row);
      check.why = failure.text;
      check.found = failure.found;
      check.mend = failure.mend;
      if (!failure.error.empty()) {
        const bool told = !failure.found.empty();
        absl::StrAppend(&check.found, told ? " (" : "", failure.error, told ? ")" : "");
      }
      check.error = first && is_error && verdict == SelectorVerdict::kError;
    }
    first = false;
    checks->push_back(std::move(check));
  }
}

void DeviceChecks::CheckSize(uint32_t request, const DeviceKind& kind, bool is_error,
                             std::vector<FailedCheck>* checks) {
  if (!options_.features.consumable_capacity) return;
  const RequestPlan& plan = plan_.request(request);
  const CapacityDemand& demand = plan_.DemandOf(request, kind.capacities);
  if (demand.verdict == CapacityDemand::Verdict::kEnough) return;
  FailedCheck check;
  check.stage = DeviceStage::kSize;
  std::vector<std::string> wanted;
  for (const auto& [name, amount] : plan.capacity) {
    wanted.push_back(absl::StrCat(amount.ToString(), " of ", name));
  }
  check.why = absl::StrCat("too small for ", absl::StrJoin(wanted, ", "));
  if (demand.verdict == CapacityDemand::Verdict::kError) {
    check.found = demand.error;
    check.error = is_error;
  } else {
    check.found = SizeText(plan, catalog_.capacities(kind.capacities));
  }
  checks->push_back(std::move(check));
}

void DeviceChecks::CheckTaints(uint32_t request, const DeviceKind& kind,
                               std::vector<FailedCheck>* checks) {
  if (!options_.features.device_taints) return;
  const DeviceTolerations& tolerations = *plan_.request(request).tolerations;
  for (const proto::kube::DeviceTaint& taint : kind.device->taints()) {
    if (taint.effect() != "NoSchedule" && taint.effect() != "NoExecute") continue;
    const bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(),
                    [&taint](const auto& given) { return ToleratesTaint(given, taint); });
    if (tolerated) continue;
    FailedCheck check;
    check.stage = DeviceStage::kTaints;
    check.why = absl::StrCat("taint ", DeviceTaintText(taint));
    check.found = "not tolerated by the request";
    checks->push_back(std::move(check));
  }
}

const std::vector<FailedCheck>& DeviceChecks::OfKind(uint32_t request, uint32_t kind_index) {
  KindWork& work = requests_[request].kinds[kind_index];
  if (work.known) return work.checks;
  work.known = true;
  const DeviceKind& kind = catalog_.kinds()[kind_index];
  const KindVerdict verdict = plan_.VerdictOf(request, kind_index);
  if (verdict == KindVerdict::kCandidate) return work.checks;
  CheckSelectors(request, kind, verdict == KindVerdict::kSelectorError, &work.checks);
  CheckSize(request, kind, verdict == KindVerdict::kCapacityError, &work.checks);
  CheckTaints(request, kind, &work.checks);
  const auto add_gate = [&](absl::string_view why, absl::string_view found) {
    FailedCheck check;
    check.stage = DeviceStage::kGates;
    check.why = std::string(why);
    check.found = std::string(found);
    work.checks.push_back(std::move(check));
  };
  if (kind.has_binding_conditions && !options_.features.device_binding_and_status) {
    add_gate("binding conditions", "the gate DRADeviceBindingConditions is off");
  }
  if (kind.consumes_counters && !options_.features.partitionable_devices) {
    add_gate("counters to consume", "the gate DRAPartitionableDevices is off");
  }
  return work.checks;
}

bool DeviceChecks::IsHeld(uint32_t request, uint32_t device) const {
  return !plan_.request(request).admin && index_.IsDedicated(device);
}

std::optional<size_t> DeviceChecks::LacksRoom(uint32_t request, uint32_t device) {
  if (!options_.features.consumable_capacity) return std::nullopt;
  const std::vector<ExactAmount>* consumed = index_.ConsumedOf(device);
  if (consumed == nullptr) return std::nullopt;
  const DeviceKind& kind = KindOf(device);
  const CapacityDemand& demand = plan_.DemandOf(request, kind.capacities);
  if (demand.verdict != CapacityDemand::Verdict::kEnough) return std::nullopt;
  const DeviceCapacities& capacities = catalog_.capacities(kind.capacities);
  for (size_t i = 0; i < capacities.size(); ++i) {
    if (demand.nanos[i] + (*consumed)[i] > capacities[i].nanos) return i;
  }
  return std::nullopt;
}

PoolState& DeviceChecks::StateOf(const PoolView& pool) {
  if (pool_states_.size() <= pool.id) pool_states_.resize(pools_.view_count());
  std::unique_ptr<PoolState>& state = pool_states_[pool.id];
  if (state == nullptr) state = std::make_unique<PoolState>(pool, index_, rules_);
  return *state;
}

bool DeviceChecks::LacksCounters(uint32_t request, uint32_t device, const PoolView& pool) {
  if (!KindOf(device).consumes_counters || !options_.features.partitionable_devices) return false;
  if (plan_.request(request).admin && !options_.strict_upstream) return false;
  const bool share = DeviceAt(device).multiple && options_.features.consumable_capacity;
  if (share && rules_.first_share_pays) {
    const bool paid =
        rules_.bare_shares_count ? index_.IsShared(device) : index_.ConsumedOf(device) != nullptr;
    if (paid) return false;
  }
  PoolState& state = StateOf(pool);
  if (!state.Charge(device)) return true;
  state.Discharge(device);
  return false;
}

DeviceStage DeviceChecks::StageOf(uint32_t request, uint32_t device, const PoolView& pool) {
  const std::vector<FailedCheck>& checks = OfKind(request, DeviceAt(device).kind);
  if (!checks.empty()) return checks.front().stage;
  if (IsHeld(request, device)) return DeviceStage::kFree;
  if (LacksRoom(request, device).has_value()) return DeviceStage::kRoom;
  return LacksCounters(request, device, pool) ? DeviceStage::kCounters : DeviceStage::kLeft;
}

FailedCheck DeviceChecks::RoomCheck(uint32_t request, uint32_t device, size_t place) {
  const DeviceKind& kind = KindOf(device);
  const DeviceCapacityLimit& capacity = catalog_.capacities(kind.capacities)[place];
  const ExactAmount left = capacity.nanos - (*index_.ConsumedOf(device))[place];
  FailedCheck check;
  check.stage = DeviceStage::kRoom;
  check.why = absl::StrCat("too little room for ",
                           plan_.DemandOf(request, kind.capacities).amounts[place].ToString(),
                           " of ", capacity.name);
  check.found = absl::StrCat(NanosText(left), " of ", capacity.value.ToString(), " left");
  return check;
}

FailedCheck DeviceChecks::CounterCheck(uint32_t device, const PoolView& pool) {
  FailedCheck check;
  check.stage = DeviceStage::kCounters;
  const std::vector<ExactAmount>& left = StateOf(pool).left();
  const DeviceTexts& texts = catalog_.columns().texts();
  for (const CounterUse& use : pool.uses.at(device)) {
    if (left[use.counter] >= use.amount) continue;
    const std::string name = texts.Text(pool.counter_names[use.counter]);
    std::string set;
    for (const SliceCounter& counter : DeviceAt(device).row->counters) {
      if (counter.name == pool.counter_names[use.counter]) set = texts.Text(counter.set_name);
    }
    check.why = absl::StrCat(NanosText(use.amount), " of counter ", name, " of ", set);
    check.found =
        absl::StrCat(NanosText(left[use.counter]), " of ", NanosText(pool.counters[use.counter]),
                     " left", ConsumersText(pool, use.counter));
    return check;
  }
  const bool overdrawn =
      std::any_of(left.begin(), left.end(), [](const ExactAmount& a) { return a < 0; });
  check.why = overdrawn ? "counters" : "compatibility groups";
  check.found = overdrawn ? "a counter of its pool is overdrawn"
                          : "the devices in use on its counters belong to other groups";
  return check;
}

std::string DeviceChecks::ConsumersText(const PoolView& pool, uint32_t counter) {
  std::vector<std::string> texts;
  size_t more = 0;
  for (const uint32_t device : pool.consumers) {
    if (!index_.IsHeld(device)) continue;
    const std::vector<CounterUse>& uses = pool.uses.at(device);
    const bool takes = std::any_of(uses.begin(), uses.end(), [counter](const CounterUse& use) {
      return use.counter == counter && use.amount > 0;
    });
    if (!takes) continue;
    if (texts.size() == kDevicesShown - 1) {
      ++more;
      continue;
    }
    texts.push_back(absl::StrCat(DeviceAt(device).device->name(), " by ", HolderText(device)));
  }
  if (texts.empty()) return "";
  return absl::StrCat("; taken: ", absl::StrJoin(texts, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::vector<FailedCheck> DeviceChecks::Of(uint32_t request, uint32_t device, const PoolView& pool) {
  std::vector<FailedCheck> checks = OfKind(request, DeviceAt(device).kind);
  if (IsHeld(request, device)) {
    FailedCheck check;
    check.stage = DeviceStage::kFree;
    check.why = absl::StrCat("held by ", HolderText(device));
    checks.push_back(std::move(check));
  }
  if (const std::optional<size_t> place = LacksRoom(request, device); place.has_value()) {
    checks.push_back(RoomCheck(request, device, *place));
  }
  if (!IsHeld(request, device) && LacksCounters(request, device, pool)) {
    checks.push_back(CounterCheck(device, pool));
  }
  return checks;
}

}  // namespace drasim
