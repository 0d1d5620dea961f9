#include "sim/dra/classic/driver_controller.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/plane_archive.h"

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

std::string ParametersRefText(const ParametersRef& ref) {
  return absl::StrCat(ref.kind.text(), " \"", ref.name.text(), "\"");
}

bool ListsNode(const std::vector<NodeId>& ascending, NodeId node) {
  return std::binary_search(ascending.begin(), ascending.end(), node);
}

// The list has one entry too many: the potential nodes and the selected one, which must stay.
// Without the selected node in it, the first entry goes.
std::vector<NodeId> CutToLimit(std::vector<NodeId> nodes, NodeId selected) {
  if (nodes.size() <= kMaxNodesInContext) return nodes;
  const auto excess = static_cast<std::ptrdiff_t>(nodes.size() - kMaxNodesInContext);
  if (std::find(nodes.begin(), nodes.begin() + excess, selected) != nodes.begin() + excess) {
    nodes.resize(kMaxNodesInContext);
  } else {
    nodes.erase(nodes.begin(), nodes.begin() + excess);
  }
  return nodes;
}

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
  if (sync.result.outcome == Outcome::kFailed && TellsJournal()) TellFailure(sync);
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

ApiReply DriverController::TakeReply(Sync& sync) {
  return *std::exchange(sync.reply, std::nullopt);
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
  return WriteRequest(verb, std::make_shared<const ResourceClaim>(std::move(claim)));
}

std::string DriverController::NodeObjectName(NodeId node) {
  return absl::StrCat("node-", node.value());
}

ApiRequest DriverController::GetNodeObject(NodeId node) const {
  return NamedRequest(Verb::kGet, ObjectKind::kParameters, driver_name_,
                      client_->names().Intern(NodeObjectName(node)));
}

ApiRequest DriverController::PutNodeObject(NodeId node) const {
  auto object = std::make_shared<ParametersObject>();
  object->meta.ns = driver_name_;
  object->meta.name = client_->names().Intern(NodeObjectName(node));
  object->kind = client_->names().Intern(kNodeObjectKind);
  return WriteRequest(Verb::kUpdate, std::move(object));
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
    const ApiReply reply = TakeReply(sync);
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

// --- The context of a pod. ---

DriverController::Move DriverController::BeginContext(Sync& sync) {
  sync.context = client_->cache().of<PodSchedulingContext>().Find(sync.key >> 1);
  if (sync.context == nullptr) return Over(sync, Outcome::kDone);
  const PodSchedulingContext& context = *sync.context;
  sync.epoch = epoch_;
  if (context.meta.deleting) return Over(sync, Outcome::kDone);
  if (!context.selected.valid() && context.potential.empty()) return Over(sync, Outcome::kDone);
  return Send(sync, NamedRequest(Verb::kGet, ObjectKind::kPod, context.meta.ns, context.meta.name),
              Stage::kPodRead);
}

DriverController::Move DriverController::CheckPod(Sync& sync) {
  const ApiReply reply = TakeReply(sync);
  if (!reply.ok()) return Fail(sync, ErrorText(reply));
  sync.pod = As<Pod>(reply.object);
  if (sync.pod->meta.deleting) return Over(sync, Outcome::kDone);
  // The context belongs to an earlier pod of the name.
  if (sync.context->meta.owner != sync.pod->meta.uid) return Over(sync, Outcome::kDone);
  sync.stage = Stage::kNextEntry;
  return Move::kNext;
}

DriverController::Move DriverController::CheckEntry(Sync& sync) {
  while (sync.next < sync.pod->claims.size()) {
    const PodClaim& entry = sync.pod->claims[sync.next++];
    Pending pending;
    const absl::Status found = FindPending(*sync.pod, entry, &pending);
    if (!found.ok()) {
      return Fail(sync, absl::StrCat("pod claim ", entry.entry.text(), ": ", found.message()));
    }
    if (pending.claim == nullptr) continue;
    sync.claims.push_back(std::move(pending));
    return ReadClassParameters(sync);
  }
  // This may change without an event of the context.
  if (sync.claims.empty()) return Over(sync, Outcome::kPeriodic);
  if (!sync.context->potential.empty()) return Think(sync, Stage::kProbe);
  sync.stage = Stage::kChoose;
  return Move::kNext;
}

absl::Status DriverController::FindPending(const Pod& pod, const PodClaim& entry,
                                           Pending* pending) const {
  const std::optional<Name> name = NameOfClaim(pod, entry, options_.behaviour, client_->names());
  if (!name.has_value()) return absl::NotFoundError("its claim has not been created yet");
  if (name->empty()) return absl::OkStatus();
  const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, *name);
  if (claim == nullptr) {
    // Upstream's code announces an error for a missing claim, and yet skips it.
    if (options_.behaviour.strict_upstream) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("resourceclaim \"", name->text(), "\" not found"));
  }
  if (entry.claim.empty() && claim->meta.owner != pod.meta.uid) {
    return absl::FailedPreconditionError(
        absl::StrCat("resourceclaim \"", name->text(), "\" is not the pod's own"));
  }
  if (claim->status.allocation != nullptr || claim->meta.deleting ||
      claim->spec.mode != AllocationMode::kWaitForFirstConsumer) {
    return absl::OkStatus();
  }
  Ref<ResourceClass> resource_class = FindClass(*claim);
  if (resource_class == nullptr) return absl::NotFoundError(MissingClassText(*claim));
  if (resource_class->driver != driver_name_) return absl::OkStatus();
  pending->entry = entry.entry;
  pending->claim = claim;
  pending->resource_class = std::move(resource_class);
  return absl::OkStatus();
}

