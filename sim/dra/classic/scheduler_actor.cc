#include "sim/dra/classic/scheduler_actor.h"

#include "absl/algorithm/container.h"
#include "model/check.h"

namespace drasim {
namespace {

using Code = DynamicResources::Code;
using ClaimReason = DynamicResources::Reason;
using Status = DynamicResources::Status;

// Pods that reserve a shared claim in turn wake each other endlessly; if calls take no time, that
// happens within one instant, which must end.
constexpr uint32_t kMostWakesAtOnce = 16;

Status Waiting() {
  Status status;
  status.code = Code::kWaiting;
  return status;
}

// True when the two differ only in the pod's reservation.
bool OnlyReservationOf(Uid pod, const ResourceClaim& before, const ResourceClaim& after) {
  if (IsReservedFor(before, pod) == IsReservedFor(after, pod)) return false;
  const auto others = [pod](const ResourceClaim& claim) {
    ClaimStatus status = claim.status;
    std::vector<Consumer> kept;
    for (const Consumer& consumer : status.reserved_for) {
      if (consumer.uid != pod) kept.push_back(consumer);
    }
    status.reserved_for.assign(kept.begin(), kept.end());
    return status;
  };
  return others(before) == others(after) && before.meta.deleting == after.meta.deleting;
}

}  // namespace

SchedulerActor::SchedulerActor(const DraBehaviour& behaviour, SimDuration gang_timeout,
                               uint64_t seed, PodObjects* pods, NetworkClock* clock)
    : behaviour_(behaviour),
      seed_(seed),
      pods_(pods),
      clock_(clock),
      gangs_(gang_timeout, seed, pods) {}

void SchedulerActor::Start(ApiClient* client, PodControl* engine) {
  client_ = client;
  engine_ = engine;
  rules_ = std::make_unique<DynamicResources>(client, behaviour_, seed_);
  gangs_.Start(client, engine, behaviour_);
}

std::vector<Reason> SchedulerActor::reasons() const { return DynamicResources::Reasons(); }

ReasonIndex SchedulerActor::LocalReason(ClaimReason reason) const {
  return static_cast<ReasonIndex>(reason);  // kNone is kFits
}

SchedulerActor::Attempt* SchedulerActor::Find(PodId pod) {
  const auto token = token_of_.find(pod);
  return token == token_of_.end() ? nullptr : cycles_.find(token->second)->second.get();
}

void SchedulerActor::Forget(PodId pod) {
  const auto token = token_of_.find(pod);
  if (token == token_of_.end()) return;
  cycles_.erase(token->second);
  token_of_.erase(token);
}

StepResult SchedulerActor::PreEnqueue(const PodContext& pod) {
  StepResult result;
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod.pod));
  const bool held_back = held_back_.contains(pod.pod) || gangs_.IsPaused(pod.pod);
  if (held_back || object == nullptr ||
      (behaviour_.pre_enqueue() && !rules_->PreEnqueue(*object).ok())) {
    result.code = StepCode::kUnresolvable;
  }
  return result;
}

StepResult SchedulerActor::PreFilter(const PodContext& pod, const ClusterState&) {
  if (pending_.size() <= pod.pod.value()) pending_.resize(pod.pod.value() + size_t{1});
  if (const auto held = held_back_.find(pod.pod); held != held_back_.end()) {
    held->second.turned_away = true;
    StepResult later;
    later.code = StepCode::kReject;
    later.reason = LocalReason(ClaimReason::kCallFailed);
    return later;
  }
  pending_[pod.pod.value()] = false;
  ++attempts_;
  Forget(pod.pod);
  StepResult result;
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod.pod));
  if (object == nullptr) {
    result.code = StepCode::kReject;
    result.reason = LocalReason(ClaimReason::kCallFailed);
    return result;
  }
  auto attempt = std::make_unique<Attempt>();
  attempt->pod = pod.pod;
  attempt->cycle.token = next_token_;
  const Status status = rules_->PreFilter(object, &attempt->cycle);
  if (status.ok()) {
    token_of_[pod.pod] = next_token_;
    cycles_.emplace(next_token_++, std::move(attempt));
    return result;
  }
  result.code = StepCode::kReject;
  result.reason = LocalReason(status.reason);
  return result;
}

