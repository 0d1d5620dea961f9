#include "sim/dra/structured/taint_eviction.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/kube_time.h"
#include "policies/allocator/device_taints.h"
#include "policies/dra/taint_rules.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/structured_rules.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// --concurrent-device-taint-eviction-syncs.
constexpr int kWorkers = 50;
constexpr uint64_t kEventToken = 0;
constexpr absl::string_view kNoExecute = "NoExecute";
constexpr absl::string_view kNone = "None";

uint64_t PodKey(Uid uid) { return uid << 1; }
uint64_t RuleKey(Uid uid) { return uid << 1 | 1; }
bool IsRuleKey(uint64_t key) { return (key & 1) != 0; }

const std::string& EffectOf(const DeviceTaintRuleObject& rule) {
  return rule.object->spec().taint().effect();
}

bool HasAllocation(const ResourceClaim& claim) {
  return claim.spec.is_structured() && claim.status.allocation != nullptr;
}

bool HaveSameTaints(const std::vector<kube::DeviceTaint>& a,
                    const std::vector<kube::DeviceTaint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const kube::DeviceTaint& left, const kube::DeviceTaint& right) {
                      return left.key() == right.key() && left.value() == right.value() &&
                             left.time_added() == right.time_added();
                    });
}

// When the taint is over for the device's users; none: never, they tolerate it.
std::optional<SimTime> EvictionTime(const kube::DeviceTaint& taint,
                                    const DeviceTolerations& tolerations) {
  std::optional<int64_t> seconds;
  for (const kube::DeviceToleration& toleration : tolerations) {
    if (toleration.effect() != kNoExecute || !ToleratesTaint(toleration, taint)) continue;
    if (!toleration.has_toleration_seconds()) return std::nullopt;
    const int64_t given = std::max<int64_t>(toleration.toleration_seconds(), 0);
    seconds = std::min(seconds.value_or(std::numeric_limits<int64_t>::max()), given);
  }
  const SimTime added = RunTimeOf(taint.time_added());
  if (!seconds.has_value()) return added;
  // 100 years are for ever, and fit the clock.
  constexpr int64_t kLongest = int64_t{100} * 365 * 24 * 3600;
  return added + SimDuration::Seconds(std::min(*seconds, kLongest));
}

// "1 pod", "2 pods".
std::string Counted(uint64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}
std::string Namespaces(uint64_t count) {
  return count == 1 ? "1 namespace" : absl::StrCat(count, " different namespaces");
}

}  // namespace

TaintEviction::TaintEviction(bool rules, ClientOptions connection)
    : rules_(rules),
      connection_(std::move(connection)),
      behaviour_(StructuredBehaviour()),
      queue_(kWorkers) {}

TaintEviction::~TaintEviction() = default;

ClientOptions TaintEviction::connection() const {
  ClientOptions connection = connection_;
  connection.watches = WatchBit(ObjectKind::kPod) | WatchBit(ObjectKind::kResourceClaim) |
                       WatchBit(ObjectKind::kResourceSlice);
  if (rules_) connection.watches |= WatchBit(ObjectKind::kDeviceTaintRule);
  return connection;
}

void TaintEviction::Start(ApiClient* client) {
  client_ = client;
  ReadCache();
  QueueAll();
}

std::vector<PlanePart::Figure> TaintEviction::Figures() const {
  return {{"pods_evicted_by_taints", "pods evicted by taints", evicted_pods_},
          {"evictions_by_taints_cancelled", "evictions by taints called off", cancelled_}};
}

void TaintEviction::OnRestart() {
  to_evict_.clear();
  done_.clear();
  evicted_by_rule_.clear();
  queue_.Clear();
  later_.clear();
  work_.clear();
  ReadCache();
  QueueAll();
}

bool TaintEviction::IsBusy() const {
  return !later_.empty() || queue_.waiting() > 0 || queue_.busy() > 0;
}

