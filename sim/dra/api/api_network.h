// ApiNetwork: virtual time between the API server and its clients. Calls have latency and rate
// limits, watches lag, timers expire, components and watches fail.
//
// A call waits for its client's rate limit, then takes a latency drawn from the client's
// distribution for reads or writes. At the end of the latency the server commits the call and the
// caller gets the reply, so earlier commits by others count. Without latency and wait the reply is
// immediate. A change reaches a watching client after a latency drawn per event. Each kind of
// object has its own watch: changes of one kind arrive in order of commits, changes of different
// kinds may overtake each other. Without latency a change arrives right after the running handler.
// Delivery updates the client's cache first, then tells its actor.
//
// Order within one instant: first come, first served, except that changes for clients without watch
// latency (none given, or a constant one of at most 0) precede everything else that is due, in the
// order of commits and, within one commit, of clients. No handler ever runs inside another.
//
// Calls of one client pass its rate limit in the order of issue; each draws its own latency, so
// they may overtake each other afterwards.
//
// Watches and caches: a cache may be ahead of its watch, because a client can Remember its own
// writes. An event older than the cache is dropped: the actor already knows better. The echo of a
// remembered write leaves the cache unchanged and arrives with `before` equal to `object`. A
// deletion always removes the object from the cache and is always delivered. `before` is thus the
// latest state that the actor could have seen, and the states of an object never go back.
//
// All draws come from streams named after the client ("api calls/NAME" when a call is made, "api
// watches/NAME" when a change is sent), so an additional client changes no other's draws. Samples
// below 0 count as 0; they are rounded to whole nanoseconds.
#ifndef DRASIM_SIM_DRA_API_API_NETWORK_H_
#define DRASIM_SIM_DRA_API_API_NETWORK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "model/distributions.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/core/event_key.h"
#include "sim/core/quaternary_heap.h"
#include "sim/dra/api/api_server.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/api/rate_limiter.h"

namespace drasim {

// A component that talks to the server. The network makes all calls, one at a time.
class Actor {
 public:
  virtual ~Actor() = default;
  // The cache is updated already; event.before is its former state.
  virtual void OnWatch(const WatchEvent& event) = 0;
  // The reply to Call(…, token) when it was not immediate.
  virtual void OnReply(uint64_t token, const ApiReply& reply) = 0;
  virtual void OnTimer(uint64_t token) = 0;
  // The component has restarted: its cache equals the server's state, its calls and timers are
  // forgotten (calls in flight may still be committed), and so is everything else it knew. The
  // cached objects cause no OnWatch.
  virtual void OnRestart() {}
};

struct ClientOptions {
  std::string name;  // "scheduler"; names its random streams
  double qps = 0;    // 0: no limit
  int64_t burst = 0;
  // In seconds; absent: none.
  std::optional<Distribution> read_latency;
  std::optional<Distribution> write_latency;
  std::optional<Distribution> watch_latency;
  uint32_t watches = 0;  // bit per ObjectKind
};
inline constexpr uint32_t WatchBit(ObjectKind kind) { return 1u << static_cast<uint32_t>(kind); }
inline constexpr uint32_t kWatchAll = (1u << kObjectKinds) - 1;

class ApiNetwork;

// A client's end of the connection.
class ApiClient {
 public:
  // The reply if it is immediate; otherwise Actor::OnReply(token, …) follows.
  std::optional<ApiReply> Call(ApiRequest request, uint64_t token);
  void ArmTimer(SimDuration after, uint64_t token);
  // Objects as reported by its watches so far.
  const ObjectCache& cache() const { return cache_; }
  // The client's mutation cache: puts the result of its own write into its cache at once, unless
  // the cache is newer. (client-go tools/cache MutationCache, without its expiry.)
  void Remember(const ObjectRef& object);
  SimTime now() const;
  NamePool& names() const;
  ClientId id() const { return id_; }
  bool is_down() const { return down_; }
  const ClientOptions& options() const { return options_; }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& c) {
    a(c.limiter_, c.latencies_, c.watch_latencies_, c.cache_, c.life_, c.down_, c.watch_broken_,
      c.up_at_, c.relist_at_, c.last_delivery_);
  }

 private:
  friend class ApiNetwork;
  ApiClient(ApiNetwork* network, ClientId id, ClientOptions options, Actor* actor, uint64_t seed);

  ApiNetwork* network_;
  ClientId id_;
  ClientOptions options_;
  Actor* actor_;
  RateLimiter limiter_;
  Random latencies_;
  Random watch_latencies_;
  ObjectCache cache_;
  uint32_t life_ = 0;  // counts restarts; replies to calls of an earlier life are dropped
  bool down_ = false;
  bool watch_broken_ = false;
  bool lags_ = false;  // changes take time to reach it
  SimTime up_at_;      // end of its downtime
  SimTime relist_at_;  // end of a broken watch
  // Arrival of the latest change of each kind sent to it.
  std::array<SimTime, kObjectKinds> last_delivery_;
};

class ApiNetwork {
 public:
  ApiNetwork(NamePool* names, uint64_t seed);
  ~ApiNetwork();

