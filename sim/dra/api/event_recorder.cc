#include "sim/dra/api/event_recorder.h"

#include <iterator>

#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

// client-go's refreshTime and finishTime; the former is a multiple of the latter.
constexpr SimDuration kRefreshSeries = SimDuration::Seconds(1800);
constexpr SimDuration kFinishSeries = SimDuration::Seconds(360);

}  // namespace

void EventRecorder::Start(ApiClient* client) {
  client_ = client;
  started_ = client->now();
}

void EventRecorder::OnRestart() {
  started_ = client_->now();
  armed_ = false;
  series_.clear();
}

void EventRecorder::Record(Reason reason, const Pod& pod) {
  if (client_->is_down()) return;
  const auto [found, is_new] = series_.try_emplace(Key{pod.meta.uid, pod.meta.version, reason});
  Series& series = found->second;
  series.last = client_->now();
  if (is_new) {
    series.ns = pod.meta.ns;
    series.name = pod.meta.name;
    Write(Verb::kCreate, series);
  } else if (++series.count == 2) {
    Write(Verb::kApply, series);
  }
  Arm();
}

void EventRecorder::Write(Verb verb, const Series& series) {
  client_->Call(NamedRequest(verb, ObjectKind::kEvent, series.ns, series.name), 0);
}

void EventRecorder::Arm() {
  if (armed_ || series_.empty()) return;
  armed_ = true;
  const int64_t since_tick = (client_->now() - started_).ns() % kFinishSeries.ns();
  client_->ArmTimer(kFinishSeries - SimDuration(since_tick), 0);
}

void EventRecorder::OnTimer(uint64_t) {
  armed_ = false;
  const SimTime now = client_->now();
  const bool refresh = (now - started_).ns() % kRefreshSeries.ns() == 0;
  for (auto it = series_.begin(); it != series_.end();) {
    const Series& series = it->second;
    const bool is_series = series.count > 1;
    const bool over = now - series.last > kFinishSeries;
    if (is_series && refresh) Write(Verb::kApply, series);
    if (is_series && over) Write(Verb::kApply, series);
    it = over ? series_.erase(it) : std::next(it);
  }
  Arm();
}

template <typename Archive, typename Self>
void EventRecorder::Fields(Archive& archive, Self& self) {
  archive(self.started_, self.armed_, self.series_);
}
DRASIM_PLANE_FIELDS(EventRecorder);

}  // namespace drasim
