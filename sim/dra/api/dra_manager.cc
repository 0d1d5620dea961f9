#include "sim/dra/api/dra_manager.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

// Limit on a plugin call, so that sums of a few fit the clock (30 years).
constexpr double kLongestPluginCallSeconds = 1e9;

SimDuration DrawPluginCall(const std::optional<Distribution>& seconds, Random& stream) {
  if (!seconds.has_value()) return SimDuration();
  const double drawn = std::min(seconds->Sample(stream), kLongestPluginCallSeconds);
  return SimDuration(drawn <= 0 ? 0 : std::llround(drawn * 1e9));
}

bool HasPodEnded(const Pod& pod) {
  return pod.phase == KubePodPhase::kSucceeded || pod.phase == KubePodPhase::kFailed;
}

// The distinct drivers whose plugins prepare the claim. A claim without handles belongs to its own
// driver.
std::vector<Name> ClaimPlugins(const ResourceClaim& claim) {
  std::vector<Name> drivers;
  for (const ResourceHandle& handle : claim.status.allocation->handles) {
    if (std::find(drivers.begin(), drivers.end(), handle.driver) == drivers.end()) {
      drivers.push_back(handle.driver);
    }
  }
  if (drivers.empty()) drivers.push_back(claim.status.driver);
  return drivers;
}

bool HoldsClaim(const std::vector<Ref<ResourceClaim>>& claims, Uid uid) {
  return std::any_of(claims.begin(), claims.end(),
                     [uid](const Ref<ResourceClaim>& claim) { return claim->meta.uid == uid; });
}

}  // namespace

// A bound pod, from the moment the manager sees it.
struct DraManager::PodState {
  enum class Stage : uint8_t {
    kFetching,         // GET of a claim
    kPreparing,        // a plugin is at work
    kRetryingPrepare,  // at the next pod sync
    kReportingRunning,
    kRunning,      // until WorkDone or a stop
    kTerminating,  // works on for its grace period
    kUnpreparing,
    kRetryingUnprepare,
    kReportingEnd,
    kDeleting,
    // Ended or lost: nothing to do. Kept until the watch reports its end, so that it starts once.
    kEnded,
  };
  // One gRPC call.
  struct PluginCall {
    Name driver;
    std::vector<Ref<ResourceClaim>> claims;
    bool fails = false;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& c) {
      a(c.driver, c.claims, c.fails);
    }
  };

  Ref<Pod> pod;  // the cached state, or the last one
  NodeId node;
  Stage stage = Stage::kFetching;
  uint64_t token = 0;  // of the call or timer in progress; 0: none
  SimTime stop_at;     // end of the grace period
  bool ending = false;
  bool failed = true;                          // outcome; stopped containers count as failed
  bool gone = false;                           // from the server: no further reports
  size_t entry = 0;                            // of pod->claims; kFetching
  std::vector<Ref<ResourceClaim>> to_prepare;  // so far; kFetching
  std::vector<Ref<ResourceClaim>> held;        // its references, in the order of their GETs
  std::vector<PluginCall> calls;               // of the present attempt
  size_t call = 0;                             // the present one; kPreparing, kUnpreparing

  bool works() const { return stage == Stage::kRunning || stage == Stage::kTerminating; }
  // True when a later call concerns the claim as well.
  bool IsInLaterCall(Uid claim) const {
    for (size_t i = call + 1; i < calls.size(); ++i) {
      if (HoldsClaim(calls[i].claims, claim)) return true;
    }
    return false;
  }

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.pod, s.node, s.stage, s.token, s.stop_at, s.ending, s.failed, s.gone, s.entry, s.to_prepare,
      s.held, s.calls, s.call);
  }
};

DraManager::DraManager(std::vector<NodePlugin*> drivers, const DraManagerOptions& options,
                       PodRunner* runner)
    : drivers_(std::move(drivers)),
      options_(options),
      runner_(runner),
      draws_(options.seed, "kubelet plugins") {
  DRASIM_CHECK_GE(options.retry, SimDuration());
  DRASIM_CHECK_GE(options.prepare_retry, SimDuration());
  DRASIM_CHECK(options.retry_jitter >= 0 && options.retry_jitter <= 1);
  DRASIM_CHECK(options.failures_per_mille >= 0 && options.failures_per_mille <= 1000);
}

