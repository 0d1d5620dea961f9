#include "sim/dra/api/claim_controller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {

namespace {

WorkQueue::Key PodWorkKey(Uid pod) { return pod << 1; }
WorkQueue::Key ClaimWorkKey(Uid claim) { return (claim << 1) | 1; }
bool IsClaimWork(WorkQueue::Key key) { return (key & 1) != 0; }

// Uids mostly come in order, and there are few.
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

// Prefix of a generated claim name: a name of 63 characters keeps room for a hyphen and five more.
// If the text is too long, both of its parts are shortened in proportion to their length (and then
// lose a final hyphen, if the release adds one).
std::string GeneratedClaimPrefix(absl::string_view pod, absl::string_view entry, bool hyphen) {
  constexpr size_t kMaxPrefix = 57;
  std::string prefix = absl::StrCat(pod, "-", entry, hyphen ? "-" : "");
  const size_t length = prefix.size();
  if (length <= kMaxPrefix) return prefix;
  return absl::StrCat(pod.substr(0, pod.size() * kMaxPrefix / length), "-",
                      entry.substr(0, entry.size() * kMaxPrefix / length));
}

}  // namespace

ClaimController::ClaimController(const ClaimControllerOptions& options)
    : options_(options), queue_(options.workers) {}

ClaimController::~ClaimController() = default;

void ClaimController::Start(ApiClient* client) {
  DRASIM_CHECK(client_ == nullptr);
  client_ = client;
  pods_ = client->names().Intern("pods");
  finalizer_ = client->names().Intern(kStructuredClaimFinalizer);
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

// The informers' first lists: an event "added" for every object, pods first. Nothing runs before
// the indexes are complete.
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

// A key with several retries returns with the first; the others are void.
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

std::optional<Name> ClaimController::ClaimOf(const Pod& pod, const PodClaim& entry) const {
  if (!entry.claim.empty()) return entry.claim;
  if (!options_.behaviour.claim_statuses()) return PlainName(pod, entry);
  for (const Pod::ClaimName& known : pod.claim_names) {
    if (known.entry == entry.entry) return known.claim;
  }
  return std::nullopt;
}

// True when a claim keeps a pod bound by another component from running, and the controller can act
// on it now.
bool ClaimController::NeedsServing(const Pod& pod, const ResourceClaim& claim) const {
  if (claim.status.allocation != nullptr) {
    return !IsReservedFor(claim, pod.meta.uid) && CanBeReserved(claim);
  }
  if (claim.spec.is_structured()) return false;  // the scheduler alone allocates
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
    // Until 1.27 every event of a pod with a template causes a sync.
    if (!behaviour.claim_statuses()) {
      if (made_here) return true;
      continue;
    }
    const std::optional<Name> name = ClaimOf(pod, entry);
    if (!name.has_value()) return true;
    if (name->empty()) continue;
    const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, *name);
    if (claim == nullptr && made_here) return true;
    // Another component must create or remove it. Until then upstream also holds back the entries
    // after it.
    if (claim == nullptr || (made_here && claim->meta.owner != pod.meta.uid)) {
      if (behaviour.strict_upstream) return false;
      continue;
    }
    if (pod.node.valid() && behaviour.serves_bound_pods() && NeedsServing(pod, *claim)) return true;
  }
  return false;
}

