#include "sim/compare/worlds.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/lowering.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/mig_catalogue.h"
#include "model/text/yaml_proto.h"
#include "policies/choice/choice_policies.h"
#include "policies/devices/claim_drivers.h"
#include "policies/devices/mig_rules.h"
#include "policies/framework/registry.h"
#include "sim/run/input_files.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/front_end_spec.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

constexpr absl::string_view kKnownWorlds =
    "direct[:POLICY], device-plugin, device-plugin:static-mig, device-plugin:time-slicing[=N], "
    "dra-classic[:PLACEMENT][:immediate], dra-structured[:POLICY][:extended]";
constexpr absl::string_view kStreamInterval = "1s";
constexpr absl::string_view kDefaultFormat = "openb";
constexpr absl::string_view kMigPolicyPrefix = "mig-";
constexpr int64_t kUsualReplicas = 4;

absl::Status WorldError(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--worlds: '", name, "': ", what));
}

// Layouts that are made ahead of pods, which only the device plugin has.
void ClearLayouts(ScenarioChange* change) {
  for (const char* key : {"configs", "config_file", "plan", "repartitioning"}) {
    change->clear.push_back(absl::StrCat("cluster.mig.", key));
  }
}

void ClearSharing(ScenarioChange* change) {
  change->clear.emplace_back("front_end.device_plugin.time_slicing");
  change->clear.emplace_back("front_end.device_plugin.mps");
}

// Replicas of one GPU in the scenario's own front end; 0 when it does not share GPUs.
int64_t GivenReplicas(const proto::Scenario& scenario) {
  const proto::DevicePlugin& plugin = scenario.front_end().device_plugin();
  for (const proto::SharedResources* shared : {&plugin.time_slicing(), &plugin.mps()}) {
    for (const proto::SharedResource& r : shared->resources()) {
      if (r.name() == kGpuResource && r.replicas() > 1) return r.replicas();
    }
  }
  return 0;
}

// Pods may ask for replicas that the world does not have: what they are stays known.
void KeepReplicas(const proto::Scenario& scenario, ScenarioChange* change) {
  const int64_t replicas = GivenReplicas(scenario);
  if (replicas == 0 || scenario.front_end().lowering().shared_replicas() > 0) return;
  change->set.push_back(absl::StrCat("front_end.lowering.shared_replicas=", replicas));
}

absl::StatusOr<ScenarioChange> DirectWorld(absl::string_view name, absl::string_view policy,
                                           const proto::Scenario& scenario) {
  ScenarioChange change;
  change.clear = {"front_end.device_plugin", "front_end.dra", "front_end.structured",
                  "front_end.lowering.as"};
  ClearLayouts(&change);
  bool mig = false;
  if (!policy.empty()) {
    absl::StatusOr<const PolicyEntry*> entry = BuiltinRegistry().FindPolicy(policy);
    if (!entry.ok()) {
      std::vector<std::string> known;
      for (const PolicyEntry& p : BuiltinRegistry().policies()) known.push_back(p.name);
      return WorldError(name, absl::StrCat("unknown policy '", policy, "', expected one of ",
                                           absl::StrJoin(known, ", "), Suggest(policy, known)));
    }
    mig = (*entry)->kind == PolicyEntry::Kind::kMig;
    change.set.push_back(absl::StrCat("scheduler.policy=", policy));
  }
  change.set.emplace_back("front_end.kind=direct");
  change.set.push_back(absl::StrCat("front_end.lowering.rule=", mig ? "mig-smallest" : "none"));
  KeepReplicas(scenario, &change);
  return change;
}

absl::StatusOr<int64_t> ReplicasOf(absl::string_view name, absl::string_view text,
                                   const proto::Scenario& scenario) {
  if (!text.empty()) {
    int64_t replicas = 0;
    if (!absl::ConsumePrefix(&text, "=") || !absl::SimpleAtoi(text, &replicas) || replicas < 2) {
      return WorldError(name, "expected time-slicing or time-slicing=N with 2 replicas or more");
    }
    return replicas;
  }
  const int64_t given = GivenReplicas(scenario);
  return given > 0 ? given : kUsualReplicas;
}