DraManager::~DraManager() = default;

void DraManager::Start(ApiClient* client) {
  client_ = client;
  for (const Ref<Pod>& pod : client_->cache().of<Pod>().Sorted()) Begin(pod);
}

// --- Watch events. ---

void DraManager::OnWatch(const WatchEvent& event) {
  if (event.kind() != ObjectKind::kPod) return;
  const Ref<Pod>& pod = std::get<Ref<Pod>>(event.object);
  PodState* state = FindState(pod->meta.uid);
  if (state == nullptr) {
    if (event.type != WatchEvent::Type::kDeleted) Begin(pod);
    return;
  }
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  state->pod = pod;
  state->gone = state->gone || deleted;
  if (state->stage == PodState::Stage::kEnded) {
    if (deleted || HasPodEnded(*pod)) pods_.erase(pod->meta.uid);
    return;
  }
  if (IsToEnd(*state)) Stop(*state);
}

void DraManager::OnRestart() {
  operations_.clear();
  absl::c_for_each(claims_, [](auto& entry) { entry.second.unpreparing = false; });
  std::vector<Uid> known;
  absl::c_for_each(pods_, [this, &known](const auto& entry) {
    const auto& [uid, state] = entry;
    known.push_back(uid);
    state->token = 0;
    const Ref<Pod> pod = client_->cache().pod(uid);
    state->gone = pod == nullptr;
    if (pod != nullptr) state->pod = pod;
  });
  std::sort(known.begin(), known.end());
  for (const Uid uid : known) {
    PodState* state = FindState(uid);
    // The host may have lost its node or ended its work in the meantime.
    if (state != nullptr && state->token == 0) Resume(*state);
  }
  for (const Ref<Pod>& pod : client_->cache().of<Pod>().Sorted()) {
    if (FindState(pod->meta.uid) == nullptr) Begin(pod);
  }
}

void DraManager::WorkDone(Uid pod, bool failed) {
  PodState* state = FindState(pod);
  if (state == nullptr || !state->works()) return;
  state->failed = failed;
  if (state->stage == PodState::Stage::kTerminating) Cancel(*state);
  End(*state);
}

void DraManager::NodeLost(NodeId node) {
  absl::erase_if(pods_, [this, node](const auto& entry) {
    PodState& state = *entry.second;
    if (state.node != node) return false;
    Cancel(state);
    state.stage = PodState::Stage::kEnded;
    state.held.clear();
    state.calls.clear();
    return state.gone || HasPodEnded(*state.pod);
  });
  std::vector<Uid> unprepared;
  absl::erase_if(claims_, [node, &unprepared](const auto& entry) {
    const auto& [key, claim] = entry;
    if (key.first != node) return false;
    if (claim.prepared) unprepared.push_back(key.second);
    return true;
  });
  if (options_.journal == nullptr) return;
  std::sort(unprepared.begin(), unprepared.end());
  for (const Uid claim : unprepared) options_.journal->Unprepared(claim, node, client_->now());
}

bool DraManager::IsRunning(Uid pod) const {
  const PodState* state = FindState(pod);
  return state != nullptr && state->works();
}

bool DraManager::CallsPlugins() const {
  return absl::c_any_of(pods_, [](const auto& entry) {
    const PodState& state = *entry.second;
    return state.token != 0 && (state.stage == PodState::Stage::kPreparing ||
                                state.stage == PodState::Stage::kUnpreparing);
  });
}

size_t DraManager::prepared_claims(NodeId node) const {
  return static_cast<size_t>(absl::c_count_if(claims_, [node](const auto& entry) {
    return entry.first.first == node && entry.second.prepared;
  }));
}

// --- Stages of a pod. ---

