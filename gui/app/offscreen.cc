#include "gui/app/offscreen.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>
#include <dlfcn.h>
#include <imgui.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/view/palette.h"
#include "model/status_macros.h"

namespace drasim::gui {
namespace {

// The third frame has settled unless something arrives meanwhile.
constexpr int kLeastFrames = 3;
constexpr int kMostFrames = 10;

absl::Status CannotDraw(absl::string_view reason, absl::string_view packages) {
  return absl::UnavailableError(absl::StrCat("cannot draw without a display: ", reason,
                                             "; install the Debian packages ", packages));
}

}  // namespace

// EGL's functions, and what was opened with them.
struct Offscreen::Egl {
  ~Egl();
  absl::Status Load();
  absl::Status MakeContext();
  std::string FindOpenGl();
  absl::Status MakeFrameBuffer(int width, int height);

  template <typename Function>
  bool Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
  template <typename Function>
  bool FindGl(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(get_proc_address(name));
    return *function != nullptr;
  }

  void* library = nullptr;
  PFNEGLGETPROCADDRESSPROC get_proc_address = nullptr;
  PFNEGLGETERRORPROC get_error = nullptr;
  PFNEGLINITIALIZEPROC initialize = nullptr;
  PFNEGLTERMINATEPROC terminate = nullptr;
  PFNEGLBINDAPIPROC bind_api = nullptr;
  PFNEGLCREATECONTEXTPROC create_context = nullptr;
  PFNEGLDESTROYCONTEXTPROC destroy_context = nullptr;
  PFNEGLMAKECURRENTPROC make_current = nullptr;
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
};

Offscreen::Egl::~Egl() {
  if (context != EGL_NO_CONTEXT) {
    make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    destroy_context(display, context);  // and the frame buffer in it
  }
  if (display != EGL_NO_DISPLAY) terminate(display);
  // The library stays: drivers keep threads and exit handlers that would outlive its code.
}

absl::Status Offscreen::Egl::Load() {
  library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return CannotDraw(reason != nullptr ? reason : "libEGL.so.1 cannot be loaded",
                      "libegl1 and libgl1-mesa-dri");
  }
  const bool complete =
      Find("eglGetProcAddress", &get_proc_address) && Find("eglGetError", &get_error) &&
      Find("eglInitialize", &initialize) && Find("eglTerminate", &terminate) &&
      Find("eglBindAPI", &bind_api) && Find("eglCreateContext", &create_context) &&
      Find("eglDestroyContext", &destroy_context) && Find("eglMakeCurrent", &make_current);
  if (complete) return absl::OkStatus();
  return CannotDraw("libEGL.so.1 lacks functions of EGL 1.4", "libegl1 and libgl1-mesa-dri");
}

absl::Status Offscreen::Egl::MakeContext() {
  static constexpr char kPackages[] = "libegl-mesa0 and libgl1-mesa-dri";
  PFNEGLGETPLATFORMDISPLAYEXTPROC get_platform_display = nullptr;
  if (FindGl("eglGetPlatformDisplayEXT", &get_platform_display)) {
    display = get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
  }
  if (display == EGL_NO_DISPLAY) return CannotDraw("EGL has no surfaceless platform", kPackages);
  if (initialize(display, nullptr, nullptr) == EGL_FALSE || bind_api(EGL_OPENGL_API) == EGL_FALSE) {
    return CannotDraw(absl::StrCat("EGL finds no driver (error 0x", absl::Hex(get_error()), ")"),
                      kPackages);
  }
  static constexpr EGLint kAttributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                           3,
                                           EGL_CONTEXT_MINOR_VERSION,
                                           3,
                                           EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                           EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                           EGL_NONE};
  // Without a configuration (EGL_KHR_no_config_context): there is no surface that would need one.
  context = create_context(display, nullptr, EGL_NO_CONTEXT, kAttributes);
  if (context != EGL_NO_CONTEXT &&
      make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE) {
    return absl::OkStatus();
  }
  const std::string error = absl::StrCat("error 0x", absl::Hex(get_error()));
  const std::string found = FindOpenGl();
  return CannotDraw(absl::StrCat("OpenGL 3.3 is needed, found ", found.empty() ? "none" : found,
                                 " (", error, ")"),
                    kPackages);
}