void TaintEviction::ReadCache() {
  pools_.clear();
  evicting_.clear();
  claims_.clear();
  const ObjectCache& cache = client_->cache();
  for (const Ref<ResourceSliceObject>& slice : cache.of<ResourceSliceObject>().Sorted()) {
    const kube::ResourceSliceSpec& spec = slice->object->spec();
    pools_[{spec.driver(), spec.pool().name()}].slices[std::string(slice->meta.name.text())] =
        slice;
  }
  for (auto& [name, pool] : pools_) pool.tainted = TaintedDevices(pool);
  for (const Ref<DeviceTaintRuleObject>& rule : cache.of<DeviceTaintRuleObject>().Sorted()) {
    if (rules_ && EffectOf(*rule) == kNoExecute) {
      evicting_[std::string(rule->meta.name.text())] = rule;
    }
  }
  for (const Ref<ResourceClaim>& claim : cache.of<ResourceClaim>().Sorted()) {
    if (!HasAllocation(*claim)) continue;
    Index(*claim, /*added=*/true);
    claims_[claim->meta.uid] = {claim, EvictionOfClaim(*claim, nullptr)};
  }
}

void TaintEviction::QueueAll() {
  const ObjectCache& cache = client_->cache();
  for (const Ref<DeviceTaintRuleObject>& rule : cache.of<DeviceTaintRuleObject>().Sorted()) {
    if (rules_) queue_.Add(RuleKey(rule->meta.uid));
  }
  for (const auto& [uid, entry] : claims_) {
    if (entry.eviction.has_value()) JudgePodsOf(*entry.claim);
  }
  Pump();
}

// --- What changed ---

void TaintEviction::OnWatch(const WatchEvent& event) {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  switch (event.kind()) {
    case ObjectKind::kPod: {
      const Ref<Pod> pod = As<Pod>(event.object);
      if (deleted) {
        Cancel(pod->meta.uid, /*is_event=*/false);
        done_.erase(pod->meta.uid);
      } else {
        OnPod(PeekAs<Pod>(event.before), *pod);
      }
      break;
    }
    case ObjectKind::kResourceClaim: {
      const Ref<ResourceClaim> claim = As<ResourceClaim>(event.object);
      if (!claim->spec.is_structured()) return;
      const Ref<ResourceClaim> before = As<ResourceClaim>(event.before);
      if (deleted) {
        OnClaim(before == nullptr ? claim : before, nullptr);
      } else {
        OnClaim(before, claim);
      }
      break;
    }
    case ObjectKind::kResourceSlice: {
      const Ref<ResourceSliceObject> slice = As<ResourceSliceObject>(event.object);
      const Ref<ResourceSliceObject> before = As<ResourceSliceObject>(event.before);
      if (deleted) {
        OnSlice(before == nullptr ? slice : before, nullptr);
      } else {
        OnSlice(before, slice);
      }
      break;
    }
    case ObjectKind::kDeviceTaintRule: {
      const Ref<DeviceTaintRuleObject> rule = As<DeviceTaintRuleObject>(event.object);
      const Ref<DeviceTaintRuleObject> before = As<DeviceTaintRuleObject>(event.before);
      if (deleted) {
        OnRule(before == nullptr ? rule : before, nullptr);
      } else {
        OnRule(before, rule);
      }
      break;
    }
    default:
      return;
  }
  Pump();
}

void TaintEviction::Index(const ResourceClaim& claim, bool added) {
  for (const auto& result : claim.status.allocation->result->devices().results()) {
    absl::btree_set<Uid>& claims = pools_[{result.driver(), result.pool()}].claims;
    if (added) {
      claims.insert(claim.meta.uid);
    } else {
      claims.erase(claim.meta.uid);
    }
  }
}