void ClaimController::QueuePod(const Pod& pod, bool deleted) {
  if (pod.claims.empty() && pod.extended_claim.empty()) return;
  if (deleted) RememberDeleted(pod);
  if (deleted || IsDone(pod)) {
    // A claim outside the cache is queued when it arrives there.
    const auto add = [&](Name name) {
      if (name.empty()) return;
      const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, name);
      if (claim != nullptr) queue_.Add(ClaimWorkKey(claim->meta.uid));
    };
    for (const PodClaim& entry : pod.claims) add(ClaimOf(pod, entry).value_or(Name()));
    add(pod.extended_claim);
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
      const std::optional<Name> name = ClaimOf(*before, entry);
      if (!name.has_value() || name->empty()) continue;
      EraseFromIndex(&users_, std::make_pair(before->meta.ns, *name), before->meta.uid);
    }
  }
  if (after == nullptr) return;
  for (const PodClaim& entry : after->claims) {
    const std::optional<Name> name = ClaimOf(*after, entry);
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
  std::optional<ApiReply> at_once;
  while (true) {
    std::optional<ApiRequest> call =
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

// ---- One sync of a pod, or of a claim: a chain of API calls, cut at every call ----

std::optional<ApiRequest> ClaimController::NextOfPod(Sync* sync, const ApiReply* reply) {
  if (sync->stage == Stage::kStart) {
    sync->pod = client_->cache().pod(sync->key >> 1);
    if (sync->pod == nullptr || sync->pod->meta.deleting) return std::nullopt;
    if (IsDone(*sync->pod) && !ServesEndedPods()) return std::nullopt;
    sync->stage = Stage::kMakeClaims;
  } else if (!TakePodReply(sync, *reply)) {
    return std::nullopt;
  }
  if (sync->stage == Stage::kMakeClaims) {
    std::optional<ApiRequest> create = MakeNextClaim(sync);
    if (create.has_value() || sync->failed) return create;
    sync->stage = Stage::kWriteNames;
    if (!sync->made.empty()) return WriteNames(*sync);
  }
  if (sync->stage == Stage::kWriteNames) {
    if (!options_.behaviour.serves_bound_pods() || !sync->pod->node.valid()) return std::nullopt;
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
    default:  // The context is written; the rest follows with the allocation.
      return false;
  }
}

std::optional<ApiRequest> ClaimController::MakeNextClaim(Sync* sync) {
  const Pod& pod = *sync->pod;
  const ObjectCache& cache = client_->cache();
  for (; sync->next < pod.claims.size(); ++sync->next) {
    const PodClaim& entry = pod.claims[sync->next];
    if (!entry.claim.empty()) continue;
    const std::optional<Name> name = ClaimOf(pod, entry);
    if (name.has_value()) {
      if (name->empty()) continue;
      const Ref<ResourceClaim>& claim = cache.claim(pod.meta.ns, *name);
      if (claim != nullptr && claim->meta.owner == pod.meta.uid) continue;
      // With a fixed name there is no alternative.
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
  return std::nullopt;
}

// A claim from an interrupted sync or an earlier release, owned by the pod for this entry.
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
  const bool generated = options_.behaviour.generated_names();
  if (!generated) claim->meta.name = PlainName(pod, entry);
  ApiRequest request = WriteRequest(Verb::kCreate, std::move(claim));
  if (generated) {
    request.generate_name = client_->names().Intern(GeneratedClaimPrefix(
        pod.meta.name.text(), entry.entry.text(), options_.behaviour.hyphen_before_suffix()));
  }
  return request;
}

// Writes all names at once, known ones included, in the order of the entries. No other component
// writes them. The rest of the status belongs to the kubelet and is not sent.
ApiRequest ClaimController::WriteNames(const Sync& sync) const {
  const Ref<Pod>& cached = client_->cache().pod(sync.pod->meta.uid);
  const Pod& known_pod = cached == nullptr ? *sync.pod : *cached;
  auto pod = std::make_shared<Pod>();
  pod->meta.ns = known_pod.meta.ns;
  pod->meta.name = known_pod.meta.name;
  pod->meta.uid = known_pod.meta.uid;
  pod->row = known_pod.row;  // for listeners to the call
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
  return PatchRequest(StatusPart::kClaimNames, std::move(pod));
}

std::optional<ApiRequest> ClaimController::ServeNextClaim(Sync* sync) {
  const Pod& pod = *sync->pod;
  for (; sync->next < pod.claims.size(); ++sync->next) {
    const PodClaim& entry = pod.claims[sync->next];
    const std::optional<Name> name = ClaimOf(pod, entry);
    if (name.has_value() && name->empty()) continue;
    const Ref<ResourceClaim> claim =
        name.has_value() ? client_->cache().claim(pod.meta.ns, *name) : nullptr;
    // The claim's event will queue the pod again.
    if (claim == nullptr) return std::nullopt;
    if (entry.claim.empty() && claim->meta.owner != pod.meta.uid) {
      sync->failed = true;
      return std::nullopt;
    }
    if (claim->status.allocation == nullptr && !claim->spec.is_structured() &&
        claim->spec.mode == AllocationMode::kWaitForFirstConsumer) {
      // One context serves all claims of the pod.
      sync->stage = Stage::kContext;
      return WriteContext(pod);
    }
    if (!NeedsServing(pod, *claim)) continue;
    auto reserved = std::make_shared<ResourceClaim>(*claim);
    reserved->status.reserved_for.push_back({pods_, pod.meta.name, pod.meta.uid});
    return WriteRequest(Verb::kUpdateStatus, std::move(reserved));
  }
  return std::nullopt;
}

// The node is fixed, so there is nothing to negotiate: no potential nodes. None if it exists.
std::optional<ApiRequest> ClaimController::WriteContext(const Pod& pod) const {
  const Ref<PodSchedulingContext>& known = client_->cache().context(pod.meta.ns, pod.meta.name);
  if (known != nullptr && known->selected == pod.node) return std::nullopt;
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

std::optional<ApiRequest> ClaimController::NextOfClaim(Sync* sync, const ApiReply* reply) {
  const bool released = sync->stage == Stage::kRelease;
  if (sync->stage == Stage::kStart) {
    sync->claim = client_->cache().of<ResourceClaim>().Find(sync->key >> 1);
    if (sync->claim == nullptr) return std::nullopt;
    sync->stage = Stage::kConsumers;
  } else if (!TakeClaimReply(sync, *reply)) {
    return std::nullopt;
  }
  if (sync->stage == Stage::kConsumers) {
    std::optional<ApiRequest> get = CheckNextConsumer(sync);
    if (get.has_value()) return get;
    sync->stage = Stage::kRelease;
    const bool leaves = sync->kept.size() < sync->claim->status.reserved_for.size();
    if (leaves || IsLeftAllocated(*sync)) return Release(*sync);
  }
  if (sync->stage == Stage::kRelease) {
    sync->stage = Stage::kUnprotect;
    const bool done_with = sync->kept.empty() && (released || sync->claim->meta.deleting);
    if (done_with && IsProtected(*sync->claim)) return Unprotect(*sync->claim);
  }
  if (!OwnerNeedsItNoMore(*sync)) return std::nullopt;
  sync->stage = Stage::kDelete;
  return DeleteRequest(ObjectKind::kResourceClaim, sync->claim->meta);
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
    // Held by finalizers, or gone already: not to be deleted again before the watch reports it.
    auto claim = std::make_shared<ResourceClaim>(*As<ResourceClaim>(reply.object));
    claim->meta.deleting = true;
    Learn(Ref<ResourceClaim>(std::move(claim)));
    return false;
  }
  Learn(reply.object);
  sync->claim = As<ResourceClaim>(reply.object);
  return true;
}

// A cached pod exists until the watch says otherwise, and a pod seen in deletion is gone. For any
// other pod the server must confirm that it is gone, because it may be too new for this cache while
// the scheduler already works on it.
std::optional<ApiRequest> ClaimController::CheckNextConsumer(Sync* sync) {
  const ResourceClaim& claim = *sync->claim;
  for (; sync->next < claim.status.reserved_for.size(); ++sync->next) {
    const Consumer& consumer = claim.status.reserved_for[sync->next];
    if (consumer.resource != pods_) {
      sync->kept.push_back(consumer);  // the end of other consumers is unknown here
      continue;
    }
    if (deleted_pods_.contains(consumer.uid)) continue;
    const Ref<Pod>& pod = client_->cache().of<Pod>().Find(claim.meta.ns, consumer.name);
    if (pod == nullptr)
      return NamedRequest(Verb::kGet, ObjectKind::kPod, claim.meta.ns, consumer.name);
    if (pod->meta.uid != consumer.uid) continue;
    if (options_.behaviour.releases_finished_pods() && IsDone(*pod)) continue;
    sync->kept.push_back(consumer);
  }
  return std::nullopt;
}

bool ClaimController::IsLeftAllocated(const Sync& sync) {
  const ResourceClaim& claim = *sync.claim;
  return claim.spec.is_structured() && claim.meta.deleting && sync.kept.empty() &&
         claim.status.allocation != nullptr;
}

bool ClaimController::IsProtected(const ResourceClaim& claim) const {
  const auto& finalizers = claim.meta.finalizers;
  return claim.spec.is_structured() && claim.status.allocation == nullptr &&
         std::find(finalizers.begin(), finalizers.end(), finalizer_) != finalizers.end();
}

ApiRequest ClaimController::Unprotect(const ResourceClaim& claim) const {
  auto free = std::make_shared<ResourceClaim>(claim);
  auto& finalizers = free->meta.finalizers;
  finalizers.erase(std::find(finalizers.begin(), finalizers.end(), finalizer_));
  return WriteRequest(Verb::kUpdate, std::move(free));
}

// Not a patch, because it must fail after any other change. The last consumer of a
// WaitForFirstConsumer claim releases the allocation too, so that the next consumer is not tied to
// its node.
ApiRequest ClaimController::Release(const Sync& sync) const {
  auto claim = std::make_shared<ResourceClaim>(*sync.claim);
  claim->status.reserved_for.assign(sync.kept.begin(), sync.kept.end());
  if (claim->spec.is_structured()) {
    if (!sync.kept.empty()) return WriteRequest(Verb::kUpdateStatus, std::move(claim));
    claim->status.allocation = nullptr;
    claim->status.devices = {};
    return WriteRequest(Verb::kUpdateStatus, std::move(claim));
  }
  if (sync.kept.empty() && claim->spec.mode == AllocationMode::kWaitForFirstConsumer &&
      options_.behaviour.releases_finished_pods()) {
    claim->status.deallocation_requested = true;
  }
  return WriteRequest(Verb::kUpdateStatus, std::move(claim));
}

// A claim without owner, and without a successor pod of the same name, is left to the garbage
// collector.
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

template <typename Archive, typename Self>
void ClaimController::Fields(Archive& archive, Self& self) {
  archive(self.queue_, self.syncs_, self.free_syncs_, self.retries_, self.users_, self.owned_,
          self.deleted_pods_, self.deleted_order_, self.failed_creations_, self.claims_made_,
          self.last_made_);
}
DRASIM_PLANE_FIELDS(ClaimController);

}  // namespace drasim
