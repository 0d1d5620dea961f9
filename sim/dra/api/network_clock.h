// NetworkClock: couples the API server's network to the engine, which has the only clock of a run.
//
// The network has its own events (calls, watches, timers of components). The engine wakes it by one
// timer, armed for the earliest of them. Calls from the engine, outside the network's handlers, go
// between BeforeCalls and AfterCalls:
//
//   clock->BeforeCalls(now);
//   client->Call(request, token);
//   clock->AfterCalls();
#ifndef DRASIM_SIM_DRA_API_NETWORK_CLOCK_H_
#define DRASIM_SIM_DRA_API_NETWORK_CLOCK_H_

#include <cstdint>
#include <optional>

#include "model/time.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_network.h"

namespace drasim {

class NetworkClock {
 public:
  // `token`: of the engine's timer, which calls OnTimer. The network must outlive the clock.
  NetworkClock(ApiNetwork* network, uint64_t token) : network_(network), token_(token) {}

  void Attach(NodeControl* engine) { engine_ = engine; }
  // Null before Attach and after Settle.
  NodeControl* engine() const { return engine_; }

  // Advances the network's clock to the engine's. Does nothing within the network's handlers.
  void BeforeCalls(SimTime now);
  // Arms the timer for the network's next event, unless it is armed already or a handler is
  // running.
  void AfterCalls();
  // The engine's timer is due.
  void OnTimer(SimTime now);

  // After the run: lets the network continue alone until nothing is pending, or for `limit`.
  void Settle(SimDuration limit);

  // For checkpoints (plane_archive.h), which are taken outside the network's handlers.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& c) {
    a(c.armed_);
  }

 private:
  ApiNetwork* network_;
  uint64_t token_;
  NodeControl* engine_ = nullptr;
  std::optional<SimTime> armed_;
  bool handling_ = false;  // within the network's handlers
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_NETWORK_CLOCK_H_
