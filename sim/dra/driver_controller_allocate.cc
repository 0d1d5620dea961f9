// The driver controller's sync of a pod's claims (syncPodSchedulingContext), and the allocation of
// claims: parameters, finalizers, the decision, statuses.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/driver_controller.h"

namespace drasim {
namespace {

ApiRequest DriverGetRequest(ObjectKind kind, Name ns, Name name) {
  ApiRequest request;
  request.verb = Verb::kGet;
  request.kind = kind;
  request.ns = ns;
  request.name = name;
  return request;
}

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

// --- The context of a pod. ---

DriverController::Move DriverController::BeginContext(Sync& sync) {
  sync.context = client_->cache().of<PodSchedulingContext>().Find(sync.key >> 1);
  if (sync.context == nullptr) return Over(sync, Outcome::kDone);
  const PodSchedulingContext& context = *sync.context;
  sync.epoch = epoch_;
  if (context.meta.deleting) return Over(sync, Outcome::kDone);
  if (!context.selected.valid() && context.potential.empty()) return Over(sync, Outcome::kDone);
  return Send(sync, DriverGetRequest(ObjectKind::kPod, context.meta.ns, context.meta.name),
              Stage::kPodRead);
}

DriverController::Move DriverController::CheckPod(Sync& sync) {
  const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
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
  std::vector<std::vector<NodeId>> lists = driver_->UnsuitableNodes(ToAllocate(sync.claims), nodes);
  DRASIM_CHECK_EQ(lists.size(), sync.claims.size());
  for (size_t i = 0; i < lists.size(); ++i) sync.claims[i].unsuitable = std::move(lists[i]);
  sync.stage = Stage::kChoose;
  return Move::kNext;
}

DriverController::Move DriverController::ProbeNodes(Sync& sync) {
  if (sync.stage == Stage::kNodeObjectRead) {
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
    const NodeId node = sync.nodes[sync.next++];
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
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
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
      next->claims.push_back({pending.entry, std::move(listed)});
      changed = true;
      continue;
    }
    // Upstream compares with the list before truncation, and so writes a long one every time.
    const bool strict = options_.behaviour.strict_upstream;
    if (known->unsuitable == (strict ? pending.unsuitable : listed)) continue;
    known->unsuitable = std::move(listed);
    changed = true;
  }
  if (!changed) {
    sync.changes_nothing = true;
    return Over(sync, Outcome::kPeriodic);
  }
  ApiRequest request;
  request.verb = Verb::kUpdateStatus;
  request.kind = ObjectKind::kPodSchedulingContext;
  request.object = Ref<PodSchedulingContext>(std::move(next));
  return Send(sync, std::move(request), Stage::kReported);
}

// --- Parameters. ---

DriverController::Move DriverController::ReadClassParameters(Sync& sync) {
  const ParametersRef& ref = sync.claims.back().resource_class->parameters;
  if (ref.kind.empty()) return ReadClaimParameters(sync);
  return Send(sync, DriverGetRequest(ObjectKind::kParameters, ref.ns, ref.name),
              Stage::kClassParametersRead);
}

DriverController::Move DriverController::ReadClaimParameters(Sync& sync) {
  const ResourceClaim& claim = *sync.claims.back().claim;
  const ParametersRef& ref = claim.spec.parameters;
  if (ref.kind.empty()) {
    sync.stage = Stage::kClaimParametersRead;
    return TakeParameters(sync);
  }
  return Send(sync, DriverGetRequest(ObjectKind::kParameters, claim.meta.ns, ref.name),
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
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
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

DriverController::Move DriverController::ReadForDecision(Sync& sync) {
  if (sync.stage == Stage::kDecisionRead) {
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
    Pending& pending = sync.claims[sync.next++];
    if (!reply.ok()) pending.error = absl::StrCat("the node's object: ", ErrorText(reply));
  }
  while (sync.next < sync.batch_end && !sync.claims[sync.next].error.empty()) ++sync.next;
  if (sync.next < sync.batch_end) {
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
  if (sync.stage == Stage::kDecisionWritten) {
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
    Pending& pending = sync.claims[sync.next++];
    if (!reply.ok()) pending.error = absl::StrCat("the node's object: ", ErrorText(reply));
  }
  while (sync.next < sync.batch_end && !sync.claims[sync.next].error.empty()) ++sync.next;
  if (sync.next < sync.batch_end) {
    return Send(sync, PutNodeObject(sync.context->selected), Stage::kDecisionWritten);
  }
  sync.next = sync.batch_begin;
  sync.stage = Stage::kStatuses;
  return Move::kNext;
}

DriverController::Move DriverController::WriteStatuses(Sync& sync) {
  if (sync.stage == Stage::kStatusWritten) {
    const ApiReply reply = *std::exchange(sync.reply, std::nullopt);
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

}  // namespace drasim
