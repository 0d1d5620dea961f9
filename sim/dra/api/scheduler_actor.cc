#include "sim/dra/api/scheduler_actor.h"

#include "absl/algorithm/container.h"
#include "model/check.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

using Code = DraRules::Code;
using Status = DraRules::Status;

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
    ResourceClaimStatus status = claim.status;
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

SchedulerActor::SchedulerActor(std::unique_ptr<DraRules> rules, const DraBehaviour& behaviour,
                               SimDuration gang_timeout, uint64_t seed, PodObjects* pods,
                               NetworkClock* clock)
    : behaviour_(behaviour),
      pods_(pods),
      clock_(clock),
      gangs_(gang_timeout, seed, pods),
      rules_(std::move(rules)),
      traits_(rules_->traits()) {}

void SchedulerActor::Start(ApiClient* client, PodControl* engine) {
  client_ = client;
  engine_ = engine;
  rules_->Start(client);
  gangs_.Start(client, engine, behaviour_);
}

std::vector<Reason> SchedulerActor::reasons() const { return rules_->Reasons(); }

Status SchedulerActor::CallFailed() const {
  Status status;
  status.code = Code::kError;
  status.reason = rules_->CallFailed();
  return status;
}

SchedulerActor::Attempt* SchedulerActor::Find(PodId pod) {
  const auto token = token_of_.find(pod);
  return token == token_of_.end() ? nullptr : cycles_.find(token->second)->second.get();
}

SchedulerActor::Attempt* SchedulerActor::FindWithClaims(PodId pod) {
  Attempt* const attempt = Find(pod);
  return attempt == nullptr || !attempt->cycle->has_claims ? nullptr : attempt;
}

void SchedulerActor::Forget(PodId pod) {
  const auto token = token_of_.find(pod);
  if (token == token_of_.end()) return;
  const auto found = cycles_.find(token->second);
  rules_->Forget(*found->second->cycle);
  cycles_.erase(found);
  token_of_.erase(token);
}

StepResult SchedulerActor::PreEnqueue(const PodContext& pod) {
  StepResult result;
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod.pod));
  const bool held_back = held_back_.contains(pod.pod) || gangs_.IsPaused(pod.pod);
  if (held_back || object == nullptr ||
      (traits_.pre_enqueue && !rules_->PreEnqueue(*object).ok())) {
    result.code = StepCode::kUnresolvable;
  }
  return result;
}

StepResult SchedulerActor::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  if (pending_.size() <= pod.pod.value()) pending_.resize(pod.pod.value() + size_t{1});
  if (const auto held = held_back_.find(pod.pod); held != held_back_.end()) {
    held->second.turned_away = true;
    StepResult later;
    later.code = StepCode::kReject;
    later.reason = rules_->CallFailed();
    return later;
  }
  pending_[pod.pod.value()] = false;
  cleared_.erase(pod.pod);
  ++attempts_;
  Forget(pod.pod);
  StepResult result;
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod.pod));
  if (object == nullptr) {
    result.code = StepCode::kReject;
    result.reason = rules_->CallFailed();
    return result;
  }
  // All pods of a gang are filtered before the first one is reserved. Those that have a node by now
  // take their devices, so that this pod does not find them free.
  const std::vector<PodId> gang =
      traits_.gangs_keep_claims ? std::vector<PodId>() : pods_->GangOf(pod.pod);
  for (const PodId other : gang) {
    if (other == pod.pod || cluster.pod_phase(other) != PodPhase::kAssumed) continue;
    Attempt* const placed = FindWithClaims(other);
    if (placed == nullptr || placed->answers[0].has_value()) continue;
    Answer(other, placed, rules_->Reserve(*placed->cycle, cluster.pod_node(other)),
           /*blocks=*/false, &placed->answers[0]);
  }
  Status status;
  std::unique_ptr<DraRules::Cycle> cycle = rules_->PreFilter(object, next_token_, &status);
  if (cycle != nullptr) {
    auto attempt = std::make_unique<Attempt>();
    attempt->pod = pod.pod;
    attempt->cycle = std::move(cycle);
    token_of_[pod.pod] = next_token_;
    cycles_.emplace(next_token_++, std::move(attempt));
    return result;
  }
  result.code = StepCode::kReject;
  result.reason = status.reason;
  result.message = std::move(status.message);
  return result;
}

NodeRestriction SchedulerActor::Restriction(const PodContext& pod) {
  Attempt* const attempt = FindWithClaims(pod.pod);
  return attempt == nullptr ? NodeRestriction() : rules_->Restriction(*attempt->cycle);
}

