#include "sim/sdra/plugin_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/kube/kube_time.h"
#include "model/kube/spec_of_node.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "policies/dra/claim_hints.h"
#include "policies/dra/structured_gates.h"
#include "policies/plugins/default_normalize.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kStart[] = "2000-01-01T00:00:00Z";
// Shorter times of PreBind are not answered.
constexpr int64_t kShownPreBindNs = 2 * kSecondNs;

absl::StatusOr<int64_t> SdraDurationNs(const std::string& text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found '", text, "', expected a duration such as 1m30s"));
  }
  return absl::ToInt64Nanoseconds(duration);
}

// "1m0s", as Go writes whole seconds.
std::string GoSeconds(int64_t ns) {
  int64_t seconds = ns / kSecondNs;
  std::string text;
  if (seconds >= 3600) absl::StrAppend(&text, seconds / 3600, "h");
  if (seconds >= 60) absl::StrAppend(&text, seconds % 3600 / 60, "m");
  return absl::StrCat(text, seconds % 60, "s");
}

kube::SdraStatus SdraStatusOf(const ClaimStatus& status) {
  kube::SdraStatus answer;
  answer.set_code(std::string(StepCodeName(status.code)));
  if (!status.reason.empty()) answer.add_reasons(status.reason);
  return answer;
}

// Allocation times of a case tell how long before the start the claim was allocated.
void SetAllocationTime(kube::ResourceClaimV1* claim) {
  if (claim->status().allocation().allocation_timestamp().empty()) return;
  kube::AllocationResultV1* const allocation = claim->mutable_status()->mutable_allocation();
  allocation->set_allocation_timestamp(
      KubeTimeText(KubeTimeNs(kStart) - KubeTimeNs(allocation->allocation_timestamp())));
}

