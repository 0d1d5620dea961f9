#include "sim/dra/claim_controller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "model/check.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/work_queue.h"

namespace drasim {

namespace {

WorkQueue::Key PodWorkKey(Uid pod) { return pod << 1; }
WorkQueue::Key ClaimWorkKey(Uid claim) { return (claim << 1) | 1; }
bool IsClaimWork(WorkQueue::Key key) { return (key & 1) != 0; }

// Most come in order, and there are few.
template <typename Uids>
void InsertInto(Uids* uids, Uid uid) {
  const auto place = std::lower_bound(uids->begin(), uids->end(), uid);
  if (place == uids->end() || *place != uid) uids->insert(place, uid);
}

template <typename Index, typename IndexKey>
void EraseFromIndex(Index* index, const IndexKey& key, Uid uid) {
  const auto found = index->find(key);
  if (found == index->end()) return;
  auto& uids = found->second;
  const auto place = std::lower_bound(uids.begin(), uids.end(), uid);
  if (place != uids.end() && *place == uid) uids.erase(place);
  if (uids.empty()) index->erase(found);
}

}  // namespace

ClaimController::ClaimController(const ClaimControllerOptions& options)
    : options_(options), queue_(options.workers) {}

ClaimController::~ClaimController() = default;

void ClaimController::Start(ApiClient* client) {
  DRASIM_CHECK(client_ == nullptr);
  client_ = client;
  pods_ = client->names().Intern("pods");
  QueueAll();
}

void ClaimController::OnRestart() {
  queue_.Clear();
  syncs_.clear();
  free_syncs_.clear();
  retries_.clear();
  users_.clear();
  owned_.clear();
  deleted_pods_.clear();
  deleted_order_.clear();
  last_made_.clear();
  QueueAll();
}

bool ClaimController::idle() const {
  return queue_.waiting() == 0 && queue_.busy() == 0 && retries_.empty();
}

// What the informers' first lists come to: an event "added" for everything, pods first. Nothing
// runs before the indexes are complete.
void ClaimController::QueueAll() {
  const ObjectCache& cache = client_->cache();
  const std::vector<Ref<Pod>> pods = cache.of<Pod>().Sorted();
  const std::vector<Ref<ResourceClaim>> claims = cache.of<ResourceClaim>().Sorted();
  for (const Ref<Pod>& pod : pods) IndexPod(nullptr, pod.get());
  for (const Ref<ResourceClaim>& claim : claims) IndexClaim(*claim, /*deleted=*/false);
  for (const Ref<Pod>& pod : pods) QueuePod(*pod, /*deleted=*/false);
  for (const Ref<ResourceClaim>& claim : claims) QueueClaim(*claim, /*deleted=*/false);
  Pump();
}

void ClaimController::OnWatch(const WatchEvent& event) {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (event.kind() == ObjectKind::kPod) {
    const Pod& pod = *PeekAs<Pod>(event.object);
    IndexPod(PeekAs<Pod>(event.before), deleted ? nullptr : &pod);
    QueuePod(pod, deleted);
  } else if (event.kind() == ObjectKind::kResourceClaim) {
    const ResourceClaim& claim = *PeekAs<ResourceClaim>(event.object);
    IndexClaim(claim, deleted);
    QueueClaim(claim, deleted);
  }
  Pump();
}

void ClaimController::OnReply(uint64_t token, const ApiReply& reply) {
  Step(static_cast<uint32_t>(token), &reply);
  Pump();
}

// A key that waits for several retries comes with the first of them; the others are void.
void ClaimController::OnTimer(uint64_t token) {
  const auto retry = retries_.find(token);
  if (retry == retries_.end() || retry->second > client_->now()) return;
  retries_.erase(retry);
  queue_.Add(token);
  Pump();
}

Name ClaimController::PlainName(const Pod& pod, const PodClaim& entry) const {
  return client_->names().Intern(absl::StrCat(pod.meta.name.text(), "-", entry.entry.text()));
}

absl::optional<Name> ClaimController::ClaimOf(const Pod& pod, const PodClaim& entry) const {
  if (!entry.claim.empty()) return entry.claim;
  if (!options_.behaviour.claim_statuses()) return PlainName(pod, entry);
  for (const Pod::ClaimName& known : pod.claim_names) {
    if (known.entry == entry.entry) return known.claim;
  }
  return absl::nullopt;
}

// Whether a claim keeps a pod that somebody else than the scheduler has bound from running, and
// something can be done about it now.
bool ClaimController::NeedsServing(const Pod& pod, const ResourceClaim& claim) const {
  if (claim.status.allocation != nullptr) {
    return !IsReservedFor(claim, pod.meta.uid) && CanBeReserved(claim);
  }
  if (claim.spec.mode != AllocationMode::kWaitForFirstConsumer) return false;
  const Ref<PodSchedulingContext>& context = client_->cache().context(pod.meta.ns, pod.meta.name);
  return context == nullptr || context->selected != pod.node;
}

bool ClaimController::ServesEndedPods() const {
  const DraBehaviour& behaviour = options_.behaviour;
  return behaviour.strict_upstream && behaviour.serves_bound_pods() && client_->options().qps > 0;
}

bool ClaimController::RemembersClaimOf(const Pod& pod) const {
  constexpr uint64_t kMutationCacheSize = 100;
  size_t templates = 0;
  for (const PodClaim& entry : pod.claims) templates += size_t{entry.claim.empty()};
  const auto made = last_made_.find(pod.meta.uid);
  return templates == 1 && made != last_made_.end() &&
         claims_made_ - made->second <= kMutationCacheSize;
}

bool ClaimController::NeedsWork(const Pod& pod) const {
  if (pod.meta.deleting) return false;
  const DraBehaviour& behaviour = options_.behaviour;
  for (const PodClaim& entry : pod.claims) {
    const bool made_here = entry.claim.empty();
    // Until 1.27 every pod with a template is looked at again with each of its events.
    if (!behaviour.claim_statuses()) {
      if (made_here) return true;
      continue;
    }
    const absl::optional<Name> name = ClaimOf(pod, entry);
    if (!name.has_value()) return true;
    if (name->empty()) continue;
    const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, *name);
    if (claim == nullptr && made_here) return true;
    // Somebody else has to create it, or to take it away. Upstream waits with the entries behind
    // it until then.
    if (claim == nullptr || (made_here && claim->meta.owner != pod.meta.uid)) {
      if (behaviour.strict_upstream) return false;
      continue;
    }
    if (pod.node.valid() && behaviour.serves_bound_pods() && NeedsServing(pod, *claim)) return true;
  }
  return false;
}

