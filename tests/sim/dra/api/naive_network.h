// A naive model of the network between the API server and its clients, for tests: closures in a map
// sorted by time. Each is asked when it is due whether it still counts, where the network takes out
// what does not when a fault comes.
#ifndef DRASIM_TESTS_SIM_DRA_API_NAIVE_NETWORK_H_
#define DRASIM_TESTS_SIM_DRA_API_NAIVE_NETWORK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/distributions.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_server.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {
namespace naive_network {

// Pods and claims of these kinds, by uid.
inline std::vector<ObjectRef> Objects(const ObjectCache& cache, uint32_t kinds) {
  std::vector<ObjectRef> objects;
  const auto add = [&](ObjectKind kind, const auto& table) {
    if ((kinds & WatchBit(kind)) == 0) return;
    for (const auto& object : table.Sorted()) objects.emplace_back(object);
  };
  add(ObjectKind::kPod, cache.of<Pod>());
  add(ObjectKind::kResourceClaim, cache.of<ResourceClaim>());
  std::sort(objects.begin(), objects.end(),
            [](const ObjectRef& a, const ObjectRef& b) { return MetaOf(a)->uid < MetaOf(b)->uid; });
  return objects;
}

inline ObjectRef FindIn(const ObjectCache& cache, ObjectKind kind, Name ns, Name name) {
  if (kind == ObjectKind::kPod) return cache.of<Pod>().Find(ns, name);
  return cache.claim(ns, name);
}

// A client's end, of the network or of the model.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual std::optional<ApiReply> Call(ApiRequest request, uint64_t token) = 0;
  virtual void ArmTimer(SimDuration after, uint64_t token) = 0;
  virtual void Remember(const ObjectRef& object) = 0;
  virtual ObjectRef Find(ObjectKind kind, Name ns, Name name) const = 0;
  virtual std::vector<ObjectRef> Cached() const = 0;
  virtual SimTime now() const = 0;
};

struct NaiveClient;

struct NaiveNetwork {
  NaiveNetwork(NamePool* names, uint64_t a_seed)
      : server(names, a_seed, [this](const WatchEvent& event) { OnChange(event); }), seed(a_seed) {}

  bool Step(SimTime until) {
    std::function<void()> next;
    if (!soon.empty()) {
      next = std::move(soon.front());
      soon.pop_front();
    } else {
      if (later.empty() || later.begin()->first > until) return false;
      now = later.begin()->first;
      next = std::move(later.begin()->second);
      later.erase(later.begin());
    }
    next();
    return true;
  }
  void OnChange(const WatchEvent& event);
  ApiReply Commit(NaiveClient& client, SimTime issued, const ApiRequest& request);

  SimTime now;
  ApiServer server;
  uint64_t seed;
  std::deque<std::function<void()>> soon;
  std::multimap<SimTime, std::function<void()>> later;  // of one time, in order of insertion
  std::vector<std::unique_ptr<NaiveClient>> clients;
  std::function<void(const ApiMessage&)> hear;
};

struct NaiveClient : Wire {
  NaiveClient(NaiveNetwork* a_network, ClientOptions an_options, Actor* an_actor)
      : network(a_network),
        id(static_cast<ClientId>(a_network->clients.size())),
        options(std::move(an_options)),
        actor(an_actor),
        calls(a_network->seed, absl::StrCat("api calls/", options.name)),
        watches(a_network->seed, absl::StrCat("api watches/", options.name)) {
    List();
  }

  static SimDuration Draw(const std::optional<Distribution>& seconds, Random& stream) {
    if (!seconds.has_value()) return SimDuration();
    return SimDuration(
        std::max<int64_t>(0, static_cast<int64_t>(seconds->Sample(stream) * 1e9 + 0.5)));
  }
  // A bucket that counts what it holds, in nanoseconds of dripping.
  SimDuration WaitForToken() {
    if (options.qps == 0) return SimDuration();
    const auto period_ns = static_cast<int64_t>(1e9 / options.qps);
    const int64_t size_ns = period_ns * options.burst;
    if (!bucket_used) level_ns = size_ns;
    bucket_used = true;
    level_ns = std::min(size_ns, level_ns + (network->now - bucket_at).ns());
    bucket_at = network->now;
    level_ns -= period_ns;
    return SimDuration(std::max<int64_t>(0, -level_ns));
  }

  std::optional<ApiReply> Call(ApiRequest request, uint64_t token) override {
    if (down) return std::nullopt;
    const SimTime issued = network->now;
    const SimTime sent = issued + WaitForToken();
    const SimTime done =
        sent + Draw(IsWrite(request.verb) ? options.write_latency : options.read_latency, calls);
    if (done == issued) return network->Commit(*this, issued, request);
    const size_t life = ends.size();
    network->later.emplace(done, [this, issued, sent, life, token, request] {
      if (life < ends.size() && sent > ends[life]) return;
      const ApiReply reply = network->Commit(*this, issued, request);
      if (life == ends.size()) actor->OnReply(token, reply);
    });
    return std::nullopt;
  }
  void ArmTimer(SimDuration after, uint64_t token) override {
    if (down) return;
    network->later.emplace(network->now + after, [this, token, life = ends.size()] {
      if (life == ends.size()) actor->OnTimer(token);
    });
  }
  void Remember(const ObjectRef& object) override {
    if (MetaOf(object) == nullptr) return;
    ObjectRef& known = cache[MetaOf(object)->uid];
    if (MetaOf(known) == nullptr || MetaOf(known)->version < MetaOf(object)->version) {
      known = object;
    }
  }
  // The youngest of the name.
  ObjectRef Find(ObjectKind kind, Name ns, Name name) const override {
    ObjectRef found;
    for (const auto& [uid, object] : cache) {
      if (KindOf(object) == kind && MetaOf(object)->ns == ns && MetaOf(object)->name == name) {
        found = object;
      }
    }
    return found;
  }
  std::vector<ObjectRef> Cached() const override {
    std::vector<ObjectRef> objects;
    for (const auto& [uid, object] : cache) objects.push_back(object);
    return objects;
  }
  SimTime now() const override { return network->now; }

