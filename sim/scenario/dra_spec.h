// `front_end.dra` and `front_end.structured`: Dynamic Resource Allocation, its drivers and its
// control plane.
#ifndef DRASIM_SIM_SCENARIO_DRA_SPEC_H_
#define DRASIM_SIM_SCENARIO_DRA_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/scenario/deletion_entry.h"
#include "sim/scenario/structured_dra_spec.h"

namespace drasim {

namespace proto {
class Scenario;
}

// The first four in the order of ClaimDriverInfos().
enum class DriverKind : uint8_t { kNvidia, kExample, kIntel, kConstraints, kCounting };
// By its value of the key `kind`; none for an unknown one.
std::optional<DriverKind> FindDriverKind(absl::string_view name);
// Whether its claims may request a part of a GPU.
bool HandsOutParts(DriverKind kind);

struct DriverSpec {
  DriverKind kind = DriverKind::kNvidia;
  std::string kind_name;   // value of the key `kind`, for messages and MakeClaimDriver
  std::string name;        // "gpu.nvidia.com"
  std::string class_name;  // of the ResourceClass made for the driver
  std::string placement;   // of MIG instances; empty: the real driver's own
  bool packed = false;     // takes whole GPUs that can no longer be partitioned first
  bool shareable = false;
  std::string nodes;                     // that it serves: a name or a pattern with *; empty: all
  int64_t units = 0;                     // of kCounting, per node
  std::optional<int64_t> network_units;  // of kCounting, in place of units per node
  bool absent = false;                   // the class exists, the driver is not running
  SimDuration create_instance;
  SimDuration destroy_instance;
  SimDuration initialise;
  SimDuration clean_up;
  std::optional<bool> node_objects;
};

struct DraSpec {
  std::optional<StructuredDraSpec> structured;  // none: classic DRA
  std::vector<DriverSpec> drivers;              // at least one in classic DRA
  bool immediate = false;                       // allocation mode of claims made for jobs
  std::vector<std::string> objects;             // paths of manifests, created before the run
  ControlPlaneOptions plane;                    // without its seed
};

// Whether pods have claims, of classic or of structured DRA.
bool UsesDra(const proto::Scenario& scenario);
bool UsesStructuredDra(const proto::Scenario& scenario);

// Writes the defaults of the front end that affect decisions into the scenario.
void FillDraDefaults(proto::Scenario* scenario);

// None without DRA. Deletions of claims are added to the faults of the control plane.
// InvalidArgument, beginning with the scenario key, when front_end.dra is inconsistent in itself or
// with the rest of the scenario. REQUIRES: FillDraDefaults has run.
absl::StatusOr<std::optional<DraSpec>> MakeDraSpec(const proto::Scenario& scenario,
                                                   absl::Span<const UserDeletion> deletions);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DRA_SPEC_H_
