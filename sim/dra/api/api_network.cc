#include "sim/dra/api/api_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

// Limit on a latency, so that sums of a few fit the clock (30 years).
constexpr double kLongestLatencySeconds = 1e9;

SimDuration DrawLatency(const std::optional<Distribution>& seconds, Random& stream) {
  if (!seconds.has_value()) return SimDuration();
  const double drawn = std::min(seconds->Sample(stream), kLongestLatencySeconds);
  return SimDuration(drawn <= 0 ? 0 : std::llround(drawn * 1e9));
}

bool TakesTime(const std::optional<Distribution>& seconds) {
  return seconds.has_value() &&
         !(seconds->kind() == Distribution::Kind::kConstant && seconds->Mean() <= 0);
}

template <typename R>
using ObjectOfRef = std::remove_const_t<typename std::decay_t<R>::element_type>;

// Calls `visit` with a null reference of each kind, in their order.
template <typename Visit, size_t... kIndexes>
void VisitKinds(const Visit& visit, std::index_sequence<kIndexes...> /*indexes*/) {
  (visit(std::variant_alternative_t<kIndexes, ObjectRef>()), ...);
}
template <typename Visit>
void VisitKinds(const Visit& visit) {
  VisitKinds(visit, std::make_index_sequence<kObjectKinds>());
}

template <typename T>
constexpr ObjectKind KindOfType() {
  return static_cast<ObjectKind>(ObjectRef(Ref<T>()).index());
}

ObjectRef FindByName(const ObjectCache& objects, ObjectKind kind, Name ns, Name name) {
  ObjectRef found;
  VisitKinds([&](auto none) {
    using T = ObjectOfRef<decltype(none)>;
    if (KindOfType<T>() == kind) found = objects.of<T>().Find(ns, name);
  });
  return found;
}

PodId RowOf(const ObjectCache& objects, Uid uid) {
  const Ref<Pod>& pod = objects.pod(uid);
  return pod == nullptr ? PodId() : pod->row;
}

// The pod that an object concerns (see ApiMessage).
PodId PodAbout(const ObjectCache& objects, const ObjectRef& object) {
  const ObjectMeta* meta = MetaOf(object);
  if (meta == nullptr) return PodId();
  if (const Ref<Pod>* pod = std::get_if<Ref<Pod>>(&object)) return (*pod)->row;
  if (meta->owner != 0) return RowOf(objects, meta->owner);
  const auto* claim = std::get_if<Ref<ResourceClaim>>(&object);
  if (claim == nullptr) return PodId();
  const auto& users = (*claim)->status.reserved_for;
  return users.size() == 1 ? RowOf(objects, users[0].uid) : PodId();
}

// Brings the cache up to the event and fills event->before; false if the cache is newer.
bool ApplyToCache(ObjectCache* cache, WatchEvent* event) {
  return std::visit(
      [&](const auto& object) {
        using T = ObjectOfRef<decltype(object)>;
        ObjectTable<T>& table = cache->of<T>();
        if (event->type == WatchEvent::Type::kDeleted) {
          event->before = table.Erase(object->meta.uid);
          return true;
        }
        auto* before = std::get_if<Ref<T>>(&event->before);
        if (before == nullptr) before = &event->before.template emplace<Ref<T>>();
        return table.PutNewer(object, before);
      },
      event->object);
}

}  // namespace

// A message in flight. All types share one layout, so that messages fit a slab. Fields that a type
// does not use have arbitrary values, but hold no reference.
struct ApiNetwork::Message {
  enum class Type : uint8_t { kCall, kChange, kTimer, kRelist, kUp };
  Type type = Type::kCall;
  WatchEvent::Type change = WatchEvent::Type::kAdded;  // kChange
  ClientId client = 0;
  uint32_t life = 0;   // kCall: of the client that made it
  uint64_t token = 0;  // kCall, kTimer
  SimTime issued;      // kCall
  SimTime sent;        // kCall: past the rate limit
  ApiRequest request;  // kCall; in a kChange only the object

  // Unused fields are left out, because a slot keeps those of earlier messages.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& m) {
    a(m.type, m.client);
    if (m.type == Type::kCall) a(m.life, m.token, m.issued, m.sent, m.request);
    if (m.type == Type::kChange) a(m.change, m.request.object);
    if (m.type == Type::kTimer) a(m.token);
  }
};

