// A ledger in use: a worker that follows the cursor, another that inspects, and their results.
//
//   std::unique_ptr<RunSession> run = RunSession::Open("results/fgd");
//   run->Seek({.at = {SimTime(3'600'000'000'000)}});
//   ...                                                // at every frame:
//   if (const auto snapshot = run->snapshot()) Draw(*snapshot);
//
// All functions are for the interface's thread, and none but Settle waits for a worker. A request
// replaces the one before it of its kind; the published result stays until the next one is
// complete. Results are immutable and may be kept.
#ifndef DRASIM_GUI_SESSION_RUN_SESSION_H_
#define DRASIM_GUI_SESSION_RUN_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/timeline.h"

namespace drasim::gui {

class RunSession {
 public:
  // A ledger, or a folder with one. Returns at once; errors arrive in status(). `on_change` is
  // called by workers after each publication, to wake the interface; null: nobody.
  static std::unique_ptr<RunSession> Open(std::string path,
                                          std::function<void()> on_change = nullptr);
  // Cancels what is in progress.
  ~RunSession();

  const std::string& path() const;
  // The first error of reading; with it the session gives no more results. NotFound,
  // InvalidArgument (not a ledger, or another version) or DataLoss.
  absl::Status status() const;
  // Null until it was read.
  std::shared_ptr<const RunOverview> overview() const;
  // Times of the records, for stepping; null until the overview is there. Lives as the session.
  const view::RecordClock* clock() const;

  // Moves the cursor. Free if nothing changes.
  void Seek(const SnapshotRequest& request);
  // The newest snapshot; null before the first.
  std::shared_ptr<const RunSnapshot> snapshot() const;

  // Replaces the request for an object of the same kind; an empty name ends that inspection.
  void Inspect(const InspectRequest& request);
  // The newest one of the kind, perhaps of an earlier request; null before the first.
  std::shared_ptr<const Inspection> inspection(ObjectKind kind) const;

  // Whether a worker has something to do, and how much of it is done: 0..1.
  bool busy() const;
  double progress() const;
  // Waits until all requests so far are answered or have failed: for pictures and tests.
  void Settle();

 private:
  class Impl;
  explicit RunSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_RUN_SESSION_H_