DriverController::Move DriverController::Probe(Sync& sync) {
  std::vector<NodeId> nodes = sync.context->potential;
  const NodeId selected = sync.context->selected;
  if (options_.behaviour.probes_selected_node() && selected.valid() &&
      !ListsNode(nodes, selected)) {
    nodes.insert(std::upper_bound(nodes.begin(), nodes.end(), selected), selected);
  }
  if (driver_->keeps_node_objects()) {
    sync.nodes = std::move(nodes);
    sync.next = 0;
    return ProbeNodes(sync);
  }
  allocator_calls_ += nodes.size();
  std::vector<std::vector<NodeId>> lists = driver_->UnsuitableNodes(ToAllocate(sync.claims), nodes);
  DRASIM_CHECK_EQ(lists.size(), sync.claims.size());
  for (size_t i = 0; i < lists.size(); ++i) sync.claims[i].unsuitable = std::move(lists[i]);
  sync.stage = Stage::kChoose;
  return Move::kNext;
}

DriverController::Move DriverController::ProbeNodes(Sync& sync) {
  if (sync.stage == Stage::kNodeObjectRead) {
    const ApiReply reply = TakeReply(sync);
    const NodeId node = sync.nodes[sync.next++];
    if (reply.ok()) ++allocator_calls_;
    // Nodes come in ascending order.
    if (!reply.ok() || !driver_->Propose(ToAllocate(sync.claims), node)) {
      for (Pending& pending : sync.claims) pending.unsuitable.push_back(node);
    }
  }
  if (sync.next < sync.nodes.size()) {
    return Send(sync, GetNodeObject(sync.nodes[sync.next]), Stage::kNodeObjectRead);
  }
  sync.stage = Stage::kChoose;
  return Move::kNext;
}

DriverController::Move DriverController::Choose(Sync& sync) {
  const NodeId selected = sync.context->selected;
  const bool unsuitable = std::any_of(
      sync.claims.begin(), sync.claims.end(),
      [selected](const Pending& pending) { return ListsNode(pending.unsuitable, selected); });
  if (selected.valid() && !unsuitable) return BeginAllocate(sync);
  sync.stage = Stage::kReport;
  return Move::kNext;
}

