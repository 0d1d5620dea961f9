// Container Device Interface specifications (CDI, github.com/cncf-tags/container-device-interface,
// SPEC.md 0.8.0 and the additional checks of its Go packages). A driver's kubelet plugin writes one
// for an allocation, and a container runtime reads it to give a container its devices. Limited to
// the fields that plugins here write: without annotations, Intel RDT and additional groups.
//
// No decision depends on these; they show an allocation's effect on its node.
#ifndef DRASIM_SIM_DRA_API_CDI_SPEC_H_
#define DRASIM_SIM_DRA_API_CDI_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"

namespace drasim {

struct CdiDeviceNode {
  std::string path;              // in the container
  std::string host_path;         // empty: the same
  std::string type;              // "b", "c", "u" or "p"; empty: as on the host
  std::optional<int64_t> major;  // absent: as on the host
  std::optional<int64_t> minor;
  std::string permissions;  // letters of "rwm"; empty: all
  bool operator==(const CdiDeviceNode&) const = default;
};

struct CdiMount {
  std::string host_path;
  std::string container_path;
  std::string type;  // of the file system; empty: unspecified
  std::vector<std::string> options;
  bool operator==(const CdiMount&) const = default;
};

struct CdiHook {
  std::string name;  // "createContainer"
  std::string path;
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::optional<int64_t> timeout_seconds;
  bool operator==(const CdiHook&) const = default;
};

// Changes of a container's OCI specification.
struct CdiEdits {
  std::vector<std::string> env;  // "NAME=value"
  std::vector<CdiDeviceNode> device_nodes;
  std::vector<CdiMount> mounts;
  std::vector<CdiHook> hooks;
  bool empty() const {
    return env.empty() && device_nodes.empty() && mounts.empty() && hooks.empty();
  }
  bool operator==(const CdiEdits&) const = default;
};

struct CdiDevice {
  std::string name;
  CdiEdits edits;  // for containers that ask for this device
  bool operator==(const CdiDevice&) const = default;
};

struct CdiSpec {
  std::string version;  // "0.3.0"
  std::string kind;     // "vendor.com/class"
  std::vector<CdiDevice> devices;
  CdiEdits edits;  // for containers that ask for any of the devices
  bool operator==(const CdiSpec&) const = default;
};

// The specification by the plugin of upstream's test driver (test/e2e/dra/test-driver, release
// 1.29): kind "<driver>/test", one device "claim-<uid>", an environment variable "user_KEY=value"
// for every parameter of the claim and "admin_KEY=value" for every parameter of the class, sorted.
// Null: no parameters. Without any there is no specification, because a runtime rejects a device
// that changes nothing.
std::optional<CdiSpec> CdiSpecForParameters(absl::string_view driver, Uid claim,
                                            const ParametersObject* class_parameters,
                                            const ParametersObject* claim_parameters);

// The specification by a plugin for NVIDIA GPUs (k8s-dra-driver of classic DRA, device nodes only):
// kind "k8s.<driver>/claim", one device "claim-<uid>".
//   every container    /dev/nvidiactl, nvidia-modeset, nvidia-uvm, nvidia-uvm-tools
//   GPU i or a replica /dev/nvidia<i>, major 195, minor i
//   a MIG instance     /dev/nvidia<i>, and /dev/nvidia-caps/nvidia-cap<minor> of the GPU instance
//                      and of its compute instance 0
// and NVIDIA_VISIBLE_DEVICES, with "i" for a GPU and "i:g" for an instance. (NVIDIA writes "void",
// against runtimes that would act on it.)
//
// g is the id of the GPU instance. The kernel driver numbers instances freely; here g is the first
// unit of the instance, which is unique on its GPU. Minors are those of
// /proc/driver/nvidia-caps/mig-minors (MIG user guide, "Device Nodes and Capabilities"): 3 for GPU
// 0's instance 0, then its compute instances 0 to 7, the next of 15 instances, the next GPU.
//
// `mig_tables`: by device of the node, null or missing without MIG. InvalidArgument without grants,
// and for a placement that its GPU lacks. O(grants^2).
absl::StatusOr<CdiSpec> CdiSpecForGpus(absl::string_view driver, Uid claim,
                                       const DeviceGrants& grants,
                                       absl::Span<const MigTable* const> mig_tables);

// A device of structured DRA with the part of a GPU that it is.
struct CdiGpu {
  std::string device;  // "gpu-0-mig-1g5gb-19-3"
  DeviceGrant part;
};

// The same by NVIDIA's plugin of structured DRA: one device "<uid>-<device>" for each device of the
// claim, with the nodes of CdiSpecForGpus and its own NVIDIA_VISIBLE_DEVICES.
absl::StatusOr<CdiSpec> CdiSpecForGpuDevices(absl::string_view driver, Uid claim,
                                             absl::Span<const CdiGpu> gpus,
                                             absl::Span<const MigTable* const> mig_tables);

// The specification by dra-example-driver: kind "k8s.<driver>/gpu", a device "<uid>-<device>" for
// each device, which sets GPU_DEVICE_0=gpu-0. InvalidArgument without devices.
absl::StatusOr<CdiSpec> CdiSpecForExampleDevices(absl::string_view driver, Uid claim,
                                                 absl::Span<const std::string> devices);

// The minor number of a GPU instance's node in /dev/nvidia-caps; that of its compute instance c is
// 1 + c higher. REQUIRES: gpu and instance in 0..31 and 0..14.
int64_t MigCapabilityMinor(int64_t gpu, int64_t instance);

// The names that the plugin returns to the kubelet, for the runtime: "vendor.com/class=name".
std::vector<std::string> CdiDeviceIds(const CdiSpec& spec);

// The earliest version of the format with every feature of the specification; at least 0.3.0, the
// first release.
absl::string_view MinimumCdiVersion(const CdiSpec& spec);

// Checks a specification as a container runtime does. InvalidArgument names the first wrong field:
// "devices[0].containerEdits.env[1]: found 'X', expected 'NAME=value'". The rules:
//   * cdiVersion is a known one, and not older than MinimumCdiVersion;
//   * kind is "<vendor>/<class>": a DNS subdomain of at most 253 characters, then at most 63
//     letters, digits and inner "-_."; each begins with a letter;
//   * at least one device; its name is unique, of letters, digits and inner "-_.:"; its edits are
//     not empty;
//   * environment variables have a name;
//   * paths (of nodes, mounts, hooks) are absolute; device types, permissions and hook names are
//     known; major and minor are not negative; a timeout is above 0.
absl::Status ValidateCdiSpec(const CdiSpec& spec);

// The file: keys in the order of SPEC.md, without empty ones.
std::string CdiSpecJson(const CdiSpec& spec);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_CDI_SPEC_H_
