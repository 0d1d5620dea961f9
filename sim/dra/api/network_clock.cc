#include "sim/dra/api/network_clock.h"

namespace drasim {

void NetworkClock::BeforeCalls(SimTime now) {
  if (!handling_) network_->MoveClock(now);
}

void NetworkClock::AfterCalls() {
  if (handling_ || engine_ == nullptr) return;
  const auto next = network_->NextTime();
  if (!next.has_value() || (armed_.has_value() && *armed_ <= *next)) return;
  armed_ = *next;
  engine_->ArmNodeTimer(*next, token_);
}

void NetworkClock::OnTimer(SimTime now) {
  if (armed_.has_value() && *armed_ <= now) armed_.reset();
  handling_ = true;
  network_->RunUntil(now);
  handling_ = false;
  AfterCalls();
}

void NetworkClock::Settle(SimDuration limit) {
  engine_ = nullptr;
  handling_ = true;
  network_->RunUntil(network_->now() + limit);
  handling_ = false;
}

}  // namespace drasim
