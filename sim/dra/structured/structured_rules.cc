#include "sim/dra/structured/structured_rules.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/kube_time.h"
#include "model/time.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/dra/choice_score.h"
#include "policies/dra/claim_hints.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/claim_score.h"
#include "policies/dra/taint_rules.h"
#include "policies/plugins/default_normalize.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/structured_objects.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

// Reasons by the point that gives them; upstream's words vary with the objects.
enum class StructuredRules::Why : ReasonIndex {
  kNone,
  kClaimsNotUsable,  // PreEnqueue, PreFilter
  kDoesNotFit,       // Filter
  kNotAvailable,
  kNodeRejected,
  kTimedOut,
  kSearchFailed,
  kNotReserved,  // Reserve
  kNotBound,     // PreBind
  kCallFailed,
};

namespace {

constexpr Reason kStructuredReasons[] = {
    {ReasonKind::kNegotiationStep, "resourceclaims cannot be used yet"},
    {ReasonKind::kClaim, "cannot allocate all claims"},
    {ReasonKind::kClaim, "resourceclaim not available on the node"},
    {ReasonKind::kClaim, "the devices of the node cannot be used"},
    {ReasonKind::kClaim, "timed out trying to allocate devices"},
    {ReasonKind::kClaim, "the search for devices failed"},
    {ReasonKind::kClaim, "claim allocation not found for node"},
    {ReasonKind::kWaitsForDriver, "the devices are not bound"},
    {ReasonKind::kStaleObject, "a call to the API server failed"},
};

// To hide a node costs the engine more than to look at an allowed one.
constexpr size_t kCostOfExcluded = 16;

DraRules::Code CodeOfStep(StepCode code) {
  switch (code) {
    case StepCode::kSuccess:
      return DraRules::Code::kSuccess;
    case StepCode::kReject:
      return DraRules::Code::kUnschedulable;
    case StepCode::kUnresolvable:
      return DraRules::Code::kUnresolvable;
    case StepCode::kError:
      return DraRules::Code::kError;
    case StepCode::kPending:
      return DraRules::Code::kPending;
    case StepCode::kSkip:
      return DraRules::Code::kSkip;
    case StepCode::kWait:
      break;
  }
  DRASIM_UNREACHABLE("a code of a plugin");
}

template <typename Why>
DraRules::Status StatusBecause(const ClaimStatus& status, Why why) {
  DraRules::Status result;
  result.code = CodeOfStep(status.code);
  if (!result.ok()) result.reason = static_cast<ReasonIndex>(why);
  result.message = status.reason;
  return result;
}

absl::Status StatusOfReply(const ApiReply& reply) {
  switch (reply.code) {
    case ApiCode::kOk:
      return absl::OkStatus();
    case ApiCode::kNotFound:
      return absl::NotFoundError(reply.message);
    case ApiCode::kConflict:
      return absl::AbortedError(reply.message);
    case ApiCode::kAlreadyExists:
      return absl::AlreadyExistsError(reply.message);
    case ApiCode::kInvalid:
      break;
  }
  return absl::InvalidArgumentError(reply.message);
}

AllocatorOptions Counted(AllocatorOptions options, SearchCounts* counts) {
  options.counts = counts;
  return options;
}

}  // namespace

DraBehaviour StructuredBehaviour() {
  DraBehaviour behaviour;
  behaviour.release = DraRelease::k31;
  behaviour.strict_upstream = false;
  behaviour.queueing_hints = true;
  return behaviour;
}

struct StructuredRules::State : DraRules::Cycle {
  StructuredCycle cycle;
  uint32_t life = 0;
  std::string chosen;  // the node, from Reserve on
  // Filter's verdicts.
  std::vector<NodeId> allowed;  // ascending
  struct Rejected {
    Why why = Why::kNone;
    std::set<size_t> unavailable;  // claims
  };
  std::map<NodeId, Rejected> rejected;
  bool at_once = false;  // by FilterAll: the two above are empty
  bool failed = false;   // an error ended the attempt
  bool cleared = false;  // PostFilter has made a call; asked for at once, so not saved