void DraManager::Begin(const Ref<Pod>& pod) {
  if (!pod->node.valid() || HasPodEnded(*pod)) return;
  std::unique_ptr<PodState>& slot = pods_[pod->meta.uid];
  slot = absl::make_unique<PodState>();
  PodState& state = *slot;
  state.pod = pod;
  state.node = pod->node;
  return pod->meta.deleting ? End(state) : StartAttempt(state);
}

void DraManager::Continue(uint64_t token, const ApiReply* reply) {
  const auto operation = operations_.find(token);
  if (operation == operations_.end()) return;  // cancelled
  PodState* state = FindState(operation->second);
  operations_.erase(operation);
  DRASIM_CHECK(state != nullptr && state->token == token);
  state->token = 0;
  switch (state->stage) {
    case PodState::Stage::kFetching:
      return Fetch(*state, reply);
    case PodState::Stage::kPreparing:
      return FinishPrepareCall(*state);
    case PodState::Stage::kRetryingPrepare:
      return StartAttempt(*state);
    case PodState::Stage::kReportingRunning:
      return FinishReportRunning(*state, *reply);
    case PodState::Stage::kUnpreparing:
      return FinishUnprepareCall(*state);
    case PodState::Stage::kRetryingUnprepare:
    case PodState::Stage::kTerminating:
      return End(*state);
    case PodState::Stage::kReportingEnd:
      return FinishReportEnd(*state, *reply);
    case PodState::Stage::kDeleting:
      return Retire(*state);
    default:
      DRASIM_UNREACHABLE("a pod that waits for nothing");
  }
}

// Waits for the call or timer in progress.
void DraManager::Stop(PodState& state) {
  if (state.ending) return;
  if (!state.gone && !HasPodEnded(*state.pod) && options_.grace_period > SimDuration()) {
    if (state.stage == PodState::Stage::kTerminating) return;
    if (state.stage == PodState::Stage::kRunning) {
      state.stop_at = client_->now() + options_.grace_period;
      return Terminate(state);
    }
  }
  state.ending = true;
  const bool timer = state.stage == PodState::Stage::kRetryingPrepare ||
                     state.stage == PodState::Stage::kTerminating;
  if (timer) Cancel(state);
  if (state.token == 0) End(state);
}

void DraManager::Terminate(PodState& state) {
  state.stage = PodState::Stage::kTerminating;
  Arm(state, std::max(state.stop_at - client_->now(), SimDuration()));
}

// True when the pod is to end because of others: it is deleted, or its status says that it has
// ended.
bool DraManager::IsToEnd(PodState& state) {
  const bool ended = HasPodEnded(*state.pod);
  if (ended && !state.ending) state.failed = state.pod->phase == KubePodPhase::kFailed;
  return ended || state.gone || state.pod->meta.deleting;
}

// Repeats the present step after a restart.
void DraManager::Resume(PodState& state) {
  switch (state.stage) {
    case PodState::Stage::kFetching:
    case PodState::Stage::kPreparing:
    case PodState::Stage::kRetryingPrepare:
    case PodState::Stage::kReportingRunning:
    case PodState::Stage::kRunning:
      if (IsToEnd(state) || state.ending) return End(state);
      if (state.stage == PodState::Stage::kRunning) return;
      if (state.stage == PodState::Stage::kReportingRunning) return ReportRunning(state);
      return StartAttempt(state);
    case PodState::Stage::kTerminating:
      return state.gone ? End(state) : Terminate(state);
    case PodState::Stage::kUnpreparing:
    case PodState::Stage::kRetryingUnprepare:
    case PodState::Stage::kReportingEnd:
      return End(state);
    case PodState::Stage::kDeleting:
      return state.gone ? Retire(state) : Delete(state);
    case PodState::Stage::kEnded:
      if (state.gone || HasPodEnded(*state.pod)) pods_.erase(state.pod->meta.uid);
      return;
  }
}

// --- The start. ---

void DraManager::StartAttempt(PodState& state) {
  state.stage = PodState::Stage::kFetching;
  state.entry = 0;
  state.to_prepare.clear();
  Fetch(state, nullptr);
}