kube::SdraClaimState StateOfClaim(const kube::ResourceClaimV1& claim, bool with_requests) {
  kube::SdraClaimState state;
  state.set_name(claim.metadata().name());
  *state.mutable_annotations() = claim.metadata().annotations();
  *state.mutable_finalizers() = claim.metadata().finalizers();
  if (with_requests) *state.mutable_requests() = claim.spec().devices().requests();
  if (claim.status().has_allocation()) {
    *state.mutable_allocation() = claim.status().allocation();
    state.mutable_allocation()->clear_allocation_timestamp();
    state.mutable_allocation()->mutable_devices();  // written even if it is empty
  }
  for (const kube::ConsumerReference& consumer : claim.status().reserved_for()) {
    state.add_reserved_for(absl::StrCat(consumer.resource(), "/", consumer.name()));
  }
  *state.mutable_devices() = claim.status().devices();
  return state;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PluginRun>> PluginRun::Make(
    const kube::SdraCase& given, const SelectorVerdictsMaker& make_verdicts,
    const AllocatorOptions& upstream) {
  AllocatorOptions allocator;
  allocator.release = upstream.release;
  allocator.features = DefaultDraFeatures(upstream.release);
  allocator.strict_upstream = upstream.strict_upstream;
  StructuredOptions options;
  bool taint_rules = true;
  const std::map<std::string, bool> gates(given.gates().begin(), given.gates().end());
  RETURN_IF_ERROR(SetDraGates(gates, &allocator, &options, &taint_rules));
  if (!given.args().binding_timeout().empty()) {
    ASSIGN_OR_RETURN(options.binding_timeout_ns, SdraDurationNs(given.args().binding_timeout()));
  }
  std::unique_ptr<PluginRun> run(new PluginRun(given, allocator, make_verdicts, options));
  RETURN_IF_ERROR(run->AddObjects(taint_rules));
  return run;
}

PluginRun::PluginRun(const kube::SdraCase& given, const AllocatorOptions& allocator,
                     const SelectorVerdictsMaker& make_verdicts, const StructuredOptions& options)
    : given_(given),
      inventory_(allocator, make_verdicts, &cluster_),
      plugin_(
          &store_, &classes_, &in_flight_, [this] { return inventory_.NewSearch(); }, options),
      writes_(&store_, &in_flight_, options),
      now_ns_(KubeTimeNs(kStart)) {}

absl::Status PluginRun::AddObjects(bool taint_rules) {
  for (const kube::Node& node : given_.nodes()) {
    nodes_.push_back(&node);
    RETURN_IF_ERROR(cluster_.AddNode(SpecOfNode(node)).status());
  }
  // The informer delivers the classes in the order of their names, which counts.
  std::map<std::string, const kube::DeviceClass*> by_name;
  for (const kube::DeviceClass& each : given_.classes()) by_name[each.metadata().name()] = &each;
  for (const auto& [name, each] : by_name) {
    classes_.Add(*each);
    store_.AddClass(*each);
    inventory_.AddClass(*each);
  }
  if (taint_rules) {
    for (const kube::DeviceTaintRule& rule : given_.taint_rules()) inventory_.PutRule(rule);
  }
  for (const kube::ResourceSlice& slice : given_.slices()) inventory_.Put(slice);
  for (kube::ResourceClaimV1 claim : given_.claims()) {
    SetAllocationTime(&claim);
    store_.AddClaim(std::move(claim));
  }
  for (const kube::Pod& pod : given_.pods()) store_.AddPod(pod);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<kube::SdraStepAnswer>> PluginRun::Run() {
  std::vector<Answer> answers;
  for (const kube::SdraStep& step : given_.steps()) {
    Answer answer;
    store_.writes().clear();
    const ClaimTable before = store_.claims();
    const absl::Status done = Step(step, &answer);
    if (!done.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("steps[", answers.size(), "]: ", done.message()));
    }
    for (const std::string& write : store_.writes()) answer.add_writes(write);
    AnswerClaims(before, &answer);
    answers.push_back(std::move(answer));
  }
  RETURN_IF_ERROR(cluster_.CheckInvariants());
  return answers;
}

absl::Status PluginRun::Step(const kube::SdraStep& step, Answer* answer) {
  if (step.has_schedule() || step.has_cycle() || step.has_bind() || step.has_unreserve()) {
    return ScheduleStep(step, answer);
  }
  if (step.has_release()) {
    answer->set_step(absl::StrCat("release ", step.release()));
    if (store_.FindPod(step.release()) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("release: found '", step.release(), "', expected a pod"));
    }
    store_.ReleaseAll(step.release());
    return absl::OkStatus();
  }
  if (step.has_wait()) {
    answer->set_step(absl::StrCat("wait ", step.wait()));
    ASSIGN_OR_RETURN(const int64_t waited, SdraDurationNs(step.wait()));
    now_ns_ += waited;
    return absl::OkStatus();
  }
  if (step.has_conditions_now()) {
    answer->set_step(absl::StrCat("conditions ", step.conditions_now().claim()));
    SetConditions(step.conditions_now());
    return absl::OkStatus();
  }
  if (step.has_remove_node()) {
    answer->set_step(absl::StrCat("removeNode ", step.remove_node()));
    nodes_.erase(std::remove_if(nodes_.begin(), nodes_.end(),
                                [&](const kube::Node* node) {
                                  return node->metadata().name() == step.remove_node();
                                }),
                 nodes_.end());
    const NodeId node = cluster_.FindNode(step.remove_node());
    if (node.valid()) cluster_.SetAvailable(node, false);
    return absl::OkStatus();
  }
  return ChangeSlices(step, answer);
}

absl::Status PluginRun::ScheduleStep(const kube::SdraStep& step, Answer* answer) {
  const bool cycles = step.has_schedule() || step.has_cycle();
  const char* const verb = step.has_schedule() ? "schedule"
                           : step.has_cycle()  ? "cycle"
                           : step.has_bind()   ? "bind"
                                               : "unreserve";
  const std::string& pod = step.has_schedule() ? step.schedule()
                           : step.has_cycle()  ? step.cycle()
                           : step.has_bind()   ? step.bind()
                                               : step.unreserve();
  answer->set_step(absl::StrCat(verb, " ", pod));
  if (store_.FindPod(pod) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(verb, ": found '", pod, "', expected a pod"));
  }
  if (cycles && !Cycle(pod, answer)) return absl::OkStatus();
  if (step.has_cycle()) return absl::OkStatus();
  if (reserved_.count(pod) == 0) {
    answer->set_note("not reserved");
    return absl::OkStatus();
  }
  if (!step.has_unreserve()) return Bind(pod, step, answer);
  Unreserve(pod, answer);
  return absl::OkStatus();
}

