// What one sync of a pod, and of a claim, does: a chain of API calls, cut at every call.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/claim_controller.h"

namespace drasim {

namespace {

ApiRequest ClaimStatusUpdate(std::shared_ptr<const ResourceClaim> claim) {
  ApiRequest request;
  request.verb = Verb::kUpdateStatus;
  request.kind = ObjectKind::kResourceClaim;
  request.object = std::move(claim);
  return request;
}

// What the server makes a claim's name from: room is left for a hyphen and five characters in a
// name of 63. Too long a text loses from both of its parts, each in proportion to its length (and
// then its last hyphen too, if the release has one).
std::string GeneratedClaimPrefix(absl::string_view pod, absl::string_view entry, bool hyphen) {
  constexpr size_t kMaxPrefix = 57;
  std::string prefix = absl::StrCat(pod, "-", entry, hyphen ? "-" : "");
  const size_t length = prefix.size();
  if (length <= kMaxPrefix) return prefix;
  return absl::StrCat(pod.substr(0, pod.size() * kMaxPrefix / length), "-",
                      entry.substr(0, entry.size() * kMaxPrefix / length));
}

}  // namespace

absl::optional<ApiRequest> ClaimController::NextOfPod(Sync* sync, const ApiReply* reply) {
  if (sync->stage == Stage::kStart) {
    sync->pod = client_->cache().pod(sync->key >> 1);
    if (sync->pod == nullptr || sync->pod->meta.deleting) return absl::nullopt;
    if (IsDone(*sync->pod) && !ServesEndedPods()) return absl::nullopt;
    sync->stage = Stage::kMakeClaims;
  } else if (!TakePodReply(sync, *reply)) {
    return absl::nullopt;
  }
  if (sync->stage == Stage::kMakeClaims) {
    absl::optional<ApiRequest> create = MakeNextClaim(sync);
    if (create.has_value() || sync->failed) return create;
    sync->stage = Stage::kWriteNames;
    if (!sync->made.empty()) return WriteNames(*sync);
  }
  if (sync->stage == Stage::kWriteNames) {
    if (!options_.behaviour.serves_bound_pods() || !sync->pod->node.valid()) return absl::nullopt;
    sync->stage = Stage::kServe;
    sync->next = 0;
  }
  return ServeNextClaim(sync);
}

bool ClaimController::TakePodReply(Sync* sync, const ApiReply& reply) {
  if (!reply.ok()) {
    sync->failed = true;
    if (sync->stage == Stage::kMakeClaims) ++failed_creations_;
    return false;
  }
  Learn(reply.object);
  switch (sync->stage) {
    case Stage::kMakeClaims: {
      const PodClaim& entry = sync->pod->claims[sync->next++];
      last_made_[sync->pod->meta.uid] = ++claims_made_;
      if (options_.behaviour.claim_statuses()) {
        sync->made.push_back({entry.entry, MetaOf(reply.object)->name});
      }
      return true;
    }
    case Stage::kWriteNames:
      sync->pod = As<Pod>(reply.object);
      return true;
    case Stage::kServe:
      ++sync->next;
      return true;
    default:  // The context is written; what follows comes with the allocation.
      return false;
  }
}

absl::optional<ApiRequest> ClaimController::MakeNextClaim(Sync* sync) {
  const Pod& pod = *sync->pod;
  const ObjectCache& cache = client_->cache();
  for (; sync->next < pod.claims.size(); ++sync->next) {
    const PodClaim& entry = pod.claims[sync->next];
    if (!entry.claim.empty()) continue;
    const absl::optional<Name> name = ClaimOf(pod, entry);
    if (name.has_value()) {
      if (name->empty()) continue;
      const Ref<ResourceClaim>& claim = cache.claim(pod.meta.ns, *name);
      if (claim != nullptr && claim->meta.owner == pod.meta.uid) continue;
      // With a fixed name nothing else can take its place.
      if (claim != nullptr && !options_.behaviour.generated_names()) break;
    }
    if (options_.behaviour.generated_names()) {
      const Ref<ResourceClaim> orphan = FindOrphan(pod, entry);
      if (orphan != nullptr) {
        sync->made.push_back({entry.entry, orphan->meta.name});
        continue;
      }
    }
    if (IsDone(pod) && RemembersClaimOf(pod)) continue;
    const Ref<ResourceClaimTemplate>& from =
        cache.of<ResourceClaimTemplate>().Find(pod.meta.ns, entry.from_template);
    if (from == nullptr) break;
    return CreateClaim(pod, entry, from->spec);
  }
  if (sync->next < pod.claims.size()) {
    sync->failed = true;
    ++failed_creations_;
  }
  return absl::nullopt;
}

// Of an interrupted sync, or made by an earlier release: one that the pod owns, for this entry.
Ref<ResourceClaim> ClaimController::FindOrphan(const Pod& pod, const PodClaim& entry) const {
  const auto owned = owned_.find(pod.meta.uid);
  if (owned == owned_.end()) return nullptr;
  const Name plain = PlainName(pod, entry);
  for (const Uid uid : owned->second) {
    const Ref<ResourceClaim>& claim = client_->cache().of<ResourceClaim>().Find(uid);
    if (claim == nullptr) continue;
    const bool fits = claim->pod_claim_name.empty() ? claim->meta.name == plain
                                                    : claim->pod_claim_name == entry.entry;
    if (fits) return claim;
  }
  return nullptr;
}

ApiRequest ClaimController::CreateClaim(const Pod& pod, const PodClaim& entry,
                                        const ClaimSpec& spec) const {
  auto claim = std::make_shared<ResourceClaim>();
  claim->meta.ns = pod.meta.ns;
  claim->meta.owner = pod.meta.uid;
  claim->spec = spec;
  if (options_.behaviour.claim_statuses()) claim->pod_claim_name = entry.entry;
  ApiRequest request;
  request.verb = Verb::kCreate;
  request.kind = ObjectKind::kResourceClaim;
  if (options_.behaviour.generated_names()) {
    request.generate_name = client_->names().Intern(GeneratedClaimPrefix(
        pod.meta.name.text(), entry.entry.text(), options_.behaviour.hyphen_before_suffix()));
  } else {
    claim->meta.name = PlainName(pod, entry);
  }
  request.object = Ref<ResourceClaim>(std::move(claim));
  return request;
}

// All names at once, those known before too, in the order of the entries. Nobody else writes them;
// and of the rest of the status, which is the kubelet's, nothing is sent.
ApiRequest ClaimController::WriteNames(const Sync& sync) const {
  const Ref<Pod>& cached = client_->cache().pod(sync.pod->meta.uid);
  const Pod& known_pod = cached == nullptr ? *sync.pod : *cached;
  auto pod = std::make_shared<Pod>();
  pod->meta.ns = known_pod.meta.ns;
  pod->meta.name = known_pod.meta.name;
  pod->meta.uid = known_pod.meta.uid;
  pod->row = known_pod.row;  // for those who hear of the call
  const auto find = [](const auto& names, Name entry) {
    size_t i = 0;
    while (i < names.size() && names[i].entry != entry) ++i;
    return i;
  };
  for (const PodClaim& entry : known_pod.claims) {
    const size_t made = find(sync.made, entry.entry);
    const size_t known = find(known_pod.claim_names, entry.entry);
    if (made < sync.made.size()) {
      pod->claim_names.push_back(sync.made[made]);
    } else if (known < known_pod.claim_names.size()) {
      pod->claim_names.push_back(known_pod.claim_names[known]);
    }
  }
  ApiRequest request;
  request.verb = Verb::kPatchStatus;
  request.part = StatusPart::kClaimNames;
  request.kind = ObjectKind::kPod;
  request.object = Ref<Pod>(std::move(pod));
  return request;
}

absl::optional<ApiRequest> ClaimController::ServeNextClaim(Sync* sync) {
  const Pod& pod = *sync->pod;
  for (; sync->next < pod.claims.size(); ++sync->next) {
    const PodClaim& entry = pod.claims[sync->next];
    const absl::optional<Name> name = ClaimOf(pod, entry);
    if (name.has_value() && name->empty()) continue;
    const Ref<ResourceClaim> claim =
        name.has_value() ? client_->cache().claim(pod.meta.ns, *name) : nullptr;
    // Its event will bring the pod back.
    if (claim == nullptr) return absl::nullopt;
    if (entry.claim.empty() && claim->meta.owner != pod.meta.uid) {
      sync->failed = true;
      return absl::nullopt;
    }
    if (claim->status.allocation == nullptr &&
        claim->spec.mode == AllocationMode::kWaitForFirstConsumer) {
      // One context stands for all claims of the pod.
      sync->stage = Stage::kContext;
      return WriteContext(pod);
    }
    if (!NeedsServing(pod, *claim)) continue;
    auto reserved = std::make_shared<ResourceClaim>(*claim);
    reserved->status.reserved_for.push_back({pods_, pod.meta.name, pod.meta.uid});
    return ClaimStatusUpdate(std::move(reserved));
  }
  return absl::nullopt;
}

// The node is chosen, so there is nothing to negotiate: no potential nodes. None if it is there.
absl::optional<ApiRequest> ClaimController::WriteContext(const Pod& pod) const {
  const Ref<PodSchedulingContext>& known = client_->cache().context(pod.meta.ns, pod.meta.name);
  if (known != nullptr && known->selected == pod.node) return absl::nullopt;
  ApiRequest request;
  request.kind = ObjectKind::kPodSchedulingContext;
  auto context = std::make_shared<PodSchedulingContext>();
  if (known != nullptr) {
    request.verb = Verb::kUpdate;
    *context = *known;
  } else {
    request.verb = Verb::kCreate;
    context->meta.ns = pod.meta.ns;
    context->meta.name = pod.meta.name;
    context->meta.owner = pod.meta.uid;
  }
  context->selected = pod.node;
  request.object = Ref<PodSchedulingContext>(std::move(context));
  return request;
}

absl::optional<ApiRequest> ClaimController::NextOfClaim(Sync* sync, const ApiReply* reply) {
  if (sync->stage == Stage::kStart) {
    sync->claim = client_->cache().of<ResourceClaim>().Find(sync->key >> 1);
    if (sync->claim == nullptr) return absl::nullopt;
    sync->stage = Stage::kConsumers;
  } else if (!TakeClaimReply(sync, *reply)) {
    return absl::nullopt;
  }
  if (sync->stage == Stage::kConsumers) {
    absl::optional<ApiRequest> get = CheckNextConsumer(sync);
    if (get.has_value()) return get;
    sync->stage = Stage::kRelease;
    if (sync->kept.size() < sync->claim->status.reserved_for.size()) return Release(*sync);
  }
  if (!OwnerNeedsItNoMore(*sync)) return absl::nullopt;
  sync->stage = Stage::kDelete;
  const ObjectMeta& meta = sync->claim->meta;
  ApiRequest request;
  request.verb = Verb::kDelete;
  request.kind = ObjectKind::kResourceClaim;
  request.ns = meta.ns;
  request.name = meta.name;
  request.uid = meta.uid;
  return request;
}

bool ClaimController::TakeClaimReply(Sync* sync, const ApiReply& reply) {
  if (sync->stage == Stage::kConsumers) {
    if (!reply.ok() && reply.code != ApiCode::kNotFound) {
      sync->failed = true;
      return false;
    }
    const Consumer& consumer = sync->claim->status.reserved_for[sync->next++];
    const ObjectMeta* pod = reply.ok() ? MetaOf(reply.object) : nullptr;
    if (pod != nullptr && pod->uid == consumer.uid) sync->kept.push_back(consumer);
    return true;
  }
  if (!reply.ok()) {
    sync->failed = true;
    return false;
  }
  if (sync->stage == Stage::kDelete) {
    // Held by finalizers, or gone already: not to be deleted again before the watch tells.
    auto claim = std::make_shared<ResourceClaim>(*As<ResourceClaim>(reply.object));
    claim->meta.deleting = true;
    Learn(Ref<ResourceClaim>(std::move(claim)));
    return false;
  }
  Learn(reply.object);
  sync->claim = As<ResourceClaim>(reply.object);
  return true;
}

// A pod in the cache stays until the watch says otherwise; one that was seen to go is gone; of any
// other the server has to say that it is not there: the scheduler may be working on one that is too
// new to be known here.
absl::optional<ApiRequest> ClaimController::CheckNextConsumer(Sync* sync) {
  const ResourceClaim& claim = *sync->claim;
  for (; sync->next < claim.status.reserved_for.size(); ++sync->next) {
    const Consumer& consumer = claim.status.reserved_for[sync->next];
    if (consumer.resource != pods_) {
      sync->kept.push_back(consumer);  // nobody here knows when such a thing is done
      continue;
    }
    if (deleted_pods_.contains(consumer.uid)) continue;
    const Ref<Pod>& pod = client_->cache().of<Pod>().Find(claim.meta.ns, consumer.name);
    if (pod == nullptr) {
      ApiRequest request;
      request.verb = Verb::kGet;
      request.kind = ObjectKind::kPod;
      request.ns = claim.meta.ns;
      request.name = consumer.name;
      return request;
    }
    if (pod->meta.uid != consumer.uid) continue;
    if (options_.behaviour.releases_finished_pods() && IsDone(*pod)) continue;
    sync->kept.push_back(consumer);
  }
  return absl::nullopt;
}

// Not a patch: it must fail if anything has changed. The last consumer of a claim that waits for
// its first one takes the allocation along, so that the next one is not tied to its node.
ApiRequest ClaimController::Release(const Sync& sync) const {
  auto claim = std::make_shared<ResourceClaim>(*sync.claim);
  claim->status.reserved_for.assign(sync.kept.begin(), sync.kept.end());
  if (sync.kept.empty() && claim->spec.mode == AllocationMode::kWaitForFirstConsumer &&
      options_.behaviour.releases_finished_pods()) {
    claim->status.deallocation_requested = true;
  }
  return ClaimStatusUpdate(std::move(claim));
}

// A claim whose owner is gone, without a successor of its name, is left to the garbage collector.
bool ClaimController::OwnerNeedsItNoMore(const Sync& sync) const {
  const ObjectMeta& meta = sync.claim->meta;
  if (!options_.behaviour.releases_finished_pods() || !sync.kept.empty()) return false;
  if (meta.owner == 0 || meta.deleting) return false;
  const Ref<Pod>& owner = client_->cache().pod(meta.owner);
  if (owner != nullptr) return IsDone(*owner);
  const auto gone = deleted_pods_.find(meta.owner);
  return gone != deleted_pods_.end() &&
         client_->cache().of<Pod>().Find(gone->second.first, gone->second.second) != nullptr;
}

}  // namespace drasim