ApiClient::ApiClient(ApiNetwork* network, ClientId id, ClientOptions options, Actor* actor,
                     uint64_t seed)
    : network_(network),
      id_(id),
      options_(std::move(options)),
      actor_(actor),
      limiter_(options_.qps, options_.burst),
      latencies_(seed, absl::StrCat("api calls/", options_.name)),
      watch_latencies_(seed, absl::StrCat("api watches/", options_.name)),
      lags_(TakesTime(options_.watch_latency)) {}

std::optional<ApiReply> ApiClient::Call(ApiRequest request, uint64_t token) {
  if (down_) return std::nullopt;
  const SimTime issued = network_->now_;
  const SimTime sent = issued + limiter_.Take(issued);
  const auto& latency = IsWrite(request.verb) ? options_.write_latency : options_.read_latency;
  const SimTime done = sent + DrawLatency(latency, latencies_);
  if (done == issued) {
    ApiReply reply = network_->Commit(*this, issued, request);
    // A listener to the call may have restarted the component.
    if (down_) return std::nullopt;
    return reply;
  }
  const uint32_t slot = network_->NewMessage(id_);
  ApiNetwork::Message& message = network_->slots_[slot];
  message.type = ApiNetwork::Message::Type::kCall;
  message.life = life_;
  message.token = token;
  message.issued = issued;
  message.sent = sent;
  message.request = std::move(request);
  network_->Push(done, slot);
  return std::nullopt;
}

void ApiClient::ArmTimer(SimDuration after, uint64_t token) {
  DRASIM_CHECK_GE(after, SimDuration());
  if (down_) return;
  const uint32_t slot = network_->NewMessage(id_);
  network_->slots_[slot].type = ApiNetwork::Message::Type::kTimer;
  network_->slots_[slot].token = token;
  network_->Push(network_->now_ + after, slot);
}

void ApiClient::Remember(const ObjectRef& object) {
  if (MetaOf(object) == nullptr) return;
  std::visit(
      [this](const auto& ref) {
        std::decay_t<decltype(ref)> before;
        cache_.of<ObjectOfRef<decltype(ref)>>().PutNewer(ref, &before);
      },
      object);
}

SimTime ApiClient::now() const { return network_->now_; }
NamePool& ApiClient::names() const { return network_->server_.names(); }

ApiNetwork::ApiNetwork(NamePool* names, uint64_t seed)
    : server_(names, seed, [this](const WatchEvent& event) { OnChange(event); }), seed_(seed) {}

ApiNetwork::~ApiNetwork() = default;

ApiClient* ApiNetwork::Connect(ClientOptions options, Actor* actor) {
  DRASIM_CHECK_LE(clients_.size(), size_t{std::numeric_limits<ClientId>::max()});
  const auto id = static_cast<ClientId>(clients_.size());
  clients_.push_back(absl::WrapUnique(new ApiClient(this, id, std::move(options), actor, seed_)));
  ApiClient& client = *clients_.back();
  for (size_t kind = 0; kind < kObjectKinds; ++kind) {
    if ((client.options_.watches & WatchBit(static_cast<ObjectKind>(kind))) != 0) {
      watchers_[kind].push_back(id);
    }
  }
  Relist(client, /*tell=*/false);
  return &client;
}

std::optional<SimTime> ApiNetwork::NextTime() const {
  if (soon_left_ > 0 || !now_line_.empty()) return now_;
  if (!later_.empty()) return SimTime(later_.top().time_ns);
  return std::nullopt;
}

bool ApiNetwork::Step(SimTime until) {
  DRASIM_CHECK(!running_);
  const bool later_is_due = !later_.empty() && later_.top().time_ns <= now_.ns();
  const bool due = soon_left_ > 0 || later_is_due || !now_line_.empty();
  if (due ? now_ > until : later_.empty() || later_.top().time_ns > until.ns()) return false;
  running_ = true;
  if (soon_left_ > 0) {
    DeliverSoon();
  } else if (due && !later_is_due) {
    const uint32_t slot = now_line_.front();
    now_line_.pop_front();
    Deliver(slot);
  } else {
    now_ = SimTime(later_.top().time_ns);
    Deliver(PopLater());
  }
  running_ = false;
  return true;
}