void TaintEviction::OnClaim(const Ref<ResourceClaim>& before, const Ref<ResourceClaim>& after) {
  const Ref<ResourceClaim>& claim = after == nullptr ? before : after;
  const Uid uid = claim->meta.uid;
  const auto known = claims_.find(uid);
  const bool has = after != nullptr && HasAllocation(*after);
  bool matters = known != claims_.end() && known->second.eviction.has_value();
  if (!has) {
    if (known == claims_.end()) return;
    Index(*known->second.claim, /*added=*/false);
    claims_.erase(known);
  } else if (known == claims_.end()) {
    Index(*after, /*added=*/true);
    AllocatedClaim& entry = claims_[uid];
    entry = {after, EvictionOfClaim(*after, nullptr)};
    matters = entry.eviction.has_value();
  } else {
    known->second.claim = after;  // its allocation is what it was
  }
  if (!matters) return;
  if (before != nullptr) JudgePodsOf(*before);
  if (after != nullptr &&
      (before == nullptr || !(before->status.reserved_for == after->status.reserved_for))) {
    JudgePodsOf(*after);
  }
}

// A pod is judged again when it has got its node or the names of its claims.
void TaintEviction::OnPod(const Pod* before, const Pod& after) {
  if (before != nullptr && before->node == after.node && before->claim_names == after.claim_names &&
      before->extended_claim == after.extended_claim) {
    return;
  }
  JudgePod(after);
}

absl::btree_map<std::string, TaintEviction::Taints> TaintEviction::TaintedDevices(
    const Pool& pool) {
  int64_t generation = std::numeric_limits<int64_t>::min();
  for (const auto& [name, slice] : pool.slices) {
    generation = std::max(generation, slice->object->spec().pool().generation());
  }
  absl::btree_map<std::string, Taints> tainted;
  for (const auto& [name, slice] : pool.slices) {
    if (slice->object->spec().pool().generation() != generation) continue;
    for (const kube::Device& device : slice->object->spec().devices()) {
      for (const kube::DeviceTaint& taint : device.taints()) {
        if (taint.effect() == kNoExecute) tainted[device.name()].push_back(taint);
      }
    }
  }
  return tainted;
}

void TaintEviction::OnSlice(const Ref<ResourceSliceObject>& before,
                            const Ref<ResourceSliceObject>& after) {
  const Ref<ResourceSliceObject>& slice = after == nullptr ? before : after;
  const kube::ResourceSliceSpec& spec = slice->object->spec();
  Pool& pool = pools_[{spec.driver(), spec.pool().name()}];
  const std::string name(slice->meta.name.text());
  if (after == nullptr) {
    pool.slices.erase(name);
  } else {
    pool.slices[name] = after;
  }
  absl::btree_map<std::string, Taints> tainted = TaintedDevices(pool);
  if (pool.tainted.empty() && tainted.empty()) return;
  std::swap(pool.tainted, tainted);
  const auto has_changed = [&old = tainted, &now = pool.tainted](const std::string& device) {
    const auto was = old.find(device);
    const auto is = now.find(device);
    if (was == old.end() || is == now.end()) return (was == old.end()) != (is == now.end());
    return !HaveSameTaints(was->second, is->second);
  };
  for (const Uid uid : pool.claims) {
    AllocatedClaim& entry = claims_.at(uid);
    const auto& results = entry.claim->status.allocation->result->devices().results();
    const bool concerned = std::any_of(results.begin(), results.end(), [&](const auto& result) {
      return result.driver() == spec.driver() && result.pool() == spec.pool().name() &&
             has_changed(result.device());
    });
    if (!concerned) continue;
    std::optional<Eviction> eviction = EvictionOfClaim(*entry.claim, nullptr);
    if (eviction == entry.eviction) continue;
    entry.eviction = std::move(eviction);
    JudgePodsOf(*entry.claim);
  }
}