DriverController::Move DriverController::Report(Sync& sync) {
  if (sync.stage == Stage::kReported) {
    const ApiReply reply = TakeReply(sync);
    if (!reply.ok()) return Fail(sync, absl::StrCat("unsuitable nodes: ", ErrorText(reply)));
    // Upstream has a mutation cache only for claims.
    if (!options_.behaviour.strict_upstream) client_->Remember(reply.object);
    return Over(sync, Outcome::kPeriodic);
  }
  auto next = std::make_shared<PodSchedulingContext>(*sync.context);
  bool changed = false;
  for (const Pending& pending : sync.claims) {
    std::vector<NodeId> listed = CutToLimit(pending.unsuitable, next->selected);
    const auto known =
        std::find_if(next->claims.begin(), next->claims.end(),
                     [&pending](const auto& claim) { return claim.entry == pending.entry; });
    if (known == next->claims.end()) {
      if (TellsJournal()) TellRefusal(pending);
      next->claims.push_back({pending.entry, std::move(listed)});
      changed = true;
      continue;
    }
    // Upstream compares with the list before truncation, and so writes a long one every time.
    const bool strict = options_.behaviour.strict_upstream;
    if (known->unsuitable == (strict ? pending.unsuitable : listed)) continue;
    if (TellsJournal()) TellRefusal(pending);
    known->unsuitable = std::move(listed);
    changed = true;
  }
  if (!changed) {
    sync.changes_nothing = true;
    return Over(sync, Outcome::kPeriodic);
  }
  return Send(sync, WriteRequest(Verb::kUpdateStatus, std::move(next)), Stage::kReported);
}

void DriverController::TellRefusal(const Pending& pending) const {
  if (pending.unsuitable.empty()) return;
  const ClaimToAllocate asked = ToAllocate(pending);
  options_.journal->DriverRefuses(pending.claim->meta.uid,
                                  driver_->WhyUnsuitable({&asked, 1}, pending.unsuitable.front()));
}

// An error concerns the claims that have one of their own, else the one that the sync looked up
// last. Without any claim it is about the pod.
void DriverController::TellFailure(const Sync& sync) const {
  bool any = false;
  for (const Pending& pending : sync.claims) {
    if (pending.error.empty()) continue;
    any = true;
    options_.journal->AllocationFailed(pending.claim->meta.uid, pending.error, client_->now());
  }
  if (any) return;
  const Ref<ResourceClaim>& claim = sync.claims.empty() ? sync.claim : sync.claims.back().claim;
  if (claim != nullptr) {
    options_.journal->AllocationFailed(claim->meta.uid, sync.result.error, client_->now());
  }
}

// --- Parameters. ---

DriverController::Move DriverController::ReadClassParameters(Sync& sync) {
  const ParametersRef& ref = sync.claims.back().resource_class->parameters;
  if (ref.kind.empty()) return ReadClaimParameters(sync);
  return Send(sync, NamedRequest(Verb::kGet, ObjectKind::kParameters, ref.ns, ref.name),
              Stage::kClassParametersRead);
}

DriverController::Move DriverController::ReadClaimParameters(Sync& sync) {
  const ResourceClaim& claim = *sync.claims.back().claim;
  const ParametersRef& ref = claim.spec.parameters;
  if (ref.kind.empty()) {
    sync.stage = Stage::kClaimParametersRead;
    return TakeParameters(sync);
  }
  return Send(sync, NamedRequest(Verb::kGet, ObjectKind::kParameters, claim.meta.ns, ref.name),
              Stage::kClaimParametersRead);
}

DriverController::Move DriverController::TakeParameters(Sync& sync) {
  Pending& pending = sync.claims.back();
  const bool of_class = sync.stage == Stage::kClassParametersRead;
  const std::string prefix =
      pending.entry.empty() ? "" : absl::StrCat("pod claim ", pending.entry.text(), ": ");
  if (const std::optional<ApiReply> reply = std::exchange(sync.reply, std::nullopt)) {
    const ParametersRef& ref =
        of_class ? pending.resource_class->parameters : pending.claim->spec.parameters;
    Ref<ParametersObject>& object = of_class ? pending.class_parameters : pending.claim_parameters;
    if (reply->ok()) object = As<ParametersObject>(reply->object);
    // The server knows them by name only; an object of another kind is a different one.
    const bool found =
        object != nullptr && object->kind == ref.kind && object->api_group == ref.api_group;
    if (!found) {
      return Fail(
          sync,
          absl::StrCat(prefix, of_class ? "class" : "claim", " parameters ", ParametersRefText(ref),
                       ": ", reply->ok() ? "an object of another kind" : ErrorText(*reply)));
    }
  }
  if (of_class) return ReadClaimParameters(sync);
  const absl::Status good = driver_->CheckParameters(ToAllocate(pending));
  if (!good.ok()) return Fail(sync, absl::StrCat(prefix, good.message()));
  if (sync.context == nullptr) return BeginAllocate(sync);
  sync.stage = Stage::kNextEntry;
  return Move::kNext;
}