ReasonIndex SchedulerActor::WhyRestricted(const PodContext& pod, NodeId node) {
  Attempt* const attempt = FindWithClaims(pod.pod);
  return attempt == nullptr ? kFits : rules_->WhyRejected(*attempt->cycle, node);
}

void SchedulerActor::ListFeasible(const PodContext& pod, absl::Span<const NodeId> feasible) {
  if (Attempt* attempt = Find(pod.pod)) rules_->PreScore(*attempt->cycle, feasible);
}

void SchedulerActor::Score(const PodContext& pod, const ClusterState&,
                           absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  absl::c_fill(scores, 0);
  if (Attempt* attempt = FindWithClaims(pod.pod)) rules_->Score(*attempt->cycle, nodes, scores);
}

// The step continues alone; at most the scheduling thread waits for its end.
void SchedulerActor::Background(Attempt* attempt, const Status& status, bool blocks) {
  token_of_.erase(attempt->pod);
  if (status.code != Code::kWaiting) {
    cycles_.erase(attempt->cycle->token);
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

bool SchedulerActor::RetryMayHelp() const {
  return absl::c_any_of(cleared_, [this](PodId pod) {
    const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod));
    return object != nullptr && !object->meta.deleting && !object->node.valid();
  });
}

PostFilterResult SchedulerActor::PostFilter(const PodContext& pod, PostFilterHandle&) {
  PostFilterResult result;
  Attempt* attempt = FindWithClaims(pod.pod);
  if (attempt == nullptr) return result;
  clock_->BeforeCalls(pod.now);
  const Status status = rules_->PostFilter(*attempt->cycle);
  if (rules_->HasCleared(*attempt->cycle)) cleared_.insert(pod.pod);
  const bool acted = status.code == Code::kSuccess || status.code == Code::kWaiting;
  // Otherwise preemption asks which nodes the claims allow (WhyRestricted).
  if (acted) Background(attempt, status, true);
  clock_->AfterCalls();
  if (acted && traits_.deallocation_ends_post_filter) result.code = StepCode::kPending;
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
    result.reason = status.reason;
    result.message = std::move(status.message);
    pending_[pod.value()] = status.code == Code::kPending;
    if (traits_.gangs_keep_claims) gangs_.OnFailure(pod);
  }
  *keep = result;
  return result;
}

std::optional<StepResult> SchedulerActor::EarlierAnswer(PodId pod, Attempt* attempt,
                                                        std::optional<StepResult>* keep) {
  if (keep->has_value()) return *keep;
  if (attempt->waits) return Answer(pod, attempt, Waiting(), false, keep);
  if (!std::exchange(attempt->done, false)) return std::nullopt;
  return Answer(pod, attempt, attempt->result, false, keep);
}

StepResult SchedulerActor::Reserve(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = FindWithClaims(pod.pod);
  if (attempt == nullptr) return StepResult();
  std::optional<StepResult>* const keep = &attempt->answers[0];
  if (const auto earlier = EarlierAnswer(pod.pod, attempt, keep)) return *earlier;
  clock_->BeforeCalls(pod.now);
  const Status status = rules_->Reserve(*attempt->cycle, node);
  clock_->AfterCalls();
  return Answer(pod.pod, attempt, status, traits_.reserve_blocks, keep);
}

void SchedulerActor::Unreserve(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = Find(pod.pod);
  if (attempt == nullptr) return;
  // A restarted process releases nothing; the next attempt finds this one's reservations.
  if (!attempt->cycle->has_claims || attempt->lost) return Forget(pod.pod);
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
    pods_->BoundInVain(pod.pod, attempt->cycle->pod_uid);
    Background(attempt, Status(), false);
    return clock_->AfterCalls();
  }
  if (traits_.gangs_keep_claims && gangs_.Keeps(pod.pod)) {
    Background(attempt, Status(), false);
    return clock_->AfterCalls();
  }
  const Status status = rules_->Unreserve(*attempt->cycle, node);
  if (status.code == Code::kWaiting) HoldBack(attempt);
  Background(attempt, status, traits_.reserve_blocks);
  clock_->AfterCalls();
}