// The next receiver of the first change. The change keeps its address while handlers run, because
// they only append to the queue.
void ApiNetwork::DeliverSoon() {
  while (soon_.front().over()) soon_.pop_front();
  Change& change = soon_.front();
  ApiClient& client = *clients_[change.receivers[change.next++]];
  --soon_left_;
  if (ApplyToCache(&client.cache_, &change.event)) client.actor_->OnWatch(change.event);
  if (change.over()) soon_.pop_front();
}

void ApiNetwork::RunUntil(SimTime until) {
  DRASIM_CHECK_GE(until, now_);
  while (Step(until)) {
  }
  now_ = until;
}

void ApiNetwork::MoveClock(SimTime now) {
  DRASIM_CHECK(!running_);
  DRASIM_CHECK_GE(now, now_);
  const std::optional<SimTime> next = NextTime();
  DRASIM_CHECK(!next.has_value() || *next >= now);
  now_ = now;
}

bool ApiNetwork::RunToRest(SimTime limit) {
  while (Step(limit)) {
  }
  if (!NextTime().has_value()) return true;
  now_ = std::max(now_, limit);
  return false;
}

// Everything needed leaves the slot before a handler runs, because the handler may add messages.
void ApiNetwork::Deliver(uint32_t slot) {
  const Message& message = slots_[slot];
  ApiClient& client = *clients_[message.client];
  switch (message.type) {
    case Message::Type::kCall:
      DeliverCall(client, slot);
      return;
    case Message::Type::kChange:
      DeliverChange(client, slot);
      return;
    case Message::Type::kTimer: {
      const uint64_t token = message.token;
      Free(slot);
      client.actor_->OnTimer(token);
      return;
    }
    case Message::Type::kRelist:
      Free(slot);
      client.watch_broken_ = false;
      // A client that is down lists everything when it is up again.
      if (!client.down_) Relist(client, /*tell=*/true);
      return;
    case Message::Type::kUp:
      Free(slot);
      BringUp(client);
      return;
  }
  DRASIM_UNREACHABLE("a type of message");
}

void ApiNetwork::DeliverCall(ApiClient& client, uint32_t slot) {
  Message& message = slots_[slot];
  const ApiRequest request = std::move(message.request);
  const SimTime issued = message.issued;
  const uint64_t token = message.token;
  const uint32_t life = message.life;
  Free(slot);
  const ApiReply reply = Commit(client, issued, request);
  // A listener to the call may have restarted the component.
  if (life == client.life_) client.actor_->OnReply(token, reply);
}

void ApiNetwork::DeliverChange(ApiClient& client, uint32_t slot) {
  Message& message = slots_[slot];
  WatchEvent event{message.change, std::move(message.request.object), ObjectRef()};
  Free(slot);
  if (ApplyToCache(&client.cache_, &event)) client.actor_->OnWatch(event);
}

void ApiNetwork::OnChange(const WatchEvent& event) {
  if (hear_commit_) hear_commit_(event);
  Change* at_once = nullptr;
  for (const ClientId id : watchers_[static_cast<size_t>(event.kind())]) {
    ApiClient& client = *clients_[id];
    if (client.down_ || client.watch_broken_) continue;
    if (!client.lags_) {
      if (at_once == nullptr) {
        at_once = &soon_.emplace_back();
        at_once->event.type = event.type;
        at_once->event.object = event.object;
      }
      at_once->receivers.push_back(id);
      ++soon_left_;
      continue;
    }
    const uint32_t slot = NewMessage(id);
    Message& message = slots_[slot];
    message.type = Message::Type::kChange;
    message.change = event.type;
    message.request.object = event.object;
    const SimTime at = now_ + DrawLatency(client.options_.watch_latency, client.watch_latencies_);
    SimTime& last = client.last_delivery_[static_cast<size_t>(event.kind())];
    last = std::max(last, at);
    Push(last, slot);
  }
}

uint32_t ApiNetwork::NewMessage(ClientId client) {
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    DRASIM_CHECK_LE(slots_.size(), size_t{kSlotMask});
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot].client = client;
  return slot;
}

void ApiNetwork::Push(SimTime at, uint32_t slot) {
  if (at <= now_) return now_line_.push_back(slot);
  later_.Push({at.ns(), next_sequence_++ << kSlotBits | slot}, EarlierKey());
}

uint32_t ApiNetwork::PopLater() {
  const auto slot = static_cast<uint32_t>(later_.top().order & kSlotMask);
  later_.Pop(EarlierKey());
  return slot;
}