// --- Allocation. ---

ClaimToAllocate DriverController::ToAllocate(const Pending& pending) {
  ClaimToAllocate told;
  told.claim = pending.claim.get();
  told.resource_class = pending.resource_class.get();
  told.claim_parameters = pending.claim_parameters.get();
  told.class_parameters = pending.class_parameters.get();
  told.entry = pending.entry;
  return told;
}

std::vector<ClaimToAllocate> DriverController::ToAllocate(absl::Span<const Pending> claims) {
  std::vector<ClaimToAllocate> told;
  told.reserve(claims.size());
  for (const Pending& pending : claims) told.push_back(ToAllocate(pending));
  return told;
}

// None of the claims has an allocation: their look-up checked that, on these snapshots. If another
// pod's sync has been faster since then, the first write of this one is rejected. Until 1.27 each
// claim is a batch of its own, and the first error ends the sync.
DriverController::Move DriverController::BeginAllocate(Sync& sync) {
  sync.batch_begin = 0;
  sync.batch_end = options_.behaviour.batch_allocate() ? sync.claims.size() : 1;
  sync.next = 0;
  sync.stage = Stage::kFinalizers;
  return Move::kNext;
}

DriverController::Move DriverController::AddFinalizers(Sync& sync) {
  if (sync.stage == Stage::kFinalizerAdded) {
    const ApiReply reply = TakeReply(sync);
    Pending& pending = sync.claims[sync.next++];
    if (reply.ok()) {
      client_->Remember(reply.object);
      pending.claim = As<ResourceClaim>(reply.object);
    } else {
      pending.error = absl::StrCat("add finalizer: ", ErrorText(reply));
    }
  }
  for (; sync.next < sync.batch_end; ++sync.next) {
    const Pending& pending = sync.claims[sync.next];
    if (HasFinalizer(*pending.claim)) continue;
    ResourceClaim next = *pending.claim;
    next.meta.finalizers.push_back(finalizer_);
    return Send(sync, PutClaim(Verb::kUpdate, std::move(next)), Stage::kFinalizerAdded);
  }
  bool any = false;
  for (size_t i = sync.batch_begin; i < sync.batch_end; ++i) {
    any = any || sync.claims[i].error.empty();
  }
  if (!any) return EndBatch(sync);
  // Without a node, the driver rejects the claims before it reads any node's object.
  const bool reads = driver_->keeps_node_objects() && sync.context != nullptr;
  if (!reads) return Think(sync, Stage::kDecide);
  sync.next = sync.batch_begin;
  return ReadForDecision(sync);
}

bool DriverController::HasNodeObjectCall(Sync& sync, Stage answered) {
  if (sync.stage == answered) {
    const ApiReply reply = TakeReply(sync);
    Pending& pending = sync.claims[sync.next++];
    if (!reply.ok()) pending.error = absl::StrCat("the node's object: ", ErrorText(reply));
  }
  while (sync.next < sync.batch_end && !sync.claims[sync.next].error.empty()) ++sync.next;
  return sync.next < sync.batch_end;
}

DriverController::Move DriverController::ReadForDecision(Sync& sync) {
  if (HasNodeObjectCall(sync, Stage::kDecisionRead)) {
    return Send(sync, GetNodeObject(sync.context->selected), Stage::kDecisionRead);
  }
  return Think(sync, Stage::kDecide);
}

