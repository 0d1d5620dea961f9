// The driver controller's queue, its timers, and the sync of a claim (syncClaim). The sync of a
// pod's claims is in driver_controller_allocate.cc.
#include "sim/dra/driver_controller.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/objects.h"
#include "model/time.h"

namespace drasim {
namespace {

// Limit on a decision, so that sums of a few fit the clock (30 years).
constexpr double kLongestDecisionSeconds = 1e9;

SimDuration DrawDecisionTime(const Distribution& seconds, Random& stream) {
  const double drawn = std::min(seconds.Sample(stream), kLongestDecisionSeconds);
  return SimDuration(drawn <= 0 ? 0 : std::llround(drawn * 1e9));
}

// Timers: for a key's return to the queue, or for the end of a sync's decision.
constexpr uint64_t DecisionToken(uint32_t slot) { return uint64_t{slot} << 1; }
constexpr uint64_t RetryToken(WorkQueue::Key key) { return (key << 1) | 1; }

bool IsContextKey(WorkQueue::Key key) { return (key & 1) != 0; }

}  // namespace

DriverController::DriverController(ClaimDriver* driver, const DriverControllerOptions& options)
    : driver_(driver),
      options_(options),
      decisions_(options.seed, absl::StrCat("driver decisions/", driver->name())),
      queue_(options.workers) {}

DriverController::~DriverController() = default;

void DriverController::Start(ApiClient* client) {
  DRASIM_CHECK(client_ == nullptr);
  client_ = client;
  driver_name_ = client->names().Intern(driver_->name());
  finalizer_ = client->names().Intern(absl::StrCat(driver_->name(), "/deletion-protection"));
  pods_ = client->names().Intern("pods");
  Restore();
}

void DriverController::OnRestart() {
  queue_.Clear();
  pumps_soon_ = false;
  syncs_.clear();
  free_syncs_.clear();
  delayed_.clear();
  sleepers_.clear();
  Restore();
}

// As a new process does: lists everything and treats it as new.
void DriverController::Restore() {
  const std::vector<Ref<ResourceClaim>> claims = client_->cache().of<ResourceClaim>().Sorted();
  std::vector<Ref<ResourceClaim>> allocated;
  for (const Ref<ResourceClaim>& claim : claims) {
    if (claim->status.allocation != nullptr && claim->status.driver == driver_name_) {
      allocated.push_back(claim);
    }
  }
  driver_->Restore(allocated);
  for (const Ref<ResourceClaim>& claim : claims) queue_.Add(ClaimKey(claim->meta.uid));
  for (const auto& context : client_->cache().of<PodSchedulingContext>().Sorted()) {
    queue_.Add(ContextKey(context->meta.uid));
  }
  Pump();
}

void DriverController::OnWatch(const WatchEvent& event) {
  WorkQueue::Key key = 0;
  if (const ResourceClaim* claim = PeekAs<ResourceClaim>(event.object)) {
    key = ClaimKey(claim->meta.uid);
    if (claim->meta.deleting || event.type == WatchEvent::Type::kDeleted) WakeSleepers();
    // A deleted claim holds nothing. Upstream leaks the devices of an Allocate whose status could
    // not be written before the claim lost its finalizer.
    if (event.type == WatchEvent::Type::kDeleted && !options_.behaviour.strict_upstream) {
      StopAllocations(claim->meta.uid);
      driver_->Deallocate(claim->meta.uid).IgnoreError();
      driver_->Forget(claim->meta.uid);
    }
  } else if (const auto* context = PeekAs<PodSchedulingContext>(event.object)) {
    key = ContextKey(context->meta.uid);
    // Lists written by drivers only concern the scheduler; upstream looks again.
    const auto* before = PeekAs<PodSchedulingContext>(event.before);
    if (!options_.behaviour.strict_upstream && event.type == WatchEvent::Type::kModified &&
        before != nullptr && before->selected == context->selected &&
        before->potential == context->potential &&
        before->meta.deleting == context->meta.deleting) {
      return;
    }
  } else {
    // A class: the syncs that lack it are repeated anyway.
    WakeSleepers();
    return;
  }
  if (const auto sleeper = sleepers_.find(key); sleeper != sleepers_.end()) {
    skipped_ += SkippedSince(sleeper->second);
    sleepers_.erase(sleeper);
  }
  if (event.type == WatchEvent::Type::kDeleted) {
    queue_.Forget(key);
    return;
  }
  queue_.Add(key);
  PumpSoon();
}

// Workers run apart from the goroutine that receives changes: the first of them starts when all
// changes of the instant are known.
void DriverController::PumpSoon() {
  if (!std::exchange(pumps_soon_, true)) client_->ArmTimer(SimDuration(), kPumpToken);
}

void DriverController::OnReply(uint64_t token, const ApiReply& reply) {
  Sync& sync = syncs_[static_cast<size_t>(token)];
  DRASIM_CHECK(sync.active);
  sync.reply = reply;
  Run(sync.slot);
  Pump();
}

void DriverController::OnTimer(uint64_t token) {
  if (token == kPumpToken) {
    pumps_soon_ = false;
    return Pump();
  }
  if ((token & 1) == 0) {
    const Sync& sync = syncs_[static_cast<size_t>(token >> 1)];
    DRASIM_CHECK(sync.active);
    Run(sync.slot);
    Pump();
    return;
  }
  const WorkQueue::Key key = token >> 1;
  const auto found = delayed_.find(key);
  if (found == delayed_.end() || found->second != client_->now()) return;
  delayed_.erase(found);
  Queue(key);
}

bool DriverController::idle() const { return queue_.waiting() == 0 && queue_.busy() == 0; }

void DriverController::Queue(WorkQueue::Key key) {
  queue_.Add(key);
  Pump();
}

// A key waits once, for the earliest of its times (client-go util/workqueue, delaying queue).
// Otherwise every event of a context would start another chain of periodic syncs.
void DriverController::Later(WorkQueue::Key key, SimDuration delay) {
  const SimTime at = client_->now() + delay;
  const auto [entry, is_new] = delayed_.try_emplace(key, at);
  if (!is_new) {
    if (entry->second <= at) return;
    entry->second = at;
  }
  client_->ArmTimer(delay, RetryToken(key));
}

// Something that syncs depend on has changed: each sleeping sync is due at the time of its next
// regular recheck.
void DriverController::WakeSleepers() {
  ++epoch_;
  for (const auto& [key, since] : std::exchange(sleepers_, {})) {
    const uint64_t skipped = SkippedSince(since);
    skipped_ += skipped;
    const SimTime due =
        since + SimDuration(options_.recheck.ns() * static_cast<int64_t>(skipped + 1));
    Later(key, due - client_->now());
  }
}

// Skipped syncs of a key asleep since `since`; one that is due now is still to come.
uint64_t DriverController::SkippedSince(SimTime since) const {
  const int64_t passed = (client_->now() - since).ns();
  return passed <= 0 ? 0 : static_cast<uint64_t>((passed - 1) / options_.recheck.ns());
}

uint64_t DriverController::skipped_syncs() const {
  uint64_t sum = skipped_;
  for (const auto& [key, since] : sleepers_) sum += SkippedSince(since);
  return sum;
}

void DriverController::Pump() {
  while (const std::optional<WorkQueue::Key> key = queue_.Get()) {
    if (free_syncs_.empty()) {
      free_syncs_.push_back(static_cast<uint32_t>(syncs_.size()));
      syncs_.emplace_back();
    }
    const uint32_t slot = free_syncs_.back();
    free_syncs_.pop_back();
    Sync& sync = syncs_[slot];
    sync.active = true;
    sync.slot = slot;
    sync.key = *key;
    Run(slot);
  }
}

void DriverController::Run(uint32_t slot) {
  Sync& sync = syncs_[slot];
  Move move = Move::kNext;
  while (move == Move::kNext) move = Step(sync);
  if (move == Move::kOver) Finish(slot);
}

DriverController::Move DriverController::Step(Sync& sync) {
  switch (sync.stage) {
    case Stage::kBegin:
      return IsContextKey(sync.key) ? BeginContext(sync) : BeginClaim(sync);
    case Stage::kReleaseRead:
      return Free(sync);
    case Stage::kReleaseWritten:
      return ClearAllocation(sync);
    case Stage::kAllocationCleared:
    case Stage::kRequestCleared:
    case Stage::kFinalizerRemoved:
      return ContinueRelease(sync);
    case Stage::kPodRead:
      return CheckPod(sync);
    case Stage::kNextEntry:
      return CheckEntry(sync);
    case Stage::kClassParametersRead:
    case Stage::kClaimParametersRead:
      return TakeParameters(sync);
    case Stage::kProbe:
      return Probe(sync);
    case Stage::kNodeObjectRead:
      return ProbeNodes(sync);
    case Stage::kChoose:
      return Choose(sync);
    case Stage::kFinalizers:
    case Stage::kFinalizerAdded:
      return AddFinalizers(sync);
    case Stage::kDecisionRead:
      return ReadForDecision(sync);
    case Stage::kDecide:
      return Decide(sync);
    case Stage::kDecisionWritten:
      return WriteDecision(sync);
    case Stage::kStatuses:
    case Stage::kStatusWritten:
      return WriteStatuses(sync);
    case Stage::kReport:
    case Stage::kReported:
      return Report(sync);
  }
  DRASIM_UNREACHABLE("a stage of a sync");
}

void DriverController::Finish(uint32_t slot) {
  Sync& sync = syncs_[slot];
  const WorkQueue::Key key = sync.key;
  last_result_ = std::move(sync.result);
  // Until something changes, it would have the same findings again.
  const bool changes_nothing = sync.changes_nothing && sync.epoch == epoch_ &&
                               options_.sleep_when_idle && delayed_.find(key) == delayed_.end();
  ++outcomes_[static_cast<size_t>(last_result_.outcome)];
  sync = Sync();
  free_syncs_.push_back(slot);
  switch (last_result_.outcome) {
    case Outcome::kDone:
      queue_.Forget(key);
      break;
    case Outcome::kPeriodic:
      queue_.Forget(key);
      if (changes_nothing) {
        sleepers_.try_emplace(key, client_->now());
      } else {
        Later(key, options_.recheck);
      }
      break;
    case Outcome::kRequeue:
    case Outcome::kFailed:
      Later(key, queue_.DelayAfterFailure(key, client_->now()));
      break;
  }
  queue_.Done(key);
}

DriverController::Move DriverController::Over(Sync& sync, Outcome outcome,
                                              std::string error) const {
  sync.result = {outcome, std::move(error)};
  return Move::kOver;
}

DriverController::Move DriverController::Fail(Sync& sync, std::string error) const {
  return Over(sync, Outcome::kFailed, std::move(error));
}

DriverController::Move DriverController::Send(Sync& sync, ApiRequest request, Stage then) {
  sync.stage = then;
  sync.reply = client_->Call(std::move(request), sync.slot);
  return sync.reply.has_value() ? Move::kNext : Move::kWait;
}

DriverController::Move DriverController::Think(Sync& sync, Stage then) {
  sync.stage = then;
  if (!options_.decision_latency.has_value()) return Move::kNext;
  const SimDuration takes = DrawDecisionTime(*options_.decision_latency, decisions_);
  if (takes == SimDuration()) return Move::kNext;
  client_->ArmTimer(takes, DecisionToken(sync.slot));
  return Move::kWait;
}

bool DriverController::HasFinalizer(const ResourceClaim& claim) const {
  const auto& finalizers = claim.meta.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), finalizer_) != finalizers.end();
}

