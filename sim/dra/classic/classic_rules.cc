#include "sim/dra/classic/classic_rules.h"

#include <utility>

#include "model/check.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

struct ClassicCycle : DraRules::Cycle {
  DynamicResources::Cycle state;
};

ClassicCycle& AsClassic(DraRules::Cycle& cycle) { return static_cast<ClassicCycle&>(cycle); }

DraRules::Code CodeOf(DynamicResources::Code code) {
  switch (code) {
    case DynamicResources::Code::kSuccess:
      return DraRules::Code::kSuccess;
    case DynamicResources::Code::kSkip:
      return DraRules::Code::kSkip;
    case DynamicResources::Code::kUnschedulable:
      return DraRules::Code::kUnschedulable;
    case DynamicResources::Code::kUnresolvable:
      return DraRules::Code::kUnresolvable;
    case DynamicResources::Code::kPending:
      return DraRules::Code::kPending;
    case DynamicResources::Code::kError:
      return DraRules::Code::kError;
    case DynamicResources::Code::kWaiting:
      return DraRules::Code::kWaiting;
  }
  DRASIM_UNREACHABLE("a code");
}

// kNone is kFits.
ReasonIndex ReasonOf(DynamicResources::Reason reason) { return static_cast<ReasonIndex>(reason); }

DraRules::Status StatusOf(const DynamicResources::Status& status) {
  return {CodeOf(status.code), ReasonOf(status.reason), ""};
}

DraRules::Hint HintOf(DynamicResources::Hint hint) {
  switch (hint) {
    case DynamicResources::Hint::kSkip:
      return DraRules::Hint::kSkip;
    case DynamicResources::Hint::kQueue:
      return DraRules::Hint::kQueue;
    case DynamicResources::Hint::kQueueImmediately:
      return DraRules::Hint::kQueueImmediately;
  }
  DRASIM_UNREACHABLE("a hint");
}

}  // namespace

uint32_t ClassicRules::watches() const {
  return WatchBit(ObjectKind::kResourceClass) | WatchBit(ObjectKind::kPodSchedulingContext);
}

DraRules::Traits ClassicRules::traits() const {
  Traits traits;
  traits.pre_enqueue = behaviour_.pre_enqueue();
  traits.hints = behaviour_.queueing_hints;
  traits.reserve_blocks = !behaviour_.writes_in_pre_bind();
  traits.deallocation_ends_post_filter = !behaviour_.preempts_after_deallocation();
  traits.gangs_keep_claims = true;
  traits.wakes_itself = behaviour_.strict_upstream;
  return traits;
}

ReasonIndex ClassicRules::CallFailed() const {
  return ReasonOf(DynamicResources::Reason::kCallFailed);
}

DraRules::Status ClassicRules::PreEnqueue(const Pod& pod) const {
  return StatusOf(rules_->PreEnqueue(pod));
}

std::unique_ptr<DraRules::Cycle> ClassicRules::PreFilter(const Ref<Pod>& pod, uint64_t token,
                                                         Status* status) {
  auto cycle = std::make_unique<ClassicCycle>();
  cycle->state.token = token;
  *status = StatusOf(rules_->PreFilter(pod, &cycle->state));
  if (!status->ok()) return nullptr;
  cycle->pod = pod;
  cycle->pod_uid = pod->meta.uid;
  cycle->token = token;
  cycle->has_claims = !cycle->state.claims.empty();
  return cycle;
}

NodeRestriction ClassicRules::Restriction(Cycle& cycle) {
  const DynamicResources::Cycle& state = AsClassic(cycle).state;
  restriction_ = rules_->RestrictionOf(state);
  NodeRestriction result;
  result.only_allowed = !restriction_.allowed.everywhere();
  if (result.only_allowed) result.allowed = restriction_.allowed.nodes();
  result.excluded = restriction_.excluded;
  for (const auto& claim : state.claims) {
    result.wants_feasible |= claim.claim->status.allocation == nullptr;
  }
  return result;
}

