// Paths of files and folders in a scenario, and their base folders.
//
// Paths in a scenario file are relative to that file, so it runs from any working directory:
//
//   # demos/gpu.yaml
//   workload: {manifests: [gpu.manifest.yaml]}    # demos/gpu.manifest.yaml
//
// Paths in flags, in --set and in a scenario on standard input are relative to the working
// directory. A run records absolute paths, so its scenario.yaml and its ledger can be moved.
#ifndef DRASIM_SIM_SCENARIO_SCENARIO_PATHS_H_
#define DRASIM_SIM_SCENARIO_SCENARIO_PATHS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

namespace proto {
class Scenario;
}

// Rewrites the paths of the scenario file `file`, including those in settings of comparison axes,
// as paths relative to the working directory. Keeps absolute paths, "-" (standard input) and names
// of built-in formats and tables. Changes nothing when `file` is "-".
void AnchorPaths(absl::string_view file, proto::Scenario* scenario);

// The paths of all files and folders that the scenario reads, ascending and without repetitions; no
// "-" and no names of built-in formats and tables.
std::vector<std::string> InputPaths(const proto::Scenario& scenario);

// Makes paths that are relative to the working directory absolute, with the same exceptions.
void MakePathsAbsolute(proto::Scenario* scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_SCENARIO_PATHS_H_
