#include "sim/dra/api/claim_journal.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/kube/claim_devices_of.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

bool HasConsumer(const ResourceClaim& claim, const Consumer& consumer) {
  return absl::c_linear_search(claim.status.reserved_for, consumer);
}

// The driver's list for an entry; null: it has not answered yet.
const PodSchedulingContext::ClaimNodes* FindAnswer(const PodSchedulingContext& context,
                                                   Name entry) {
  const auto found = absl::c_find_if(context.claims,
                                     [entry](const auto& answer) { return answer.entry == entry; });
  return found == context.claims.end() ? nullptr : &*found;
}

}  // namespace

void ClaimJournal::Attach(PodControl* engine) {
  if (engine->wants_claim_changes()) engine_ = engine;
}

void ClaimJournal::Begin(SimTime now) {
  if (!active()) return;
  now_ = now;
  for (const Ref<ResourceClaim>& claim : objects_->of<ResourceClaim>().Sorted()) {
    OnClaim(claim, /*deleted=*/false);
  }
}

void ClaimJournal::OnCommit(const WatchEvent& event, SimTime now) {
  if (!active()) return;
  now_ = now;
  slices_.OnCommit(event);
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (const auto* claim = std::get_if<Ref<ResourceClaim>>(&event.object)) {
    OnClaim(*claim, deleted);
  } else if (const auto* context = std::get_if<Ref<PodSchedulingContext>>(&event.object)) {
    OnContext(*context, deleted);
  }
}

void ClaimJournal::DriverRefuses(Uid claim, std::string words) {
  if (active()) words_[claim] = std::move(words);
}

void ClaimJournal::AllocationFailed(Uid claim, std::string error, SimTime now) {
  EmitAtNode(ClaimChangeKind::kAllocationFailed, claim, NodeId(), std::move(error), now);
}

void ClaimJournal::Prepared(Uid claim, NodeId node, SimTime now) {
  EmitAtNode(ClaimChangeKind::kPrepared, claim, node, "", now);
}

void ClaimJournal::PrepareFailed(Uid claim, NodeId node, std::string error, SimTime now) {
  EmitAtNode(ClaimChangeKind::kPrepareFailed, claim, node, std::move(error), now);
}

void ClaimJournal::Unprepared(Uid claim, NodeId node, SimTime now) {
  EmitAtNode(ClaimChangeKind::kUnprepared, claim, node, "", now);
}

void ClaimJournal::EmitAtNode(ClaimChangeKind kind, Uid claim, NodeId node, std::string text,
                              SimTime now) {
  // A plugin may be at work on a claim that has been deleted.
  if (!active() || !claims_.contains(claim)) return;
  now_ = now;
  ClaimChange change = Change(kind, claim);
  change.node = node;
  change.text = std::move(text);
  engine_->RecordClaim(change);
}

void ClaimJournal::OnClaim(const Ref<ResourceClaim>& claim, bool deleted) {
  const Uid uid = claim->meta.uid;
  if (deleted) {
    if (claims_.erase(uid) == 0) return;
    words_.erase(uid);
    engine_->RecordClaim(Change(ClaimChangeKind::kDeleted, uid));
    return;
  }
  const auto [known, is_new] = claims_.try_emplace(uid);
  const Ref<ResourceClaim> before = std::exchange(known->second, claim);
  if (!is_new) return Compare(*before, *claim);
  ClaimChange created = Change(ClaimChangeKind::kCreated, uid);
  created.identity.name = absl::StrCat(claim->meta.ns.text(), "/", claim->meta.name.text());
  if (claim->meta.owner != 0) created.identity.pod = PodName(claim->meta.owner);
  if (claim->spec.is_structured()) {
    created.identity.mode = ClaimMode::kStructured;
    created.identity.class_name = absl::StrJoin(ClassesOfClaim(*claim->spec.devices), ", ");
  } else {
    created.identity.class_name = std::string(claim->spec.class_name.text());
    if (claim->spec.mode == AllocationMode::kImmediate) {
      created.identity.mode = ClaimMode::kImmediate;
    }
  }
  engine_->RecordClaim(created);
  Compare(ResourceClaim(), *claim);
}

void ClaimJournal::Compare(const ResourceClaim& before, const ResourceClaim& after) {
  const Uid uid = after.meta.uid;
  const auto consumers = [this, uid](ClaimChangeKind kind, const ResourceClaim& of,
                                     const ResourceClaim& besides) {
    for (const Consumer& consumer : of.status.reserved_for) {
      if (HasConsumer(besides, consumer)) continue;
      ClaimChange change = Change(kind, uid);
      change.text = PodName(consumer.uid);
      if (change.text.empty()) change.text = std::string(consumer.name.text());
      engine_->RecordClaim(change);
    }
  };
  consumers(ClaimChangeKind::kUnreserved, before, after);
  if (after.status.deallocation_requested && !before.status.deallocation_requested) {
    engine_->RecordClaim(Change(ClaimChangeKind::kReleaseAsked, uid));
  }
  const Ref<Allocation>& allocation = after.status.allocation;
  const bool was_allocated = before.status.allocation != nullptr;
  if (was_allocated && allocation == nullptr) {
    engine_->RecordClaim(Change(ClaimChangeKind::kDeallocated, uid));
  } else if (!was_allocated && allocation != nullptr) {
    ClaimChange change = Change(ClaimChangeKind::kAllocated, uid);
    change.node = allocation->node;
    change.grants = allocation->grants;
    if (allocation->result) change.devices = DevicesOf(*allocation->result);
    engine_->RecordClaim(change);
  }
  consumers(ClaimChangeKind::kReserved, after, before);
  if (after.meta.deleting && !before.meta.deleting) {
    engine_->RecordClaim(Change(ClaimChangeKind::kDeleting, uid));
  }
}