// `reply`: to the GET of the present entry; null before that call.
void DraManager::Fetch(PodState& state, const ApiReply* reply) {
  std::optional<ApiReply> at_once;
  for (;; ++state.entry, reply = nullptr) {
    if (reply == nullptr) {
      if (state.ending) return End(state);
      const std::vector<PodClaim>& entries = state.pod->claims;
      // The claim for extended resources comes last.
      const bool is_extended = state.entry == entries.size();
      if (state.entry > entries.size() || (is_extended && state.pod->extended_claim.empty())) break;
      const std::optional<Name> claim =
          is_extended
              ? state.pod->extended_claim
              : NameOfClaim(*state.pod, entries[state.entry], options_.behaviour, client_->names());
      if (!claim.has_value()) return FailPrepare(state);
      if (claim->empty()) continue;
      at_once = Call(
          state, NamedRequest(Verb::kGet, ObjectKind::kResourceClaim, state.pod->meta.ns, *claim));
      if (!at_once.has_value()) return;
      reply = &*at_once;
    }
    if (!Accept(state, *reply)) return FailPrepare(state);
  }
  PlanCalls(state.to_prepare, state);
  if (state.calls.empty()) return ReportRunning(state);
  state.stage = PodState::Stage::kPreparing;
  if (StartCall(state)) return;
  TellFailedCall(state, "has no plugin on the node");
  FailPrepare(state);
}

// Decides whether the pod may use the claim. If so, and if a container uses it, the pod refers to
// it from now on.
bool DraManager::Accept(PodState& state, const ApiReply& reply) {
  if (!reply.ok()) return false;
  Ref<ResourceClaim> claim = As<ResourceClaim>(reply.object);
  const Uid pod = state.pod->meta.uid;
  const bool is_extended = state.entry == state.pod->claims.size();
  const bool from_template = !is_extended && state.pod->claims[state.entry].claim.empty();
  if (from_template && claim->meta.owner != pod) return false;
  if (!IsReservedFor(*claim, pod) || claim->status.allocation == nullptr) return false;
  // A claim that no container uses is checked all the same, but not prepared.
  if (!is_extended && !state.pod->claims[state.entry].used) return true;

  const Uid uid = claim->meta.uid;
  NodeClaim& there = claims_[NodeClaimKey(state.node, uid)];
  if (std::find(there.users.begin(), there.users.end(), pod) == there.users.end()) {
    there.users.push_back(pod);
  }
  if (!HoldsClaim(state.held, uid)) state.held.push_back(claim);
  const bool ready = there.prepared && !there.unpreparing;
  if (!ready && !HoldsClaim(state.to_prepare, uid)) state.to_prepare.push_back(std::move(claim));
  return true;
}

void DraManager::FailPrepare(PodState& state) {
  ++failed_prepares_;
  if (state.ending) return End(state);
  state.stage = PodState::Stage::kRetryingPrepare;
  Arm(state, PrepareRetryDelay());
}

void DraManager::FinishPrepareCall(PodState& state) {
  const PodState::PluginCall& call = state.calls[state.call];
  if (call.fails) {
    TellFailedCall(state, "failed to prepare it");
    return FailPrepare(state);
  }
  for (const Ref<ResourceClaim>& claim : call.claims) {
    NodeClaim& there = There(state, claim->meta.uid);
    there.touched = true;
    if (state.IsInLaterCall(claim->meta.uid)) continue;
    const bool was_prepared = std::exchange(there.prepared, true);
    if (options_.journal != nullptr && !was_prepared) {
      options_.journal->Prepared(claim->meta.uid, state.node, client_->now());
    }
  }
  if (state.ending) return End(state);
  if (++state.call == state.calls.size()) return ReportRunning(state);
  if (StartCall(state)) return;
  TellFailedCall(state, "has no plugin on the node");
  FailPrepare(state);
}

void DraManager::ReportRunning(PodState& state) {
  state.stage = PodState::Stage::kReportingRunning;
  const std::optional<ApiReply> reply = PatchPhase(state, KubePodPhase::kRunning);
  if (reply.has_value()) FinishReportRunning(state, *reply);
}

