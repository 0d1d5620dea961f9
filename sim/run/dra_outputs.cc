#include "sim/run/dra_outputs.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/taint_admin.h"

namespace drasim {
namespace {

constexpr absl::string_view kUserClient = "user";

// Components other than users, who create and delete objects.
bool IsComponent(absl::string_view client) {
  return client != kUserClient && client != TaintAdmin::kName;
}

const std::string& ClientName(const ControlPlane& plane, size_t client) {
  return plane.network().client(static_cast<ClientId>(client)).options().name;
}

double PerPod(uint64_t count, const Simulation& sim) {
  const auto pods = static_cast<double>(std::max<size_t>(1, sim.cluster().pod_count()));
  return static_cast<double>(count) / pods;
}

void WriteCalls(const ApiCounts& counts, JsonWriter& j) {
  j.BeginObject();
  j.Key("reads").Uint(counts.reads);
  j.Key("writes").Uint(counts.writes);
  j.Key("refused").Uint(counts.refused);
  j.EndObject();
}

// The rules at the end, with their condition EvictionInProgress.
void WriteTaintRules(const ControlPlane& plane, JsonWriter& j) {
  const auto rules = plane.network().server().objects().of<DeviceTaintRuleObject>().Sorted();
  if (rules.empty()) return;
  j.Key("device_taint_rules").BeginArray();
  for (const Ref<DeviceTaintRuleObject>& rule : rules) {
    j.BeginObject();
    j.Key("name").String(rule->meta.name.text());
    j.Key("effect").String(rule->object->spec().taint().effect());
    if (rule->eviction.known) {
      j.Key("eviction_in_progress").Bool(rule->eviction.in_progress);
      j.Key("reason").String(rule->eviction.reason);
      j.Key("message").String(rule->eviction.message);
    }
    j.EndObject();
  }
  j.EndArray();
}

}  // namespace

DraCalls DraCallsOf(const Simulation& sim) {
  const ControlPlane& plane = *sim.control_plane();
  DraCalls calls;
  for (size_t c = 0; c < plane.network().clients(); ++c) {
    if (!IsComponent(ClientName(plane, c))) continue;
    const ApiCounts& counts = plane.counts(static_cast<ClientId>(c));
    calls.reads += counts.reads;
    calls.writes += counts.writes;
    calls.refused += counts.refused;
  }
  for (size_t d = 0; d < plane.drivers(); ++d) {
    calls.skipped_reads += plane.driver_controller(d).skipped_syncs();
  }
  calls.reads += calls.skipped_reads;
  calls.cycles = plane.scheduler().attempts();
  return calls;
}

std::vector<ClientCalls> CallsByClient(const Simulation& sim) {
  const ControlPlane& plane = *sim.control_plane();
  std::vector<ClientCalls> calls;
  for (size_t c = 0; c < plane.network().clients(); ++c) {
    if (!IsComponent(ClientName(plane, c))) continue;
    const ApiCounts& counts = plane.counts(static_cast<ClientId>(c));
    calls.push_back({ClientName(plane, c), counts.reads + counts.writes});
  }
  return calls;
}

void WriteDra(const Simulation& sim, JsonWriter& j) {
  const ControlPlane& plane = *sim.control_plane();
  const DraCalls calls = DraCallsOf(sim);
  j.Key("dra").BeginObject();
  j.Key("api_reads").Uint(calls.reads);
  // The part made by periodic rechecks without news.
  j.Key("api_reads_of_idle_rechecks").Uint(calls.skipped_reads);
  j.Key("api_writes").Uint(calls.writes);
  j.Key("api_refused").Uint(calls.refused);
  j.Key("scheduling_cycles").Uint(calls.cycles);
  j.Key("api_reads_per_pod").Double(RoundDecimals(PerPod(calls.reads, sim), 6));
  j.Key("api_writes_per_pod").Double(RoundDecimals(PerPod(calls.writes, sim), 6));
  j.Key("scheduling_cycles_per_pod").Double(RoundDecimals(PerPod(calls.cycles, sim), 6));
  if (const auto policy = plane.scheduler().policy_counts()) {
    j.Key("policy").BeginObject();
    j.Key("choices").Int(policy->choices);
    j.Key("solutions").Int(policy->solutions);
    j.Key("devices_tried").Int(policy->steps);
    j.Key("budgets_exhausted").Int(policy->exhausted);
    j.EndObject();
  }
  const PinnedPods& pinned = plane.pinned();
  j.Key("pods_pinned").BeginObject();
  j.Key("mean").Double(RoundDecimals(pinned.Mean(plane.network().now()), 6));
  j.Key("most").Int(pinned.most());
  j.Key("at_end").Int(pinned.count());
  j.EndObject();
  for (const PlanePart* part : plane.parts()) {
    for (const PlanePart::Figure& figure : part->Figures()) j.Key(figure.key).Uint(figure.count);
  }
  WriteTaintRules(plane, j);
  j.Key("calls_by_component").BeginObject();
  for (size_t c = 0; c < plane.network().clients(); ++c) {
    j.Key(ClientName(plane, c));
    WriteCalls(plane.counts(static_cast<ClientId>(c)), j);
  }
  j.EndObject();
  j.EndObject();
}

void AddDraRows(const Simulation& sim, TextTable* table) {
  const DraCalls calls = DraCallsOf(sim);
  const auto row = [&](const char* what, uint64_t count) {
    table->AddRow(
        {what, absl::StrCat(count), absl::StrCat(FixedText(PerPod(count, sim), 2), " per pod")});
  };
  row("API writes", calls.writes);
  row("API reads", calls.reads);
  row("scheduling cycles", calls.cycles);
  const ControlPlane& plane = *sim.control_plane();
  for (const PlanePart* part : plane.parts()) {
    for (const PlanePart::Figure& figure : part->Figures()) {
      if (figure.count > 0) row(figure.text, figure.count);
    }
  }
  const auto policy = plane.scheduler().policy_counts();
  if (!policy.has_value()) return;
  const auto choices = static_cast<double>(std::max<int64_t>(1, policy->choices));
  table->AddRow({"solutions compared", absl::StrCat(policy->solutions),
                 absl::StrCat(FixedText(static_cast<double>(policy->solutions) / choices, 2),
                              " per choice")});
  table->AddRow({"policy budgets exhausted", absl::StrCat(policy->exhausted),
                 absl::StrCat("of ", policy->choices, " choices")});
}

}  // namespace drasim