NodeRestriction SchedulerActor::Restriction(const PodContext& pod) {
  NodeRestriction result;
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr || attempt->cycle.claims.empty()) return result;
  restriction_ = rules_->RestrictionOf(attempt->cycle);
  result.only_allowed = !restriction_.allowed.everywhere();
  if (result.only_allowed) result.allowed = restriction_.allowed.nodes();
  result.excluded = restriction_.excluded;
  for (const auto& claim : attempt->cycle.claims) {
    result.wants_feasible |= claim.claim->status.allocation == nullptr;
  }
  return result;
}

ReasonIndex SchedulerActor::WhyRestricted(const PodContext& pod, NodeId node) {
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr || attempt->cycle.claims.empty()) return kFits;
  return LocalReason(rules_->Filter(&attempt->cycle, node).reason);
}

void SchedulerActor::ListFeasible(const PodContext& pod, absl::Span<const NodeId> feasible) {
  if (Attempt* attempt = Find(pod.pod)) rules_->PreScore(&attempt->cycle, feasible);
}

// The step continues alone; at most the scheduling thread waits for its end.
void SchedulerActor::Background(Attempt* attempt, Status status, bool blocks) {
  token_of_.erase(attempt->pod);
  if (status.code != Code::kWaiting) {
    cycles_.erase(attempt->cycle.token);
    return;
  }
  attempt->abandoned = true;
  Await(attempt, blocks);
}

void SchedulerActor::Await(Attempt* attempt, bool blocks) {
  attempt->waits = true;
  if (!blocks || attempt->blocks) return;
  attempt->blocks = true;
  engine_->BlockScheduling(true);
}

PostFilterResult SchedulerActor::PostFilter(const PodContext& pod, PostFilterHandle&) {
  PostFilterResult result;
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr || attempt->cycle.claims.empty()) return result;
  clock_->BeforeCalls(pod.now);
  const Status status = rules_->PostFilter(&attempt->cycle);
  const bool acted = status.code == Code::kSuccess || status.code == Code::kWaiting;
  // Otherwise preemption asks which nodes the claims allow (WhyRestricted).
  if (acted) Background(attempt, status, true);
  clock_->AfterCalls();
  if (acted && !behaviour_.preempts_after_deallocation()) result.code = StepCode::kPending;
  return result;
}

StepResult SchedulerActor::Answer(PodId pod, Attempt* attempt, Status status, bool blocks,
                                  std::optional<StepResult>* keep) {
  StepResult result;
  if (status.code == Code::kWaiting) {
    Await(attempt, blocks);
    result.code = StepCode::kWait;
    return result;
  }
  if (!status.ok()) {
    result.code = status.code == Code::kPending ? StepCode::kPending
                  : status.code == Code::kError ? StepCode::kError
                                                : StepCode::kReject;
    result.reason = LocalReason(status.reason);
    pending_[pod.value()] = status.code == Code::kPending;
    gangs_.OnFailure(pod);
  }
  *keep = result;
  return result;
}

std::optional<StepResult> SchedulerActor::EarlierAnswer(PodId pod, Attempt* attempt,
                                                        std::optional<StepResult>* keep) {
  if (keep->has_value()) return *keep;
  if (attempt->waits) return Answer(pod, attempt, Waiting(), false, keep);
  if (!std::exchange(attempt->done, false)) return std::nullopt;
  return Answer(pod, attempt, attempt->cycle.result, false, keep);
}

StepResult SchedulerActor::Reserve(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr || attempt->cycle.claims.empty()) return StepResult();
  std::optional<StepResult>* const keep = &attempt->answers[0];
  if (const auto earlier = EarlierAnswer(pod.pod, attempt, keep)) return *earlier;
  clock_->BeforeCalls(pod.now);
  const Status status = rules_->Reserve(&attempt->cycle, node);
  clock_->AfterCalls();
  return Answer(pod.pod, attempt, status, !behaviour_.writes_in_pre_bind(), keep);
}

void SchedulerActor::Unreserve(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr) return;
  // A restarted process releases nothing; the next attempt finds this one's reservations.
  if (attempt->cycle.claims.empty() || attempt->lost) return Forget(pod.pod);
  // A step in progress ends first: its reservations are known only from the outstanding reply.
  // Nobody awaits its result any more.
  if (attempt->waits) {
    attempt->abandoned = true;
    token_of_.erase(pod.pod);
    return HoldBack(attempt);
  }
  clock_->BeforeCalls(pod.now);
  // Others of its gang were not bound.
  const std::optional<StepResult>& bound = attempt->answers[2];
  if (bound.has_value() && bound->code == StepCode::kSuccess) {
    pods_->BoundInVain(pod.pod, attempt->cycle.pod_uid);
    Background(attempt, Status(), false);
    return clock_->AfterCalls();
  }
  if (gangs_.Keeps(pod.pod)) {
    Background(attempt, Status(), false);
    return clock_->AfterCalls();
  }
  const Status status = rules_->Unreserve(&attempt->cycle, node);
  if (status.code == Code::kWaiting) HoldBack(attempt);
  Background(attempt, status, !behaviour_.writes_in_pre_bind());
  clock_->AfterCalls();
}