void TaintEviction::OnRule(const Ref<DeviceTaintRuleObject>& before,
                           const Ref<DeviceTaintRuleObject>& after) {
  if (before != nullptr && after != nullptr && before->object == after->object) return;
  const Ref<DeviceTaintRuleObject>& rule = after == nullptr ? before : after;
  const std::string name(rule->meta.name.text());
  if (after == nullptr) {
    evicted_by_rule_.erase(rule->meta.uid);
  } else {
    queue_.Add(RuleKey(after->meta.uid));
  }
  if (after != nullptr && EffectOf(*after) == kNoExecute) {
    evicting_[name] = after;
  } else {
    evicting_.erase(name);
  }
  for (auto& [uid, entry] : claims_) {
    std::optional<Eviction> eviction = EvictionOfClaim(*entry.claim, nullptr);
    if (eviction == entry.eviction) continue;
    entry.eviction = std::move(eviction);
    JudgePodsOf(*entry.claim);
  }
}

std::optional<TaintEviction::Eviction> TaintEviction::EvictionOfClaim(
    const ResourceClaim& claim, const DeviceTaintRuleObject* alone) const {
  std::optional<Eviction> eviction;
  const auto add = [&eviction](const kube::DeviceTaint& taint, const DeviceTolerations& tolerations,
                               Uid rule) {
    const std::optional<SimTime> when = EvictionTime(taint, tolerations);
    if (!when.has_value()) return;
    if (!eviction.has_value()) eviction = Eviction{*when, {}};
    eviction->when = std::min(eviction->when, *when);
    if (rule != 0) eviction->rules.push_back(rule);
  };
  const auto add_rule = [&add](const DeviceTaintRuleObject& rule, const auto& result) {
    if (!RuleMeansDevice(*rule.object, result.driver(), result.pool(), result.device())) return;
    kube::DeviceTaint taint = rule.object->spec().taint();
    taint.set_effect(std::string(kNoExecute));
    add(taint, result.tolerations(), rule.meta.uid);
  };
  for (const auto& result : claim.status.allocation->result->devices().results()) {
    if (alone != nullptr) {
      add_rule(*alone, result);
      continue;
    }
    const auto pool = pools_.find({result.driver(), result.pool()});
    if (pool != pools_.end()) {
      const auto device = pool->second.tainted.find(result.device());
      if (device != pool->second.tainted.end()) {
        for (const kube::DeviceTaint& taint : device->second) add(taint, result.tolerations(), 0);
      }
    }
    for (const auto& [name, rule] : evicting_) add_rule(*rule, result);
  }
  if (eviction.has_value()) {
    std::vector<Uid>& rules = eviction->rules;
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  }
  return eviction;
}

std::optional<TaintEviction::Eviction> TaintEviction::EvictionOfPod(const Pod& pod) const {
  std::optional<Eviction> eviction;
  if (!pod.node.valid()) return eviction;
  const auto add = [&](Name name, bool is_owned) {
    const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, name);
    if (claim == nullptr || !IsReservedFor(*claim, pod.meta.uid)) return;
    if (is_owned && claim->meta.owner != pod.meta.uid) return;
    const auto known = claims_.find(claim->meta.uid);
    if (known == claims_.end() || !known->second.eviction.has_value()) return;
    const Eviction& of_claim = *known->second.eviction;
    if (!eviction.has_value()) {
      eviction = of_claim;
      return;
    }
    eviction->when = std::min(eviction->when, of_claim.when);
    std::vector<Uid> rules;
    std::set_union(eviction->rules.begin(), eviction->rules.end(), of_claim.rules.begin(),
                   of_claim.rules.end(), std::back_inserter(rules));
    eviction->rules = std::move(rules);
  };
  for (const PodClaim& entry : pod.claims) {
    const std::optional<Name> name = NameOfClaim(pod, entry, behaviour_, client_->names());
    if (name.has_value() && !name->empty()) add(*name, !entry.from_template.empty());
  }
  if (!pod.extended_claim.empty()) add(pod.extended_claim, /*is_owned=*/true);
  return eviction;
}

