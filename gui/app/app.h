// drasim-gui without its window: frames from state. A window (window_glfw), a picture (window_egl)
// and the headless tests call the same three functions:
//
//   App app(options);
//   app.Open("results/fgd", "");
//   while (...) { ImGui::NewFrame(); app.Frame(elapsed); ImGui::Render(); ... }
#ifndef DRASIM_GUI_APP_APP_H_
#define DRASIM_GUI_APP_APP_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gui/app/app_state.h"
#include "gui/app/commands.h"
#include "gui/app/panel.h"
#include "model/time.h"

namespace drasim::gui {

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

  // A path for a PNG of the whole window, wished by the user; the window writes it after the frame.
  std::optional<std::string> TakePictureWish();

  void Run(absl::string_view command_id);
  // The command line that shows this view.
  std::string CommandLine() const;

 private:
  friend class AppLayout;

  AppState state_;
  std::vector<std::unique_ptr<Panel>> panels_;
  AppOptions options_;
  bool quit_ = false;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_H_
