// What a run leaves behind: its folder, its files, its report.
#ifndef DRASIM_SIM_RUN_RUN_OUTPUTS_H_
#define DRASIM_SIM_RUN_RUN_OUTPUTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/state_io.h"
#include "sim/record/atomic_file.h"
#include "sim/record/device_log.h"
#include "sim/record/folder_lock.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/pod_log.h"
#include "sim/run/simulation.h"

namespace drasim {

// Makes `dir` (and its parents) and locks it. FailedPrecondition when another process writes there,
// and when it holds files that are not drasim's, unless `force`; InvalidArgument when it cannot be
// made. Changes nothing else inside.
absl::StatusOr<std::unique_ptr<FolderLock>> PrepareOutputDir(const std::string& dir, bool force);

// summary.json's content: nested objects, counts as integers, no wall-clock figures;
// docs/metrics.md has the schema.
std::string SummaryJson(const Simulation& sim);
// The same in a few lines for people.
std::string SummaryTable(const Simulation& sim);
// Header and one line: the main figures.
std::string SummaryCsv(const Simulation& sim);
// run.json's content: wall time, work counters, versions.
std::string RunJson(const Simulation& sim, double wall_seconds);

// Attaches the file writers to a simulation between Build and Start, and completes the files after
// the run. The files of an earlier run stay until those of this one are whole.
class RunOutputs {
 public:
  // Opens the files in `dir`. All of it must outlive the run.
  static absl::StatusOr<std::unique_ptr<RunOutputs>> Attach(Simulation* sim,
                                                            const std::string& dir);
  // The same for a run that goes on behind a checkpoint of the ledger in `dir`, which is to be
  // given to Simulation::Start. That opens the files, once all else is loaded, and cuts them to
  // what they were at the checkpoint; Unavailable when one is missing or shorter. Before, nothing
  // is touched.
  static absl::StatusOr<std::unique_ptr<RunOutputs>> Resume(Simulation* sim, const std::string& dir,
                                                            const LedgerPosition& position);
  // Writes everything else, then gives the files their final names and removes what is left of an
  // earlier run. A write that fails leaves that one as it was.
  absl::Status Complete(double wall_seconds);
  // After a failed or interrupted run: keeps the readable part of the ledger, and what a resumption
  // needs beside it.
  absl::Status Abandon();
  // Whether a killed or abandoned run can be gone on with; not so without a ledger.
  bool resumable() const { return ledger_ != nullptr; }

 private:
  RunOutputs(Simulation* sim, std::string dir);
  std::string PathOf(absl::string_view name) const;
  void Connect();
  void AppendSample(const Sample& sample);
  absl::Status FlushSamples();
  absl::Status AddCheckpoint(const std::string& state);
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
  std::unique_ptr<DeviceLog> device_log_;  // of runs in which nodes hand devices out; else null
  std::unique_ptr<LedgerWriter> ledger_;
  AtomicFile timeseries_;
  // By name, in the order in which they get their names.
  std::vector<std::pair<std::string, std::unique_ptr<AtomicFile>>> staged_;
  std::string buffer_;
};

// ResolvedYaml (resolved_yaml.h) of the run's own scenario.
std::string ResolvedYaml(const Simulation& sim);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RUN_OUTPUTS_H_