void ClaimController::QueuePod(const Pod& pod, bool deleted) {
  if (pod.claims.empty()) return;
  if (deleted) RememberDeleted(pod);
  if (deleted || IsDone(pod)) {
    for (const PodClaim& entry : pod.claims) {
      const absl::optional<Name> name = ClaimOf(pod, entry);
      if (!name.has_value() || name->empty()) continue;
      // One that is not in the cache yet is queued when it gets there.
      const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, *name);
      if (claim != nullptr) queue_.Add(ClaimWorkKey(claim->meta.uid));
    }
    if (deleted || !ServesEndedPods()) return;
  }
  if (NeedsWork(pod)) queue_.Add(PodWorkKey(pod.meta.uid));
}

void ClaimController::QueueClaim(const ResourceClaim& claim, bool deleted) {
  if (!deleted) queue_.Add(ClaimWorkKey(claim.meta.uid));
  const auto users = users_.find({claim.meta.ns, claim.meta.name});
  if (users == users_.end()) return;
  for (const Uid user : users->second) {
    const Ref<Pod>& pod = client_->cache().pod(user);
    if (pod != nullptr) QueuePod(*pod, /*deleted=*/false);
  }
}

void ClaimController::RememberDeleted(const Pod& pod) {
  last_made_.erase(pod.meta.uid);
  const std::pair<Name, Name> name = {pod.meta.ns, pod.meta.name};
  if (!deleted_pods_.emplace(pod.meta.uid, name).second) return;
  deleted_order_.push_back(pod.meta.uid);
  if (deleted_order_.size() <= options_.remembered_uids) return;
  deleted_pods_.erase(deleted_order_.front());
  deleted_order_.pop_front();
}

