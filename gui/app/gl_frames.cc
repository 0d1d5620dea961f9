#include "gui/app/gl_frames.h"

#include <GL/glcorearb.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/app/window.h"
#include "gui/view/png_writer.h"

namespace drasim::gui {
namespace {

template <typename Function>
bool Load(GlFrames::Loader loader, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(loader(name));
  return *function != nullptr;
}

}  // namespace

// Looked up at run time: the program starts without OpenGL's library, and can say what is missing.
struct GlFrames::Functions {
  PFNGLVIEWPORTPROC viewport = nullptr;
  PFNGLCLEARCOLORPROC clear_colour = nullptr;
  PFNGLCLEARPROC clear = nullptr;
  PFNGLPIXELSTOREIPROC pixel_store = nullptr;
  PFNGLREADPIXELSPROC read_pixels = nullptr;
  PFNGLGETERRORPROC get_error = nullptr;
};

absl::StatusOr<std::unique_ptr<GlFrames>> GlFrames::Create(Loader loader) {
  Functions gl;
  const bool complete =
      Load(loader, "glViewport", &gl.viewport) && Load(loader, "glClearColor", &gl.clear_colour) &&
      Load(loader, "glClear", &gl.clear) && Load(loader, "glPixelStorei", &gl.pixel_store) &&
      Load(loader, "glReadPixels", &gl.read_pixels) && Load(loader, "glGetError", &gl.get_error);
  if (!complete) {
    return absl::UnavailableError(
        "OpenGL's functions cannot be loaded; install the Debian package libgl1-mesa-dri");
  }
  std::unique_ptr<GlFrames> frames(new GlFrames(gl));
  if (!frames->has_renderer_) {
    return absl::UnavailableError("libGL.so.1 cannot be loaded; install the Debian package libgl1");
  }
  return frames;
}

GlFrames::GlFrames(const Functions& functions) : gl_(std::make_unique<const Functions>(functions)) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  // No file with window positions shall be left behind in the user's folder.
  ImGui::GetIO().IniFilename = nullptr;
  has_renderer_ = ImGui_ImplOpenGL3_Init("#version 330 core");
}

GlFrames::~GlFrames() {
  if (has_renderer_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

void GlFrames::Begin(const Looks& looks, Fonts* fonts) {
  if (!looks_.has_value() || looks_->theme != looks.theme || looks_->scale != looks.scale) {
    looks_ = looks;
    ApplyLooks(looks, &fonts_);
    if (has_font_texture_) {
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
  }
  *fonts = fonts_;
  ImGui_ImplOpenGL3_NewFrame();  // the first one makes the texture
  has_font_texture_ = true;
}

void GlFrames::Draw(int width, int height, Rgb background) {
  const auto channel = [](uint8_t value) { return static_cast<float>(value) / 255; };
  gl_->viewport(0, 0, width, height);
  gl_->clear_colour(channel(background.red), channel(background.green), channel(background.blue),
                    1);
  gl_->clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

absl::StatusOr<FrameImage> GlFrames::Read(int width, int height) const {
  FrameImage picture;
  picture.width = width;
  picture.height = height;
  picture.rgb.resize(size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height));
  gl_->pixel_store(GL_PACK_ALIGNMENT, 1);  // rows without gaps
  gl_->read_pixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, picture.rgb.data());
  if (const GLenum error = gl_->get_error(); error != GL_NO_ERROR) {
    return absl::InternalError(absl::StrCat("OpenGL error ", error, " while drawing"));
  }
  FlipRows(width, height, &picture.rgb);
  return picture;
}

}  // namespace drasim::gui
