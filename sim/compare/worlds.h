// Worlds by name: front ends and their policies, under which one workload is compared.
//
//   direct[:POLICY]              the scheduler sees devices; milli-GPUs, or MIG instances where
//                                POLICY is one of MIG
//   device-plugin                whole GPUs, MIG off
//   device-plugin:static-mig     the smallest instances that are enough, from layouts made ahead:
//                                those of cluster.mig.configs, else after the demand
//   device-plugin:time-slicing[=N]   replicas: N, else those of the scenario, else 4
//   dra-classic[:PLACEMENT][:immediate]   claims; MIG instances where GPUs can be partitioned,
//                                else whole GPUs. PLACEMENT: first-fit (NVIDIA's driver itself),
//                                fragmentation (the least growth of fragmentation, weighted by the
//                                workload's mix), or a MIG policy's name, with or without "mig-".
//                                The driver is NVIDIA's, or Intel's for Immediate claims, which
//                                NVIDIA's refuses, unless the scenario has others
//
// A world is what its name says: keys of the scenario that belong to another front end are cleared,
// and what the world sets replaces what the scenario has there.
#ifndef DRASIM_SIM_COMPARE_WORLDS_H_
#define DRASIM_SIM_COMPARE_WORLDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/scenario.pb.h"

namespace drasim {

// A change of a scenario that has not been resolved: first these keys lose what they hold, then
// those are set ("key=value", as for --set).
struct ScenarioChange {
  std::vector<std::string> clear;
  std::vector<std::string> set;

  bool operator==(const ScenarioChange&) const = default;
};

// The names in "A,B,...". InvalidArgument, beginning with "--worlds: ", for none, an empty one and
// one that is there twice. Whether there are such worlds is found by WorldOf.
absl::StatusOr<std::vector<std::string>> ParseWorlds(absl::string_view text);

// What makes the scenario the world of that name. InvalidArgument, beginning with "--worlds: ", for
// an unknown name, with what is known and a suggestion. Where the scenario gives no GPU model,
// reads its node list to see whether GPUs can be partitioned; errors are those of the file.
absl::StatusOr<ScenarioChange> WorldOf(absl::string_view name, const proto::Scenario& scenario);

// What makes worlds comparable, whatever the scenario says: a replay with kube-scheduler's queue
// (as the releases of classic DRA have it) and the policy. A fill becomes a stream: its pods, in
// the order of the fill, one a second, which never end; as in a fill, nobody displaces anybody
// unless the scenario says so.
ScenarioChange LikeConditions(const proto::Scenario& scenario, const std::string& policy);

// Carries the change out. InvalidArgument as of SetField, beginning with `origin`.
absl::Status ApplyChange(const ScenarioChange& change, absl::string_view origin,
                         proto::Scenario* scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_WORLDS_H_