StepResult SchedulerActor::PreBind(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr || attempt->cycle.claims.empty()) return StepResult();
  std::optional<StepResult>* const keep = &attempt->answers[1];
  if (const auto earlier = EarlierAnswer(pod.pod, attempt, keep)) return *earlier;
  clock_->BeforeCalls(pod.now);
  const Status status = rules_->PreBind(&attempt->cycle, node);
  clock_->AfterCalls();
  return Answer(pod.pod, attempt, status, false, keep);
}

StepResult SchedulerActor::Bind(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = Find(pod.pod);
  DRASIM_CHECK(attempt != nullptr);
  std::optional<StepResult>* const keep = &attempt->answers[2];
  if (const auto earlier = EarlierAnswer(pod.pod, attempt, keep)) return *earlier;
  clock_->BeforeCalls(pod.now);
  attempt->node = node;
  attempt->binding = true;
  const auto reply = client_->Call(BindingOf(*attempt), attempt->cycle.token);
  clock_->AfterCalls();
  if (!reply.has_value()) return Answer(pod.pod, attempt, Waiting(), false, keep);
  attempt->binding = false;
  return Answer(pod.pod, attempt, AfterBinding(*attempt, *reply), false, keep);
}

ApiRequest SchedulerActor::BindingOf(const Attempt& attempt) const {
  const ObjectMeta& meta = attempt.cycle.pod->meta;
  ApiRequest request = NamedRequest(Verb::kBind, ObjectKind::kPod, meta.ns, meta.name);
  request.uid = meta.uid;
  request.node = attempt.node;
  return request;
}

// No other component binds pods: if the repeated call finds the pod bound, the first call did it
// and its reply was lost.
Status SchedulerActor::AfterBinding(const Attempt& attempt, const ApiReply& reply) {
  if (reply.ok() || (attempt.sent_again && reply.code == ApiCode::kConflict)) return Status();
  return {Code::kError, ClaimReason::kCallFailed, Name()};
}

void SchedulerActor::ReportBinding(const PodContext& pod) {
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod.pod));
  if (reports_ == nullptr || object == nullptr) return;
  clock_->BeforeCalls(pod.now);
  reports_->Scheduled(*object);
  clock_->AfterCalls();
}

void SchedulerActor::AttemptFailed(const FailedAttempt& attempt, SimTime now) {
  if (reports_ == nullptr) return;
  for (auto& [token, under_way] : cycles_) {
    if (under_way->pod != attempt.pod || !under_way->abandoned || !under_way->waits) continue;
    under_way->report = attempt;
    return;
  }
  clock_->BeforeCalls(now);
  Report(attempt);
  clock_->AfterCalls();
}

void SchedulerActor::Report(const FailedAttempt& attempt) {
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(attempt.pod));
  // As upstream, which looks up the cached pod: a deleted or bound pod needs no report.
  if (object == nullptr || object->node.valid() || client_->is_down()) return;
  reports_->Failed(*object, attempt);
}

void SchedulerActor::PostBind(const PodContext& pod, const ClusterState&, NodeId) {
  ReportBinding(pod);
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr) return;
  gangs_.OnBound(pod.pod);
  if (attempt->cycle.claims.empty()) return Forget(pod.pod);
  clock_->BeforeCalls(pod.now);
  Background(attempt, rules_->PostBind(&attempt->cycle), false);
  clock_->AfterCalls();
}