void ClaimController::IndexPod(const Pod* before, const Pod* after) {
  const bool same = before != nullptr && after != nullptr && before->claims == after->claims &&
                    before->claim_names == after->claim_names;
  if (same) return;
  if (before != nullptr) {
    for (const PodClaim& entry : before->claims) {
      const absl::optional<Name> name = ClaimOf(*before, entry);
      if (!name.has_value() || name->empty()) continue;
      EraseFromIndex(&users_, std::make_pair(before->meta.ns, *name), before->meta.uid);
    }
  }
  if (after == nullptr) return;
  for (const PodClaim& entry : after->claims) {
    const absl::optional<Name> name = ClaimOf(*after, entry);
    if (!name.has_value() || name->empty()) continue;
    InsertInto(&users_[{after->meta.ns, *name}], after->meta.uid);
  }
}

void ClaimController::IndexClaim(const ResourceClaim& claim, bool deleted) {
  const ObjectMeta& meta = claim.meta;
  if (meta.owner == 0) return;
  if (deleted) {
    EraseFromIndex(&owned_, meta.owner, meta.uid);
  } else {
    InsertInto(&owned_[meta.owner], meta.uid);
  }
}

void ClaimController::Learn(const ObjectRef& object) {
  const ObjectMeta* meta = MetaOf(object);
  if (meta == nullptr) return;
  if (KindOf(object) != ObjectKind::kPod) {
    client_->Remember(object);
    const ResourceClaim* claim = PeekAs<ResourceClaim>(object);
    if (claim != nullptr) IndexClaim(*claim, /*deleted=*/false);
    return;
  }
  const Ref<Pod> before = client_->cache().pod(meta->uid);
  client_->Remember(object);
  IndexPod(before.get(), client_->cache().pod(meta->uid).get());
}

void ClaimController::Pump() {
  while (queue_.CanGet()) {
    const Key key = *queue_.Get();
    if (free_syncs_.empty()) {
      free_syncs_.push_back(static_cast<uint32_t>(syncs_.size()));
      syncs_.emplace_back();
    }
    const uint32_t slot = free_syncs_.back();
    free_syncs_.pop_back();
    syncs_[slot].key = key;
    Step(slot, nullptr);
  }
}

void ClaimController::Step(uint32_t slot, const ApiReply* reply) {
  DRASIM_CHECK_LT(slot, syncs_.size());
  Sync* sync = &syncs_[slot];
  absl::optional<ApiReply> at_once;
  while (true) {
    absl::optional<ApiRequest> call =
        IsClaimWork(sync->key) ? NextOfClaim(sync, reply) : NextOfPod(sync, reply);
    if (!call.has_value()) break;
    at_once = client_->Call(*std::move(call), slot);
    if (!at_once.has_value()) return;
    reply = &*at_once;
  }
  Finish(slot);
}

void ClaimController::Finish(uint32_t slot) {
  const Sync sync = std::move(syncs_[slot]);
  syncs_[slot] = Sync();
  free_syncs_.push_back(slot);
  if (sync.failed) {
    const SimDuration delay = queue_.DelayAfterFailure(sync.key, client_->now());
    const SimTime at = client_->now() + delay;
    const auto [retry, added] = retries_.emplace(sync.key, at);
    if (added || at < retry->second) {
      retry->second = at;
      client_->ArmTimer(delay, sync.key);
    }
  } else {
    queue_.Forget(sync.key);
  }
  queue_.Done(sync.key);
}

}  // namespace drasim