absl::StatusOr<ScenarioChange> PluginWorld(absl::string_view name, absl::string_view variant,
                                           const proto::Scenario& scenario) {
  ScenarioChange change;
  change.clear = {"front_end.dra", "front_end.structured", "front_end.lowering.as"};
  ClearSharing(&change);
  change.set = {"front_end.kind=device-plugin"};
  const auto set = [&change](absl::string_view key, absl::string_view value) {
    change.set.push_back(absl::StrCat("front_end.", key, "=", value));
  };
  if (variant == "static-mig") {
    set("lowering.rule", "mig-smallest");
    set("device_plugin.mig_strategy", "mixed");
    if (scenario.cluster().mig().configs_size() == 0) {
      change.set.emplace_back("cluster.mig.plan=demand");
    }
    return change;
  }
  ClearLayouts(&change);
  set("device_plugin.mig_strategy", "none");
  if (variant.empty()) {
    set("lowering.rule", "whole-gpu");
    return change;
  }
  if (!absl::ConsumePrefix(&variant, "time-slicing")) {
    const std::vector<std::string> known = {"static-mig", "time-slicing"};
    return WorldError(
        name, absl::StrCat("unknown variant '", variant,
                           "', expected static-mig or time-slicing[=N]", Suggest(variant, known)));
  }
  ASSIGN_OR_RETURN(const int64_t replicas, ReplicasOf(name, variant, scenario));
  set("lowering.rule", "time-sliced");
  set("device_plugin.time_slicing.resources.0.name", std::string(kGpuResource));
  set("device_plugin.time_slicing.resources.0.replicas", absl::StrCat(replicas));
  return change;
}

// Whether some GPU of the cluster can be partitioned.
absl::StatusOr<bool> HasMigGpus(const proto::Scenario& scenario) {
  const proto::Cluster& cluster = scenario.cluster();
  if (!scenario.front_end().lowering().product().empty()) return true;
  if (!cluster.gpu_model().empty()) return FindMigProduct(cluster.gpu_model()) != nullptr;
  if (cluster.path().empty() && cluster.has_node()) {
    const auto& models = cluster.node().gpu_models();
    return FindMigProduct(cluster.node().gpu_model()) != nullptr ||
           std::any_of(models.begin(), models.end(), [](const proto::GpuModelCount& entry) {
             return FindMigProduct(entry.model()) != nullptr;
           });
  }
  if (cluster.path().empty()) RETURN_IF_ERROR(CheckGenerated(scenario).status());
  ASSIGN_OR_RETURN(NodeListSpec list, MakeNodeListSpec(scenario));
  if (!list.path.empty() && list.format.empty()) list.format = std::string(kDefaultFormat);
  ASSIGN_OR_RETURN(const NodeInput input, ReadNodeInput(list));
  return std::any_of(input.nodes.begin(), input.nodes.end(), [](const NodeSpec& node) {
    return node.gpu_count > 0 && FindMigProduct(node.gpu_model) != nullptr;
  });
}

bool IsMigRule(absl::string_view name) {
  const absl::Span<const MigRuleInfo> rules = MigRuleInfos();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const MigRuleInfo& info) { return name == info.name; });
}

// The driver's placement for what the user calls it. "first-fit" is what NVIDIA's driver does, not
// the policy mig-first-fit, which may still be had by its full name.
absl::StatusOr<std::string> PlacementOf(absl::string_view name, absl::string_view text) {
  if (text == "first-fit") return std::string();
  if (text == "fragmentation") return std::string("mfi-any-weighted");
  for (const absl::string_view prefix : {absl::string_view(""), kMigPolicyPrefix}) {
    const std::string policy = absl::StrCat(prefix, text);
    if (IsMigRule(policy)) return policy.substr(kMigPolicyPrefix.size());
  }
  std::vector<std::string> known = {"first-fit", "fragmentation"};
  for (const MigRuleInfo& info : MigRuleInfos()) {
    const std::string rule = std::string(info.name).substr(kMigPolicyPrefix.size());
    if (rule != "first-fit") known.push_back(rule);
  }
  return WorldError(name, absl::StrCat("unknown placement '", text, "', expected one of ",
                                       absl::StrJoin(known, ", "), Suggest(text, known)));
}

// Drivers that hand out parts of GPUs get the shares themselves.
absl::string_view LoweringForDriver(const std::string& kind_name, bool mig) {
  const std::optional<DriverKind> kind = FindDriverKind(kind_name);
  if (kind.has_value() && HandsOutParts(*kind)) return "none";
  return mig && kind == DriverKind::kNvidia ? "mig-smallest" : "whole-gpu";
}