Ref<ResourceClass> DriverController::FindClass(const ResourceClaim& claim) const {
  return client_->cache().of<ResourceClass>().Find(Name(), claim.spec.class_name);
}

ApiRequest DriverController::PutClaim(Verb verb, ResourceClaim claim) {
  ApiRequest request;
  request.verb = verb;
  request.kind = ObjectKind::kResourceClaim;
  request.object = Ref<ResourceClaim>(std::make_shared<const ResourceClaim>(std::move(claim)));
  return request;
}

std::string DriverController::NodeObjectName(NodeId node) {
  return absl::StrCat("node-", node.value());
}

ApiRequest DriverController::GetNodeObject(NodeId node) const {
  ApiRequest request;
  request.verb = Verb::kGet;
  request.kind = ObjectKind::kParameters;
  request.ns = driver_name_;
  request.name = client_->names().Intern(NodeObjectName(node));
  return request;
}

ApiRequest DriverController::PutNodeObject(NodeId node) const {
  auto object = std::make_shared<ParametersObject>();
  object->meta.ns = driver_name_;
  object->meta.name = client_->names().Intern(NodeObjectName(node));
  object->kind = client_->names().Intern(kNodeObjectKind);
  ApiRequest request;
  request.verb = Verb::kUpdate;
  request.kind = ObjectKind::kParameters;
  request.object = Ref<ParametersObject>(std::move(object));
  return request;
}

