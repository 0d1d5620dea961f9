// `front_end.dra`: classic Dynamic Resource Allocation, its drivers and its control plane.
#ifndef DRASIM_SIM_SCENARIO_DRA_SPEC_H_
#define DRASIM_SIM_SCENARIO_DRA_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"
#include "sim/dra/control_plane.h"
#include "sim/scenario/deletion_entry.h"

namespace drasim {

// The first four in the order of ClaimDriverInfos().
enum class DriverKind : uint8_t { kNvidia, kExample, kIntel, kConstraints, kCounting };
// By the name that the key `kind` has for it; none for an unknown one.
std::optional<DriverKind> FindDriverKind(absl::string_view name);
// Whether its claims may ask for a part of a GPU.
bool HandsOutParts(DriverKind kind);

struct DriverSpec {
  DriverKind kind = DriverKind::kNvidia;
  std::string kind_name;   // as messages and MakeClaimDriver have it
  std::string name;        // "gpu.nvidia.com"
  std::string class_name;  // of the ResourceClass that is made for it
  std::string placement;   // of MIG instances; empty: as the real driver does
  bool packed = false;     // whole GPUs come first from those that cannot be partitioned any more
  bool shareable = false;
  std::string nodes;  // where it runs: a node's name, or a pattern with *; empty: on all
  int64_t units = 0;  // of kCounting, per node
  std::optional<int64_t> network_units;  // of kCounting, in place of units per node
  bool absent = false;                   // nobody serves the class
  SimDuration create_instance;
  SimDuration destroy_instance;
  SimDuration initialise;
  SimDuration clean_up;
  std::optional<bool> node_objects;
};

struct DraSpec {
  std::vector<DriverSpec> drivers;   // one at least
  bool immediate = false;            // claims made for jobs are allocated at once
  std::vector<std::string> objects;  // paths of manifests that are there from the beginning
  ControlPlaneOptions plane;         // without its seed
};

bool UsesDra(const proto::Scenario& scenario);

// Writes out the defaults of front_end.dra that decide something.
void FillDraDefaults(proto::Scenario* scenario);

// None without classic DRA. `deletions`: those of claims join the faults of the control plane.
// InvalidArgument, beginning with the scenario key, when front_end.dra makes no sense by itself or
// with the rest of the scenario. REQUIRES: FillDraDefaults.
absl::StatusOr<std::optional<DraSpec>> MakeDraSpec(const proto::Scenario& scenario,
                                                   absl::Span<const UserDeletion> deletions);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DRA_SPEC_H_
