// The files and folders that a scenario names, and what their paths are relative to.
//
// A scenario file gives paths relative to itself, so that it runs from any working directory:
//
//   # demos/gpu.yaml
//   workload: {manifests: [gpu.manifest.yaml]}    # demos/gpu.manifest.yaml
//
// Flags and --set give them relative to the working directory, as does a scenario on standard
// input. A run writes them down absolute, so that its scenario.yaml and its ledger can be moved.
#ifndef DRASIM_SIM_SCENARIO_SCENARIO_PATHS_H_
#define DRASIM_SIM_SCENARIO_SCENARIO_PATHS_H_

#include "absl/strings/string_view.h"
#include "model/proto/scenario.pb.h"

namespace drasim {

// Makes the paths that the scenario file `file` gives relative to the working directory; those in
// the settings of comparison axes, too. Absolute paths, "-" (standard input) and names of built-in
// formats and tables stay. Nothing changes when `file` is "-".
void AnchorPaths(absl::string_view file, proto::Scenario* scenario);

// The same for paths that are relative to the working directory: makes them absolute.
void MakePathsAbsolute(proto::Scenario* scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_SCENARIO_PATHS_H_