void TaintEviction::JudgePodsOf(const ResourceClaim& claim) {
  for (const Consumer& consumer : claim.status.reserved_for) {
    const Ref<Pod> pod = client_->cache().pod(consumer.uid);
    if (pod != nullptr) JudgePod(*pod);
  }
}

void TaintEviction::JudgePod(const Pod& pod) {
  const Uid uid = pod.meta.uid;
  const std::optional<Eviction> eviction = EvictionOfPod(pod);
  if (!eviction.has_value()) return Cancel(uid, /*is_event=*/true);
  to_evict_[uid] = *eviction;
  if (eviction->when <= client_->now()) {
    queue_.Add(PodKey(uid));
  } else {
    AddLater(PodKey(uid), eviction->when);
  }
  // Later, because more pods may follow.
  for (const Uid rule : eviction->rules) AddLater(RuleKey(rule), client_->now() + kStatusPeriod);
}

void TaintEviction::Cancel(Uid pod, bool is_event) {
  if (to_evict_.erase(pod) == 0 || !is_event) return;
  ++cancelled_;
  const Ref<Pod> object = client_->cache().pod(pod);
  if (object != nullptr) WriteEvent(*object);
}

// --- Work ---

// As the queue of client-go: of two times the earlier one counts.
void TaintEviction::AddLater(Key key, SimTime at) {
  const auto known = later_.find(key);
  if (known != later_.end() && known->second <= at) return;
  later_[key] = at;
  client_->ArmTimer(at - client_->now(), key);
}

void TaintEviction::OnTimer(uint64_t token) {
  const auto found = later_.find(token);
  if (found == later_.end() || found->second != client_->now()) return;
  later_.erase(found);
  queue_.Add(token);
  Pump();
}

void TaintEviction::Pump() {
  while (queue_.CanGet()) BeginWork(*queue_.Get());
}

void TaintEviction::BeginWork(Key key) {
  if (IsRuleKey(key)) return UpdateStatus(key);
  const Uid uid = key >> 1;
  const auto found = to_evict_.find(uid);
  if (found == to_evict_.end() || done_.contains(uid)) return EndWork(key);
  if (found->second.when > client_->now()) {
    AddLater(key, found->second.when);
    return EndWork(key);
  }
  const Ref<Pod> pod = client_->cache().pod(uid);
  work_[key] = {Stage::kGet, pod};
  ContinuePod(key, nullptr);
}

void TaintEviction::OnReply(uint64_t token, const ApiReply& reply) {
  if (token == kEventToken) return;
  if (IsRuleKey(token)) {
    EndStatus(token, reply);
  } else {
    ContinuePod(token, &reply);
  }
  Pump();
}

void TaintEviction::ContinuePod(Key key, const ApiReply* reply) {
  std::optional<ApiReply> at_once;
  for (;;) {
    if (reply != nullptr) TakePodReply(key, &work_.at(key), *reply);
    const auto work = work_.find(key);
    if (work == work_.end()) return;
    const Pod& pod = *work->second.pod;
    ApiRequest request;
    switch (work->second.stage) {
      case Stage::kGet:
        request = NamedRequest(Verb::kGet, ObjectKind::kPod, pod.meta.ns, pod.meta.name);
        break;
      case Stage::kCondition: {
        auto patch = std::make_shared<Pod>();
        patch->meta.ns = pod.meta.ns;
        patch->meta.name = pod.meta.name;
        patch->meta.uid = pod.meta.uid;
        patch->disrupted = true;
        request = PatchRequest(StatusPart::kDisruption, Ref<Pod>(std::move(patch)));
        break;
      }
      default:
        request = DeleteRequest(ObjectKind::kPod, pod.meta);
    }
    at_once = client_->Call(std::move(request), key);
    if (!at_once.has_value()) return;
    reply = &*at_once;
  }
}