  // Clients keep the order in which they connect. A client starts with a cache equal to the
  // server's state. The actor must outlive its use by the network.
  ApiClient* Connect(ClientOptions options, Actor* actor);

  SimTime now() const { return now_; }
  // Time of the next event; none when nothing is pending.
  std::optional<SimTime> NextTime() const;
  // Runs all events up to `until` and moves the clock there. Must not be called from an actor.
  // O(log n) per event.
  void RunUntil(SimTime until);
  // Moves only the clock, for an outside caller at a later time. REQUIRES: nothing is due before
  // `now`.
  void MoveClock(SimTime now);
  // Runs one event; false when none is due by then. For tests and for checks after each event.
  bool Step(SimTime until);
  // Runs until nothing is pending, or to the limit. True when nothing is pending.
  bool RunToRest(SimTime limit);

  ApiServer& server() { return server_; }
  const ApiServer& server() const { return server_; }
  const ApiClient& client(ClientId id) const { return *clients_[id]; }
  size_t clients() const { return clients_.size(); }

  // Called with every call when it is answered. May be empty.
  void set_on_message(std::function<void(const ApiMessage&)> hear) { hear_ = std::move(hear); }

  // Called with every change at its commit, before any client sees it. May be empty.
  void set_on_commit(std::function<void(const WatchEvent&)> hear) {
    hear_commit_ = std::move(hear);
  }

  // Faults. All may be called from handlers.
  //
  // Restart: the component is down for the given time, receives nothing, and then restarts. Its
  // calls in the rate limiter are never made; those in flight are committed without a reply. Calls
  // and timers requested while it is down are dropped like earlier ones. A second Restart in the
  // meantime can only extend the downtime.
  void Restart(ClientId client, SimDuration down);
  // From now on changes do not reach the component. After the given time it lists everything and
  // receives the differences, deletions first, then the others in order of uid. Changes sent before
  // still arrive, and the list waits for them. A deletion carries the last state in the cache. A
  // second BreakWatch in the meantime can only extend the time; a restart lists once more but does
  // not mend the watch.
  void BreakWatch(ClientId client, SimDuration length);

  // For checkpoints (plane_archive.h), between two steps. Loading REQUIRES the clients that were
  // connected when the state was saved, in the same order.
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  friend class ApiClient;
  struct Message;
  // A change on its way to the receivers that get it right after the running handler.
  struct Change {
    WatchEvent event;
    absl::InlinedVector<ClientId, 8> receivers;
    size_t next = 0;  // index into `receivers`
    bool over() const { return next == receivers.size(); }
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& c) {
      a(c.event, c.receivers, c.next);
    }
  };
  // Limits: 2^24 messages in flight, and 2^40 in a run.
  static constexpr int kSlotBits = 24;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;

  void DeliverSoon();
  void Deliver(uint32_t slot);
  void DeliverCall(ApiClient& client, uint32_t slot);
  void DeliverChange(ApiClient& client, uint32_t slot);
  void OnChange(const WatchEvent& event);
  // A new message of the client, for one of the queues below.
  uint32_t NewMessage(ClientId client);
  void Free(uint32_t slot) { free_slots_.push_back(slot); }
  void Push(SimTime at, uint32_t slot);
  // Parts of Fields: messages in use with their slots, and their order.
  template <typename Archive, typename Self>
  static void MessageFields(Archive& archive, Self& self);
  template <typename Archive, typename Self>
  static void OrderFields(Archive& archive, Self& self);
  // Whether loaded queues refer to each message in use once, and to existing clients.
  bool IsConsistent() const;
  uint32_t PopLater();
  // Drop messages in flight, and changes that await the end of the running handler. O(all), for
  // faults.
  template <typename Condition>
  void Drop(const Condition& condition);
  void DropSoon(ClientId client);
  ApiReply Commit(const ApiClient& client, SimTime issued, const ApiRequest& request);
  void Hear(const ApiClient& client, SimTime issued, const ApiRequest& request,
            const ApiReply& reply) const;
  // Sets the cache to the server's state, or (`tell`) sends the differences.
  void Relist(ApiClient& client, bool tell);
  void BringUp(ApiClient& client);

  SimTime now_;
  ApiServer server_;
  uint64_t seed_;
  std::vector<std::unique_ptr<ApiClient>> clients_;
  std::array<std::vector<ClientId>, kObjectKinds> watchers_;  // by kind, in order of connection
  std::function<void(const ApiMessage&)> hear_;
  std::function<void(const WatchEvent&)> hear_commit_;
  std::vector<Message> slots_;
  std::vector<uint32_t> free_slots_;
  std::deque<Change> soon_;  // changes to deliver right after the running handler, in order
  size_t soon_left_ = 0;     // deliveries that they still need
  // Slots added for the present instant. Everything in `later_` that is due was added earlier, so
  // these need no place in the heap.
  std::deque<uint32_t> now_line_;
  QuaternaryHeap<EventKey> later_;  // their order: sequence << kSlotBits | slot
  uint64_t next_sequence_ = 0;
  bool running_ = false;  // a handler is running
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_API_NETWORK_H_