  // Filter's finds on the chosen node alone: an attempt is saved before Filter or after Reserve.
  // The search has no more to do then, and nodes have been rejected.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    auto& c = s.cycle;
    std::optional<StructuredCycle::NodeFind> find;
    if constexpr (!Archive::kLoads) {
      const auto found = c.finds.find(s.chosen);
      if (found != c.finds.end()) find = found->second;
    }
    a(s.life, s.failed, s.chosen, c.pod_group, c.pod, c.started_ns, c.claims, c.has_synthetic,
      c.synthetic_uid, c.resources, c.unavailable, find, c.phase, c.node, c.tasks, c.paused_call,
      c.written, c.wake_ns, c.deadline_ns, c.outcome);
    if constexpr (Archive::kLoads) {
      if (find.has_value()) c.finds[s.chosen] = *std::move(find);
    }
  }
};

// Notes how the latest search ended, which the words of a status do not tell.
class StructuredRules::NotedSearch : public DeviceSearch {
 public:
  NotedSearch(std::unique_ptr<DeviceSearch> search, SearchOutcome* outcome)
      : search_(std::move(search)), outcome_(outcome) {}
  SearchResult Allocate(const kube::Node& node, absl::Span<const ClaimRef> claims) override {
    SearchResult result = search_->Allocate(node, claims);
    *outcome_ = result.outcome;
    return result;
  }
  const NodeOutcomes* DecideNodes(absl::Span<const ClaimRef> claims) override {
    return search_->DecideNodes(claims);
  }
  void RankNodes(absl::Span<const ClaimRef> claims, absl::Span<const NodeId> nodes,
                 absl::Span<int64_t> ranks) override {
    search_->RankNodes(claims, nodes, ranks);
  }

 private:
  std::unique_ptr<DeviceSearch> search_;
  SearchOutcome* outcome_;
};

StructuredRules::StructuredRules(const StructuredRulesOptions& options, ClusterState* cluster)
    : options_(options),
      cluster_(cluster),
      cache_(cluster),
      in_flight_(cluster),
      inventory_(Counted(options.allocator, &counts_), MakeCelVerdicts, cluster),
      plugin_(
          &cache_, &classes_, &in_flight_,
          [this]() -> absl::StatusOr<std::unique_ptr<DeviceSearch>> {
            absl::StatusOr<std::unique_ptr<DeviceSearch>> search = inventory_.NewSearch();
            if (!search.ok()) return search.status();
            return std::make_unique<NotedSearch>(*std::move(search), &outcome_);
          },
          options.plugin),
      writes_(&cache_, &in_flight_, options.plugin) {
  plugin_.set_node_amounts([this](const kube::Node& node, const std::string& resource) {
    return AmountOn(node.metadata().name(), resource);
  });
  plugin_.set_offered_anywhere(
      [cluster](const std::string& resource) { return cluster->AnyNodeReports(resource); });
  cluster->LeavePartsToPods();
  for (size_t n = 0; n < cluster->node_count(); ++n) {
    nodes_.push_back(NodeToV1(cluster->node_spec(NodeId(n))));
  }
  inventory_.SetNodes(nodes_);
  cluster->set_served_resources(this);
}

StructuredRules::~StructuredRules() = default;

ServedDevices StructuredRules::DevicesOn(NodeId node, size_t column) const {
  const kube::DeviceClass* const device_class =
      cache_.FindClass(classes_.ClassOf(cluster_->extended_names()[column]));
  if (device_class == nullptr) return {};
  return inventory_.CountDevices(*device_class, nodes_[node.value()]);
}

int64_t StructuredRulesOptions::lists_weight() const { return scores ? kClaimScoreWeight : 0; }

StructuredRules::State& StructuredRules::AsState(Cycle& cycle) {
  return static_cast<State&>(cycle);
}

int64_t StructuredRules::NowNs() const { return RunTimeNs(client_->now()); }

std::optional<DraRules::SearchWork> StructuredRules::search_work() const {
  return SearchWork{counts_.searches, counts_.steps, counts_.candidates, counts_.cel_evaluations};
}

void StructuredRules::Start(ApiClient* client) {
  client_ = client;
  Fill();
}

uint32_t StructuredRules::watches() const {
  const uint32_t rules = options_.taint_rules ? WatchBit(ObjectKind::kDeviceTaintRule) : 0;
  return WatchBit(ObjectKind::kDeviceClass) | WatchBit(ObjectKind::kResourceSlice) | rules;
}

DraRules::Traits StructuredRules::traits() const {
  Traits traits;
  traits.wakes_itself = true;
  traits.score_weight = options_.lists_weight() + options_.choice_weight();
  traits.scores = traits.score_weight > 0;
  return traits;
}

