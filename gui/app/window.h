// A window for the application, or a picture of it.
#ifndef DRASIM_GUI_APP_WINDOW_H_
#define DRASIM_GUI_APP_WINDOW_H_

#include <string>

#include "absl/status/status.h"
#include "gui/app/app.h"

namespace drasim::gui {

struct WindowOptions {
  int width = 1600;  // in pixels of a picture, screen coordinates of a window
  int height = 1000;
};

// window_glfw.cc. Returns when the user closes the window. Call from the main thread, one at a
// time. Unavailable if no window can be opened (no display, or OpenGL below 3.3), with the remedy.
absl::Status ShowWindow(const WindowOptions& options, App* app);
// For AppOptions::wake: makes the open window draw a frame soon; without one, nothing. Any thread.
void WakeWindow();

// window_egl.cc. Draws through surfaceless EGL, without a display, and writes the PNG. Unavailable
// without EGL, with the package that is missing; InvalidArgument if the file cannot be written;
// otherwise App::Settle's errors.
absl::Status WritePicture(const WindowOptions& options, const std::string& path, App* app);

// fonts.cc. Replaces the fonts in the atlas of ImGui's context by the embedded ones for the scale,
// and sets colours and spacings. Not within a frame. A renderer must upload the atlas again.
void ApplyLooks(const Looks& looks, Fonts* fonts);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_WINDOW_H_
