// Worlds by name: front ends and their policies, under which one workload is compared.
//
//   direct[:POLICY]              the scheduler sees devices; milli-GPUs, or MIG instances where
//                                POLICY is one of MIG
//   device-plugin                whole GPUs, MIG off
//   device-plugin:static-mig     the smallest instances that suffice, from layouts made in advance:
//                                those of cluster.mig.configs, else layouts that follow the demand
//   device-plugin:time-slicing[=N]   replicas: N, else those of the scenario, else 4
//   dra-classic[:PLACEMENT][:immediate]   claims; MIG instances where GPUs can be partitioned,
//                                else whole GPUs. PLACEMENT: first-fit (NVIDIA's driver itself),
//                                fragmentation (the least growth of fragmentation, weighted by the
//                                workload's mix), or a MIG policy's name, with or without "mig-".
//                                The driver is NVIDIA's, or Intel's for Immediate claims, which
//                                NVIDIA's refuses, unless the scenario has others
//   dra-structured[:POLICY][:extended]   claims that the scheduler allocates; POLICY chooses among
//                                the devices of a node (front_end.structured.policy). The driver
//                                is NVIDIA's, with DynamicMIG where GPUs can be partitioned, unless
//                                the scenario has others; requests follow what it publishes. With
//                                `extended`, pods ask for extended resources that classes serve
//
// A world overrides the scenario: keys that belong to another front end are cleared, and the keys
// that the world sets replace the scenario's.
#ifndef DRASIM_SIM_COMPARE_WORLDS_H_
#define DRASIM_SIM_COMPARE_WORLDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

namespace proto {
class Scenario;
}

// The policy of worlds, unless the scenario names one.
inline constexpr char kPolicyOfWorlds[] = "least-allocated";

// A change to a scenario that has not been resolved: first the keys of `clear` are cleared, then
// those of `set` are set ("key=value", as for --set).
struct ScenarioChange {
  std::vector<std::string> clear;
  std::vector<std::string> set;

  bool operator==(const ScenarioChange&) const = default;
};

// The names in "A,B,...". InvalidArgument, beginning with "--worlds: ", for no name, an empty one
// and duplicates. WorldOf finds whether there are such worlds.
absl::StatusOr<std::vector<std::string>> ParseWorlds(absl::string_view text);

// The change that makes the scenario the world of that name. InvalidArgument, beginning with
// "--worlds: ", for an unknown name, with the known ones and a suggestion. If the scenario gives no
// GPU model, reads its node list to see whether GPUs can be partitioned; errors are those of the
// file.
absl::StatusOr<ScenarioChange> WorldOf(absl::string_view name, const proto::Scenario& scenario);

// The change that makes worlds comparable: a replay with kube-scheduler's queue (that of the
// releases of classic DRA) and the policy. A fill becomes a stream: its pods arrive in the order of
// the fill, one a second, and never end; as in a fill, nothing is preempted unless the scenario
// asks for it.
ScenarioChange LikeConditions(const proto::Scenario& scenario, const std::string& policy);

// Applies the change. InvalidArgument from SetField, beginning with `origin`.
absl::Status ApplyChange(const ScenarioChange& change, absl::string_view origin,
                         proto::Scenario* scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_WORLDS_H_