std::vector<Reason> StructuredRules::Reasons() const {
  static_assert(std::size(kStructuredReasons) == static_cast<size_t>(Why::kCallFailed));
  return {std::begin(kStructuredReasons), std::end(kStructuredReasons)};
}

std::optional<DraRules::PolicyCounts> StructuredRules::policy_counts() const {
  if (options_.allocator.policy == nullptr) return std::nullopt;
  const ChoiceCounts& counts = inventory_.choice_counts();
  return PolicyCounts{counts.choices, counts.solutions, counts.steps, counts.exhausted};
}

ReasonIndex StructuredRules::CallFailed() const {
  return static_cast<ReasonIndex>(Why::kCallFailed);
}

// --- What the informers deliver ---

// A class is created before the run, and stays as it is.
void StructuredRules::TakeClass(const DeviceClassObject& device_class) {
  cache_.OnClass(device_class, /*deleted=*/false);
  if (!known_classes_.insert(std::string(device_class.meta.name.text())).second) return;
  inventory_.AddClass(*device_class.object);
  classes_.Add(*device_class.object);
  ServeResources();
}

void StructuredRules::ServeResources() {
  if (!options_.plugin.extended_resources) return;
  const std::vector<std::string>& names = cluster_->extended_names();
  for (size_t column = 0; column < names.size(); ++column) {
    cluster_->ServeByClaims(column, !classes_.ClassOf(names[column]).empty());
  }
}

// All nodes have a column for a resource that one of them reports: 0 where they do not.
std::optional<int64_t> StructuredRules::AmountOn(absl::string_view node,
                                                 const std::string& resource) const {
  const std::vector<std::string>& names = cluster_->extended_names();
  const auto column = absl::c_find(names, resource);
  if (column == names.end()) return std::nullopt;
  const int64_t amount = cluster_->extended_capacity(cluster_->FindNode(node),
                                                     static_cast<size_t>(column - names.begin()));
  return amount > 0 ? std::optional<int64_t>(amount) : std::nullopt;
}

bool StructuredRules::TakeRule(const DeviceTaintRuleObject* before,
                               const DeviceTaintRuleObject* after) {
  if (after == nullptr) {
    inventory_.RemoveRule(before->object->metadata().name());
  } else {
    inventory_.PutRule(*after->object);
  }
  bool any = false;
  for (const auto& slice : client_->cache().of<ResourceSliceObject>().Sorted()) {
    const std::string& driver = slice->object->spec().driver();
    const std::string& pool = slice->object->spec().pool().name();
    const bool was = before != nullptr && RuleMeansPool(*before->object, driver, pool);
    if (!was && (after == nullptr || !RuleMeansPool(*after->object, driver, pool))) continue;
    inventory_.Put(*slice->object);
    any = true;
  }
  return any;
}

void StructuredRules::Fill() {
  const ObjectCache& objects = client_->cache();
  std::vector<Ref<DeviceClassObject>> classes = objects.of<DeviceClassObject>().Sorted();
  absl::c_sort(classes, [](const auto& a, const auto& b) {
    return a->meta.name.text() < b->meta.name.text();
  });
  for (const Ref<DeviceClassObject>& device_class : classes) TakeClass(*device_class);
  std::set<std::string> gone_rules = std::move(known_rules_);
  known_rules_.clear();
  for (const auto& rule : objects.of<DeviceTaintRuleObject>().Sorted()) {
    if (!options_.taint_rules) break;
    const std::string name(rule->meta.name.text());
    gone_rules.erase(name);
    known_rules_.insert(name);
    inventory_.PutRule(*rule->object);
  }
  for (const std::string& name : gone_rules) inventory_.RemoveRule(name);
  std::set<std::string> gone = std::move(slices_);
  slices_.clear();
  for (const Ref<ResourceSliceObject>& slice : objects.of<ResourceSliceObject>().Sorted()) {
    const std::string name(slice->meta.name.text());
    gone.erase(name);
    slices_.insert(name);
    inventory_.Put(slice->object.shared());
  }
  for (const std::string& name : gone) inventory_.Remove(name);
  for (const Ref<ResourceClaim>& claim : objects.of<ResourceClaim>().Sorted()) {
    cache_.OnClaim(claim, /*deleted=*/false);
  }
}