absl::StatusOr<ScenarioChange> DraWorld(absl::string_view name,
                                        const std::vector<std::string>& parts,
                                        const proto::Scenario& scenario) {
  ASSIGN_OR_RETURN(const bool mig, HasMigGpus(scenario));
  ScenarioChange change;
  // There the scheduler's connection determines how long the write of a binding takes.
  change.clear = {"front_end.device_plugin", "front_end.structured", "front_end.lowering.as",
                  "timing.bind"};
  ClearLayouts(&change);
  const bool has_drivers = scenario.front_end().dra().drivers_size() > 0;
  const bool wants_immediate =
      std::find(parts.begin() + 1, parts.end(), "immediate") != parts.end();
  // NVIDIA's driver refuses Immediate claims; Intel's is the real one that allocates them.
  const std::string kind = has_drivers       ? scenario.front_end().dra().drivers(0).kind()
                           : wants_immediate ? "intel"
                                             : "nvidia";
  change.set = {"front_end.kind=dra-classic",
                absl::StrCat("front_end.lowering.rule=", LoweringForDriver(kind, mig))};
  KeepReplicas(scenario, &change);
  if (!has_drivers) change.set.push_back(absl::StrCat("front_end.dra.drivers.0.kind=", kind));
  if (wants_immediate) {
    const ClaimDriverInfo* info = FindClaimDriver(kind);
    if (info != nullptr && info->immediate_refusal != nullptr) {
      return WorldError(name,
                        absl::StrCat("the driver kind ", kind,
                                     " (front_end.dra.drivers.0.kind) refuses Immediate "
                                     "claims, expected one that allocates them, such as intel "
                                     "or constraints"));
    }
    if (!has_drivers && parts.size() > 2 && parts[1] != parts[2]) {
      return WorldError(
          name,
          "a placement says where NVIDIA's driver puts MIG instances, and that driver refuses "
          "Immediate claims; expected dra-classic:immediate, which has Intel's driver, "
          "or front_end.dra.drivers.0.kind: constraints");
    }
  }
  bool placed = false;
  bool immediate = false;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] == "immediate") {
      if (immediate) return WorldError(name, "'immediate' is there twice");
      immediate = true;
      continue;
    }
    if (placed) return WorldError(name, absl::StrCat("'", parts[i], "' is a second placement"));
    placed = true;
    ASSIGN_OR_RETURN(std::string placement, PlacementOf(name, parts[i]));
    const bool packed = parts[i] == "fragmentation";
    change.set.push_back(absl::StrCat("front_end.dra.drivers.0.placement=", placement));
    change.set.push_back(
        absl::StrCat("front_end.dra.drivers.0.gpus=", packed ? "packed" : "first"));
  }
  if (immediate) change.set.emplace_back("front_end.dra.allocation_mode=Immediate");
  return change;
}

// The rule for what the driver publishes.
absl::string_view LoweringForPublisher(const proto::SliceDriver& driver) {
  if (!driver.consumable_shares().empty() && driver.consumable_shares() != "disabled") {
    return "none";
  }
  const bool mig = driver.mig() == "static" || driver.mig() == "dynamic";
  return mig ? "mig-smallest" : "whole-gpu";
}

absl::StatusOr<ScenarioChange> StructuredWorld(absl::string_view name,
                                               const std::vector<std::string>& parts,
                                               const proto::Scenario& scenario) {
  const bool extended = parts.size() > 1 && parts.back() == "extended";
  const size_t policies = parts.size() - (extended ? 2 : 1);
  if (policies > 1) return WorldError(name, absl::StrCat("expected one of ", kKnownWorlds));
  ScenarioChange change;
  change.clear = {"front_end.device_plugin", "front_end.dra", "timing.bind"};
  ClearLayouts(&change);
  change.set = {"front_end.kind=dra-structured",
                absl::StrCat("front_end.lowering.as=", extended ? "extended-resources" : "claims")};
  if (policies == 1) {
    std::vector<std::string> known;
    for (const ChoicePolicyInfo& info : ChoicePolicyInfos()) known.emplace_back(info.name);
    if (std::find(known.begin(), known.end(), parts[1]) == known.end()) {
      return WorldError(name, absl::StrCat("unknown policy '", parts[1], "', expected one of ",
                                           absl::StrJoin(known, ", "), Suggest(parts[1], known)));
    }
    change.set.push_back(absl::StrCat("front_end.structured.policy=", parts[1]));
  }
  proto::SliceDriver driver;
  if (scenario.front_end().structured().drivers_size() > 0) {
    driver = scenario.front_end().structured().drivers(0);
  } else {
    ASSIGN_OR_RETURN(const bool mig, HasMigGpus(scenario));
    driver.set_mig(mig ? "dynamic" : "none");
    change.set.emplace_back("front_end.structured.drivers.0.kind=gpu.nvidia.com");
    change.set.push_back(absl::StrCat("front_end.structured.drivers.0.mig=", driver.mig()));
  }
  change.set.push_back(absl::StrCat("front_end.lowering.rule=", LoweringForPublisher(driver)));
  KeepReplicas(scenario, &change);
  return change;
}