void DraManager::FinishReportRunning(PodState& state, const ApiReply& reply) {
  if (!reply.ok()) state.gone = true;
  if (state.ending || state.gone) return End(state);
  state.stage = PodState::Stage::kRunning;
  const Ref<Pod> pod = As<Pod>(reply.object);
  runner_->PodStarted(*pod);  // may end it: `state` is not used any more
}

// --- The end. ---

void DraManager::End(PodState& state) {
  state.ending = true;
  state.stage = PodState::Stage::kUnpreparing;
  std::vector<Ref<ResourceClaim>> to_unprepare;
  const std::vector<Ref<ResourceClaim>> held = state.held;
  for (const Ref<ResourceClaim>& claim : held) {
    if (There(state, claim->meta.uid).touched) {
      to_unprepare.push_back(claim);
    } else {
      DropReference(state, claim->meta.uid);
    }
  }
  PlanCalls(to_unprepare, state);
  NextUnprepareCall(state);
}

// Starts the present call, or the first later one with work to do.
void DraManager::NextUnprepareCall(PodState& state) {
  for (; state.call < state.calls.size(); ++state.call) {
    std::vector<Ref<ResourceClaim>>& claims = state.calls[state.call].claims;
    // A claim that another pod refers to by now stays prepared.
    for (const Ref<ResourceClaim>& claim : claims) {
      if (HoldsClaim(state.held, claim->meta.uid) &&
          There(state, claim->meta.uid).users.size() > 1) {
        DropReference(state, claim->meta.uid);
      }
    }
    std::erase_if(claims, [&state](const Ref<ResourceClaim>& claim) {
      return !HoldsClaim(state.held, claim->meta.uid);
    });
    if (claims.empty()) continue;
    if (!StartCall(state)) RetryUnprepare(state);
    return;
  }
  if (state.gone) {
    const Ref<Pod> pod = state.pod;
    Retire(state);
    return runner_->PodEnded(*pod);
  }
  ReportEnd(state);
}

void DraManager::FinishUnprepareCall(PodState& state) {
  const PodState::PluginCall& call = state.calls[state.call];
  for (const Ref<ResourceClaim>& claim : call.claims) {
    const Uid uid = claim->meta.uid;
    NodeClaim& there = There(state, uid);
    there.unpreparing = false;
    if (call.fails) continue;
    const bool was_prepared = std::exchange(there.prepared, false);
    if (options_.journal != nullptr && was_prepared) {
      options_.journal->Unprepared(uid, state.node, client_->now());
    }
    if (state.IsInLaterCall(uid)) continue;
    there.touched = false;
    DropReference(state, uid);
  }
  if (call.fails) return RetryUnprepare(state);
  ++state.call;
  NextUnprepareCall(state);
}

void DraManager::RetryUnprepare(PodState& state) {
  state.stage = PodState::Stage::kRetryingUnprepare;
  Arm(state, Jittered(options_.retry));
}

void DraManager::ReportEnd(PodState& state) {
  state.stage = PodState::Stage::kReportingEnd;
  const std::optional<ApiReply> reply =
      PatchPhase(state, state.failed ? KubePodPhase::kFailed : KubePodPhase::kSucceeded);
  if (reply.has_value()) FinishReportEnd(state, *reply);
}

void DraManager::FinishReportEnd(PodState& state, const ApiReply& reply) {
  const Ref<Pod> pod = reply.ok() ? As<Pod>(reply.object) : state.pod;
  const Uid uid = pod->meta.uid;
  if (reply.ok() && !state.gone && pod->meta.deleting) {
    state.stage = PodState::Stage::kDeleting;
  } else {
    Retire(state);
  }
  runner_->PodEnded(*pod);
  // The host may have lost the node as a result.
  PodState* still = FindState(uid);
  if (still != nullptr && still->stage == PodState::Stage::kDeleting) Delete(*still);
}

void DraManager::Delete(PodState& state) {
  ApiRequest request = DeleteRequest(ObjectKind::kPod, state.pod->meta);
  request.force = true;
  const std::optional<ApiReply> reply = Call(state, std::move(request));
  if (reply.has_value()) Retire(state);  // deleted now, or by another component
}

