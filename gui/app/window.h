// A window for the panels, or a picture of one: GLFW, OpenGL 3.2 and Dear ImGui's back ends.
#ifndef DRASIM_GUI_APP_WINDOW_H_
#define DRASIM_GUI_APP_WINDOW_H_

#include <string>

#include "absl/status/status.h"
#include "gui/view/run_view.h"

namespace drasim {

struct WindowOptions {
  int width = 1280;  // in screen coordinates
  int height = 800;
  // If set: no window appears; a few frames are drawn and the last is written to this PNG file.
  std::string screenshot;
};

// Returns when the user closes the window or the screenshot is written. Call from the main thread,
// one at a time. Unavailable if no window can be opened (no display, or no OpenGL 3.2);
// InvalidArgument if the screenshot cannot be written; Internal if OpenGL fails.
absl::Status ShowWindow(const RunView& view, const WindowOptions& options);

}  // namespace drasim

#endif  // DRASIM_GUI_APP_WINDOW_H_
