#include "sim/dra/api/garbage_collector.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "model/check.h"
#include "model/kube/objects.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {

namespace {

constexpr int kGarbageWorkers = 20;  // --concurrent-gc-syncs

WorkQueue::Key DependentKey(const ObjectRef& dependent) {
  const uint64_t is_context = KindOf(dependent) == ObjectKind::kPodSchedulingContext ? 1 : 0;
  return (MetaOf(dependent)->uid << 1) | is_context;
}

// Tokens of calls: the GET of an owner, and the DELETE of the dependent.
uint64_t OwnerToken(WorkQueue::Key key) { return key << 1 | 1; }
uint64_t DeleteToken(WorkQueue::Key key) { return key << 1; }
WorkQueue::Key KeyOfCall(uint64_t token) { return token >> 1; }

// Held by finalizers, or gone already: not to be deleted again before the watch reports it.
ObjectRef MarkedAsDeleting(const ObjectRef& object) {
  return std::visit(
      [](const auto& ref) -> ObjectRef {
        using T = std::decay_t<decltype(*ref)>;
        auto marked = std::make_shared<T>(*ref);
        marked->meta.deleting = true;
        return Ref<T>(std::move(marked));
      },
      object);
}

}  // namespace

GarbageCollector::GarbageCollector() : queue_(kGarbageWorkers) {}

void GarbageCollector::Start(ApiClient* client) {
  DRASIM_CHECK(client_ == nullptr);
  client_ = client;
  QueueAll();
}

void GarbageCollector::OnRestart() {
  queue_.Clear();
  retries_ = 0;
  dependents_.clear();
  orphans_.clear();
  QueueAll();
}

bool GarbageCollector::idle() const {
  return queue_.waiting() == 0 && queue_.busy() == 0 && retries_ == 0;
}

void GarbageCollector::QueueAll() {
  const ObjectCache& cache = client_->cache();
  for (const Ref<ResourceClaim>& claim : cache.of<ResourceClaim>().Sorted()) {
    Consider(claim, nullptr);
  }
  for (const Ref<PodSchedulingContext>& context : cache.of<PodSchedulingContext>().Sorted()) {
    Consider(context, nullptr);
  }
  Pump();
}

void GarbageCollector::OnWatch(const WatchEvent& event) {
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (event.kind() == ObjectKind::kPod) {
    if (!deleted) return;
    const auto orphans = dependents_.find(MetaOf(event.object)->uid);
    if (orphans == dependents_.end()) return;
    for (const Key key : orphans->second) {
      orphans_.insert(key);
      queue_.Add(key);
    }
  } else if (deleted) {
    Forget(event.object);
  } else {
    Consider(event.object, MetaOf(event.before));
  }
  Pump();
}

void GarbageCollector::OnReply(uint64_t token, const ApiReply& reply) {
  const Key key = KeyOfCall(token);
  if (token == OwnerToken(key)) {
    FinishOwner(key, reply);
  } else {
    Finish(key, reply);
  }
  Pump();
}

void GarbageCollector::OnTimer(uint64_t token) {
  --retries_;
  queue_.Add(token);
  Pump();
}

// An owner outside the cache is gone or new: pods have a watch of their own.
void GarbageCollector::Consider(const ObjectRef& dependent, const ObjectMeta* before) {
  const Uid owner = MetaOf(dependent)->owner;
  if (owner == 0) return;
  const Key key = DependentKey(dependent);
  if (before == nullptr || before->owner != owner) {
    absl::InlinedVector<Key, 2>& keys = dependents_[owner];
    const auto place = std::lower_bound(keys.begin(), keys.end(), key);
    if (place == keys.end() || *place != key) keys.insert(place, key);
  }
  if (client_->cache().pod(owner) == nullptr) queue_.Add(key);
}

void GarbageCollector::Forget(const ObjectRef& dependent) {
  const auto found = dependents_.find(MetaOf(dependent)->owner);
  if (found == dependents_.end()) return;
  absl::InlinedVector<Key, 2>& keys = found->second;
  const Key key = DependentKey(dependent);
  orphans_.erase(key);
  const auto place = std::lower_bound(keys.begin(), keys.end(), key);
  if (place != keys.end() && *place == key) keys.erase(place);
  if (keys.empty()) dependents_.erase(found);
}

// Null if it is not cached (any more).
ObjectRef GarbageCollector::Find(Key key) const {
  const ObjectCache& cache = client_->cache();
  if ((key & 1) != 0) return cache.of<PodSchedulingContext>().Find(key >> 1);
  return cache.of<ResourceClaim>().Find(key >> 1);
}

void GarbageCollector::Pump() {
  while (queue_.CanGet()) Collect(*queue_.Get());
}

void GarbageCollector::Collect(Key key) {
  const ObjectRef dependent = Find(key);
  const ObjectMeta* meta = MetaOf(dependent);
  if (meta == nullptr || meta->deleting || client_->cache().pod(meta->owner) != nullptr) {
    return Done(key);
  }
  if (orphans_.contains(key)) return Delete(key, dependent);
  ApiRequest request;
  request.verb = Verb::kGet;
  request.kind = ObjectKind::kPod;
  request.uid = meta->owner;
  const std::optional<ApiReply> reply = client_->Call(request, OwnerToken(key));
  if (reply.has_value()) FinishOwner(key, *reply);
}

// The owner's deletion, if it comes, queues the dependent again.
void GarbageCollector::FinishOwner(Key key, const ApiReply& reply) {
  const ObjectRef dependent = Find(key);
  const ObjectMeta* meta = MetaOf(dependent);
  if (reply.ok() || meta == nullptr || meta->deleting) return Done(key);
  orphans_.insert(key);
  Delete(key, dependent);
}

void GarbageCollector::Delete(Key key, const ObjectRef& dependent) {
  const ObjectMeta* meta = MetaOf(dependent);
  const std::optional<ApiReply> reply =
      client_->Call(DeleteRequest(KindOf(dependent), *meta), DeleteToken(key));
  if (reply.has_value()) Finish(key, *reply);
}

void GarbageCollector::Done(Key key) {
  queue_.Forget(key);
  queue_.Done(key);
}

void GarbageCollector::Finish(Key key, const ApiReply& reply) {
  // It may be gone already, or its name belong to another object; both are fine.
  const bool over =
      reply.ok() || reply.code == ApiCode::kNotFound || reply.code == ApiCode::kConflict;
  if (over) {
    if (reply.ok()) client_->Remember(MarkedAsDeleting(reply.object));
    return Done(key);
  }
  ++retries_;
  client_->ArmTimer(queue_.DelayAfterFailure(key, client_->now()), key);
  queue_.Done(key);
}

template <typename Archive, typename Self>
void GarbageCollector::Fields(Archive& archive, Self& self) {
  archive(self.queue_, self.retries_, self.orphans_, self.dependents_);
}
DRASIM_PLANE_FIELDS(GarbageCollector);

}  // namespace drasim
