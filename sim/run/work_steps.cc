#include "sim/run/work_steps.h"

#include <set>

#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/dispatcher.h"
#include "sim/core/engine.h"
#include "sim/dra/classic/control_plane.h"

namespace drasim {
namespace {

void CountApi(const ControlPlane& plane, WorkSteps* steps) {
  for (size_t c = 0; c < plane.network().clients(); ++c) {
    const ApiCounts& counts = plane.counts(static_cast<ClientId>(c));
    steps->api_calls += counts.reads + counts.writes;
  }
  for (size_t d = 0; d < plane.drivers(); ++d) {
    steps->allocator_calls += plane.driver_controller(d).allocator_calls();
  }
  if (const auto work = plane.scheduler().rules().search_work()) {
    steps->allocator_calls += work->searches;
    steps->device_search = {work->searches, work->steps, work->candidates, work->cel_evaluations};
  }
}

void WriteCalls(absl::string_view key, const PluginCalls& calls, JsonWriter& j) {
  j.Key(key).BeginObject();
  for (const auto& [plugin, count] : calls) j.Key(plugin).Uint(count);
  j.EndObject();
}

}  // namespace

void AddProfileCalls(const Profiles& profiles, WorkSteps* steps) {
  // Profiles may share what they run.
  std::set<const void*> counted;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles.at(i);
    for (const Profile::FilterEntry& entry : profile.filters()) {
      if (!counted.insert(static_cast<const FilterPlugin*>(entry.plugin)).second) continue;
      steps->filter_calls[std::string(entry.plugin->name())] += entry.plugin->filter_calls();
    }
    for (const Profile::ScoreEntry& entry : profile.scores()) {
      if (!counted.insert(static_cast<const ScorePlugin*>(entry.plugin)).second) continue;
      steps->score_calls[std::string(entry.plugin->name())] += entry.plugin->score_calls();
    }
    if (counted.insert(&profile.allocator()).second) {
      steps->allocator_calls += profile.allocator().calls();
    }
  }
}

WorkSteps WorkStepsOf(const Simulation& sim) {
  WorkSteps steps;
  steps.search = sim.work();
  steps.events = sim.engine().events();
  steps.queue_operations = sim.engine().dispatcher().queue_operations();
  AddProfileCalls(sim.profiles(), &steps);
  if (sim.control_plane() != nullptr) CountApi(*sim.control_plane(), &steps);
  return steps;
}

void WriteSteps(const WorkSteps& steps, JsonWriter& j) {
  j.Key("steps").BeginObject();
  j.Key("decisions").Uint(steps.search.decisions);
  j.Key("nodes_filtered").Uint(steps.search.nodes_filtered);
  j.Key("nodes_scored").Uint(steps.search.nodes_scored);
  j.Key("cache_hits").Uint(steps.search.cache_hits);
  j.Key("attempts_remembered").Uint(steps.search.attempts_remembered);
  j.Key("events").Uint(steps.events);
  j.Key("queue_operations").Uint(steps.queue_operations);
  j.Key("allocator_calls").Uint(steps.allocator_calls);
  j.Key("api_calls").Uint(steps.api_calls);
  if (const auto& search = steps.device_search; search.has_value()) {
    j.Key("device_search").BeginObject();
    j.Key("searches").Uint(search->searches);
    j.Key("steps").Uint(search->steps);
    j.Key("candidates").Uint(search->candidates);
    j.Key("cel_evaluations").Uint(search->cel_evaluations);
    j.EndObject();
  }
  WriteCalls("filter_calls", steps.filter_calls, j);
  WriteCalls("score_calls", steps.score_calls, j);
  j.EndObject();
}

}  // namespace drasim