void StructuredRules::OnWatch(const WatchEvent& event) {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  retainted_ = false;
  if (const auto claim = As<ResourceClaim>(event.object); claim != nullptr) {
    cache_.OnClaim(claim, deleted);
  } else if (const auto* device_class = PeekAs<DeviceClassObject>(event.object)) {
    if (deleted) {
      cache_.OnClass(*device_class, true);
      classes_.Remove(*device_class->object);
      ServeResources();
    } else {
      TakeClass(*device_class);
    }
  } else if (const auto* slice = PeekAs<ResourceSliceObject>(event.object)) {
    const std::string name(slice->meta.name.text());
    if (deleted) {
      inventory_.Remove(name);
      slices_.erase(name);
    } else {
      inventory_.Put(slice->object.shared());
      slices_.insert(name);
    }
  } else if (const auto* rule = PeekAs<DeviceTaintRuleObject>(event.object)) {
    const std::string name(rule->meta.name.text());
    const auto* const before = PeekAs<DeviceTaintRuleObject>(event.before);
    if (deleted) {
      known_rules_.erase(name);
      retainted_ = TakeRule(rule, nullptr);
    } else {
      known_rules_.insert(name);
      const bool same = before != nullptr && before->object == rule->object;
      retainted_ = !same && TakeRule(before, rule);
    }
  }
}

// Devices in flight are forgotten, so that a cycle of an earlier life must not write.
void StructuredRules::OnRestart() {
  ++life_;
  in_flight_.Clear();
  cache_.Clear();
  Fill();
}

DraRules::Hint StructuredRules::AfterChange(const Pod& pod, const WatchEvent& event) const {
  const ResourceClaim* const claim = PeekAs<ResourceClaim>(event.object);
  if (claim == nullptr || !claim->spec.is_structured()) return Hint::kSkip;
  const ResourceClaim* const before = PeekAs<ResourceClaim>(event.before);
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (before == nullptr && deleted) return Hint::kSkip;
  ClaimTransition change;
  change.uid = absl::StrCat(claim->meta.uid);
  change.added = before == nullptr;
  change.deleted = deleted;
  change.was_allocated = before != nullptr && before->status.allocation != nullptr;
  change.is_allocated = !deleted && claim->status.allocation != nullptr;
  change.differs = before != nullptr && !deleted && before->status != claim->status;
  if (!change.MayHelp()) return Hint::kSkip;
  return ClaimChangeHelps(ClaimingOf(pod), change, cache_) ? Hint::kQueue : Hint::kSkip;
}

bool StructuredRules::HelpsAll(const WatchEvent& event) const {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (const auto* claim = PeekAs<ResourceClaim>(event.object)) {
    const ResourceClaim* const before = PeekAs<ResourceClaim>(event.before);
    const bool was = before != nullptr && before->status.allocation != nullptr;
    return was && (deleted || claim->status.allocation == nullptr);
  }
  // It changes slices, as the scheduler's informer sees them.
  if (event.kind() == ObjectKind::kDeviceTaintRule) return retainted_;
  return !deleted &&
         (event.kind() == ObjectKind::kDeviceClass || event.kind() == ObjectKind::kResourceSlice);
}

const ClaimingPod& StructuredRules::ClaimingOf(const Pod& pod) const {
  if (latest_uid_ != pod.meta.uid || latest_version_ != pod.meta.version) {
    latest_pod_ = ClaimingPodOf(pod);
    latest_uid_ = pod.meta.uid;
    latest_version_ = pod.meta.version;
  }
  return latest_pod_;
}

StructuredMoment StructuredRules::Moment() const {
  return {options_.allocator,
          inventory_.slices(),
          inventory_.classes(),
          cache_,
          classes_,
          in_flight_,
          nodes_};
}

Name StructuredRules::ClaimNameOf(const Pod& pod, const PodClaim& entry) const {
  return NameOfClaim(pod, entry, behaviour_, client_->names()).value_or(Name());
}

// --- The scheduling cycle ---

DraRules::Status StructuredRules::PreEnqueue(const Pod& pod) const {
  if (pod.claims.empty()) return Status();
  // Most pods come here first before their claims are made, and only the code is read.
  const bool made = absl::c_all_of(pod.claims, [&](const PodClaim& entry) {
    return NameOfClaim(pod, entry, behaviour_, client_->names()).has_value();
  });
  if (!made) return StatusBecause({StepCode::kUnresolvable, ""}, Why::kClaimsNotUsable);
  return StatusBecause(plugin_.PreEnqueue(ClaimingOf(pod)), Why::kClaimsNotUsable);
}

