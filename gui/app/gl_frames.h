// Dear ImGui's frames in the OpenGL context that is current, and their pixels: what a window and a
// picture have in common.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<GlFrames> frames, GlFrames::Create(eglGetProcAddress));
//   frames->Begin(looks, &fonts);
//   ImGui::NewFrame(); ...; ImGui::Render();
//   frames->Draw(width, height, theme.window);
#ifndef DRASIM_GUI_APP_GL_FRAMES_H_
#define DRASIM_GUI_APP_GL_FRAMES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "gui/app/app_state.h"
#include "gui/view/rgb.h"

namespace drasim::gui {

// As png_writer.h takes it: the top row first, three bytes a pixel.
struct FrameImage {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;
  bool operator==(const FrameImage&) const = default;
};

// Owns ImGui's context, so there is one of these at a time. The OpenGL context must outlive it and
// be current in every call, the destructor's included.
class GlFrames {
 public:
  // The address of an OpenGL function: glfwGetProcAddress, eglGetProcAddress.
  using Loader = void (*(*)(const char* name))();

  // Unavailable if OpenGL's library or a function is missing, with the package to install.
  static absl::StatusOr<std::unique_ptr<GlFrames>> Create(Loader loader);
  ~GlFrames();
  GlFrames(const GlFrames&) = delete;
  GlFrames& operator=(const GlFrames&) = delete;

  // Before ImGui::NewFrame. Loads the fonts when the looks have changed.
  void Begin(const Looks& looks, Fonts* fonts);
  // After ImGui::Render. The size is that of the frame buffer.
  void Draw(int width, int height, Rgb background);
  // Returns the frame that was drawn. Internal if OpenGL reports an error. REQUIRES: width > 0,
  // height > 0.
  absl::StatusOr<FrameImage> Read(int width, int height) const;

 private:
  struct Functions;

  explicit GlFrames(const Functions& functions);

  std::unique_ptr<const Functions> gl_;
  bool has_renderer_ = false;
  bool has_font_texture_ = false;
  std::optional<Looks> looks_;
  Fonts fonts_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_GL_FRAMES_H_
