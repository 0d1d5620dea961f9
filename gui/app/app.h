// drasim-gui without its window: frames from state. A window (window_glfw), a picture (window_egl)
// and the headless tests call the same three functions:
//
//   App app(options);
//   app.Open("results/fgd", "");
//   while (...) { ImGui::NewFrame(); app.Frame(elapsed); ImGui::Render(); ... }
#ifndef DRASIM_GUI_APP_APP_H_
#define DRASIM_GUI_APP_APP_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/app/app_view.h"
#include "gui/app/inspection_wishes.h"
#include "gui/app/panel.h"
#include "gui/app/settings.h"
#include "gui/app/stepper.h"
#include "gui/session/comparison_job.h"
#include "gui/session/run_job.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/draw_list.h"
#include "gui/view/timeline.h"
#include "model/time.h"

namespace drasim::gui {

// At 1x. A clock that counts records has no seconds of its own.
inline constexpr int64_t kPlayedRecordsPerSecond = 10;

struct AppOptions {
  std::string path_a;  // ledger, folder, scenario, or empty for the start page
  std::string path_b;
  std::string at;      // a typed time; empty: where most was allocated
  std::string select;  // a pod, node, claim or tenant by name
  ViewSet views;       // empty: the defaults
  Looks looks;
  std::string settings_folder;  // of splitters and recent files; empty: nothing is kept
  std::function<void()> wake;   // called by workers; null: nobody
};

// A PNG of the window that the user wants.
struct PictureWish {
  std::string path;
  std::optional<view::Rect> part;  // a panel, in ImGui's coordinates; absent: the whole window
  bool operator==(const PictureWish&) const = default;
};

class App {
 public:
  explicit App(AppOptions options);
  ~App();

  AppState& state() { return state_; }
  const AppState& state() const { return state_; }

  // Opens a ledger, a folder with one, or a scenario to be run, as A or B.
  void Open(const std::string& path, bool as_b);
  // One frame inside ImGui's: takes the workers' results, moves the clock, draws everything.
  void Frame(SimDuration elapsed);
  // Waits for the workers: for pictures and tests. The first error of an opened run, or of `at` and
  // `select`.
  absl::Status Settle();
  // Whether the next frame may differ without an event of the user.
  bool animating() const;
  bool wants_quit() const { return quit_; }
  void Quit() { quit_ = true; }

  // The window writes it after the frame.
  std::optional<PictureWish> TakePictureWish();

  // The command line that shows this view.
  std::string CommandLine() const;

  // --- For the commands and the parts of the window ---
  AppView& layout() { return *layout_; }
  absl::Span<const std::unique_ptr<Panel>> panels() const { return panels_; }
  Settings& settings() { return settings_; }
  // After a change that a user makes once: theme, splitter, recent file. Errors become a notice.
  void SaveSettings();
  void Notify(absl::string_view text, bool error = false);
  // Asks for a picture of the next frame: by then the list that it was chosen from is gone.
  void WishPicture(PictureWish wish) { picture_wish_ = std::move(wish); }
  // To the next or previous place of that kind; a notice if none is known.
  void Step(view::StepUnit unit, bool forward);
  void CloseA();
  void CloseB();
  // Why A could not be opened; OK unless AppState::error is set.

 private:
  // Everything but drawing. True if a worker was asked for something new.
  bool Update();
  bool CarryOutWishes();
  void OpenSession(const std::string& path, bool as_b);
  void StartJob(RunJobSpec spec, bool as_b);
  bool TakeJob(RunSlot* slot, bool as_b);
  void TakeResults(RunSlot* slot, bool as_b);
  bool FitTimeline();
  void BeginClock();
  void ResolveSelection();
  bool FindSelection(const std::string& name);
  bool SeekAll();
  bool CompareAll();
  void Play(SimDuration elapsed);
  void FailOpening(const absl::Status& status);

  AppOptions options_;
  AppState state_;
  std::vector<std::unique_ptr<Panel>> panels_;
  std::unique_ptr<AppView> layout_;
  Settings settings_;
  bool quit_ = false;
  std::optional<PictureWish> picture_wish_;  // for the frame after this one
  std::optional<PictureWish> picture_;

  absl::Status open_status_;
  absl::Status wish_status_;  // the first error of `at` and `select`
  bool clock_began_ = false;  // the cursor stands where A is to be seen first
  bool at_is_given_ = false;  // by the user, for the present A
  std::string to_select_;     // looked for in the snapshot of the cursor
  bool looked_at_end_ = false;
  Stepper stepper_;
  InspectionWishes inspections_;
  std::array<SnapshotRequest, 2> sought_;
  std::array<bool, 2> seeks_ = {false, false};  // sought_ is valid
  SimDuration compared_tolerance_;
  std::string told_;       // the pod whose stories the comparison was asked for
  int64_t play_rest_ = 0;  // of a clock that counts records: billionths of one
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_H_
