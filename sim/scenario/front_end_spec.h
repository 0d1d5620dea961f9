// Front end of a scenario, and the devices and MIG layouts of its nodes.
#ifndef DRASIM_SIM_SCENARIO_FRONT_END_SPEC_H_
#define DRASIM_SIM_SCENARIO_FRONT_END_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_spec.h"
#include "model/lowering.h"
#include "sim/control/device_front_end.h"

namespace drasim {

namespace proto {
class Scenario;
}

enum class FrontEndKind : uint8_t {
  kDirect,         // the scheduler chooses devices
  kDevicePlugin,   // the scheduler counts; the kubelet chooses after the pod is bound
  kDraClassic,     // drivers choose devices for ResourceClaims before the pod is bound
  kDraStructured,  // the scheduler chooses devices for ResourceClaims from ResourceSlices
};
// Values of the key front_end.kind, in the order of FrontEndKind.
std::vector<std::string> FrontEndNames();
absl::string_view FrontEndName(FrontEndKind kind);
// None for an unknown name.
std::optional<FrontEndKind> FindFrontEnd(absl::string_view name);

// `front_end.lowering`: how a job's demand becomes a request.
struct LoweringSpec {
  // Structured DRA: requests are extended resources that DeviceClasses serve, instead of claims.
  bool as_extended_resources = false;
  LoweringRule rule = LoweringRule::kNone;
  std::string product;                // for mig-smallest; empty: the cluster's only one
  std::vector<std::string> profiles;  // for mig-smallest; empty: the default set (LoweringOptions)
  bool ignore_gpu_model = false;
  int32_t shared_replicas = 0;  // per GPU, for front ends without replicas; 0: unknown
};

// An entry of `cluster.devices`.
struct DeviceGroupSpec {
  std::string nodes;             // a name or a pattern with *; empty: all
  bool gpu = false;              // describes existing GPUs; otherwise adds devices
  std::vector<int32_t> indices;  // among the node's devices of the kind; empty: the next `count`
  int32_t count = 0;
  DeviceSpec device;
};

// `cluster.mig`: MIG layouts made before pods arrive.
struct MigSpec {
  struct Assignment {
    std::string nodes;   // a name or a pattern with *; empty: all
    std::string config;  // the layout's name
  };
  std::string config_file;  // empty: the built-in configurations
  std::vector<Assignment> configs;
  bool by_demand = false;  // layouts follow the mix of requests
  int32_t driver_branch = 0;
};

struct FrontEndSpec {
  FrontEndKind kind = FrontEndKind::kDirect;
  bool given = false;           // the scenario has the key front_end
  bool uses_mig = false;        // GPUs are partitioned, before pods arrive or on request
  bool has_node_agent = false;  // nodes hand out devices
  LoweringSpec lowering;
  DeviceFrontEndOptions options;
  std::vector<DeviceGroupSpec> devices;
  MigSpec mig;
  // With kDraStructured: the nodes of the device plugin, a name or a pattern with *; empty: none.
  std::string plugin_nodes;

  bool device_plugin() const { return kind == FrontEndKind::kDevicePlugin; }
  // Pods have claims.
  bool dra() const {
    return kind == FrontEndKind::kDraClassic || kind == FrontEndKind::kDraStructured;
  }
};

// InvalidArgument, beginning with the scenario key, for keys about devices that are invalid or
// contradict each other.
absl::StatusOr<FrontEndSpec> MakeFrontEndSpec(const proto::Scenario& scenario);

// Whether GPUs of the scenario are partitioned. Accepts unresolved scenarios.
bool UsesMig(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_FRONT_END_SPEC_H_
