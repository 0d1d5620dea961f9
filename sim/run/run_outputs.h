// Output of a run: its folder, its files and its printed report.
#ifndef DRASIM_SIM_RUN_RUN_OUTPUTS_H_
#define DRASIM_SIM_RUN_RUN_OUTPUTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/saved_state.h"
#include "model/state_io.h"
#include "sim/record/atomic_file.h"
#include "sim/record/device_log.h"
#include "sim/record/folder_lock.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/pod_log.h"
#include "sim/run/simulation.h"

namespace drasim {

// Creates `dir` and its parents and locks it; changes nothing else in it. FailedPrecondition when
// another process holds the lock or, unless `force`, when it contains foreign files;
// InvalidArgument when it cannot be created.
absl::StatusOr<std::unique_ptr<FolderLock>> PrepareOutputDir(const std::string& dir, bool force);
// The same for another set of files: all for which `is_own` is false are foreign.
absl::StatusOr<std::unique_ptr<FolderLock>> PrepareOutputDir(
    const std::string& dir, bool force, absl::FunctionRef<bool(const std::string&)> is_own);

// Content of summary.json: nested objects, integer counts, no wall-clock times; docs/metrics.md has
// the schema.
std::string SummaryJson(const Simulation& sim);
// The same as a short table for people.
std::string SummaryTable(const Simulation& sim);
// The main figures: a header and one row.
std::string SummaryCsv(const Simulation& sim);
// Content of run.json: wall time, work counters, versions.
std::string RunJson(const Simulation& sim, double wall_seconds);

// Writers of a run's files: attached to a simulation between Build and Start, completed after the
// run. The files of an earlier run remain until the new ones are complete.
class RunOutputs {
 public:
  // Opens the files in `dir`. The result must outlive the run.
  static absl::StatusOr<std::unique_ptr<RunOutputs>> Attach(Simulation* sim,
                                                            const std::string& dir);
  // The same for a run that continues from a checkpoint of the ledger in `dir`. Touches no file:
  // Simulation::Start, which takes the checkpoint, opens the files after loading everything else
  // and truncates them to their sizes at the checkpoint. It returns Unavailable when a file is
  // missing or shorter.
  static absl::StatusOr<std::unique_ptr<RunOutputs>> Resume(Simulation* sim, const std::string& dir,
                                                            const LedgerPosition& position);
  // Writes the remaining files, gives all files their final names and removes the rest of an
  // earlier run. A failed write leaves the earlier run intact.
  absl::Status Complete(double wall_seconds);
  // After a failed or interrupted run: keeps the readable part of the ledger and the other files
  // needed for a resumption.
  absl::Status Abandon();
  // Whether a killed or abandoned run can be resumed: it has a ledger.
  bool resumable() const { return ledger_ != nullptr; }
  const PodLog& pod_log() const { return pod_log_; }

 private:
  RunOutputs(Simulation* sim, std::string dir);
  std::string PathOf(absl::string_view name) const;
  void Connect();
  void AppendSample(const Sample& sample);
  absl::Status FlushSamples();
  absl::Status AddCheckpoint(const SavedState& state);
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);
  absl::Status BringBack(absl::string_view name, absl::string_view temporary) const;
  absl::StatusOr<AtomicFile*> Stage(absl::string_view name);
  absl::Status StageText(absl::string_view name, absl::string_view text);
  absl::Status StagePods();
  absl::Status StageJobs();
  absl::Status StageAll(double wall_seconds);
  absl::Status RemoveEarlierRun() const;

  Simulation* sim_;
  std::string dir_;
  PodLog pod_log_;
  std::unique_ptr<DeviceLog> device_log_;  // null unless nodes hand out devices
  std::unique_ptr<LedgerWriter> ledger_;
  AtomicFile timeseries_;
  // By name, in the order of the final renaming.
  std::vector<std::pair<std::string, std::unique_ptr<AtomicFile>>> staged_;
  std::string buffer_;
};

// ResolvedYaml (resolved_yaml.h) of the run's own scenario.
std::string ResolvedYaml(const Simulation& sim);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RUN_OUTPUTS_H_