// The version of OpenGL that is there instead of 3.3; empty: none.
std::string Offscreen::Egl::FindOpenGl() {
  if (context == EGL_NO_CONTEXT) {
    context = create_context(display, nullptr, EGL_NO_CONTEXT, nullptr);
  }
  PFNGLGETSTRINGPROC get_string = nullptr;
  if (context == EGL_NO_CONTEXT ||
      make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE ||
      !FindGl("glGetString", &get_string)) {
    return "";
  }
  const GLubyte* const version = get_string(GL_VERSION);
  return version != nullptr ? reinterpret_cast<const char*>(version) : "";
}

absl::Status Offscreen::Egl::MakeFrameBuffer(int width, int height) {
  PFNGLGENFRAMEBUFFERSPROC gen_framebuffers = nullptr;
  PFNGLBINDFRAMEBUFFERPROC bind_framebuffer = nullptr;
  PFNGLGENRENDERBUFFERSPROC gen_renderbuffers = nullptr;
  PFNGLBINDRENDERBUFFERPROC bind_renderbuffer = nullptr;
  PFNGLRENDERBUFFERSTORAGEPROC renderbuffer_storage = nullptr;
  PFNGLFRAMEBUFFERRENDERBUFFERPROC framebuffer_renderbuffer = nullptr;
  PFNGLCHECKFRAMEBUFFERSTATUSPROC check_framebuffer_status = nullptr;
  const bool complete = FindGl("glGenFramebuffers", &gen_framebuffers) &&
                        FindGl("glBindFramebuffer", &bind_framebuffer) &&
                        FindGl("glGenRenderbuffers", &gen_renderbuffers) &&
                        FindGl("glBindRenderbuffer", &bind_renderbuffer) &&
                        FindGl("glRenderbufferStorage", &renderbuffer_storage) &&
                        FindGl("glFramebufferRenderbuffer", &framebuffer_renderbuffer) &&
                        FindGl("glCheckFramebufferStatus", &check_framebuffer_status);
  if (!complete) return CannotDraw("OpenGL has no frame buffers", "libgl1-mesa-dri");
  GLuint frame_buffer = 0;
  GLuint colours = 0;
  gen_framebuffers(1, &frame_buffer);
  bind_framebuffer(GL_FRAMEBUFFER, frame_buffer);
  gen_renderbuffers(1, &colours);
  bind_renderbuffer(GL_RENDERBUFFER, colours);
  renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
  if (check_framebuffer_status(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot draw without a display: OpenGL refuses a picture of ", width, "x",
                   height, " pixels; try a smaller one"));
}

absl::StatusOr<std::unique_ptr<Offscreen>> Offscreen::Open(int width, int height) {
  auto egl = std::make_unique<Egl>();
  RETURN_IF_ERROR(egl->Load());
  RETURN_IF_ERROR(egl->MakeContext());
  RETURN_IF_ERROR(egl->MakeFrameBuffer(width, height));
  std::unique_ptr<Offscreen> screen(new Offscreen(std::move(egl), width, height));
  ASSIGN_OR_RETURN(screen->frames_, GlFrames::Create(screen->egl_->get_proc_address));
  // ImGui's keyboard navigation insists on keys, which nobody presses here.
  ImGuiIO& io = ImGui::GetIO();
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  return screen;
}

Offscreen::Offscreen(std::unique_ptr<Egl> egl, int width, int height)
    : egl_(std::move(egl)), width_(width), height_(height) {}

Offscreen::~Offscreen() = default;

absl::StatusOr<FrameImage> Offscreen::Frame(const Looks& looks, Fonts* fonts,
                                            absl::FunctionRef<void()> draw) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width_), static_cast<float>(height_));
  io.DeltaTime = 1.0F / 60;
  frames_->Begin(looks, fonts);
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  frames_->Draw(width_, height_, view::ThemeOf(looks.theme).window);
  return frames_->Read(width_, height_);
}

absl::StatusOr<FrameImage> SettledPicture(absl::FunctionRef<absl::StatusOr<FrameImage>()> frame) {
  FrameImage last;
  for (int count = 1; count <= kMostFrames; ++count) {
    ASSIGN_OR_RETURN(FrameImage picture, frame());
    const bool settled = count >= kLeastFrames && picture == last;
    last = std::move(picture);
    if (settled) break;
  }
  return last;
}

}  // namespace drasim::gui