template <typename Condition>
void ApiNetwork::Drop(const Condition& condition) {
  const auto drop = [&](uint32_t slot) {
    if (!condition(slots_[slot])) return false;
    slots_[slot].request = ApiRequest();
    Free(slot);
    return true;
  };
  now_line_.erase(std::remove_if(now_line_.begin(), now_line_.end(), drop), now_line_.end());
  later_.KeepIf(
      [&](const EventKey& key) { return !drop(static_cast<uint32_t>(key.order & kSlotMask)); },
      EarlierKey());
}

void ApiNetwork::DropSoon(ClientId client) {
  for (Change& change : soon_) {
    auto& receivers = change.receivers;
    const auto first = receivers.begin() + static_cast<std::ptrdiff_t>(change.next);
    const auto kept = std::remove(first, receivers.end(), client);
    soon_left_ -= static_cast<size_t>(receivers.end() - kept);
    receivers.erase(kept, receivers.end());
  }
}

ApiReply ApiNetwork::Commit(const ApiClient& client, SimTime issued, const ApiRequest& request) {
  ApiReply reply = server_.Handle(request, now_);
  if (hear_) Hear(client, issued, request, reply);
  return reply;
}

void ApiNetwork::Hear(const ApiClient& client, SimTime issued, const ApiRequest& request,
                      const ApiReply& reply) const {
  ApiMessage message;
  message.issued = issued;
  message.done = now_;
  message.client = client.id_;
  message.verb = request.verb;
  message.kind = request.kind;
  message.code = reply.code;
  const ObjectMeta* asked = MetaOf(request.object);
  message.ns = asked == nullptr ? request.ns : asked->ns;
  message.name = asked == nullptr ? request.name : asked->name;
  // A rejection concerns the present object with the name.
  ObjectRef found;
  const ObjectRef* object = &reply.object;
  if (MetaOf(*object) == nullptr) {
    found = FindByName(server_.objects(), request.kind, message.ns, message.name);
    object = &found;
  }
  if (const ObjectMeta* meta = MetaOf(*object); meta != nullptr) {
    message.ns = meta->ns;
    message.name = meta->name;
    message.uid = meta->uid;
    message.pod = PodAbout(server_.objects(), *object);
  } else {
    message.pod = PodAbout(server_.objects(), request.object);
  }
  hear_(message);
}

void ApiNetwork::Restart(ClientId client_id, SimDuration down) {
  DRASIM_CHECK_GE(down, SimDuration());
  ApiClient& client = *clients_[client_id];
  client.up_at_ = client.down_ ? std::max(client.up_at_, now_ + down) : now_ + down;
  client.down_ = true;
  ++client.life_;
  Drop([&](const Message& message) {
    if (message.client != client_id) return false;
    switch (message.type) {
      case Message::Type::kCall:
        return message.sent > now_;
      case Message::Type::kRelist:
        return false;  // the network's, not the component's
      default:
        return true;
    }
  });
  DropSoon(client_id);
  client.last_delivery_.fill(now_);
  const uint32_t slot = NewMessage(client_id);
  slots_[slot].type = Message::Type::kUp;
  Push(client.up_at_, slot);
}

void ApiNetwork::BringUp(ApiClient& client) {
  client.down_ = false;
  client.limiter_ = RateLimiter(client.options_.qps, client.options_.burst);
  Relist(client, /*tell=*/false);
  client.actor_->OnRestart();
}

void ApiNetwork::BreakWatch(ClientId client_id, SimDuration length) {
  DRASIM_CHECK_GE(length, SimDuration());
  ApiClient& client = *clients_[client_id];
  // The list must not overtake changes in flight.
  const auto& sent = client.last_delivery_;
  const SimTime at = std::max(now_ + length, *std::max_element(sent.begin(), sent.end()));
  client.relist_at_ = client.watch_broken_ ? std::max(client.relist_at_, at) : at;
  client.watch_broken_ = true;
  Drop([&](const Message& message) {
    return message.client == client_id && message.type == Message::Type::kRelist;
  });
  const uint32_t slot = NewMessage(client_id);
  slots_[slot].type = Message::Type::kRelist;
  Push(client.relist_at_, slot);
}

