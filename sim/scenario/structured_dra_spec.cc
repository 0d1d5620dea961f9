#include "sim/scenario/structured_dra_spec.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "policies/allocator/dra_features.h"
#include "policies/choice/choice_policies.h"
#include "policies/dra/structured_gates.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/scenario/binding_options.h"
#include "sim/scenario/dra_connection.h"
#include "sim/scenario/dra_faults.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/taint_rule_events.h"

namespace drasim {
namespace {

constexpr int kMostSliceDrivers = 16;
constexpr absl::string_view kSlicesOfFile = "slices";

constexpr int32_t kMostPolicyWeight = 1000;

absl::Status ReadGates(const proto::StructuredDra& given, StructuredDraSpec* spec) {
  const std::map<std::string, bool> gates(given.gates().begin(), given.gates().end());
  const absl::Status read =
      SetDraGates(gates, &spec->rules.allocator, &spec->rules.plugin, &spec->rules.taint_rules);
  if (!read.ok()) return KeyError("front_end.structured.gates", read.message());
  return absl::OkStatus();
}

absl::Status ReadTimes(const proto::StructuredDra& given, StructuredDraSpec* spec) {
  StructuredOptions& plugin = spec->rules.plugin;
  SimDuration binding(plugin.binding_timeout_ns);
  SimDuration filter(plugin.filter_timeout_ns);
  SimDuration step;
  for (const auto& [key, text, out] :
       {std::tuple("prepare", &given.prepare(), &spec->prepare),
        std::tuple("unprepare", &given.unprepare(), &spec->unprepare),
        std::tuple("binding_timeout", &given.binding_timeout(), &binding),
        std::tuple("filter_timeout", &given.filter_timeout(), &filter),
        std::tuple("search_step", &given.search_step(), &step)}) {
    RETURN_IF_ERROR(ReadDuration(absl::StrCat("front_end.structured.", key), *text, out));
  }
  if (binding < SimDuration::Seconds(1)) {
    return KeyError("front_end.structured.binding_timeout",
                    absl::StrCat("found '", given.binding_timeout(), "', expected 1s or more"));
  }
  // Zero switches the timeout off, as its gate does.
  if (plugin.filter_timeout_ns > 0) plugin.filter_timeout_ns = filter.ns();
  plugin.binding_timeout_ns = binding.ns();
  plugin.search_step_ns = step.ns();
  spec->rules.allocator.count_steps = step > SimDuration();
  return absl::OkStatus();
}

absl::Status ReadPolicy(const proto::StructuredDra& given, StructuredDraSpec* spec) {
  spec->policy = given.policy();
  const auto made = MakeChoicePolicy(given.policy(), {});
  if (!made.ok()) return KeyError("front_end.structured.policy", made.status().message());
  if (given.policy_budget() < 0) {
    return KeyError("front_end.structured.policy_budget",
                    absl::StrCat("found ", given.policy_budget(), ", expected 0 or more"));
  }
  if (given.policy_budget() > 0) spec->rules.allocator.policy_budget = given.policy_budget();
  if (!given.has_policy_weight()) return absl::OkStatus();
  if (given.policy_weight() < 0 || given.policy_weight() > kMostPolicyWeight) {
    return KeyError(
        "front_end.structured.policy_weight",
        absl::StrCat("found ", given.policy_weight(), ", expected 0 to ", kMostPolicyWeight));
  }
  spec->rules.policy_weight = given.policy_weight();
  return absl::OkStatus();
}

absl::Status ReadDrivers(const proto::StructuredDra& given, StructuredDraSpec* spec) {
  if (given.drivers_size() > kMostSliceDrivers) {
    return KeyError(
        "front_end.structured.drivers",
        absl::StrCat("found ", given.drivers_size(), ", expected at most ", kMostSliceDrivers));
  }
  for (int i = 0; i < given.drivers_size(); ++i) {
    const std::string key = absl::StrCat("front_end.structured.drivers.", i);
    proto::SliceDriver driver = given.drivers(i);
    spec->drivers.push_back(driver);
    driver.clear_nodes();
    ASSIGN_OR_RETURN(BindingBehaviour binding, ReadBinding(driver, key));
    spec->bindings.push_back(std::move(binding));
    ClearBinding(&driver);
    if (driver.kind() == kSlicesOfFile) {  // the file is read with the cluster
      if (driver.slices().empty()) return KeyError(key + ".slices", "expected a file");
      continue;
    }
    const auto made = MakeSlicePublisher(driver, {});
    if (made.ok()) continue;
    return BelowKey(key, made.status());
  }
  return absl::OkStatus();
}

// Limits of the kubelet plugins: --kube-api-qps and --kube-api-burst of the drivers.
absl::Status ReadPublication(const proto::StructuredDra& given, StructuredDraSpec* spec) {
  spec->driver_connection = UsualConnection(given.zero_latency(), 5, 10);
  RETURN_IF_ERROR(ReadConnection("front_end.structured.driver_connection",
                                 given.driver_connection(), &spec->driver_connection));
  if (!given.zero_latency()) spec->driver_start = *Distribution::Parse("constant(1)");
  RETURN_IF_ERROR(
      ReadLatency("front_end.structured.driver_start", given.driver_start(), &spec->driver_start));
  RETURN_IF_ERROR(
      ReadDuration("front_end.structured.sync_delay", given.sync_delay(), &spec->sync_delay));
  return ReadDuration("front_end.structured.wiping_delay", given.wiping_delay(),
                      &spec->wiping_delay);
}

}  // namespace

void FillStructuredDraDefaults(proto::Scenario* s) {
  proto::StructuredDra* const structured = s->mutable_front_end()->mutable_structured();
  if (structured->release().empty()) structured->set_release("1.37");
  if (structured->policy().empty()) structured->set_policy(ChoicePolicyInfos()[0].name);
  for (proto::SliceDriver& driver : *structured->mutable_drivers()) {
    if (driver.release().empty()) driver.set_release(structured->release());
  }
}

absl::StatusOr<StructuredDraSpec> MakeStructuredDraSpec(const proto::Scenario& s) {
  const proto::StructuredDra& given = s.front_end().structured();
  StructuredDraSpec spec;
  absl::StatusOr<StructuredRelease> release = ParseStructuredRelease(given.release());
  if (!release.ok()) {
    return KeyError("front_end.structured.release", release.status().message());
  }
  spec.rules.allocator.release = *release;
  spec.rules.allocator.features = DefaultDraFeatures(*release);
  RETURN_IF_ERROR(ReadGates(given, &spec));
  if (s.front_end().lowering().as() == "extended-resources" &&
      !spec.rules.plugin.extended_resources) {
    return KeyError("front_end.lowering.as",
                    absl::StrCat("found 'extended-resources', expected claims: the gate "
                                 "DRAExtendedResource is off, as it is before release 1.36 "
                                 "(front_end.structured.release: ",
                                 given.release(), ")"));
  }
  RETURN_IF_ERROR(ReadTimes(given, &spec));
  RETURN_IF_ERROR(ReadPolicy(given, &spec));
  spec.plugin_nodes = given.device_plugin_nodes();
  RETURN_IF_ERROR(ReadDrivers(given, &spec));
  RETURN_IF_ERROR(ReadPublication(given, &spec));
  ASSIGN_OR_RETURN(spec.taint_rules, ReadTaintRules(given, spec.rules.taint_rules));
  const auto seed = static_cast<uint64_t>(s.seed());
  spec.rules.allocator.pool_order_seed = seed;
  spec.rules.plugin.seed = seed;
  return spec;
}

absl::StatusOr<ControlPlaneOptions> ReadStructuredPlane(const proto::StructuredDra& given) {
  ControlPlaneOptions options;
  options.behaviour = StructuredBehaviour();
  const bool zero = given.zero_latency();
  for (const auto& [key, connection, qps, burst, out] :
       {std::tuple("scheduler", &given.scheduler(), 50, 100, &options.scheduler),
        std::tuple("controller_manager", &given.controller_manager(), 20, 30,
                   &options.controller_manager),
        std::tuple("kubelets", &given.kubelets(), 0, 0, &options.kubelets),
        std::tuple("users", &given.users(), 0, 0, &options.users)}) {
    *out = UsualConnection(zero, qps, burst);
    RETURN_IF_ERROR(ReadConnection(absl::StrCat("front_end.structured.", key), *connection, out));
  }
  RETURN_IF_ERROR(ReadFaults(given, &options.faults));
  RETURN_IF_ERROR(ReadLatency("front_end.structured.plugin_call", given.plugin_call(),
                              &options.kubelet.grpc_latency));
  options.kubelet.failures_per_mille = given.plugin_failures_per_mille();
  if (given.plugin_failures_per_mille() < 0 || given.plugin_failures_per_mille() > 999) {
    return KeyError(
        "front_end.structured.plugin_failures_per_mille",
        absl::StrCat("found ", given.plugin_failures_per_mille(), ", expected 0 to 999"));
  }
  RETURN_IF_ERROR(ReadDuration("front_end.structured.finished_ttl", given.finished_ttl(),
                               &options.finished_ttl));
  return options;
}

}  // namespace drasim
