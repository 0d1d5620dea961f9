// Pictures of Dear ImGui frames without a display: OpenGL through surfaceless EGL.
//
// libEGL is loaded when a picture is asked for, so programs start without it.
#ifndef DRASIM_GUI_APP_OFFSCREEN_H_
#define DRASIM_GUI_APP_OFFSCREEN_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "gui/app/app_state.h"
#include "gui/app/gl_frames.h"

namespace drasim::gui {

// A frame buffer in an OpenGL context of its own, current in the calling thread while it lives.
class Offscreen {
 public:
  // Unavailable if EGL or OpenGL 3.3 cannot be had, with the Debian package that is missing.
  // REQUIRES: 0 < width, 0 < height.
  static absl::StatusOr<std::unique_ptr<Offscreen>> Open(int width, int height);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  // One frame; `draw` fills it between ImGui::NewFrame and ImGui::Render. Every frame takes a
  // sixtieth of a second for ImGui, so that pictures do not depend on the machine's speed.
  absl::StatusOr<FrameImage> Frame(const Looks& looks, Fonts* fonts,
                                   absl::FunctionRef<void()> draw);

 private:
  struct Egl;

  Offscreen(std::unique_ptr<Egl> egl, int width, int height);

  std::unique_ptr<Egl> egl_;
  std::unique_ptr<GlFrames> frames_;
  int width_;
  int height_;
};

// The picture on which frames settle: ImGui learns the sizes of contents by drawing them. `frame`
// makes the next one; its first error ends this.
absl::StatusOr<FrameImage> SettledPicture(absl::FunctionRef<absl::StatusOr<FrameImage>()> frame);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_OFFSCREEN_H_
