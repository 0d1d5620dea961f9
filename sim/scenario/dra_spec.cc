#include "sim/scenario/dra_spec.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "policies/devices/claim_drivers.h"
#include "policies/devices/mig_rules.h"
#include "sim/dra/api/dra_release.h"
#include "sim/scenario/dra_connection.h"
#include "sim/scenario/dra_faults.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/structured_dra_spec.h"

namespace drasim {
namespace {

constexpr absl::string_view kCounting = "counting";
constexpr size_t kMostDrivers = 16;

absl::Status DraExpected(absl::string_view key, absl::string_view found,
                         absl::string_view expected) {
  return KeyError(absl::StrCat("front_end.dra.", key),
                  absl::StrCat("found '", found, "', expected ", expected));
}

std::vector<std::string> DriverKinds() {
  std::vector<std::string> kinds;
  for (const ClaimDriverInfo& info : ClaimDriverInfos()) kinds.emplace_back(info.kind);
  kinds.emplace_back(kCounting);
  return kinds;
}

// Kinds of drivers that allocate claims without a node.
std::vector<std::string> ImmediateKinds() {
  std::vector<std::string> kinds;
  for (const ClaimDriverInfo& info : ClaimDriverInfos()) {
    if (info.immediate_refusal == nullptr) kinds.emplace_back(info.kind);
  }
  kinds.emplace_back(kCounting);
  return kinds;
}

absl::Status CheckDraDriver(const proto::DraDriver& d, const std::string& key) {
  const std::vector<std::string> kinds = DriverKinds();
  if (std::find(kinds.begin(), kinds.end(), d.kind()) == kinds.end()) {
    return DraExpected(
        key + ".kind", d.kind(),
        absl::StrCat("one of ", absl::StrJoin(kinds, ", "), Suggest(d.kind(), kinds)));
  }
  const bool counting = d.kind() == kCounting;
  if (counting && d.name().empty()) return DraExpected(key + ".name", "", "the driver's name");
  if (counting && d.class_().empty()) return DraExpected(key + ".class", "", "the class's name");
  // Only these two kinds partition GPUs, and units are not GPUs.
  const bool makes_instances = d.kind() == "nvidia" || d.kind() == "constraints";
  for (const auto& [name, text, meant] :
       {std::tuple(".placement", &d.placement(), makes_instances),
        std::tuple(".create_instance", &d.create_instance(), makes_instances),
        std::tuple(".destroy_instance", &d.destroy_instance(), makes_instances),
        std::tuple(".gpus", &d.gpus(), !counting)}) {
    if (meant || text->empty()) continue;
    return DraExpected(
        absl::StrCat(key, name), *text,
        absl::StrCat("none: the kind ", d.kind(), " has no ", counting ? "GPUs" : "MIG instances"));
  }
  if (!counting && (d.has_units() || d.has_network_units())) {
    return DraExpected(key + (d.has_units() ? ".units" : ".network_units"),
                       absl::StrCat(d.has_units() ? d.units() : d.network_units()),
                       "none: only the kind counting has units");
  }
  if (d.kind() != "nvidia" && d.node_objects()) {
    return DraExpected(key + ".node_objects", "true",
                       "false: of these drivers only NVIDIA's is simulated with them");
  }
  if (d.units() < 0 || d.network_units() < 0) {
    return DraExpected(key + ".units", absl::StrCat(std::min(d.units(), d.network_units())),
                       "0 or more");
  }
  if (d.has_units() && d.has_network_units()) {
    return DraExpected(key + ".network_units", absl::StrCat(d.network_units()),
                       "units or network_units, not both");
  }
  if (!d.gpus().empty() && d.gpus() != "first" && d.gpus() != "packed") {
    return DraExpected(key + ".gpus", d.gpus(), "first or packed");
  }
  if (!d.placement().empty()) {
    std::vector<std::string> rules;
    for (const MigRuleInfo& info : MigRuleInfos()) {
      rules.push_back(std::string(info.name).substr(std::string("mig-").size()));
    }
    if (std::find(rules.begin(), rules.end(), d.placement()) == rules.end()) {
      return DraExpected(
          key + ".placement", d.placement(),
          absl::StrCat("one of ", absl::StrJoin(rules, ", "), Suggest(d.placement(), rules)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DriverSpec> ReadDriver(const proto::DraDriver& d, const std::string& key,
                                      const DriverSpec& usual) {
  RETURN_IF_ERROR(CheckDraDriver(d, key));
  DriverSpec spec = usual;
  for (const auto& [name, text, out] :
       {std::tuple(".create_instance", &d.create_instance(), &spec.create_instance),
        std::tuple(".destroy_instance", &d.destroy_instance(), &spec.destroy_instance),
        std::tuple(".initialise", &d.initialise(), &spec.initialise),
        std::tuple(".clean_up", &d.clean_up(), &spec.clean_up)}) {
    RETURN_IF_ERROR(ReadDuration(absl::StrCat("front_end.dra.", key, name), *text, out));
  }
  spec.kind = *FindDriverKind(d.kind());
  spec.kind_name = d.kind();
  spec.name = d.name();
  spec.class_name = d.class_();
  spec.placement = d.placement();
  spec.packed = d.gpus() == "packed";
  spec.shareable = d.shareable();
  spec.nodes = d.nodes();
  spec.units = d.units();
  if (d.has_network_units()) spec.network_units = d.network_units();
  spec.absent = d.absent();
  if (d.has_node_objects()) spec.node_objects = d.node_objects();
  return spec;
}

absl::StatusOr<std::vector<DriverSpec>> ReadDrivers(const proto::Dra& dra,
                                                    const DriverSpec& usual) {
  std::vector<DriverSpec> drivers;
  if (static_cast<size_t>(dra.drivers_size()) > kMostDrivers) {
    return DraExpected("drivers", absl::StrCat(dra.drivers_size()), "at most 16");
  }
  for (int i = 0; i < dra.drivers_size(); ++i) {
    const std::string key = absl::StrCat("drivers[", i, "]");
    ASSIGN_OR_RETURN(DriverSpec driver, ReadDriver(dra.drivers(i), key, usual));
    drivers.push_back(std::move(driver));
    for (int j = 0; j < i; ++j) {
      if (dra.drivers(j).name() == dra.drivers(i).name()) {
        return DraExpected(key + ".name", dra.drivers(i).name(), "a name of its own");
      }
      if (dra.drivers(j).class_() == dra.drivers(i).class_()) {
        return DraExpected(key + ".class", dra.drivers(i).class_(), "a class of its own");
      }
    }
  }
  return drivers;
}

absl::Status CheckDraScheduling(const proto::Scenario& s) {
  const std::string need = absl::StrCat("front_end.kind: ", s.front_end().kind());
  if (s.mode() != "replay") {
    return KeyError("mode", absl::StrCat("found '", s.mode(), "', expected replay with ", need,
                                         ": claims are negotiated in time"));
  }
  if (s.scheduler().queue() != "kubernetes") {
    return KeyError("scheduler.queue", absl::StrCat("found '", s.scheduler().queue(),
                                                    "', expected kubernetes with ", need));
  }
  if (s.scheduler().kubernetes().pop_from_backoff() && !UsesStructuredDra(s)) {
    return KeyError("scheduler.kubernetes.pop_from_backoff",
                    absl::StrCat("expected false with ", need, ", whose releases do not have it"));
  }
  if (!s.timing().bind().empty()) {
    return KeyError("timing.bind",
                    absl::StrCat("expected none with ", need,
                                 ", where the scheduler's connection says how long a write takes"));
  }
  if (s.front_end().has_device_plugin() &&
      s.front_end().structured().device_plugin_nodes().empty()) {
    return KeyError("front_end.device_plugin", absl::StrCat("expected none with ", need));
  }
  if (s.front_end().lowering().rule() == "time-sliced") {
    return KeyError(
        "front_end.lowering.rule",
        absl::StrCat("found 'time-sliced', expected none, whole-gpu or mig-smallest with ", need));
  }
  return absl::OkStatus();
}

// The first release of the scheduler with KEP-4247.
constexpr DraRelease kFirstWithHints = DraRelease::k28;

absl::StatusOr<ControlPlaneOptions> ReadControlPlane(const proto::Dra& dra) {
  ControlPlaneOptions options;
  absl::StatusOr<DraRelease> release = ParseDraRelease(dra.release());
  if (!release.ok()) {
    return KeyError("front_end.dra.release", release.status().message());
  }
  if (dra.queueing_hints() && *release < kFirstWithHints) {
    return DraExpected(
        "queueing_hints", "true",
        absl::StrCat("false with the release ", dra.release(), ": hints came with 1.28"));
  }
  options.behaviour.release = *release;
  options.behaviour.strict_upstream = dra.strict_upstream();
  options.behaviour.queueing_hints = dra.queueing_hints();
  const bool zero = dra.zero_latency();
  struct Connection {
    const char* key;
    const proto::DraConnection* given;
    double qps;
    int64_t burst;
    ConnectionOptions* out;
  };
  for (const Connection& c :
       {Connection{"scheduler", &dra.scheduler(), 50, 100, &options.scheduler},
        Connection{"controller_manager", &dra.controller_manager(), 20, 30,
                   &options.controller_manager},
        Connection{"driver_controllers", &dra.driver_controllers(), 5, 10, &options.drivers},
        // One client per node, which rarely reaches its limit of 50 alone.
        Connection{"kubelets", &dra.kubelets(), 0, 0, &options.kubelets},
        Connection{"users", &dra.users(), 0, 0, &options.users}}) {
    *c.out = UsualConnection(zero, c.qps, c.burst);
    RETURN_IF_ERROR(ReadConnection(absl::StrCat("front_end.dra.", c.key), *c.given, c.out));
  }
  RETURN_IF_ERROR(ReadLatency("front_end.dra.driver_decision", dra.driver_decision(),
                              &options.driver_controller.decision_latency));
  SimDuration per_driver;  // read with the drivers
  for (const auto& [key, text, out] :
       {std::tuple("prepare", &dra.prepare(), &per_driver),
        std::tuple("unprepare", &dra.unprepare(), &per_driver),
        std::tuple("finished_ttl", &dra.finished_ttl(), &options.finished_ttl),
        std::tuple("gang_timeout", &dra.gang_timeout(), &options.gang_timeout)}) {
    RETURN_IF_ERROR(ReadDuration(absl::StrCat("front_end.dra.", key), *text, out));
  }
  if (!dra.idle_rechecks().empty() && dra.idle_rechecks() != "count" &&
      dra.idle_rechecks() != "simulate") {
    return DraExpected("idle_rechecks", dra.idle_rechecks(), "count or simulate");
  }
  options.scheduler_reports = dra.scheduler_reports();
  options.driver_controller.sleep_when_idle = dra.idle_rechecks() != "simulate";
  RETURN_IF_ERROR(ReadFaults(dra, &options.faults));
  return options;
}

// Fills in defaults of drivers. ReadControlPlane reports malformed values.
DriverSpec UsualDriver(const proto::Dra& dra) {
  DriverSpec usual;
  usual.initialise = ParseDuration(dra.prepare()).value_or(SimDuration());
  usual.clean_up = ParseDuration(dra.unprepare()).value_or(SimDuration());
  // The defaults of cluster.mig.manager.
  usual.create_instance = SimDuration(dra.zero_latency() ? 0 : 250'000'000);
  usual.destroy_instance = SimDuration(dra.zero_latency() ? 0 : 100'000'000);
  return usual;
}

void AddClaimDeletions(absl::Span<const UserDeletion> deletions, ControlPlaneOptions* plane) {
  for (const UserDeletion& deletion : deletions) {
    if (deletion.kind != UserDeletion::Kind::kClaim) continue;
    PlaneFault fault;
    fault.at = deletion.at;
    fault.action = PlaneFault::Action::kDeleteClaim;
    SplitObjectName(deletion.name, &fault.ns, &fault.claim);
    plane->faults.push_back(std::move(fault));
  }
}

}  // namespace

std::optional<DriverKind> FindDriverKind(absl::string_view name) {
  const std::vector<std::string> kinds = DriverKinds();
  const auto it = std::find(kinds.begin(), kinds.end(), name);
  if (it == kinds.end()) return std::nullopt;
  return static_cast<DriverKind>(it - kinds.begin());
}

bool HandsOutParts(DriverKind kind) {
  return kind == DriverKind::kIntel || kind == DriverKind::kConstraints;
}

bool UsesStructuredDra(const proto::Scenario& s) {
  return s.front_end().kind() == "dra-structured";
}

bool UsesDra(const proto::Scenario& s) {
  return s.front_end().kind() == "dra-classic" || UsesStructuredDra(s);
}

void FillDraDefaults(proto::Scenario* s) {
  if (UsesStructuredDra(*s)) return FillStructuredDraDefaults(s);
  if (!UsesDra(*s)) return;
  proto::Dra* dra = s->mutable_front_end()->mutable_dra();
  if (dra->release().empty()) dra->set_release("1.29");
  if (!dra->has_strict_upstream()) dra->set_strict_upstream(true);
  // On in 1.28.0 only; off from 1.28.5 to 1.31.
  if (!dra->has_queueing_hints()) dra->set_queueing_hints(false);
  if (dra->allocation_mode().empty()) dra->set_allocation_mode("WaitForFirstConsumer");
  if (dra->drivers_size() == 0) dra->add_drivers()->set_kind("nvidia");
  for (proto::DraDriver& driver : *dra->mutable_drivers()) {
    const ClaimDriverInfo* info = FindClaimDriver(driver.kind());
    if (info == nullptr) continue;
    if (driver.name().empty()) driver.set_name(info->driver);
    if (driver.class_().empty()) driver.set_class_(info->class_name);
  }
  proto::KubernetesQueue* queue = s->mutable_scheduler()->mutable_kubernetes();
  if (!queue->has_pop_from_backoff()) queue->set_pop_from_backoff(false);
}

absl::StatusOr<std::optional<DraSpec>> MakeDraSpec(const proto::Scenario& s,
                                                   absl::Span<const UserDeletion> deletions) {
  const proto::Dra& dra = s.front_end().dra();
  if (s.front_end().has_dra() && (!UsesDra(s) || UsesStructuredDra(s))) {
    return KeyError("front_end.dra", "expected none without front_end.kind: dra-classic");
  }
  if (s.front_end().has_structured() && !UsesStructuredDra(s)) {
    return KeyError("front_end.structured", "expected none without front_end.kind: dra-structured");
  }
  if (!UsesDra(s)) {
    for (int i = 0; i < s.workload().jobs_size(); ++i) {
      if (s.workload().jobs(i).claims_size() == 0) continue;
      return KeyError(
          absl::StrCat("workload.jobs.", i, ".claims"),
          "expected none without front_end.kind: dra-classic or dra-structured, since nothing else "
          "serves claims");
    }
    return std::optional<DraSpec>();
  }
  RETURN_IF_ERROR(CheckDraScheduling(s));
  DraSpec spec;
  if (UsesStructuredDra(s)) {
    ASSIGN_OR_RETURN(spec.structured, MakeStructuredDraSpec(s));
    spec.objects.assign(s.front_end().structured().slices().begin(),
                        s.front_end().structured().slices().end());
    ASSIGN_OR_RETURN(spec.plane, ReadStructuredPlane(s.front_end().structured()));
    RETURN_IF_ERROR(ReadDuration("preemption.grace_period", s.preemption().grace_period(),
                                 &spec.plane.kubelet.grace_period));
    AddClaimDeletions(deletions, &spec.plane);
    return std::optional<DraSpec>(std::move(spec));
  }
  ASSIGN_OR_RETURN(spec.drivers, ReadDrivers(dra, UsualDriver(dra)));
  if (dra.allocation_mode() != "WaitForFirstConsumer" && dra.allocation_mode() != "Immediate") {
    return DraExpected("allocation_mode", dra.allocation_mode(),
                       "WaitForFirstConsumer or Immediate");
  }
  const ClaimDriverInfo* first = FindClaimDriver(dra.drivers(0).kind());
  if (dra.allocation_mode() == "Immediate" && first != nullptr &&
      first->immediate_refusal != nullptr) {
    return DraExpected(
        "allocation_mode", dra.allocation_mode(),
        absl::StrCat("WaitForFirstConsumer with drivers[0].kind: ", first->kind,
                     ", whose controller refuses Immediate claims (", first->immediate_refusal,
                     "); the kinds ", absl::StrJoin(ImmediateKinds(), ", "), " allocate them"));
  }
  spec.immediate = dra.allocation_mode() == "Immediate";
  spec.objects.assign(dra.objects().begin(), dra.objects().end());
  ASSIGN_OR_RETURN(spec.plane, ReadControlPlane(dra));
  AddClaimDeletions(deletions, &spec.plane);
  return std::optional<DraSpec>(std::move(spec));
}

}  // namespace drasim