std::vector<ClaimDevice> ClaimJournal::DevicesOf(
    const proto::kube::AllocationResultV1& allocation) {
  std::vector<ClaimDevice> devices;
  for (const auto& result : allocation.devices().results()) {
    int place = 0;
    const Ref<ResourceSliceObject> slice =
        slices_.Find(result.driver(), result.pool(), result.device(), &place);
    devices.push_back(slice == nullptr
                          ? DescribeClaimDevice(result, "", nullptr)
                          : DescribeClaimDevice(result, std::string(slice->meta.name.text()),
                                                &slice->object->spec().devices(place)));
  }
  return devices;
}

void ClaimJournal::OnContext(const Ref<PodSchedulingContext>& context, bool deleted) {
  const auto is_unallocated = [](const Ref<ResourceClaim>& claim) {
    return claim != nullptr && claim->status.allocation == nullptr &&
           claim->spec.mode == AllocationMode::kWaitForFirstConsumer;
  };
  static const PodSchedulingContext& empty = *new PodSchedulingContext();
  if (deleted) {
    const auto known = contexts_.find(context->meta.uid);
    if (known == contexts_.end()) return;
    const Context last = std::move(known->second);
    contexts_.erase(known);
    for (const Uid claim : last.claims) {
      if (is_unallocated(objects_->of<ResourceClaim>().Find(claim))) {
        CompareSpecs(*last.object, empty, claim);
      }
    }
    return;
  }
  Context& known = contexts_[context->meta.uid];
  const Ref<PodSchedulingContext> last = std::exchange(known.object, context);
  const PodSchedulingContext& before = last == nullptr ? empty : *last;
  known.claims.clear();
  const Ref<Pod> pod = objects_->pod(context->meta.owner);
  if (pod == nullptr) return;
  for (const PodClaim& entry : pod->claims) {
    const Ref<ResourceClaim> claim = names_.Find(*objects_, *pod, entry);
    if (!is_unallocated(claim)) continue;
    const Uid uid = claim->meta.uid;
    known.claims.push_back(uid);
    CompareSpecs(before, *context, uid);
    const PodSchedulingContext::ClaimNodes* const answer = FindAnswer(*context, entry.entry);
    const PodSchedulingContext::ClaimNodes* const earlier = FindAnswer(before, entry.entry);
    if (answer == nullptr || (earlier != nullptr && *earlier == *answer)) continue;
    ClaimChange change = Change(ClaimChangeKind::kDriverAnswered, uid);
    change.refused = static_cast<uint32_t>(answer->unsuitable.size());
    // The selected node may be refused, too, without being one of the potential nodes.
    change.asked = std::max(static_cast<uint32_t>(context->potential.size()), change.refused);
    if (const auto words = words_.find(uid); words != words_.end()) {
      // Words about nodes that the answer no longer refuses are void.
      if (change.refused > 0) change.text = std::move(words->second);
      words_.erase(words);
    }
    engine_->RecordClaim(change);
  }
}

void ClaimJournal::CompareSpecs(const PodSchedulingContext& before,
                                const PodSchedulingContext& after, Uid claim) {
  const auto asked = static_cast<uint32_t>(after.potential.size());
  if (before.potential != after.potential) {
    ClaimChange change = Change(ClaimChangeKind::kDriverAsked, claim);
    change.asked = asked;
    engine_->RecordClaim(change);
  }
  if (before.selected != after.selected) {
    ClaimChange change = Change(ClaimChangeKind::kNodeSelected, claim);
    change.node = after.selected;
    change.asked = asked;
    engine_->RecordClaim(change);
  }
}

std::string ClaimJournal::PodName(Uid pod) const {
  const Ref<Pod>& object = objects_->pod(pod);
  if (object == nullptr) return "";
  if (object->row.valid()) return std::string(cluster_->pod_name(object->row));
  return std::string(object->meta.name.text());
}

ClaimChange ClaimJournal::Change(ClaimChangeKind kind, Uid claim) const {
  ClaimChange change;
  change.time = now_;
  change.kind = kind;
  change.claim = claim;
  return change;
}

template <typename Archive, typename Self>
void ClaimJournal::Fields(Archive& archive, Self& self) {
  archive(self.now_, self.claims_, self.contexts_, self.words_);
  if constexpr (Archive::kLoads) self.slices_ = SliceIndex(self.objects_);
}
DRASIM_PLANE_FIELDS(ClaimJournal);

}  // namespace drasim