void SchedulerActor::OnReply(uint64_t token, const ApiReply& reply) {
  if (SchedulerReports::Owns(token)) return reports_->OnReply(token);
  const auto found = cycles_.find(token);
  if (found == cycles_.end()) return;
  Attempt& attempt = *found->second;
  attempt.waits = false;
  // Read before Resume, which ends the step.
  const bool undoing = attempt.cycle.step == DynamicResources::Step::kUnreserve;
  const NodeId node = attempt.cycle.node;
  bool in_vain = false;
  Status status;
  if (std::exchange(attempt.binding, false)) {
    status = AfterBinding(attempt, reply);
    in_vain = attempt.undoes && status.ok();
  } else {
    status = rules_->Resume(&attempt.cycle, reply);
  }
  // The reservations of a step in progress are released after the start was cancelled. If the pod
  // was bound although its start was cancelled, its claims are released with its deletion.
  if (status.code != Code::kWaiting && attempt.undoes && !undoing && !in_vain &&
      !gangs_.Keeps(attempt.pod)) {
    status = rules_->Unreserve(&attempt.cycle, node);
  }
  if (status.code == Code::kWaiting) {
    attempt.waits = true;
    return;
  }
  if (in_vain) pods_->BoundInVain(attempt.pod, attempt.cycle.pod_uid);
  EndStep(token, status);
}

void SchedulerActor::EndStep(uint64_t token, Status status) {
  const auto found = cycles_.find(token);
  Attempt& attempt = *found->second;
  attempt.cycle.result = status;
  const bool blocked = std::exchange(attempt.blocks, false);
  const bool abandoned = attempt.abandoned;
  const bool undoes = attempt.undoes;
  const std::optional<FailedAttempt> report = attempt.report;
  const PodId pod = attempt.pod;
  attempt.done = true;
  if (abandoned) cycles_.erase(found);
  if (undoes) LetGo(pod);
  if (report.has_value()) Report(*report);
  if (!abandoned) engine_->ResumeStep(pod);
  if (blocked) engine_->BlockScheduling(false);
}

// ---- Failed and cancelled attempts ----

// The pod is not tried while the cancelled attempt is in progress.
void SchedulerActor::HoldBack(Attempt* attempt) {
  attempt->undoes = true;
  ++held_back_[attempt->pod].attempts;
}

void SchedulerActor::LetGo(PodId pod) {
  const auto held = held_back_.find(pod);
  if (--held->second.attempts > 0) return;
  const bool turned_away = held->second.turned_away;
  held_back_.erase(held);
  engine_->RecheckPod(pod);
  if (turned_away) engine_->WakePod(pod, /*at_once=*/true);
}

void SchedulerActor::GoDown() {
  if (!std::exchange(down_, true)) engine_->BlockScheduling(true);
}

void SchedulerActor::OnRestart() {
  if (std::exchange(down_, false)) engine_->BlockScheduling(false);
  if (reports_ != nullptr) reports_->OnRestart();
  DynamicResources::Status lost;
  lost.code = DynamicResources::Code::kError;
  lost.reason = DynamicResources::Reason::kCallFailed;
  std::vector<uint64_t> waiting;
  for (const auto& [token, attempt] : cycles_) {
    if (attempt->waits) waiting.push_back(token);
  }
  for (const uint64_t token : waiting) {
    const auto found = cycles_.find(token);
    if (found == cycles_.end()) continue;
    Attempt& attempt = *found->second;
    attempt.report.reset();
    if (attempt.binding) {
      // Upstream finds the pod bound, or tries it again. Repeating the call distinguishes the two.
      attempt.sent_again = true;
      const auto reply = client_->Call(BindingOf(attempt), token);
      if (reply.has_value()) OnReply(token, *reply);
      continue;
    }
    attempt.waits = false;
    attempt.lost = true;
    attempt.cycle.step = DynamicResources::Step::kNone;
    attempt.cycle.stage = 0;
    attempt.cycle.next = 0;
    EndStep(token, lost);
  }
  gangs_.OnRestart();
  users_.clear();
  for (const Ref<Pod>& pod : client_->cache().of<Pod>().Sorted()) {
    if (!pod->row.valid()) continue;
    if (!IsDone(*pod)) IndexUser(*pod, true);
    if (pods_->UidOf(pod->row) != pod->meta.uid || pod->node.valid()) continue;
    engine_->RecheckPod(pod->row);
    engine_->WakePod(pod->row, /*at_once=*/true);
  }
}

// ---- Watches ----

void SchedulerActor::OnWatch(const WatchEvent& event) {
  switch (event.kind()) {
    case ObjectKind::kPod:
      return OnPod(event);
    case ObjectKind::kResourceClaim:
      return OnClaim(event);
    case ObjectKind::kPodSchedulingContext:
      return OnContext(event);
    case ObjectKind::kResourceClass:
      if (event.type != WatchEvent::Type::kDeleted) engine_->ClaimsChanged();
      return;
    default:
      return;
  }
}