// Enters the next stage, or ends the work.
void TaintEviction::TakePodReply(Key key, Work* work, const ApiReply& reply) {
  const Uid uid = key >> 1;
  const auto give_up = [&] {  // there is nothing left to do
    to_evict_.erase(uid);
    done_.insert(uid);
    EndWork(key);
  };
  if (reply.code == ApiCode::kNotFound) return give_up();
  if (!reply.ok()) return Retry(key);
  switch (work->stage) {
    case Stage::kGet: {
      const Ref<Pod> pod = As<Pod>(reply.object);
      if (pod->meta.uid != uid) return give_up();
      if (pod->meta.deleting) return CountEviction(key);
      work->pod = pod;
      WriteEvent(*pod);
      work->stage = pod->disrupted ? Stage::kDelete : Stage::kCondition;
      return;
    }
    case Stage::kCondition:
      work->stage = Stage::kDelete;
      return;
    default:
      ++evicted_pods_;
      CountEviction(key);
  }
}

void TaintEviction::CountEviction(Key key) {
  const Uid uid = key >> 1;
  const auto eviction = to_evict_.find(uid);
  if (eviction != to_evict_.end()) {
    for (const Uid rule : eviction->second.rules) {
      ++evicted_by_rule_[rule];
      AddLater(RuleKey(rule), client_->now() + kStatusPeriod);
    }
    to_evict_.erase(eviction);
  }
  done_.insert(uid);
  EndWork(key);
}

void TaintEviction::EndWork(Key key) {
  work_.erase(key);
  queue_.Forget(key);
  queue_.Done(key);
}

void TaintEviction::Retry(Key key) {
  work_.erase(key);
  AddLater(key, client_->now() + queue_.DelayAfterFailure(key, client_->now()));
  queue_.Done(key);
}

// Upstream's recorder writes events through the controller's client, beside its other calls.
void TaintEviction::WriteEvent(const Pod& pod) {
  client_->Call(NamedRequest(Verb::kCreate, ObjectKind::kEvent, pod.meta.ns, pod.meta.name),
                kEventToken);
}

// --- The condition of a rule ---

void TaintEviction::UpdateStatus(Key key) {
  const Ref<DeviceTaintRuleObject> rule =
      client_->cache().of<DeviceTaintRuleObject>().Find(key >> 1);
  if (rule == nullptr) return EndWork(key);
  const DeviceTaintRuleObject::Eviction& known = rule->eviction;
  const SimTime next = known.changed + kStatusPeriod;
  if (known.known && known.generation == rule->generation && next > client_->now()) {
    AddLater(key, next);
    return EndWork(key);
  }
  DeviceTaintRuleObject::Eviction condition = ConditionOf(*rule);
  condition.changed = known.changed;
  if (condition == known) return EndWork(key);
  condition.changed = WholeSeconds(client_->now());
  auto patch = std::make_shared<DeviceTaintRuleObject>();
  patch->meta.name = rule->meta.name;
  patch->meta.uid = rule->meta.uid;
  patch->eviction = std::move(condition);
  const std::optional<ApiReply> reply = client_->Call(
      PatchRequest(StatusPart::kEviction, Ref<DeviceTaintRuleObject>(std::move(patch))), key);
  if (reply.has_value()) EndStatus(key, *reply);
}

void TaintEviction::EndStatus(Key key, const ApiReply& reply) {
  if (reply.ok() || reply.code == ApiCode::kNotFound) return EndWork(key);
  Retry(key);
}

