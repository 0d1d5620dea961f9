// A run in a worker: a scenario, or an opened run with changed keys ("what if"). Its ledger goes to
// a folder of its own and is opened like any other when the run is over.
//
//   RunJobSpec spec;
//   spec.scenario_yaml = overview->scenario_yaml;
//   spec.changes = {{"dra.driver_controllers.qps", "50"}};
//   std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
//
// All functions are for the interface's thread, and none but Settle waits for the worker.
#ifndef DRASIM_GUI_SESSION_RUN_JOB_H_
#define DRASIM_GUI_SESSION_RUN_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "model/time.h"

namespace drasim::gui {

// A node event of a what-if, at an instant of the run: an event of `cluster.events` (kAdd: the node
// is absent before).
struct NodeEventChange {
  enum class Kind : uint8_t { kFail, kDrain, kAdd };
  Kind kind = Kind::kFail;
  std::string node;
  SimTime at;
};

struct RunJobSpec {
  std::string scenario_path;  // a file, or "embedded:NAME"; empty: scenario_yaml
  std::string scenario_yaml;  // for errors and relative paths: as if read from `base_folder`
  std::string base_folder;
  std::vector<std::pair<std::string, std::string>> changes;  // key, value as in `--set`
  std::vector<NodeEventChange> node_events;
  // The ledger, or folder, of the run that is changed. If only failures and drains are added, the
  // run begins at its last checkpoint before them, with its records up to there. Empty, or where
  // that is impossible (a warning says why): it begins at the start.
  std::string resume_from;
  std::string out_dir;  // empty: a folder below the user's cache, removed with the job
  bool paused = false;  // before the first record
};

// Short description of the run's changes to its scenario: "driver_controllers.qps=50, node-000003
// fails at 7h". Keys are shortened to their last parts. Empty without changes.
std::string ChangesText(const RunJobSpec& spec);

// The error with which such a run would begin, but for those of its inputs: of a scenario that
// cannot be read, of a change that does not suit its key, or of keys that do not suit each other.
// Reads the scenario only, so the interface may call it as the user types.
absl::Status CheckRun(const RunJobSpec& spec);

enum class JobState : uint8_t { kStarting, kRunning, kPaused, kDone, kFailed, kCancelled };

struct JobProgress {
  JobState state = JobState::kStarting;
  absl::Status status;  // of a failed run
  uint64_t records = 0;
  SimTime time;
  uint64_t pods_arrived = 0;   // a gang counts once
  uint64_t pods_expected = 0;  // likewise
  std::string begins;          // "from the checkpoint at 19h58m", "from the start"
  // Once it can be opened: done, cancelled, or failed half-way.
  std::string ledger_path;
  std::vector<std::string> warnings;
};

class RunJob {
 public:
  // Returns at once; errors arrive in progress(), those of a scenario with file, line and column.
  // `on_change` is called by the worker after each change of state and each snapshot; null: nobody.
  static std::unique_ptr<RunJob> Start(RunJobSpec spec, std::function<void()> on_change);
  // Cancels the run, and waits until it has stopped between two events; while it reads its inputs,
  // until these are read.
  ~RunJob();

  const RunJobSpec& spec() const;
  JobProgress progress() const;
  // The state of the run now, a few times a second and whenever it pauses; null before the first.
  std::shared_ptr<const RunSnapshot> snapshot() const;
  // Overview of the run up to the snapshot, with curves that grow; published with the snapshot. Its
  // scenario is empty.
  std::shared_ptr<const RunOverview> overview() const;

  void Pause();
  // At once out of JobState::kPaused, as Step: Settle may follow.
  void Resume();
  // Lets a paused run make `records` more records.
  void Step(uint64_t records);
  // Stops the run; what it has written so far stays a partial ledger.
  void Cancel();
  // Waits until the run is over. REQUIRES: it is not paused.
  void Settle();

 private:
  class Impl;
  explicit RunJob(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_RUN_JOB_H_