  bool Watches(ObjectKind kind) const { return (options.watches & WatchBit(kind)) != 0; }
  void Send(const WatchEvent& event) {
    if (down || broken || !Watches(event.kind())) return;
    const auto deliver = [this, event, life = ends.size()] { Tell(event, life); };
    if (!options.watch_latency.has_value()) {
      network->soon.emplace_back(deliver);
      return;
    }
    SimTime& last = delivery[event.kind()];
    last = std::max(last, network->now + Draw(options.watch_latency, watches));
    network->later.emplace(last, deliver);
  }
  void Tell(WatchEvent event, size_t life) {
    if (life != ends.size()) return;
    const auto known = cache.find(MetaOf(event.object)->uid);
    if (known != cache.end()) event.before = known->second;
    if (event.type == WatchEvent::Type::kDeleted) {
      if (known != cache.end()) cache.erase(known);
    } else if (known == cache.end()) {
      cache[MetaOf(event.object)->uid] = event.object;
    } else {
      if (MetaOf(known->second)->version > MetaOf(event.object)->version) return;
      known->second = event.object;
    }
    actor->OnWatch(event);
  }

  void List() {
    cache.clear();
    for (const ObjectRef& object : Objects(network->server.objects(), options.watches)) {
      cache[MetaOf(object)->uid] = object;
    }
  }
  void ListDifferences() {
    std::map<Uid, ObjectRef> there;
    for (const ObjectRef& object : Objects(network->server.objects(), options.watches)) {
      there[MetaOf(object)->uid] = object;
    }
    const auto send = [this](WatchEvent::Type type, const ObjectRef& object) {
      WatchEvent event;
      event.type = type;
      event.object = object;
      network->soon.emplace_back([this, event, life = ends.size()] { Tell(event, life); });
    };
    for (const auto& [uid, object] : cache) {
      if (there.count(uid) == 0) send(WatchEvent::Type::kDeleted, object);
    }
    for (const auto& [uid, object] : there) {
      const auto known = cache.find(uid);
      if (known == cache.end()) {
        send(WatchEvent::Type::kAdded, object);
      } else if (MetaOf(known->second)->version != MetaOf(object)->version) {
        send(WatchEvent::Type::kModified, object);
      }
    }
  }
  void Restart(SimDuration length) {
    up_at = std::max(down ? up_at : SimTime(), network->now + length);
    down = true;
    ends.push_back(network->now);
    delivery.clear();
    network->later.emplace(up_at, [this, life = ends.size()] {
      if (life != ends.size()) return;
      down = false;
      bucket_used = false;
      List();
      actor->OnRestart();
    });
  }
  void BreakWatch(SimDuration length) {
    SimTime at = network->now + length;
    for (const auto& [kind, last] : delivery) at = std::max(at, last);
    relist_at = broken ? std::max(relist_at, at) : at;
    broken = true;
    network->later.emplace(relist_at, [this, number = ++breaks] {
      if (number != breaks) return;
      broken = false;
      if (!down) ListDifferences();
    });
  }

  NaiveNetwork* network;
  ClientId id;
  ClientOptions options;
  Actor* actor;
  Random calls;
  Random watches;
  std::map<Uid, ObjectRef> cache;
  std::vector<SimTime> ends;  // of its lives so far
  bool down = false;
  SimTime up_at;
  bool broken = false;
  SimTime relist_at;
  int breaks = 0;
  std::map<ObjectKind, SimTime> delivery;  // the latest that is under way, or was
  bool bucket_used = false;
  int64_t level_ns = 0;
  SimTime bucket_at;
};

inline void NaiveNetwork::OnChange(const WatchEvent& event) {
  for (const auto& client : clients) client->Send(event);
}

inline ApiReply NaiveNetwork::Commit(NaiveClient& client, SimTime issued,
                                     const ApiRequest& request) {
  ApiReply reply = server.Handle(request);
  ApiMessage m;
  m.issued = issued;
  m.done = now;
  m.client = client.id;
  m.verb = request.verb;
  m.kind = request.kind;
  m.code = reply.code;
  const ObjectMeta* asked = MetaOf(request.object);
  m.ns = asked == nullptr ? request.ns : asked->ns;
  m.name = asked == nullptr ? request.name : asked->name;
  ObjectRef object = reply.object;
  if (!reply.ok()) object = FindIn(server.objects(), request.kind, m.ns, m.name);
  if (MetaOf(object) != nullptr) m.uid = MetaOf(object)->uid;
  if (MetaOf(object) == nullptr) object = request.object;
  if (const Ref<Pod> pod = As<Pod>(object); pod != nullptr) m.pod = pod->row;
  if (const Ref<ResourceClaim> claim = As<ResourceClaim>(object); claim != nullptr) {
    const Ref<Pod> owner = server.objects().pod(claim->meta.owner);
    if (owner != nullptr) m.pod = owner->row;
  }
  hear(m);
  return reply;
}

}  // namespace naive_network
}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_DRA_API_NAIVE_NETWORK_H_