void ApiNetwork::Relist(ApiClient& client, bool tell) {
  std::vector<WatchEvent> deletions;
  std::vector<WatchEvent> changes;
  if (!tell) client.cache_ = ObjectCache();
  VisitKinds([&](auto none) {
    using T = ObjectOfRef<decltype(none)>;
    if ((client.options_.watches & WatchBit(KindOfType<T>())) == 0) return;
    const ObjectTable<T>& server = server_.objects().of<T>();
    ObjectTable<T>& cache = client.cache_.of<T>();
    if (!tell) {
      cache = server;
      return;
    }
    for (const Ref<T>& known : cache.Sorted()) {
      if (server.Find(known->meta.uid) != nullptr) continue;
      deletions.push_back({WatchEvent::Type::kDeleted, known, ObjectRef()});
    }
    for (const Ref<T>& object : server.Sorted()) {
      const Ref<T> known = cache.Find(object->meta.uid);
      if (known != nullptr && known->meta.version == object->meta.version) continue;
      const auto type = known == nullptr ? WatchEvent::Type::kAdded : WatchEvent::Type::kModified;
      changes.push_back({type, object, ObjectRef()});
    }
  });
  for (std::vector<WatchEvent>* events : {&deletions, &changes}) {
    std::stable_sort(events->begin(), events->end(), [](const WatchEvent& a, const WatchEvent& b) {
      return MetaOf(a.object)->uid < MetaOf(b.object)->uid;
    });
    for (WatchEvent& event : *events) {
      soon_.push_back({std::move(event), {client.id_}});
      ++soon_left_;
    }
  }
}

// Slots have no meaning of their own, so that equal states have equal bytes: the messages stand in
// the order of their delivery.
template <typename Archive, typename Self>
void ApiNetwork::MessageFields(Archive& archive, Self& self) {
  archive(self.next_sequence_);
  if constexpr (Archive::kLoads) {
    self.slots_.clear();
    self.free_slots_.clear();
    self.now_line_.clear();
    self.later_.Clear();
    for (size_t left = archive.state().Count(); left > 0 && archive.ok(); --left) {
      const uint32_t slot = self.NewMessage(0);
      archive(self.slots_[slot]);
      self.now_line_.push_back(slot);
    }
    for (size_t left = archive.state().Count(); left > 0 && archive.ok(); --left) {
      const uint32_t slot = self.NewMessage(0);
      SimTime at;
      uint64_t sequence = 0;
      archive(at, sequence, self.slots_[slot]);
      if (sequence >= self.next_sequence_) return archive.Fail("a message comes too late");
      self.later_.Push({at.ns(), sequence << kSlotBits | slot}, EarlierKey());
    }
  } else {
    archive(self.now_line_.size());
    for (const uint32_t slot : self.now_line_) archive(self.slots_[slot]);
    std::vector<EventKey> later;
    self.later_.ForEach([&later](const EventKey& key) { later.push_back(key); });
    std::sort(later.begin(), later.end(), EarlierKey());
    archive(later.size());
    for (const EventKey& key : later) {
      archive(SimTime(key.time_ns), key.order >> kSlotBits, self.slots_[key.order & kSlotMask]);
    }
  }
}

template <typename Archive, typename Self>
void ApiNetwork::ChangeFields(Archive& archive, Self& self) {
  archive(self.soon_);
  if constexpr (Archive::kLoads) {
    self.soon_left_ = 0;
    for (const Change& change : self.soon_) {
      self.soon_left_ += change.receivers.size() - std::min(change.next, change.receivers.size());
    }
    if (archive.ok() && !self.IsConsistent()) archive.Fail("a message is for no component");
  }
}

bool ApiNetwork::IsConsistent() const {
  bool good = true;
  for (const Message& message : slots_) good &= message.client < clients_.size();
  for (const Change& change : soon_) {
    good &= MetaOf(change.event.object) != nullptr && change.next <= change.receivers.size();
    for (const ClientId client : change.receivers) good &= client < clients_.size();
  }
  return good;
}

template <typename Archive, typename Self>
void ApiNetwork::Fields(Archive& archive, Self& self) {
  DRASIM_CHECK(!self.running_);
  archive(self.now_, self.server_);
  for (const std::unique_ptr<ApiClient>& client : self.clients_) archive(*client);
  MessageFields(archive, self);
  ChangeFields(archive, self);
}
DRASIM_PLANE_FIELDS(ApiNetwork);

}  // namespace drasim
