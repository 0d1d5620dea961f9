// Virtual time between the API server and its clients: calls that take time and are limited,
// watches that lag, timers, and faults.
//
// A call waits for its client's rate limit, then takes a latency (drawn from the client's
// distribution for reads or writes) at the end of which the server commits it and the caller has
// the reply: what others committed meanwhile counts. With no latency and no wait the reply is there
// at once. A change reaches a watching client after a latency drawn per event. A client watches
// each kind of objects by itself: changes of one kind arrive in order of commits, those of
// different kinds may overtake each other. With no latency a change arrives right after the handler
// that is running. On delivery the client's cache is updated first, then its actor is told.
//
// Order within one instant: first come, first served; but changes for clients without watch latency
// (none given, or a constant one of at most 0) come before all else that is due, in the order of
// commits and, of one commit, of clients. No handler ever runs inside another.
//
// Calls of one client pass its rate limit in the order in which they were made; as each draws its
// own latency, they may overtake each other after it.
//
// Watches and caches: a cache may be ahead of its watch, because a client can Remember its own
// writes. An event older than the cache is dropped, since the actor has newer knowledge already.
// The echo of a remembered write leaves the cache alone and is told with `before` equal to
// `object`. A deletion always takes the object out of the cache and is always told. So `before` is
// what the actor could have seen last, and states of an object never go back.
//
// All draws come from streams named after the client ("api calls/NAME" when a call is made, "api
// watches/NAME" when a change is sent), so another client changes nothing. Samples below 0 count
// as 0; they are rounded to whole nanoseconds.
#ifndef DRASIM_SIM_DRA_API_NETWORK_H_
#define DRASIM_SIM_DRA_API_NETWORK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/optional.h"
#include "model/distributions.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/core/event_key.h"
#include "sim/core/quaternary_heap.h"
#include "sim/dra/api_server.h"
#include "sim/dra/api_types.h"
#include "sim/dra/object_cache.h"
#include "sim/dra/rate_limiter.h"

namespace drasim {

// A component that talks to the server. All calls come from the network, one at a time.
class Actor {
 public:
  virtual ~Actor() = default;
  // The cache has it already; event.before is what the cache had.
  virtual void OnWatch(const WatchEvent& event) = 0;
  // The answer to Call(…, token) that was not there at once.
  virtual void OnReply(uint64_t token, const ApiReply& reply) = 0;
  virtual void OnTimer(uint64_t token) = 0;
  // The component has been restarted: its cache is as the server is now, its calls and timers are
  // forgotten (calls under way may still be committed). All else it knew is lost. No OnWatch is
  // made for what is in the cache.
  virtual void OnRestart() {}
};

struct ClientOptions {
  std::string name;  // "scheduler"; names its streams of random numbers
  double qps = 0;    // 0: no limit
  int64_t burst = 0;
  // In seconds; absent: none.
  absl::optional<Distribution> read_latency;
  absl::optional<Distribution> write_latency;
  absl::optional<Distribution> watch_latency;
  uint32_t watches = 0;  // bit per ObjectKind
};
inline constexpr uint32_t WatchBit(ObjectKind kind) { return 1u << static_cast<uint32_t>(kind); }
inline constexpr uint32_t kWatchAll = (1u << kObjectKinds) - 1;

class ApiNetwork;

// A client's end of the wire.
class ApiClient {
 public:
  // The reply if it is there at once; else Actor::OnReply(token, …) comes later.
  absl::optional<ApiReply> Call(ApiRequest request, uint64_t token);
  void ArmTimer(SimDuration after, uint64_t token);
  // Objects as its watches have reported them so far.
  const ObjectCache& cache() const { return cache_; }
  // The client's own mutation cache: puts the result of its own write into its cache at once, if it
  // is newer than what is there. (client-go tools/cache MutationCache, without its expiry.)
  void Remember(const ObjectRef& object);
  SimTime now() const;
  NamePool& names() const;
  ClientId id() const { return id_; }
  bool is_down() const { return down_; }
  const ClientOptions& options() const { return options_; }

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
  uint32_t life_ = 0;  // counts restarts: replies to calls of an earlier life are dropped
  bool down_ = false;
  bool watch_broken_ = false;
  bool lags_ = false;  // changes for it take time
  SimTime up_at_;      // if down: when it will be restarted
  SimTime relist_at_;  // if the watch is broken: until then
  // Arrival time of the latest change of each kind that was sent to it.
  std::array<SimTime, kObjectKinds> last_delivery_;
};

class ApiNetwork {
 public:
  ApiNetwork(NamePool* names, uint64_t seed);
  ~ApiNetwork();