std::string DriverController::ErrorText(const ApiReply& reply) {
  if (!reply.message.empty()) return reply.message;
  return absl::StrCat("the server says ", static_cast<int>(reply.code));
}

std::string DriverController::MissingClassText(const ResourceClaim& claim) {
  return absl::StrCat("resourceclass \"", claim.spec.class_name.text(), "\" not found");
}

// --- A claim. ---

DriverController::Move DriverController::BeginClaim(Sync& sync) {
  sync.claim = client_->cache().of<ResourceClaim>().Find(sync.key >> 1);
  if (sync.claim == nullptr) return Over(sync, Outcome::kDone);
  const ResourceClaim& claim = *sync.claim;
  // In use, possibly while in deletion: the claim controller empties the list first.
  if (!claim.status.reserved_for.empty()) return Over(sync, Outcome::kDone);
  if (claim.meta.deleting || claim.status.deallocation_requested) return BeginRelease(sync);
  if (claim.status.allocation != nullptr || claim.spec.mode != AllocationMode::kImmediate) {
    return Over(sync, Outcome::kDone);
  }
  Ref<ResourceClass> resource_class = FindClass(claim);
  if (resource_class == nullptr) return Fail(sync, MissingClassText(claim));
  // The claim belongs to another driver. It is queued again, since its class may change.
  if (resource_class->driver != driver_name_) return Over(sync, Outcome::kRequeue);
  Pending pending;
  pending.claim = sync.claim;
  pending.resource_class = std::move(resource_class);
  sync.claims.push_back(std::move(pending));
  return ReadClassParameters(sync);
}