// Clears the field of that path, unless a message on the way is not there.
void ClearPath(absl::string_view path, google::protobuf::Message* message) {
  const std::vector<std::string> keys = absl::StrSplit(path, '.');
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto* field = message->GetDescriptor()->FindFieldByName(keys[i]);
    DRASIM_CHECK(field != nullptr);  // paths are ours
    const auto* reflection = message->GetReflection();
    if (i + 1 == keys.size()) return reflection->ClearField(message, field);
    if (!reflection->HasField(*message, field)) return;
    message = reflection->MutableMessage(message, field);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseWorlds(absl::string_view text) {
  std::vector<std::string> names;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--worlds: found '", text, "', expected names with commas between: ", kKnownWorlds));
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--worlds: '", name, "' is there twice"));
    }
    names.emplace_back(name);
  }
  return names;
}

absl::StatusOr<ScenarioChange> WorldOf(absl::string_view name, const proto::Scenario& scenario) {
  const std::vector<std::string> parts = absl::StrSplit(name, ':');
  const std::optional<FrontEndKind> kind = FindFrontEnd(parts[0]);
  if (!kind.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("--worlds: unknown world '", name,
                                                   "', expected one of ", kKnownWorlds,
                                                   Suggest(parts[0], FrontEndNames())));
  }
  if (*kind == FrontEndKind::kDraClassic) return DraWorld(name, parts, scenario);
  if (*kind == FrontEndKind::kDraStructured) return StructuredWorld(name, parts, scenario);
  const std::string variant = parts.size() > 1 ? parts[1] : std::string();
  if (parts.size() > 2 || (parts.size() == 2 && variant.empty())) {
    return WorldError(name, absl::StrCat("expected one of ", kKnownWorlds));
  }
  return *kind == FrontEndKind::kDirect ? DirectWorld(name, variant, scenario)
                                        : PluginWorld(name, variant, scenario);
}

ScenarioChange LikeConditions(const proto::Scenario& scenario, const std::string& policy) {
  ScenarioChange change;
  // Kube-scheduler has neither.
  change.clear = {"scheduler.head_of_line", "scheduler.backfill"};
  change.set = {"scheduler.queue=kubernetes", absl::StrCat("scheduler.policy=", policy)};
  if (!scenario.scheduler().kubernetes().has_pop_from_backoff()) {
    change.set.emplace_back("scheduler.kubernetes.pop_from_backoff=false");
  }
  if (IsReplay(scenario)) return change;
  change.set.emplace_back("mode=replay");
  change.set.push_back(
      absl::StrCat("order=", scenario.order().empty() ? "seeded" : scenario.order()));
  if (scenario.workload().stream_interval().empty()) {
    change.set.push_back(absl::StrCat("workload.stream_interval=", kStreamInterval));
  }
  if (scenario.preemption().mode().empty()) change.set.emplace_back("preemption.mode=none");
  return change;
}

absl::Status ApplyChange(const ScenarioChange& change, absl::string_view origin,
                         proto::Scenario* scenario) {
  for (const std::string& path : change.clear) ClearPath(path, scenario);
  for (const std::string& setting : change.set) {
    const size_t equals = setting.find('=');
    const absl::string_view text = setting;
    RETURN_IF_ERROR(SetField(text.substr(0, equals), text.substr(equals + 1), origin, scenario));
  }
  return absl::OkStatus();
}

}  // namespace drasim