std::unique_ptr<DraRules::Cycle> StructuredRules::PreFilter(const Ref<Pod>& pod, uint64_t token,
                                                            Status* status) {
  auto state = std::make_unique<State>();
  state->pod = pod;
  state->pod_uid = pod->meta.uid;
  state->token = token;
  state->life = life_;
  *status = Status();
  if (pod->claims.empty() && !pod->containers) return state;
  const ClaimStatus answer = plugin_.PreFilter(ClaimingOf(*pod), NowNs(), &state->cycle);
  *status = StatusBecause(
      answer, answer.code == StepCode::kError ? Why::kSearchFailed : Why::kClaimsNotUsable);
  if (!status->ok()) return nullptr;
  state->has_claims = !state->cycle.claims.empty();
  return state;
}

StructuredRules::Why StructuredRules::WhyNot(const ClaimStatus& status, bool unavailable) const {
  if (status.code == StepCode::kError) return Why::kSearchFailed;
  switch (outcome_) {
    case SearchOutcome::kDoesNotFit:
      return Why::kDoesNotFit;
    case SearchOutcome::kNodeRejected:
      return Why::kNodeRejected;
    case SearchOutcome::kError:
      return Why::kSearchFailed;
    case SearchOutcome::kFound:
      break;
  }
  return unavailable ? Why::kNotAvailable : Why::kTimedOut;
}

NodeRestriction StructuredRules::Restriction(Cycle& cycle) {
  State& state = AsState(cycle);
  state.allowed.clear();
  state.rejected.clear();
  NodeRestriction restriction;
  // Scores of prioritised lists need the devices of each node.
  const NodeOutcomes* const all =
      options_.filters_at_once && !options_.scores ? plugin_.FilterAll(state.cycle) : nullptr;
  state.at_once = all != nullptr;
  if (state.at_once) {
    restriction.only_allowed = kCostOfExcluded * all->others().size() > all->fitting().size();
    (restriction.only_allowed ? restriction.allowed : restriction.excluded) =
        restriction.only_allowed ? all->fitting() : all->others();
    return restriction;
  }
  for (size_t n = 0; n < nodes_.size() && !state.failed; ++n) {
    const NodeId node(n);
    if (!cluster_->node(node).available) continue;
    outcome_ = SearchOutcome::kFound;
    const ClaimStatus status = plugin_.Filter(&state.cycle, nodes_[n]);
    if (status.ok()) {
      state.allowed.push_back(node);
      continue;
    }
    // Noted again for nodes that no other plugin rejects (WhyRejected).
    std::set<size_t> unavailable = std::exchange(state.cycle.unavailable, {});
    const Why why = WhyNot(status, !unavailable.empty());
    state.failed = status.code == StepCode::kError;
    state.rejected[node] = {why, std::move(unavailable)};
  }
  if (state.failed) state.allowed.clear();
  restriction.only_allowed = true;
  restriction.allowed = state.allowed;
  return restriction;
}

ReasonIndex StructuredRules::WhyRejected(Cycle& cycle, NodeId node) {
  State& state = AsState(cycle);
  if (state.failed) return static_cast<ReasonIndex>(Why::kSearchFailed);
  if (state.at_once) {
    const NodeOutcomes* const all = plugin_.FilterAll(state.cycle);
    DRASIM_CHECK(all != nullptr);
    switch (all->Of(node)) {
      case AllocationOutcome::kAllocated:
        return kFits;
      case AllocationOutcome::kNodeError:
        return static_cast<ReasonIndex>(Why::kNodeRejected);
      case AllocationOutcome::kDoesNotFit:
      case AllocationOutcome::kError:
        return static_cast<ReasonIndex>(Why::kDoesNotFit);
    }
  }
  const auto found = state.rejected.find(node);
  if (found == state.rejected.end()) return kFits;
  state.cycle.unavailable.insert(found->second.unavailable.begin(),
                                 found->second.unavailable.end());
  return static_cast<ReasonIndex>(found->second.why);
}