DeviceTaintRuleObject::Eviction TaintEviction::ConditionOf(
    const DeviceTaintRuleObject& rule) const {
  DeviceTaintRuleObject::Eviction condition;
  condition.known = true;
  condition.generation = rule.generation;
  const auto count = evicted_by_rule_.find(rule.meta.uid);
  const uint64_t evicted = count == evicted_by_rule_.end() ? 0 : count->second;
  if (EffectOf(rule) == kNoExecute) {
    const Pending pending = PendingOf(rule);
    condition.in_progress = pending.pods > 0;
    condition.reason = pending.pods > 0 ? "PodsPendingEviction"
                       : evicted > 0    ? "Completed"
                                        : "NotStarted";
    if (pending.pods > 0) {
      condition.message =
          absl::StrCat(Counted(pending.pods, "pod"), pending.pods == 1 ? " needs" : " need",
                       " to be evicted in ", Namespaces(pending.namespaces), ".");
    }
  } else if (EffectOf(rule) == kNone) {
    condition.reason = "NoEffect";
    condition.message = ForecastOf(rule);
  } else {
    condition.reason = "OtherEffect";
    condition.message = "Eviction only happens for the NoExecute effect.";
  }
  if (evicted > 0) {
    absl::StrAppend(&condition.message, condition.message.empty() ? "" : " ",
                    Counted(evicted, "pod"), " evicted since starting the controller.");
  }
  return condition;
}

TaintEviction::Pending TaintEviction::PendingOf(const DeviceTaintRuleObject& rule) const {
  absl::btree_set<Uid> pods;
  std::set<absl::string_view> namespaces;
  const bool is_forecast = EffectOf(rule) == kNone;
  for (const auto& [uid, entry] : claims_) {
    const std::optional<Eviction> eviction =
        is_forecast ? EvictionOfClaim(*entry.claim, &rule) : entry.eviction;
    if (!eviction.has_value()) continue;
    const std::vector<Uid>& rules = eviction->rules;
    if (!std::binary_search(rules.begin(), rules.end(), rule.meta.uid)) continue;
    for (const Consumer& consumer : entry.claim->status.reserved_for) {
      const Ref<Pod> pod = client_->cache().pod(consumer.uid);
      if (pod == nullptr || pod->meta.deleting || !pod->node.valid()) continue;
      pods.insert(pod->meta.uid);
      namespaces.insert(pod->meta.ns.text());
    }
  }
  return {pods.size(), namespaces.size()};
}

// The effects of the rule if it said NoExecute.
std::string TaintEviction::ForecastOf(const DeviceTaintRuleObject& rule) const {
  uint64_t published = 0;
  for (const auto& [name, pool] : pools_) {
    if (!RuleMeansPool(*rule.object, name.first, name.second)) continue;
    int64_t generation = std::numeric_limits<int64_t>::min();
    for (const auto& [slice_name, slice] : pool.slices) {
      generation = std::max(generation, slice->object->spec().pool().generation());
    }
    for (const auto& [slice_name, slice] : pool.slices) {
      if (slice->object->spec().pool().generation() != generation) continue;
      for (const kube::Device& device : slice->object->spec().devices()) {
        published += RuleMeansDevice(*rule.object, name.first, name.second, device.name());
      }
    }
  }
  uint64_t allocated = 0;
  for (const auto& [uid, entry] : claims_) {
    for (const auto& result : entry.claim->status.allocation->result->devices().results()) {
      allocated += RuleMeansDevice(*rule.object, result.driver(), result.pool(), result.device());
    }
  }
  const Pending pending = PendingOf(rule);
  return absl::StrCat(Counted(published, "published device"), " selected. ",
                      Counted(allocated, "allocated device"), " selected. ",
                      Counted(pending.pods, "pod"), " would be evicted in ",
                      Namespaces(pending.namespaces),
                      " if the effect was NoExecute. This information will not be updated again. "
                      "Recreate the DeviceTaintRule to trigger an update.");
}

// --- Checkpoints ---

// The rest follows from the cache.
template <typename Archive, typename Self>
void TaintEviction::Fields(Archive& archive, Self& self) {
  archive(self.to_evict_, self.done_, self.evicted_by_rule_, self.queue_, self.later_, self.work_,
          self.evicted_pods_, self.cancelled_);
}

void TaintEviction::Save(PlaneWriter& out) const { Fields(out, *this); }

void TaintEviction::Load(PlaneReader& in) {
  Fields(in, *this);
  if (in.ok()) ReadCache();
}

}  // namespace drasim