absl::Status PluginRun::ChangeSlices(const kube::SdraStep& step, Answer* answer) {
  if (step.has_put_slice()) {
    const std::string& name = step.put_slice().metadata().name();
    answer->set_step(absl::StrCat("putSlice ", name));
    const bool was_there = inventory_.Put(step.put_slice());
    store_.writes().push_back(
        absl::StrCat(was_there ? "update" : "create", " resourceslices ", name));
    return absl::OkStatus();
  }
  if (step.has_delete_slice()) {
    answer->set_step(absl::StrCat("deleteSlice ", step.delete_slice()));
    if (inventory_.Remove(step.delete_slice())) {
      store_.writes().push_back(absl::StrCat("delete resourceslices ", step.delete_slice()));
    }
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("found no verb, expected one such as schedule or release");
}

// --- Attempts ---

bool PluginRun::Cycle(const std::string& pod, Answer* answer) {
  waiting_.insert(pod);
  const ClaimingPod object = ClaimingPodOf(store_.FindPod(pod));
  ClaimStatus status = plugin_.PreEnqueue(object);
  *answer->mutable_pre_enqueue() = SdraStatusOf(status);
  if (!status.ok()) return false;
  Attempt attempt;
  status = plugin_.PreFilter(object, now_ns_, &attempt.cycle);
  *answer->mutable_pre_filter() = SdraStatusOf(status);
  if (status.code == StepCode::kSkip) {
    answer->set_note("plugin has nothing to do for this pod");
    return false;
  }
  if (status.code == StepCode::kError) return false;
  std::vector<std::string> feasible;
  if (status.ok() && !FilterNodes(&attempt.cycle, answer, &feasible)) return false;
  if (feasible.empty()) {
    *answer->mutable_post_filter() =
        SdraStatusOf(Finish(writes_.PostFilter(&attempt.cycle), &attempt.cycle));
    return false;
  }
  Choose(attempt.cycle, feasible, answer);
  attempt.node = answer->chosen();
  status = plugin_.Reserve(&attempt.cycle, attempt.node);
  *answer->mutable_reserve() = SdraStatusOf(status);
  const bool reserved = status.ok();
  reserved_.insert_or_assign(pod, std::move(attempt));
  if (!reserved) Unreserve(pod, answer);
  return reserved;
}

bool PluginRun::FilterNodes(StructuredCycle* cycle, Answer* answer,
                            std::vector<std::string>* feasible) {
  bool failed = false;
  for (const kube::Node* const node : nodes_) {
    const ClaimStatus status = plugin_.Filter(cycle, *node);
    kube::SdraNodeStatus* const verdict = answer->add_filter();
    verdict->set_node(node->metadata().name());
    verdict->set_code(std::string(StepCodeName(status.code)));
    if (!status.reason.empty()) verdict->add_reasons(status.reason);
    if (status.ok()) feasible->push_back(node->metadata().name());
    if (status.code == StepCode::kError) failed = true;
  }
  if (failed) answer->set_note("a node answered Error: the attempt is over");
  return !failed;
}

void PluginRun::Choose(const StructuredCycle& cycle, const std::vector<std::string>& feasible,
                       Answer* answer) {
  std::vector<int64_t> scores;
  for (const std::string& node : feasible) {
    scores.push_back(plugin_.Score(cycle, node));
    (*answer->mutable_scores())[node] = scores.back();
  }
  DefaultNormalizeScore(/*reverse=*/false, absl::MakeSpan(scores));
  size_t best = 0;
  for (size_t i = 0; i < feasible.size(); ++i) {
    (*answer->mutable_normalized())[feasible[i]] = scores[i];
    if (scores[i] > scores[best]) best = i;
  }
  answer->set_chosen(feasible[best]);
}

absl::Status PluginRun::Bind(const std::string& pod, const kube::SdraStep& step, Answer* answer) {
  Attempt& attempt = reserved_.at(pod);
  const int64_t began_ns = now_ns_;
  for (const kube::SdraConditions& conditions : step.during()) {
    ASSIGN_OR_RETURN(const int64_t after, SdraDurationNs(conditions.after()));
    during_.emplace(began_ns + after, &conditions);
  }
  const ClaimStatus status =
      Finish(writes_.PreBind(&attempt.cycle, attempt.node, now_ns_), &attempt.cycle);
  during_.clear();
  *answer->mutable_pre_bind() = SdraStatusOf(status);
  if (now_ns_ - began_ns >= kShownPreBindNs) {
    answer->set_pre_bind_took(GoSeconds(now_ns_ - began_ns));
  }
  if (!status.ok()) {
    Unreserve(pod, answer);
    return absl::OkStatus();
  }
  reserved_.erase(pod);
  waiting_.erase(pod);
  const std::shared_ptr<const kube::Pod> bound = store_.FindPod(pod);
  if (bound->status().has_extended_resource_claim_status()) {
    *answer->mutable_pod_extended_resource_claim_status() =
        bound->status().extended_resource_claim_status();
  }
  return absl::OkStatus();
}

void PluginRun::Unreserve(const std::string& pod, Answer* answer) {
  Attempt& attempt = reserved_.at(pod);
  Finish(writes_.Unreserve(&attempt.cycle), &attempt.cycle);
  answer->set_unreserved(true);
  reserved_.erase(pod);
}

ClaimStatus PluginRun::Finish(ClaimProgress progress, StructuredCycle* cycle) {
  while (!progress.done()) {
    if (progress.call.has_value()) {
      const ClaimReply reply = store_.Do(*progress.call);
      progress = writes_.Resume(cycle, &reply, now_ns_);
      continue;
    }
    ApplyConditionsUntil(*progress.wake_ns);
    now_ns_ = *progress.wake_ns;
    progress = writes_.Resume(cycle, nullptr, now_ns_);
  }
  return progress.status;
}

void PluginRun::ApplyConditionsUntil(int64_t time_ns) {
  while (!during_.empty() && during_.begin()->first <= time_ns) {
    SetConditions(*during_.begin()->second);
    during_.erase(during_.begin());
  }
}

void PluginRun::SetConditions(const kube::SdraConditions& conditions) {
  const std::vector<kube::Condition> all(conditions.conditions().begin(),
                                         conditions.conditions().end());
  const ClaimTable claims = store_.claims();
  for (const auto& [key, claim] : claims) {
    const kube::ObjectMeta& metadata = claim->metadata();
    if (metadata.name() != conditions.claim()) continue;
    store_.SetConditions(metadata.namespace_(), metadata.name(), conditions.device(), all);
  }
}

// --- Answers ---

void PluginRun::AnswerClaims(const ClaimTable& before, Answer* answer) const {
  std::set<std::string> keys;
  for (const auto& [key, claim] : before) keys.insert(key);
  for (const auto& [key, claim] : store_.claims()) keys.insert(key);
  for (const std::string& key : keys) {
    const auto was = before.find(key);
    const auto is = store_.claims().find(key);
    const kube::ResourceClaimV1* const old = was == before.end() ? nullptr : was->second.get();
    const kube::ResourceClaimV1* const now =
        is == store_.claims().end() ? nullptr : is->second.get();
    if (old == now) continue;
    if (now != nullptr) {
      *answer->add_claims() = StateOfClaim(*now, store_.WasMade(key));
    } else {
      kube::SdraClaimState* const deleted = answer->add_claims();
      deleted->set_name(old->metadata().name());
      deleted->set_deleted(true);
    }
    for (const std::string& pod : waiting_) {
      kube::SdraHint* const hint = answer->add_hints();
      hint->set_pod(pod);
      hint->set_claim((now != nullptr ? now : old)->metadata().name());
      const bool helps =
          ClaimChangeHelps(ClaimingPodOf(store_.FindPod(pod)), TransitionOf(old, now), store_);
      hint->set_hint(helps ? "Queue" : "QueueSkip");
    }
  }
}

}  // namespace drasim