DriverController::Move DriverController::Decide(Sync& sync) {
  std::vector<size_t> asked;
  std::vector<ClaimToAllocate> told;
  for (size_t i = sync.batch_begin; i < sync.batch_end; ++i) {
    Pending& pending = sync.claims[i];
    if (!pending.error.empty()) continue;
    if (pending.stopped) {
      pending.error = "deallocated meanwhile";
      continue;
    }
    asked.push_back(i);
    told.push_back(ToAllocate(pending));
  }
  if (!asked.empty()) {
    const NodeId node = sync.context == nullptr ? NodeId() : sync.context->selected;
    allocator_calls_ += told.size();
    std::vector<ClaimAllocation> results = driver_->Allocate(told, node);
    WakeSleepers();
    DRASIM_CHECK_EQ(results.size(), asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      Pending& pending = sync.claims[asked[i]];
      if (!results[i].status.ok()) {
        pending.error = std::string(results[i].status.message());
        if (pending.error.empty()) pending.error = "the driver gives no reason";
      } else if (results[i].allocation == nullptr) {
        pending.error = "the driver gave no allocation";
      } else {
        pending.allocation = std::move(results[i].allocation);
      }
    }
  }
  sync.next = sync.batch_begin;
  sync.stage = Stage::kStatuses;
  return driver_->keeps_node_objects() && sync.context != nullptr ? WriteDecision(sync)
                                                                  : Move::kNext;
}

DriverController::Move DriverController::WriteDecision(Sync& sync) {
  if (HasNodeObjectCall(sync, Stage::kDecisionWritten)) {
    return Send(sync, PutNodeObject(sync.context->selected), Stage::kDecisionWritten);
  }
  sync.next = sync.batch_begin;
  sync.stage = Stage::kStatuses;
  return Move::kNext;
}

DriverController::Move DriverController::WriteStatuses(Sync& sync) {
  if (sync.stage == Stage::kStatusWritten) {
    const ApiReply reply = TakeReply(sync);
    Pending& pending = sync.claims[sync.next++];
    if (reply.ok()) {
      client_->Remember(reply.object);
    } else {
      pending.error = absl::StrCat("add allocation: ", ErrorText(reply));
    }
  }
  for (; sync.next < sync.batch_end; ++sync.next) {
    const Pending& pending = sync.claims[sync.next];
    if (!pending.error.empty()) continue;
    ResourceClaim next = *pending.claim;
    next.status.allocation = pending.allocation;
    next.status.driver = driver_name_;
    if (sync.pod != nullptr && options_.set_reserved_for) {
      next.status.reserved_for.push_back({pods_, sync.pod->meta.name, sync.pod->meta.uid});
    }
    return Send(sync, PutClaim(Verb::kUpdateStatus, std::move(next)), Stage::kStatusWritten);
  }
  return EndBatch(sync);
}

DriverController::Move DriverController::EndBatch(Sync& sync) {
  std::vector<std::string> errors;
  for (size_t i = sync.batch_begin; i < sync.batch_end; ++i) {
    const Pending& pending = sync.claims[i];
    if (pending.error.empty()) continue;
    if (sync.context == nullptr) return Fail(sync, absl::StrCat("allocate: ", pending.error));
    errors.push_back(absl::StrCat("claim ", pending.claim->meta.name.text(), ": ", pending.error));
  }
  if (!errors.empty()) return Fail(sync, absl::StrJoin(errors, "; "));
  if (sync.context == nullptr) return Over(sync, Outcome::kDone);
  if (sync.batch_end < sync.claims.size()) {
    sync.batch_begin = sync.batch_end++;
    sync.next = sync.batch_begin;
    sync.stage = Stage::kFinalizers;
  } else {
    sync.stage = Stage::kReport;
  }
  return Move::kNext;
}

template <typename Archive, typename Self>
void DriverController::Fields(Archive& archive, Self& self) {
  archive(self.decisions_, self.pumps_soon_, self.queue_, self.syncs_, self.free_syncs_,
          self.delayed_, self.outcomes_, self.allocator_calls_, self.last_result_, self.sleepers_,
          self.epoch_, self.skipped_);
}
DRASIM_PLANE_FIELDS(DriverController);

}  // namespace drasim
