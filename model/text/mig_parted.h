// Configuration files of NVIDIA's mig-parted: named layouts of all MIG GPUs of a node.
//
//   version: v1
//   mig-configs:
//     half-and-half:
//       - device-filter: ["0x20B010DE", "0x20B110DE"]  # or one text; absent: any GPU
//         devices: [0, 1]                              # or all
//         mig-enabled: true
//         mig-devices: {3g.20gb: 2}
//
// A GPU that no group of the chosen configuration matches has MIG off. How a GPU is cut is
// mig-parted's way, too: see ApplyByPermutations. Source: github.com/NVIDIA/mig-parted.
#ifndef DRASIM_MODEL_TEXT_MIG_PARTED_H_
#define DRASIM_MODEL_TEXT_MIG_PARTED_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/mig_table.h"

namespace drasim {

// One item of a configuration: some GPUs, and how each of them is cut.
struct MigPartedGroup {
  std::vector<std::string> device_filter;  // PCI device and vendor, "0x20B010DE"; empty: any GPU
  bool all_devices = false;
  std::vector<int32_t> devices;  // indices of the node's GPUs, when not all_devices
  bool mig_enabled = false;
  std::vector<std::pair<std::string, int32_t>> mig_devices;  // profile, how many; as in the file
  std::string where;                                         // "FILE:LINE:COLUMN" of the group
};

struct MigPartedConfig {
  std::string name;
  std::vector<MigPartedGroup> groups;
};

// The configurations of a file, in its order. `file` is used in errors only.
//
// Errors (InvalidArgument): "FILE:LINE:COLUMN: mig-configs.NAME.0.devices: found ..., expected
// ...". Besides wrong types: another version than v1, unknown and duplicate keys, a configuration
// without groups, a filter that is no PCI id, device indices that are negative or come twice,
// counts below 1, instances where MIG is off, and two groups of a configuration that may match the
// same GPU: the same index, and filters that share an id or of which one is absent. Cost: linear in
// the text, and quadratic in the groups of a configuration.
absl::StatusOr<std::vector<MigPartedConfig>> ParseMigParted(absl::string_view yaml,
                                                            absl::string_view file);

// A node under a configuration. One entry per GPU in both vectors.
struct NodeMigLayout {
  std::vector<bool> mig_enabled;
  std::vector<MigState> states;  // of the GPU's table; 0, no instance, where MIG is off
  // Sums over the GPUs of what PermutationSearch counts: instances created on the way to the
  // layouts, and how many of these were destroyed again.
  int32_t created = 0;
  int32_t destroyed = 0;
};

// Applies the configuration to a node. gpus[i] is the table of its GPU i, null for a GPU without
// MIG; the tables must outlive the call only.
//
// Errors (InvalidArgument), all beginning with the group's place and field: an index that the node
// lacks; mig-enabled for a GPU without MIG; a profile that the product does not have, with the
// nearest of its names, or that the table's rules leave out; instances that do not fit together, or
// that no order of creation brings about. With groups that ParseMigParted would refuse because they
// overlap, the last one decides. Cost: groups times GPUs, and a search for a layout each time the
// table changes from one GPU to the next.
absl::StatusOr<NodeMigLayout> LayOutNode(const MigPartedConfig& config,
                                         absl::Span<const MigTable* const> gpus);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_MIG_PARTED_H_