StepResult SchedulerActor::PreBind(const PodContext& pod, const ClusterState&, NodeId node) {
  Attempt* attempt = FindWithClaims(pod.pod);
  if (attempt == nullptr) return StepResult();
  std::optional<StepResult>* const keep = &attempt->answers[1];
  if (const auto earlier = EarlierAnswer(pod.pod, attempt, keep)) return *earlier;
  clock_->BeforeCalls(pod.now);
  const Status status = rules_->PreBind(*attempt->cycle, node);
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
  const auto reply = client_->Call(BindingOf(*attempt), attempt->cycle->token);
  clock_->AfterCalls();
  if (!reply.has_value()) return Answer(pod.pod, attempt, Waiting(), false, keep);
  attempt->binding = false;
  return Answer(pod.pod, attempt, AfterBinding(*attempt, *reply), false, keep);
}

ApiRequest SchedulerActor::BindingOf(const Attempt& attempt) const {
  const ObjectMeta& meta = attempt.cycle->pod->meta;
  ApiRequest request = NamedRequest(Verb::kBind, ObjectKind::kPod, meta.ns, meta.name);
  request.uid = meta.uid;
  request.node = attempt.node;
  return request;
}

// No other component binds pods: if the repeated call finds the pod bound, the first call did it
// and its reply was lost.
Status SchedulerActor::AfterBinding(const Attempt& attempt, const ApiReply& reply) const {
  if (reply.ok() || (attempt.sent_again && reply.code == ApiCode::kConflict)) return Status();
  return CallFailed();
}

void SchedulerActor::ReportBinding(const PodContext& pod) {
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod.pod));
  if (reports_ == nullptr || object == nullptr) return;
  clock_->BeforeCalls(pod.now);
  reports_->Scheduled(*object);
  clock_->AfterCalls();
}

void SchedulerActor::AttemptFailed(const FailedAttempt& attempt, SimTime now) {
  // A gang that found no nodes gives back what its pods have reserved; after Reserve, Unreserve
  // does.
  if (!traits_.gangs_keep_claims && !attempt.binding) {
    const std::vector<PodId> gang = pods_->GangOf(attempt.pod);
    for (const PodId pod : gang) {
      Attempt* const placed = gang.size() > 1 ? Find(pod) : nullptr;
      if (placed != nullptr && !placed->waits) Forget(pod);
    }
  }
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
  if (!attempt->cycle->has_claims) return Forget(pod.pod);
  clock_->BeforeCalls(pod.now);
  Background(attempt, rules_->PostBind(*attempt->cycle), false);
  clock_->AfterCalls();
}

void SchedulerActor::OnReply(uint64_t token, const ApiReply& reply) {
  if (SchedulerReports::Owns(token)) return reports_->OnReply(token);
  Continue(token, &reply);
}

void SchedulerActor::OnTimer(uint64_t token) {
  if ((token & DraRules::kTimerTokens) == 0) return gangs_.OnTimer(token);
  Continue(token & ~DraRules::kTimerTokens, nullptr);
}

void SchedulerActor::Continue(uint64_t token, const ApiReply* reply) {
  const auto found = cycles_.find(token);
  if (found == cycles_.end()) return;
  Attempt& attempt = *found->second;
  attempt.waits = false;
  // Read before Resume, which ends the step.
  const bool undoing = attempt.cycle->undoes;
  const NodeId node = attempt.cycle->node;
  bool in_vain = false;
  Status status;
  if (std::exchange(attempt.binding, false)) {
    status = AfterBinding(attempt, *reply);
    in_vain = attempt.undoes && status.ok();
  } else {
    status = rules_->Resume(*attempt.cycle, reply);
  }
  // The reservations of a step in progress are released after the start was cancelled. If the pod
  // was bound although its start was cancelled, its claims are released with its deletion.
  const bool keeps = traits_.gangs_keep_claims && gangs_.Keeps(attempt.pod);
  if (status.code != Code::kWaiting && attempt.undoes && !undoing && !in_vain && !keeps) {
    status = rules_->Unreserve(*attempt.cycle, node);
  }
  if (status.code == Code::kWaiting) {
    attempt.waits = true;
    return;
  }
  if (in_vain) pods_->BoundInVain(attempt.pod, attempt.cycle->pod_uid);
  EndStep(token, status);
}

