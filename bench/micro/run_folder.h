// The folder of a finished run, for benchmarks that look into its ledger.
#ifndef DRASIM_BENCH_MICRO_RUN_FOLDER_H_
#define DRASIM_BENCH_MICRO_RUN_FOLDER_H_

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"

namespace drasim {

// Removed with the object.
class RunFolder {
 public:
  RunFolder(absl::string_view name, const proto::Scenario& scenario)
      : dir_((std::filesystem::temp_directory_path() / std::string(name)).string()) {
    std::filesystem::create_directories(dir_);
    const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
    DRASIM_CHECK(spec.ok());
    auto sim = *Simulation::Build(*spec);
    auto outputs = *RunOutputs::Attach(sim.get(), dir_);
    DRASIM_CHECK(sim->Start().ok());
    DRASIM_CHECK(sim->Run().ok());
    DRASIM_CHECK(outputs->Complete(0).ok());
  }
  ~RunFolder() { std::filesystem::remove_all(dir_); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::string& dir() const { return dir_; }

 private:
  std::string dir_;
};

}  // namespace drasim

#endif  // DRASIM_BENCH_MICRO_RUN_FOLDER_H_
