// The way to devices: the front end, and the devices and MIG layouts of nodes.
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
#include "model/proto/scenario.pb.h"
#include "sim/control/device_front_end.h"

namespace drasim {

enum class FrontEndKind : uint8_t {
  kDirect,        // the scheduler picks devices itself
  kDevicePlugin,  // the scheduler counts, the kubelet picks once the pod is bound
  kDraClassic,    // drivers choose devices for ResourceClaims before the pod is bound
};
// As the key front_end.kind has them, in the order of FrontEndKind.
std::vector<std::string> FrontEndNames();
absl::string_view FrontEndName(FrontEndKind kind);
// None for an unknown name.
std::optional<FrontEndKind> FindFrontEnd(absl::string_view name);

// `front_end.lowering`: how a job's demand becomes a request.
struct LoweringSpec {
  LoweringRule rule = LoweringRule::kNone;
  std::string product;                // of mig-smallest; empty: the one of the cluster
  std::vector<std::string> profiles;  // that mig-smallest may use; empty: the usual ones
  bool ignore_gpu_model = false;
  int32_t shared_replicas = 0;  // of one GPU, for front ends without replicas; 0: not known
};

// An entry of `cluster.devices`.
struct DeviceGroupSpec {
  std::string nodes;             // a node's name, or a pattern with *; empty: all
  bool gpu = false;              // describes GPUs that nodes have; else adds devices
  std::vector<int32_t> indices;  // of that kind on the node; empty: the next `count`
  int32_t count = 0;
  DeviceSpec device;
};

// `cluster.mig`: layouts that are made ahead of pods.
struct MigSpec {
  struct Assignment {
    std::string nodes;   // a node's name, or a pattern with *; empty: all
    std::string config;  // the layout's name
  };
  std::string config_file;  // empty: the built-in configurations
  std::vector<Assignment> configs;
  bool by_demand = false;  // laid out after the mix of requests
  int32_t driver_branch = 0;
};

struct FrontEndSpec {
  FrontEndKind kind = FrontEndKind::kDirect;
  bool given = false;           // the scenario has the key front_end
  bool uses_mig = false;        // GPUs are partitioned, ahead of pods or by them
  bool has_node_agent = false;  // nodes hand devices out themselves
  LoweringSpec lowering;
  DeviceFrontEndOptions options;
  std::vector<DeviceGroupSpec> devices;
  MigSpec mig;

  bool device_plugin() const { return kind == FrontEndKind::kDevicePlugin; }
  bool dra() const { return kind == FrontEndKind::kDraClassic; }
};

// InvalidArgument, beginning with the scenario key, for parts about devices that make no sense by
// themselves or together.
absl::StatusOr<FrontEndSpec> MakeFrontEndSpec(const proto::Scenario& scenario);

// Whether GPUs of the scenario are partitioned. The scenario need not be resolved.
bool UsesMig(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_FRONT_END_SPEC_H_
