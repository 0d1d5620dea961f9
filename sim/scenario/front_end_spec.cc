#include "sim/scenario/front_end_spec.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/lowering.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"
#include "sim/scenario/node_event_spec.h"

namespace drasim {
namespace {

constexpr const char* kFrontEndNames[] = {"direct", "device-plugin", "dra-classic",
                                          "dra-structured"};

absl::Status ReadSharing(const proto::DevicePlugin& p, DevicePluginConfig* config) {
  if (p.has_time_slicing() && p.has_mps()) {
    return KeyError("front_end.device_plugin", "found time_slicing and mps, expected one of them");
  }
  if (!p.has_time_slicing() && !p.has_mps()) return absl::OkStatus();
  const proto::SharedResources& shared = p.has_mps() ? p.mps() : p.time_slicing();
  const std::string key =
      absl::StrCat("front_end.device_plugin.", p.has_mps() ? "mps" : "time_slicing");
  config->sharing = p.has_mps() ? SharingKind::kMps : SharingKind::kTimeSlicing;
  config->rename_by_default = shared.rename_by_default();
  config->fail_requests_greater_than_one = shared.fail_requests_greater_than_one();
  for (int i = 0; i < shared.resources_size(); ++i) {
    const proto::SharedResource& r = shared.resources(i);
    if (!r.has_replicas()) {
      return KeyError(absl::StrCat(key, ".resources[", i, "].replicas"),
                      "expected a number of 1 or more");
    }
    config->resources.push_back({r.name(), r.replicas()});
  }
  return CheckDevicePluginConfig(*config, key);
}

absl::Status ReadKubelet(const proto::Kubelet& k, DeviceFrontEndOptions* options) {
  ASSIGN_OR_RETURN(
      const size_t policy,
      ChoiceOf("front_end.kubelet.topology_manager_policy", k.topology_manager_policy(),
               {"none", "best-effort", "restricted", "single-numa-node"}));
  ASSIGN_OR_RETURN(const size_t scope, ChoiceOf("front_end.kubelet.topology_manager_scope",
                                                k.topology_manager_scope(), {"container", "pod"}));
  ASSIGN_OR_RETURN(const size_t cpu, ChoiceOf("front_end.kubelet.cpu_manager_policy",
                                              k.cpu_manager_policy(), {"none", "static"}));
  options->kubelet.topology_policy = static_cast<TopologyPolicy>(policy);
  options->kubelet.topology_scope_pod = scope == 1;
  options->kubelet.cpu_manager_static = cpu == 1;
  RETURN_IF_ERROR(ReadDuration("front_end.kubelet.device_release", k.device_release(),
                               &options->kubelet.device_release));
  return ReadDuration("front_end.kubelet.node_status", k.node_status(), &options->node_status);
}

absl::Status ReadManager(const proto::Mig& mig, DeviceFrontEndOptions* options) {
  // Orders of magnitude from public reports: seconds for the driver, a minute or more for a node.
  MigManagerOptions& m = options->manager;
  m.pause_clients = SimDuration::Seconds(30);
  m.reset = SimDuration::Seconds(3);
  m.create_instance = SimDuration(250'000'000);
  m.destroy_instance = SimDuration(100'000'000);
  m.restart_clients = SimDuration::Seconds(30);
  for (const auto& [key, text, out] :
       {std::tuple("pause_clients", &mig.manager().pause_clients(), &m.pause_clients),
        std::tuple("reset", &mig.manager().reset(), &m.reset),
        std::tuple("create_instance", &mig.manager().create_instance(), &m.create_instance),
        std::tuple("destroy_instance", &mig.manager().destroy_instance(), &m.destroy_instance),
        std::tuple("restart_clients", &mig.manager().restart_clients(), &m.restart_clients)}) {
    RETURN_IF_ERROR(ReadDuration(absl::StrCat("cluster.mig.manager.", key), *text, out));
  }
  ASSIGN_OR_RETURN(const size_t drain,
                   ChoiceOf("cluster.mig.manager.drain", mig.manager().drain(), {"wait", "evict"}));
  m.evict = drain == 1;
  if (mig.repartitioning().nodes_at_once() < 0) {
    return KeyError("cluster.mig.repartitioning.nodes_at_once", "expected 0 or more");
  }
  options->repartitioning.nodes_at_once = std::max(1, mig.repartitioning().nodes_at_once());
  return ReadDuration("cluster.mig.repartitioning.every", mig.repartitioning().every(),
                      &options->repartitioning.every);
}

absl::StatusOr<DeviceGroupSpec> ReadDeviceGroup(const proto::DeviceGroup& group,
                                                const std::string& key) {
  if (group.kind().empty()) {
    return KeyError(absl::StrCat(key, ".kind"), "expected gpu, nic, fpga or another word");
  }
  const bool gpu = group.kind() == "gpu";
  if (gpu != group.resource().empty()) {
    return KeyError(
        absl::StrCat(key, ".resource"),
        absl::StrCat("expected ", gpu ? "none for GPUs" : "the name by which pods ask for it"));
  }
  if (!gpu && !absl::StrContains(group.resource(), '/')) {
    return KeyError(
        absl::StrCat(key, ".resource"),
        absl::StrCat("found '", group.resource(), "', expected a name such as example.com/nic"));
  }
  if (group.count() < 0 || group.count() > 1024 ||
      (!gpu && group.count() == 0 && group.indices_size() == 0)) {
    return KeyError(absl::StrCat(key, ".count"),
                    absl::StrCat("found ", group.count(), ", expected 1 to 1024"));
  }
  if (group.count() > 0 && group.indices_size() > 0) {
    return KeyError(key, "found count and indices, expected one of them");
  }
  if (group.has_numa_node() && (group.numa_node() < 0 || group.numa_node() >= kMaxNumaNodes)) {
    return KeyError(
        absl::StrCat(key, ".numa_node"),
        absl::StrCat("found ", group.numa_node(), ", expected 0 to ", kMaxNumaNodes - 1));
  }
  RETURN_IF_ERROR(ChoiceOf(key + ".nvlink", group.nvlink(), {"switch", "pairs", "none"}).status());
  DeviceGroupSpec spec;
  spec.nodes = group.nodes();
  spec.gpu = gpu;
  spec.indices.assign(group.indices().begin(), group.indices().end());
  spec.count = group.count();
  DeviceSpec& device = spec.device;
  device.kind = group.kind();
  device.product = group.product();
  if (group.has_numa_node()) device.numa_node = group.numa_node();
  device.pcie_root = group.pcie_root();
  device.pcie_switch = group.pcie_switch() > 0 ? group.pcie_switch() : -1;
  device.nvlink = group.nvlink();
  device.resource = group.resource();
  RETURN_IF_ERROR(
      ReadDuration(key + ".reprogramming", group.reprogramming(), &device.reprogramming));
  return spec;
}

// Checks that the device plugin suits the rest of the scenario.
absl::Status CheckPluginFits(const proto::Scenario& s, const DevicePluginConfig& plugin) {
  const bool shares_gpus =
      std::any_of(plugin.resources.begin(), plugin.resources.end(),
                  [](const auto& r) { return r.name == kGpuResource && r.replicas > 1; });
  if (s.front_end().lowering().rule() == "time-sliced" && !shares_gpus) {
    return KeyError("front_end.lowering.rule",
                    "found 'time-sliced', expected replicas of nvidia.com/gpu above 1 in "
                    "front_end.device_plugin.time_slicing beside it");
  }
  const bool jobs = std::any_of(s.workload().jobs().begin(), s.workload().jobs().end(),
                                [](const proto::InlineJob& job) { return job.mig_size() > 0; });
  const char* const key = s.workload().generated().mig_size() > 0  ? "workload.generated.mig"
                          : jobs                                   ? "workload.jobs: mig"
                          : s.cluster().mig().has_repartitioning() ? "cluster.mig.repartitioning"
                                                                   : nullptr;
  if (key == nullptr || plugin.mig_strategy == MigStrategy::kMixed) return absl::OkStatus();
  return KeyError(
      "front_end.device_plugin.mig_strategy",
      absl::StrCat("expected mixed: ", key,
                   " is about nvidia.com/mig-* resources, which no other strategy has"));
}

absl::StatusOr<MigSpec> ReadMigSpec(const proto::Scenario& s) {
  const proto::Mig& mig = s.cluster().mig();
  ASSIGN_OR_RETURN(const size_t plan, ChoiceOf("cluster.mig.plan", mig.plan(), {"none", "demand"}));
  MigSpec spec;
  spec.config_file = mig.config_file();
  for (const proto::MigAssignment& config : mig.configs()) {
    spec.configs.push_back({config.nodes(), config.config()});
  }
  spec.by_demand = plan == 1;
  spec.driver_branch = mig.driver_branch();
  if (mig.driver_branch() < 0) {
    return KeyError("cluster.mig.driver_branch", "expected 0 or more");
  }
  if (mig.has_repartitioning() && s.mode() == "fill") {
    return KeyError("cluster.mig.repartitioning", "expected none: a fill has no clock");
  }
  if (!s.cluster().has_mig() || s.front_end().kind() == "device-plugin") return spec;
  // The direct front end makes instances on demand.
  const char* const key = mig.configs_size() > 0       ? "configs"
                          : spec.by_demand             ? "plan"
                          : mig.has_repartitioning()   ? "repartitioning"
                          : !mig.config_file().empty() ? "config_file"
                                                       : nullptr;
  if (key == nullptr) return spec;
  return KeyError(absl::StrCat("cluster.mig.", key),
                  "expected none: only front_end.kind: device-plugin lays GPUs out");
}

absl::StatusOr<DeviceFrontEndOptions> ReadDeviceOptions(const proto::Scenario& s) {
  DeviceFrontEndOptions options;
  const proto::DevicePlugin& p = s.front_end().device_plugin();
  ASSIGN_OR_RETURN(const size_t strategy, ChoiceOf("front_end.device_plugin.mig_strategy",
                                                   p.mig_strategy(), {"none", "single", "mixed"}));
  options.plugin.mig_strategy = static_cast<MigStrategy>(strategy);
  ASSIGN_OR_RETURN(const size_t order,
                   ChoiceOf("front_end.device_plugin.shared_devices_allocation_policy",
                            p.shared_devices_allocation_policy(), {"distributed", "packed"}));
  options.plugin.packed = order == 1;
  RETURN_IF_ERROR(ReadSharing(p, &options.plugin));
  options.kubelet.packed = options.plugin.packed;
  options.kubelet.fail_requests_greater_than_one = options.plugin.fail_requests_greater_than_one;
  RETURN_IF_ERROR(ReadKubelet(s.front_end().kubelet(), &options));
  RETURN_IF_ERROR(ReadManager(s.cluster().mig(), &options));
  return options;
}

absl::StatusOr<LoweringSpec> ReadLowering(const proto::Lowering& lowering, FrontEndKind kind) {
  const absl::StatusOr<LoweringRule> rule = ParseLoweringRule(lowering.rule());
  if (!rule.ok()) return UnderKey("front_end.lowering.rule", rule.status());
  const int32_t replicas = lowering.shared_replicas();
  if (replicas < 0 || replicas > kDeviceMilli) {
    return KeyError("front_end.lowering.shared_replicas",
                    absl::StrCat("found ", replicas, ", expected 0 to ", kDeviceMilli));
  }
  ASSIGN_OR_RETURN(const size_t form, ChoiceOf("front_end.lowering.as", lowering.as(),
                                               {"claims", "extended-resources"}));
  if (!lowering.as().empty() && kind != FrontEndKind::kDraStructured) {
    return KeyError("front_end.lowering.as",
                    "expected none without front_end.kind: dra-structured");
  }
  LoweringSpec spec;
  spec.as_extended_resources = form == 1;
  spec.rule = *rule;
  spec.product = lowering.product();
  spec.profiles.assign(lowering.profiles().begin(), lowering.profiles().end());
  spec.ignore_gpu_model = lowering.ignore_gpu_model();
  spec.shared_replicas = replicas;
  return spec;
}

}  // namespace

bool UsesMig(const proto::Scenario& s) {
  const proto::Mig& mig = s.cluster().mig();
  const bool inline_mig =
      std::any_of(s.workload().jobs().begin(), s.workload().jobs().end(),
                  [](const proto::InlineJob& job) { return job.mig_size() > 0; });
  return inline_mig || mig.configs_size() > 0 || !mig.repartitioning().every().empty() ||
         mig.plan() == "demand" || s.front_end().lowering().rule() == "mig-smallest" ||
         s.workload().generated().mig_size() > 0 ||
         std::any_of(s.cluster().events().begin(), s.cluster().events().end(),
                     [](const proto::NodeEvent& e) { return e.action() == "mig-config"; });
}

std::vector<std::string> FrontEndNames() {
  return {std::begin(kFrontEndNames), std::end(kFrontEndNames)};
}

absl::string_view FrontEndName(FrontEndKind kind) {
  return kFrontEndNames[static_cast<size_t>(kind)];
}

std::optional<FrontEndKind> FindFrontEnd(absl::string_view name) {
  const auto* const it = std::find(std::begin(kFrontEndNames), std::end(kFrontEndNames), name);
  if (it == std::end(kFrontEndNames)) return std::nullopt;
  return static_cast<FrontEndKind>(it - std::begin(kFrontEndNames));
}

absl::StatusOr<FrontEndSpec> MakeFrontEndSpec(const proto::Scenario& s) {
  FrontEndSpec spec;
  spec.given = s.has_front_end();
  ASSIGN_OR_RETURN(const size_t kind,
                   ChoiceOf("front_end.kind", s.front_end().kind(), FrontEndNames()));
  spec.kind = static_cast<FrontEndKind>(kind);
  ASSIGN_OR_RETURN(spec.lowering, ReadLowering(s.front_end().lowering(), spec.kind));
  const bool plugin = spec.kind == FrontEndKind::kDevicePlugin;
  if (spec.kind == FrontEndKind::kDraStructured) {
    spec.plugin_nodes = s.front_end().structured().device_plugin_nodes();
  }
  const bool mixed = !spec.plugin_nodes.empty();
  if (!plugin && !mixed && s.front_end().has_device_plugin()) {
    return KeyError("front_end.device_plugin",
                    "expected none without front_end.kind: device-plugin or "
                    "front_end.structured.device_plugin_nodes");
  }
  RETURN_IF_ERROR(CheckDeviceEvents(s));
  for (int i = 0; i < s.cluster().devices_size(); ++i) {
    const std::string key = absl::StrCat("cluster.devices[", i, "]");
    ASSIGN_OR_RETURN(DeviceGroupSpec group, ReadDeviceGroup(s.cluster().devices(i), key));
    spec.devices.push_back(std::move(group));
  }
  ASSIGN_OR_RETURN(spec.mig, ReadMigSpec(s));
  ASSIGN_OR_RETURN(spec.options, ReadDeviceOptions(s));
  spec.uses_mig = UsesMig(s);
  spec.has_node_agent = plugin || mixed ||
                        std::any_of(spec.devices.begin(), spec.devices.end(),
                                    [](const DeviceGroupSpec& group) { return !group.gpu; });
  if (plugin) RETURN_IF_ERROR(CheckPluginFits(s, spec.options.plugin));
  return spec;
}

}  // namespace drasim