ReasonIndex ClassicRules::WhyRejected(Cycle& cycle, NodeId node) {
  return ReasonOf(rules_->Filter(&AsClassic(cycle).state, node).reason);
}

void ClassicRules::PreScore(Cycle& cycle, absl::Span<const NodeId> feasible) {
  rules_->PreScore(&AsClassic(cycle).state, feasible);
}

DraRules::Status ClassicRules::AfterStep(Cycle& cycle, const DynamicResources::Status& status) {
  cycle.node = AsClassic(cycle).state.node;
  return StatusOf(status);
}

DraRules::Status ClassicRules::PostFilter(Cycle& cycle) {
  return AfterStep(cycle, rules_->PostFilter(&AsClassic(cycle).state));
}

DraRules::Status ClassicRules::Reserve(Cycle& cycle, NodeId node) {
  return AfterStep(cycle, rules_->Reserve(&AsClassic(cycle).state, node));
}

DraRules::Status ClassicRules::Unreserve(Cycle& cycle, NodeId node) {
  cycle.undoes = true;
  return AfterStep(cycle, rules_->Unreserve(&AsClassic(cycle).state, node));
}

DraRules::Status ClassicRules::PreBind(Cycle& cycle, NodeId node) {
  return AfterStep(cycle, rules_->PreBind(&AsClassic(cycle).state, node));
}

DraRules::Status ClassicRules::PostBind(Cycle& cycle) {
  return AfterStep(cycle, rules_->PostBind(&AsClassic(cycle).state));
}

DraRules::Status ClassicRules::Resume(Cycle& cycle, const ApiReply* reply) {
  DRASIM_CHECK(reply != nullptr);
  return AfterStep(cycle, rules_->Resume(&AsClassic(cycle).state, *reply));
}

void ClassicRules::Abort(Cycle& cycle) {
  DynamicResources::Cycle& state = AsClassic(cycle).state;
  state.step = DynamicResources::Step::kNone;
  state.stage = 0;
  state.next = 0;
}

Name ClassicRules::ClaimNameOf(const Pod& pod, const PodClaim& entry) const {
  return rules_->ClaimNameOf(pod, entry);
}

DraRules::Hint ClassicRules::AfterChange(const Pod& pod, const WatchEvent& event) const {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (event.kind() == ObjectKind::kResourceClaim) {
    const ResourceClaim* const claim = PeekAs<ResourceClaim>(event.object);
    return HintOf(rules_->AfterClaimChange(pod, PeekAs<ResourceClaim>(event.before),
                                           deleted ? nullptr : claim));
  }
  if (event.kind() == ObjectKind::kPodSchedulingContext) {
    const auto* const context = PeekAs<PodSchedulingContext>(event.object);
    return HintOf(rules_->AfterContextChange(pod, PeekAs<PodSchedulingContext>(event.before),
                                             deleted ? nullptr : context));
  }
  return Hint::kSkip;
}

// A class has no hint of its own; with hints, claims and contexts have.
bool ClassicRules::HelpsAll(const WatchEvent& event) const {
  if (event.type == WatchEvent::Type::kDeleted) return false;
  switch (event.kind()) {
    case ObjectKind::kResourceClass:
      return true;
    case ObjectKind::kResourceClaim:
    case ObjectKind::kPodSchedulingContext:
      return !behaviour_.queueing_hints;
    default:
      return false;
  }
}

// ---- Checkpoints ----

void ClassicRules::Save(PlaneWriter& archive) const { archive(*rules_); }

void ClassicRules::Load(PlaneReader& archive) { archive(*rules_); }

void ClassicRules::SaveCycle(const Cycle& cycle, PlaneWriter& archive) const {
  archive(cycle, static_cast<const ClassicCycle&>(cycle).state);
}

std::unique_ptr<DraRules::Cycle> ClassicRules::LoadCycle(PlaneReader& archive) const {
  auto cycle = std::make_unique<ClassicCycle>();
  Cycle& base = *cycle;
  archive(base, cycle->state);
  return cycle;
}

}  // namespace drasim