// Adds the pod to, or removes it from, the users of its claims, whose events may help it.
void SchedulerActor::IndexUser(const Pod& pod, bool uses) {
  for (const PodClaim& entry : pod.claims) {
    const Name claim = rules_->ClaimNameOf(pod, entry);
    if (claim.empty()) continue;
    const auto key = std::make_pair(pod.meta.ns, claim);
    if (uses) {
      users_[key].insert({pod.meta.uid, pod.row});
      continue;
    }
    const auto users = users_.find(key);
    if (users == users_.end()) continue;
    users->second.erase({pod.meta.uid, pod.row});
    if (users->second.empty()) users_.erase(users);
  }
}

void SchedulerActor::OnPod(const WatchEvent& event) {
  const Ref<Pod> pod = As<Pod>(event.object);
  if (!pod->row.valid()) return;
  const bool current = pods_->UidOf(pod->row) == pod->meta.uid;
  IndexUser(*pod, event.type != WatchEvent::Type::kDeleted && !IsDone(*pod));
  if (current && event.type != WatchEvent::Type::kDeleted && !pod->node.valid()) {
    engine_->RecheckPod(pod->row);
  }
}

void SchedulerActor::Hint(PodId pod, DynamicResources::Hint hint) {
  if (hint == DynamicResources::Hint::kSkip) return;
  const bool at_once = hint == DynamicResources::Hint::kQueueImmediately || IsPending(pod);
  engine_->WakePod(pod, at_once && CountWake(pod, client_->now()));
}

bool SchedulerActor::WakesItself() const {
  return behaviour_.strict_upstream && client_->options().qps > 0;
}

bool SchedulerActor::IsPending(PodId pod) const {
  return pod.value() < pending_.size() && pending_[pod.value()];
}

bool SchedulerActor::CountWake(PodId pod, SimTime now) {
  if (wakes_.size() <= pod.value()) wakes_.resize(pod.value() + size_t{1});
  Wakes& wakes = wakes_[pod.value()];
  if (wakes.at != now) wakes = {now, 0};
  return ++wakes.count <= kMostWakesAtOnce;
}

// An event during the cancellation belongs to the pod's own cycle and costs a backoff.
bool SchedulerActor::SkipsBackoff(PodId pod, SimTime now) {
  return IsPending(pod) && !held_back_.contains(pod) && !absl::c_linear_search(reservers_, pod) &&
         CountWake(pod, now);
}

void SchedulerActor::OnClaim(const WatchEvent& event) {
  const Ref<ResourceClaim> claim = As<ResourceClaim>(event.object);
  const Ref<ResourceClaim> before = As<ResourceClaim>(event.before);
  const auto users = users_.find({claim->meta.ns, claim->meta.name});
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  reservers_.clear();
  if (users != users_.end()) {
    const absl::btree_set<std::pair<Uid, PodId>> pods = users->second;
    for (const auto& [uid, row] : pods) {
      if (pods_->UidOf(row) != uid) continue;
      if (behaviour_.pre_enqueue()) engine_->RecheckPod(row);
      const bool own = !WakesItself() && before != nullptr && !deleted &&
                       OnlyReservationOf(uid, *before, *claim);
      if (own) reservers_.push_back(row);
      if (!behaviour_.queueing_hints || own) continue;
      const Ref<Pod> pod = client_->cache().pod(uid);
      if (pod == nullptr || pod->node.valid()) continue;
      Hint(row, rules_->AfterClaimChange(*pod, before.get(), deleted ? nullptr : claim.get()));
    }
  }
  if (!behaviour_.queueing_hints && !deleted) engine_->ClaimsChanged();
  reservers_.clear();
}

void SchedulerActor::OnContext(const WatchEvent& event) {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (!behaviour_.queueing_hints) {
    if (!deleted) engine_->ClaimsChanged();
    return;
  }
  const Ref<PodSchedulingContext> context = As<PodSchedulingContext>(event.object);
  const Ref<PodSchedulingContext> before = As<PodSchedulingContext>(event.before);
  const Ref<Pod> pod = client_->cache().pod(context->meta.owner);
  if (pod == nullptr || !pod->row.valid() || pod->node.valid()) return;
  if (pods_->UidOf(pod->row) != pod->meta.uid) return;
  Hint(pod->row, rules_->AfterContextChange(*pod, before.get(), deleted ? nullptr : context.get()));
}

}  // namespace drasim