void DraManager::Retire(PodState& state) {
  state.stage = PodState::Stage::kEnded;
  const Uid uid = state.pod->meta.uid;
  const Ref<Pod>& cached = client_->cache().pod(uid);
  if (cached == nullptr || HasPodEnded(*cached)) pods_.erase(uid);
}

// --- Plugins. ---

void DraManager::PlanCalls(const std::vector<Ref<ResourceClaim>>& claims, PodState& state) const {
  // Kubelet API v1alpha3: NodePrepareResources takes a list of claims.
  const bool batched = options_.behaviour.release >= DraRelease::k28;
  state.calls.clear();
  state.call = 0;
  for (const Ref<ResourceClaim>& claim : claims) {
    for (const Name driver : ClaimPlugins(*claim)) {
      auto call = std::find_if(
          state.calls.begin(), state.calls.end(),
          [driver](const PodState::PluginCall& other) { return other.driver == driver; });
      if (!batched || call == state.calls.end()) {
        call = state.calls.insert(state.calls.end(), PodState::PluginCall());
        call->driver = driver;
      }
      call->claims.push_back(claim);
    }
  }
}

bool DraManager::StartCall(PodState& state) {
  PodState::PluginCall& call = state.calls[state.call];
  const NodePlugin* driver = FindDriver(call.driver);
  if (driver == nullptr || IsDown(driver->name(), state.node)) return false;
  const bool unprepares = state.stage == PodState::Stage::kUnpreparing;
  const SimDuration latency = DrawPluginCall(options_.grpc_latency, draws_);
  call.fails = draws_.Bernoulli(static_cast<uint64_t>(options_.failures_per_mille), 1000);
  if (!unprepares && !failures_left_.empty()) {
    const auto left = failures_left_.find(driver->name());
    if (left != failures_left_.end()) {
      call.fails = true;
      if (--left->second == 0) failures_left_.erase(left);
    }
  }
  SimDuration work;
  SimTime start = client_->now();
  for (const Ref<ResourceClaim>& claim : call.claims) {
    work = std::max(work, unprepares ? driver->UnprepareTime(*claim) : driver->PrepareTime(*claim));
    const NodeClaim& there = There(state, claim->meta.uid);
    // Strictly after, because the order of events within one instant is arbitrary.
    if (there.unpreparing) start = std::max(start, there.unprepared_at + SimDuration(1));
  }
  const SimTime end = start + latency + work;
  if (unprepares) {
    for (const Ref<ResourceClaim>& claim : call.claims) {
      NodeClaim& there = There(state, claim->meta.uid);
      there.unpreparing = true;
      there.unprepared_at = end;
    }
  }
  Arm(state, end - client_->now());
  return true;
}

// The journal hears why the present call did not prepare its claims: "driver gpu.example.com ...".
void DraManager::TellFailedCall(const PodState& state, absl::string_view reason) const {
  if (options_.journal == nullptr || !options_.journal->active()) return;
  const PodState::PluginCall& call = state.calls[state.call];
  for (const Ref<ResourceClaim>& claim : call.claims) {
    options_.journal->PrepareFailed(claim->meta.uid, state.node,
                                    absl::StrCat("driver ", call.driver.text(), " ", reason),
                                    client_->now());
  }
}

// --- Faults of plugins. ---

void DraManager::PluginDown(absl::string_view driver, const NodeSet& nodes, SimTime until) {
  std::erase_if(outages_, [this](const Outage& o) { return o.until <= client_->now(); });
  outages_.push_back({std::string(driver), nodes, until});
  absl::c_for_each(pods_, [&](const auto& entry) {
    PodState& state = *entry.second;
    const bool calls = state.token != 0 && (state.stage == PodState::Stage::kPreparing ||
                                            state.stage == PodState::Stage::kUnpreparing);
    if (!calls || !nodes.Contains(state.node)) return;
    PodState::PluginCall& call = state.calls[state.call];
    if (call.driver.text() == driver) call.fails = true;
  });
}

void DraManager::FailPrepares(absl::string_view driver, int64_t count) {
  failures_left_[std::string(driver)] += count;
}