  // Clients keep the order in which they connect. The client starts with a cache of what the
  // server has. The actor outlives the network's use of it.
  ApiClient* Connect(ClientOptions options, Actor* actor);

  SimTime now() const { return now_; }
  // When the next thing happens; none if nothing is under way.
  absl::optional<SimTime> NextTime() const;
  // Lets everything happen that is due until then, and moves the clock there. Must not be called
  // from an actor. O(log n) per event.
  void RunUntil(SimTime until);
  // Moves the clock alone, for a caller from outside whose time has come. REQUIRES: nothing is due
  // before `now`.
  void MoveClock(SimTime now);
  // One event; false when there is none due until then. For tests and for checks after each.
  bool Step(SimTime until);
  // Until nothing is under way, or the limit. Returns whether nothing is.
  bool RunToRest(SimTime limit);

  ApiServer& server() { return server_; }
  const ApiServer& server() const { return server_; }
  const ApiClient& client(ClientId id) const { return *clients_[id]; }
  size_t clients() const { return clients_.size(); }

  // Every call when it is answered. May be empty.
  void set_on_message(std::function<void(const ApiMessage&)> hear) { hear_ = std::move(hear); }

  // Every change when the server commits it, before any client hears of it. May be empty.
  void set_on_commit(std::function<void(const WatchEvent&)> hear) {
    hear_commit_ = std::move(hear);
  }

  // Faults. All may be called from handlers.
  //
  // The component is down for that time: nothing is delivered to it; then it is restarted. Its
  // calls that wait for the rate limit are never made; those under way are committed, unanswered.
  // Calls and timers that are asked for while it is down are forgotten like those before. A second
  // Restart meanwhile can only make it longer.
  void Restart(ClientId client, SimDuration down);
  // Changes from now on do not reach it, until it lists everything again after that time: it then
  // hears of the differences, deletions first, else in order of uid. Changes that were sent before
  // still arrive, and the list waits for them. A deletion is told with the last state in the cache.
  // A second BreakWatch meanwhile can only make it longer; a restart meanwhile lists once more, but
  // does not mend the watch.
  void BreakWatch(ClientId client, SimDuration length);

 private:
  friend class ApiClient;
  struct Message;
  // A change on its way to those who hear of it right after the running handler.
  struct Change {
    WatchEvent event;
    absl::InlinedVector<ClientId, 8> receivers;
    size_t next = 0;  // of `receivers`
    bool over() const { return next == receivers.size(); }
  };
  // Limits: 2^24 messages under way, and 2^40 in a run.
  static constexpr int kSlotBits = 24;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;

  void DeliverSoon();
  void Deliver(uint32_t slot);
  void DeliverCall(ApiClient& client, uint32_t slot);
  void DeliverChange(ApiClient& client, uint32_t slot);
  void OnChange(const WatchEvent& event);
  // An empty message of the client, for one of the lines.
  uint32_t NewMessage(ClientId client);
  void Free(uint32_t slot) { free_slots_.push_back(slot); }
  void Push(SimTime at, uint32_t slot);
  uint32_t PopLater();
  // Forget messages under way, and changes for the client that come right after the running
  // handler. O(all), for faults.
  template <typename Condition>
  void Drop(const Condition& condition);
  void DropSoon(ClientId client);
  ApiReply Commit(const ApiClient& client, SimTime issued, const ApiRequest& request);
  void Hear(const ApiClient& client, SimTime issued, const ApiRequest& request,
            const ApiReply& reply) const;
  // Makes the cache what the server has; or sends what it would take to get there.
  void Relist(ApiClient& client, bool tell);
  void BringUp(ApiClient& client);

  SimTime now_;
  ApiServer server_;
  uint64_t seed_;
  std::vector<std::unique_ptr<ApiClient>> clients_;
  std::array<std::vector<ClientId>, kObjectKinds> watchers_;  // of each kind, in order
  std::function<void(const ApiMessage&)> hear_;
  std::function<void(const WatchEvent&)> hear_commit_;
  std::vector<Message> slots_;
  std::vector<uint32_t> free_slots_;
  std::deque<Change> soon_;  // what comes right after the running handler, in order
  size_t soon_left_ = 0;     // receivers that they have not reached yet
  // Slots of what was put there for the present instant. All of `later_` that is due has come
  // before it, so that it needs no place in the heap.
  std::deque<uint32_t> now_line_;
  QuaternaryHeap<EventKey> later_;  // their order: sequence << kSlotBits | slot
  uint64_t next_sequence_ = 0;
  bool running_ = false;  // a handler is
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_NETWORK_H_