void StructuredRules::Score(const Cycle& cycle, absl::Span<const NodeId> nodes,
                            absl::Span<int64_t> scores) const {
  const State& state = static_cast<const State&>(cycle);
  if (state.at_once && options_.choice_weight() > 0) {
    plugin_.RankAll(state.cycle, nodes, scores);
    for (int64_t& score : scores) score = RawChoiceScore(/*claims=*/0, score);
    return;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& name = NameOf(nodes[i]);
    scores[i] = plugin_.Score(state.cycle, name);
    if (options_.choice_weight() == 0) continue;
    scores[i] = RawChoiceScore(scores[i], StructuredResources::Rank(state.cycle, name));
  }
}

void StructuredRules::NormalizeScore(absl::Span<int64_t> scores) const {
  if (options_.choice_weight() > 0) {
    NormalizeChoiceScores(options_.lists_weight(), options_.choice_weight(), scores);
  } else {
    DefaultNormalizeScore(/*reverse=*/false, scores);
  }
}

DraRules::Status StructuredRules::PostFilter(Cycle& cycle) {
  State& state = AsState(cycle);
  if (state.failed) return StatusBecause({StepCode::kError, ""}, Why::kSearchFailed);
  ClaimProgress progress = writes_.PostFilter(&state.cycle);
  state.cleared = progress.call.has_value();
  return Run(state, std::move(progress));
}

bool StructuredRules::HasCleared(const Cycle& cycle) const {
  return static_cast<const State&>(cycle).cleared;
}

DraRules::Status StructuredRules::Reserve(Cycle& cycle, NodeId node) {
  State& state = AsState(cycle);
  state.node = node;
  if (state.at_once) {
    const ClaimStatus found = plugin_.Filter(&state.cycle, nodes_[node.value()]);
    if (!found.ok()) return StatusBecause(found, Why::kNotReserved);
  }
  state.chosen = NameOf(node);
  return StatusBecause(plugin_.Reserve(&state.cycle, NameOf(node)), Why::kNotReserved);
}

DraRules::Status StructuredRules::Unreserve(Cycle& cycle, NodeId node) {
  State& state = AsState(cycle);
  state.node = node;
  state.undoes = true;
  return Run(state, writes_.Unreserve(&state.cycle));
}

DraRules::Status StructuredRules::PreBind(Cycle& cycle, NodeId node) {
  State& state = AsState(cycle);
  state.node = node;
  if (state.life != life_) return StatusBecause({StepCode::kError, ""}, Why::kCallFailed);
  return Run(state, writes_.PreBind(&state.cycle, NameOf(node), NowNs()));
}

DraRules::Status StructuredRules::Resume(Cycle& cycle, const ApiReply* reply) {
  State& state = AsState(cycle);
  if (reply == nullptr) return Run(state, writes_.Resume(&state.cycle, nullptr, NowNs()));
  const ClaimReply answer = ReplyOf(*reply);
  return Run(state, writes_.Resume(&state.cycle, &answer, NowNs()));
}

void StructuredRules::Abort(Cycle& cycle) {
  StructuredCycle& state = AsState(cycle).cycle;
  state.tasks.clear();
  state.paused_call.reset();
  state.written.clear();
}

// Reserved devices that no later point has written or given back.
void StructuredRules::Forget(Cycle& cycle) {
  State& state = AsState(cycle);
  if (state.life != life_ || !state.has_claims) return;
  for (size_t i = 0; i < state.cycle.claims.size(); ++i) {
    const StructuredCycle::Claim& claim = state.cycle.claims[i];
    if (claim.allocation == nullptr) continue;
    in_flight_.Leave(state.cycle.IsSynthetic(i) ? state.cycle.synthetic_uid : claim.claim.uid(),
                     state.cycle.pod.uid);
  }
}

// --- Calls ---