DriverController::Move DriverController::BeginRelease(Sync& sync) {
  const ResourceClaim& claim = *sync.claim;
  // Only the finalizer identifies the claim as this driver's.
  if (!HasFinalizer(claim)) return Over(sync, Outcome::kDone);
  const Ref<Allocation>& allocation = claim.status.allocation;
  if (!driver_->keeps_node_objects() || allocation == nullptr) return Free(sync);
  return Send(sync, GetNodeObject(allocation->node), Stage::kReleaseRead);
}

DriverController::Move DriverController::Free(Sync& sync) {
  const ResourceClaim& claim = *sync.claim;
  const bool allocated = claim.status.allocation != nullptr;
  // The contents of a node's object are the driver's own memory.
  const bool has_object = std::exchange(sync.reply, std::nullopt).has_value();
  StopAllocations(claim.meta.uid);
  const absl::Status freed = driver_->Deallocate(claim.meta.uid);
  WakeSleepers();
  if (!freed.ok()) {
    return Fail(sync,
                absl::StrCat(allocated ? "deallocate: " : "stop allocation: ", freed.message()));
  }
  if (has_object) {
    return Send(sync, PutNodeObject(claim.status.allocation->node), Stage::kReleaseWritten);
  }
  if (allocated) return ClearAllocation(sync);
  return ContinueRelease(sync);
}

DriverController::Move DriverController::ClearAllocation(Sync& sync) {
  sync.reply.reset();
  ResourceClaim cleared = *sync.claim;
  cleared.status.allocation = nullptr;
  cleared.status.driver = Name();
  cleared.status.deallocation_requested = false;
  return Send(sync, PutClaim(Verb::kUpdateStatus, std::move(cleared)), Stage::kAllocationCleared);
}

DriverController::Move DriverController::ContinueRelease(Sync& sync) {
  if (sync.stage != Stage::kBegin) {
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
    if (!reply.ok()) {
      const absl::string_view step = sync.stage == Stage::kAllocationCleared ? "remove allocation"
                                     : sync.stage == Stage::kRequestCleared  ? "remove deallocation"
                                                                             : "remove finalizer";
      return Fail(sync, absl::StrCat(step, ": ", ErrorText(reply)));
    }
    client_->Remember(reply.object);
    if (sync.stage == Stage::kFinalizerRemoved) return Over(sync, Outcome::kDone);
    sync.claim = As<ResourceClaim>(reply.object);
  }
  ResourceClaim next = *sync.claim;
  if (next.status.deallocation_requested) {
    next.status.deallocation_requested = false;
    return Send(sync, PutClaim(Verb::kUpdateStatus, std::move(next)), Stage::kRequestCleared);
  }
  auto& finalizers = next.meta.finalizers;
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), finalizer_), finalizers.end());
  return Send(sync, PutClaim(Verb::kUpdate, std::move(next)), Stage::kFinalizerRemoved);
}

// Deallocate also cancels allocations in progress: the pending decisions of these syncs.
void DriverController::StopAllocations(Uid claim) {
  for (Sync& sync : syncs_) {
    for (Pending& pending : sync.claims) {
      if (pending.claim->meta.uid == claim) pending.stopped = true;
    }
  }
}

}  // namespace drasim