void SchedulerActor::EndStep(uint64_t token, Status status) {
  const auto found = cycles_.find(token);
  Attempt& attempt = *found->second;
  attempt.result = std::move(status);
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
  rules_->OnRestart();
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
    rules_->Abort(*attempt.cycle);
    EndStep(token, CallFailed());
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
  rules_->OnWatch(event);
  switch (event.kind()) {
    case ObjectKind::kPod:
      return OnPod(event);
    case ObjectKind::kResourceClaim:
      return OnClaim(event);
    case ObjectKind::kPodSchedulingContext:
      return OnContext(event);
    default:
      if (rules_->HelpsAll(event)) engine_->ClaimsChanged();
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

void SchedulerActor::Hint(PodId pod, DraRules::Hint hint) {
  if (hint == DraRules::Hint::kSkip) return;
  const bool at_once = hint == DraRules::Hint::kQueueImmediately || IsPending(pod);
  engine_->WakePod(pod, at_once && CountWake(pod, client_->now()));
}

bool SchedulerActor::WakesItself() const {
  return traits_.wakes_itself && client_->options().qps > 0;
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
      if (traits_.pre_enqueue) engine_->RecheckPod(row);
      const bool own = !WakesItself() && before != nullptr && !deleted &&
                       OnlyReservationOf(uid, *before, *claim);
      if (own) reservers_.push_back(row);
      if (!traits_.hints || own) continue;
      const Ref<Pod> pod = client_->cache().pod(uid);
      if (pod == nullptr || pod->node.valid()) continue;
      Hint(row, rules_->AfterChange(*pod, event));
    }
  }
  if (rules_->HelpsAll(event)) engine_->ClaimsChanged();
  reservers_.clear();
}

void SchedulerActor::OnContext(const WatchEvent& event) {
  if (rules_->HelpsAll(event)) engine_->ClaimsChanged();
  if (!traits_.hints) return;
  const Ref<PodSchedulingContext> context = As<PodSchedulingContext>(event.object);
  const Ref<Pod> pod = client_->cache().pod(context->meta.owner);
  if (pod == nullptr || !pod->row.valid() || pod->node.valid()) return;
  if (pods_->UidOf(pod->row) != pod->meta.uid) return;
  Hint(pod->row, rules_->AfterChange(*pod, event));
}

// ---- Checkpoints ----

template <typename Archive>
void Fields(Archive& a, plane_archive::FieldsOf<Archive, FailedAttempt>& f) {
  a(f.pod, f.why, f.nominated, f.binding);
}
template <typename Archive>
void Fields(Archive& a, plane_archive::FieldsOf<Archive, Intent>& i) {
  a(i.kind, i.latency);
}
template <typename Archive>
void Fields(Archive& a, plane_archive::FieldsOf<Archive, StepResult>& r) {
  a(r.code, r.reason, r.message, r.intents, r.names_nodes, r.nodes);
}

template <typename Archive, typename Self>
void SchedulerActor::WakeFields(Archive& archive, Self& self) {
  std::vector<std::pair<PodId, std::pair<SimTime, uint32_t>>> wakes;
  for (size_t i = 0; !Archive::kLoads && i < self.wakes_.size(); ++i) {
    const Wakes& last = self.wakes_[i];
    if (last.count > 0 && last.at >= self.client_->now()) {
      wakes.push_back({PodId(i), {last.at, last.count}});
    }
  }
  archive(wakes);
  if constexpr (Archive::kLoads) {
    self.wakes_.clear();
    for (const auto& [pod, wake] : wakes) {
      if (pod.value() >= self.pods_->size()) return archive.Fail("a pod without object was woken");
      if (self.wakes_.size() <= pod.value()) self.wakes_.resize(pod.value() + size_t{1});
      self.wakes_[pod.value()] = {wake.first, wake.second};
    }
  }
}

template <typename Archive, typename Self>
void SchedulerActor::RuleFields(Archive& archive, Self& self) {
  if constexpr (Archive::kLoads) {
    self.rules_->Load(archive);
    for (auto& [token, attempt] : self.cycles_) {
      if (attempt == nullptr) return archive.Fail("an attempt is missing");
      attempt->cycle = self.rules_->LoadCycle(archive);
    }
  } else {
    self.rules_->Save(archive);
    for (const auto& [token, attempt] : self.cycles_) {
      self.rules_->SaveCycle(*attempt->cycle, archive);
    }
  }
}

template <typename Archive, typename Self>
void SchedulerActor::Fields(Archive& archive, Self& self) {
  archive(self.gangs_, self.next_token_, self.cycles_, self.token_of_, self.pending_,
          self.held_back_, self.users_, self.attempts_, self.down_, self.cleared_);
  RuleFields(archive, self);
  WakeFields(archive, self);
}
DRASIM_PLANE_FIELDS(SchedulerActor);

}  // namespace drasim