ApiRequest StructuredRules::RequestOf(const State& state, const ClaimCall& call) const {
  const Ref<ResourceClaim> claim = ClaimFromV1(call.claim, *cluster_, client_->names());
  switch (call.verb) {
    case ClaimVerb::kGet:
      return NamedRequest(Verb::kGet, ObjectKind::kResourceClaim, claim->meta.ns, claim->meta.name);
    case ClaimVerb::kUpdate:
      return WriteRequest(Verb::kUpdate, claim);
    case ClaimVerb::kUpdateStatus:
      return WriteRequest(Verb::kUpdateStatus, claim);
    case ClaimVerb::kRemoveReservation: {
      auto patch = std::make_shared<ResourceClaim>();
      patch->meta.ns = claim->meta.ns;
      patch->meta.name = claim->meta.name;
      patch->meta.uid = claim->meta.uid;
      for (const Consumer& consumer : claim->status.reserved_for) {
        if (std::to_string(consumer.uid) == call.consumer_uid) {
          patch->status.reserved_for.push_back(consumer);
        }
      }
      return PatchRequest(StatusPart::kDropConsumers, Ref<ResourceClaim>(std::move(patch)));
    }
    case ClaimVerb::kDelete:
      return DeleteRequest(ObjectKind::kResourceClaim, claim->meta);
    case ClaimVerb::kCreate: {
      ApiRequest request = WriteRequest(Verb::kCreate, claim);
      request.generate_name = client_->names().Intern(call.claim->metadata().generate_name());
      return request;
    }
    case ClaimVerb::kPatchPodStatus: {
      auto patch = std::make_shared<Pod>();
      patch->meta.ns = state.pod->meta.ns;
      patch->meta.name = state.pod->meta.name;
      patch->meta.uid = state.pod->meta.uid;
      patch->row = state.pod->row;  // for listeners to the call
      patch->extended_claim = claim->meta.name;
      patch->extended_status = SharedMessage<kube::ExtendedResourceClaimStatus>(call.pod_status);
      return PatchRequest(StatusPart::kExtendedClaim, Ref<Pod>(std::move(patch)));
    }
  }
  DRASIM_UNREACHABLE("a call of the plugin");
}

ClaimReply StructuredRules::ReplyOf(const ApiReply& reply) {
  ClaimReply answer;
  answer.status = StatusOfReply(reply);
  Ref<ResourceClaim> claim = reply.ok() ? As<ResourceClaim>(reply.object) : nullptr;
  if (claim != nullptr) answer.claim = ClaimToV1(std::move(claim));
  return answer;
}

DraRules::Status StructuredRules::Run(State& state, ClaimProgress progress) {
  Status waiting;
  waiting.code = Code::kWaiting;
  while (!progress.done()) {
    if (!progress.call.has_value()) {
      const SimDuration after(*progress.wake_ns - NowNs());
      client_->ArmTimer(after, kTimerTokens | state.token);
      return waiting;
    }
    const std::optional<ApiReply> reply =
        client_->Call(RequestOf(state, *progress.call), state.token);
    if (!reply.has_value()) return waiting;
    const ClaimReply answer = ReplyOf(*reply);
    progress = writes_.Resume(&state.cycle, &answer, NowNs());
  }
  return StatusBecause(progress.status, Why::kNotBound);
}

// --- Checkpoints ---

template <typename Archive>
void Fields(Archive& a, plane_archive::FieldsOf<Archive, StructuredCycle::Task>& t) {
  a(t.claim);
  ClaimTask::Kind kind{};
  if constexpr (!Archive::kLoads) kind = t.task->kind();
  a(kind);
  const auto of_kind = [&](auto empty) {
    using Task = decltype(empty);
    if constexpr (Archive::kLoads) t.task = std::make_unique<Task>(std::move(empty));
    a(static_cast<plane_archive::FieldsOf<Archive, Task>&>(*t.task));
  };
  switch (kind) {
    case ClaimTask::Kind::kSingleCall:
      return of_kind(SingleCallTask(ClaimCall()));
    case ClaimTask::Kind::kDelete:
      return of_kind(DeleteClaimTask(nullptr));
    case ClaimTask::Kind::kBind:
      return of_kind(BindClaimTask(nullptr, ClaimReservation()));
  }
  if constexpr (Archive::kLoads) a.Fail("a task of no kind");
}

template <typename Archive, typename Self>
void StructuredRules::Fields(Archive& archive, Self& self) {
  archive(self.life_, self.in_flight_, self.slices_, self.known_classes_, self.known_rules_,
          self.inventory_);
  self.cache_.Archive(self.client_->cache(), archive);
}

void StructuredRules::Save(PlaneWriter& archive) const { Fields(archive, *this); }

void StructuredRules::Load(PlaneReader& archive) { Fields(archive, *this); }

void StructuredRules::SaveCycle(const Cycle& cycle, PlaneWriter& archive) const {
  archive(cycle, static_cast<const State&>(cycle));
}

std::unique_ptr<DraRules::Cycle> StructuredRules::LoadCycle(PlaneReader& archive) const {
  auto state = std::make_unique<State>();
  Cycle& base = *state;
  archive(base, *state);
  return state;
}

}  // namespace drasim
