// Kube-scheduler's event recorder: events about pods, written by a client of their own.
//
// A component sends its events through a separate client (cmd/kube-scheduler, createClients) with
// its own rate limit, so events delay nothing else. The recorder joins equal events (client-go
// tools/events/event_broadcaster.go): the first is POSTed; the second with equal reason and pod
// resourceVersion turns it into a series, by PATCH; later ones are only counted. Every 30 minutes
// each series is written again; every 6 minutes, series without growth for that long are written a
// last time and forgotten.
//
// Failed writes are not repeated. Events do not expire, because the server keeps none
// (ObjectKind::kEvent).
#ifndef DRASIM_SIM_DRA_API_EVENT_RECORDER_H_
#define DRASIM_SIM_DRA_API_EVENT_RECORDER_H_

#include <cstdint>

#include "absl/container/btree_map.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"

namespace drasim {

class EventRecorder : public Actor {
 public:
  enum class Reason : uint8_t { kScheduled, kFailedScheduling };

  // Call once, before anything else.
  void Start(ApiClient* client);
  // O(log events).
  void Record(Reason reason, const Pod& pod);
  ClientId client() const { return client_->id(); }
  // The number of remembered events, for joining with equal ones.
  size_t remembered() const { return series_.size(); }

  // Actor
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t token) override;
  void OnRestart() override;

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  struct Key {
    Uid pod = 0;
    ResourceVersion version = 0;
    Reason reason = Reason::kScheduled;
    auto operator<=>(const Key&) const = default;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& k) {
      a(k.pod, k.version, k.reason);
    }
  };
  struct Series {
    Name ns, name;  // of the pod
    uint32_t count = 1;
    SimTime last;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.ns, s.name, s.count, s.last);
    }
  };

  void Write(Verb verb, const Series& series);
  // Arms the timer for the next check of remembered events, if there are any.
  void Arm();

  ApiClient* client_ = nullptr;
  SimTime started_;
  bool armed_ = false;
  absl::btree_map<Key, Series> series_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_EVENT_RECORDER_H_