bool DraManager::HasPlugin(absl::string_view driver) const {
  return absl::c_any_of(drivers_, [driver](const NodePlugin* p) { return p->name() == driver; });
}

bool DraManager::AnyPluginDown() const {
  return absl::c_any_of(outages_, [this](const Outage& o) { return o.until > client_->now(); });
}

bool DraManager::IsDown(absl::string_view driver, NodeId node) const {
  return absl::c_any_of(outages_, [&](const Outage& o) {
    return o.until > client_->now() && o.driver == driver && o.nodes.Contains(node);
  });
}

void DraManager::DropReference(PodState& state, Uid claim) {
  std::erase_if(state.held,
                [claim](const Ref<ResourceClaim>& held) { return held->meta.uid == claim; });
  std::vector<Uid>& users = There(state, claim).users;
  std::erase(users, state.pod->meta.uid);
  if (users.empty()) claims_.erase(NodeClaimKey(state.node, claim));
}

DraManager::NodeClaim& DraManager::There(const PodState& state, Uid claim) {
  const auto there = claims_.find(NodeClaimKey(state.node, claim));
  DRASIM_CHECK(there != claims_.end());
  return there->second;
}

NodePlugin* DraManager::FindDriver(Name name) const {
  for (NodePlugin* driver : drivers_) {
    if (driver->name() == name.text()) return driver;
  }
  return nullptr;
}

// --- Calls and timers. ---

std::optional<ApiReply> DraManager::Call(PodState& state, ApiRequest request) {
  const uint64_t token = next_token_++;
  std::optional<ApiReply> reply = client_->Call(std::move(request), token);
  if (!reply.has_value()) Expect(state, token);
  return reply;
}

// Any rejection means that the pod is gone.
std::optional<ApiReply> DraManager::PatchPhase(PodState& state, KubePodPhase phase) {
  auto next = std::make_shared<Pod>();
  next->meta.ns = state.pod->meta.ns;
  next->meta.name = state.pod->meta.name;
  next->meta.uid = state.pod->meta.uid;
  next->row = state.pod->row;  // for listeners to the call
  next->phase = phase;
  return Call(state, PatchRequest(StatusPart::kPhase, std::move(next)));
}

void DraManager::Arm(PodState& state, SimDuration after) {
  Expect(state, next_token_++);
  client_->ArmTimer(after, state.token);
}

void DraManager::Expect(PodState& state, uint64_t token) {
  state.token = token;
  operations_[token] = state.pod->meta.uid;
}

void DraManager::Cancel(PodState& state) {
  operations_.erase(state.token);
  state.token = 0;
}

// k8s.io/apimachinery pkg/util/wait, Jitter: only ever adds, so 10 s become 10 to 15 s
// (pkg/kubelet/pod_workers.go: backOffPeriod, workerBackOffPeriodJitterFactor).
SimDuration DraManager::Jittered(SimDuration delay) {
  const int64_t least = delay.ns();
  const int64_t drawn = std::llround(static_cast<double>(least) * options_.retry_jitter);
  const int64_t most = std::min(drawn, least);
  return SimDuration(least + static_cast<int64_t>(draws_.Below(static_cast<uint64_t>(most) + 1)));
}

// From 1.27 on, preparing is part of a pod's sync, which is repeated with the resync interval of a
// minute. 1.26 prepares when a container starts, and retries sooner after an error.
SimDuration DraManager::PrepareRetryDelay() {
  const bool in_pod_sync = options_.behaviour.release >= DraRelease::k27;
  return Jittered(in_pod_sync ? options_.prepare_retry : options_.retry);
}

DraManager::PodState* DraManager::FindState(Uid pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? nullptr : found->second.get();
}

template <typename Archive, typename Self>
void DraManager::Fields(Archive& archive, Self& self) {
  archive(self.draws_, self.pods_, self.claims_, self.operations_, self.next_token_,
          self.failed_prepares_, self.outages_, self.failures_left_);
}
DRASIM_PLANE_FIELDS(DraManager);

}  // namespace drasim
