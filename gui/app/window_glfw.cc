#define GLFW_INCLUDE_NONE
#include <GL/glcorearb.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/gl_frames.h"
#include "gui/app/window.h"
#include "gui/view/palette.h"
#include "gui/view/png_writer.h"
#include "model/status_macros.h"
#include "model/time.h"

namespace drasim::gui {
namespace {

// Frames after an event: ImGui lays out in one what the other learned.
constexpr int kFramesPerEvent = 3;
// The shortest time from frame to frame.
constexpr double kFrameSeconds = 1.0 / 60;
// Between frames while nothing happens, for the blinking of a text's cursor.
constexpr double kIdleSeconds = 0.5;
// The longest step of the clock, after a frame that took its time.
constexpr double kLongestStep = 0.1;

// Workers wake the window from their threads while it may be closing.
std::mutex wake_mutex;
bool window_is_open = false;

void SetOpen(bool open) {
  const std::lock_guard<std::mutex> lock(wake_mutex);
  window_is_open = open;
}

std::string GlfwReason() {
  const char* reason = nullptr;
  glfwGetError(&reason);
  return reason != nullptr ? reason : "no reason given";
}

absl::Status NoDisplay() {
  return absl::UnavailableError(
      absl::StrCat("cannot open a window: ", GlfwReason(),
                   "; without a display use --screenshot OUT.png, `xvfb-run -a drasim-gui ...` or "
                   "`drasim report`"));
}

// The error for a driver without OpenGL 3.3; names the version found instead.
absl::Status OldOpenGl() {
  const std::string reason = GlfwReason();
  std::string found;
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  if (GLFWwindow* probe = glfwCreateWindow(64, 64, "drasim", nullptr, nullptr)) {
    glfwMakeContextCurrent(probe);
    const auto get_string = reinterpret_cast<PFNGLGETSTRINGPROC>(glfwGetProcAddress("glGetString"));
    const GLubyte* version = get_string != nullptr ? get_string(GL_VERSION) : nullptr;
    if (version != nullptr) found = reinterpret_cast<const char*>(version);
    glfwDestroyWindow(probe);
  }
  return absl::UnavailableError(absl::StrCat(
      "cannot open a window: OpenGL 3.3 is needed, found ",
      found.empty() ? absl::StrCat("none (", reason, ")") : found,
      "; install the graphics driver or, to draw in software, the Debian package libgl1-mesa-dri, "
      "or use --screenshot OUT.png"));
}

// GLFW with a window, an OpenGL context, and ImGui in it.
class Window {
 public:
  static absl::StatusOr<std::unique_ptr<Window>> Open(const WindowOptions& options, App* app);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Draws frames until the user is done.
  void Run();

 private:
  explicit Window(App* app) : app_(app) {}

  absl::Status Create(const WindowOptions& options);
  void WaitForEvents(bool animating);
  void Draw(bool animating);
  void CarryOutPictureWish(int width, int height);

  App* app_;
  bool initialised_ = false;
  GLFWwindow* window_ = nullptr;
  std::unique_ptr<GlFrames> frames_;
  bool has_events_ = false;
  int due_ = kFramesPerEvent;
  double last_time_ = 0;
};

absl::StatusOr<std::unique_ptr<Window>> Window::Open(const WindowOptions& options, App* app) {
  std::unique_ptr<Window> window(new Window(app));
  RETURN_IF_ERROR(window->Create(options));
  return window;
}

absl::Status Window::Create(const WindowOptions& options) {
  if (glfwInit() != GLFW_TRUE) return NoDisplay();
  initialised_ = true;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  window_ = glfwCreateWindow(options.width, options.height, "drasim", nullptr, nullptr);
  if (window_ == nullptr) return OldOpenGl();
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  ASSIGN_OR_RETURN(frames_, GlFrames::Create(glfwGetProcAddress));

  // Before ImGui's back end installs its own callbacks, which call those that they replace.
  glfwSetWindowUserPointer(window_, this);
  glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
    const auto* self = static_cast<const Window*>(glfwGetWindowUserPointer(window));
    // The first file opens as A; of two dropped together the second is the one to compare.
    for (int i = 0; i < std::min(count, 2); ++i) self->app_->Open(paths[i], /*as_b=*/i == 1);
  });
  has_events_ = ImGui_ImplGlfw_InitForOpenGL(window_, /*install_callbacks=*/true);

  // A scale of 1 follows the monitor.
  float x_scale = 1;
  float y_scale = 1;
  glfwGetWindowContentScale(window_, &x_scale, &y_scale);
  Looks& looks = app_->state().looks;
  if (looks.scale == 1) looks.scale = std::clamp(std::max(x_scale, y_scale), 1.0F, 3.0F);
  SetOpen(true);
  return absl::OkStatus();
}

Window::~Window() {
  SetOpen(false);
  app_->state().fonts = Fonts();  // they end with the atlas
  if (has_events_) ImGui_ImplGlfw_Shutdown();
  frames_.reset();
  if (window_ != nullptr) glfwDestroyWindow(window_);
  if (initialised_) glfwTerminate();
}

void Window::Run() {
  last_time_ = glfwGetTime();
  while (glfwWindowShouldClose(window_) == GLFW_FALSE && !app_->wants_quit()) {
    const bool animating = app_->animating();
    WaitForEvents(animating);
    Draw(animating);
  }
}

void Window::WaitForEvents(bool animating) {
  const double before = glfwGetTime();
  const bool hidden = glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == GLFW_TRUE;
  if (!hidden && (animating || due_ > 0)) {
    // Swapping the buffers waits for the monitor, except where there is none.
    glfwWaitEventsTimeout(std::max(last_time_ + kFrameSeconds - before, 0.0));
    due_ = std::max(due_ - 1, 0);
    return;
  }
  glfwWaitEventsTimeout(kIdleSeconds);
  if (glfwGetTime() - before < kIdleSeconds) due_ = kFramesPerEvent - 1;
}

void Window::Draw(bool animating) {
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width <= 0 || height <= 0) return;  // an icon
  const double now = glfwGetTime();
  // The clock does not jump over the time in which the window waited for an event.
  const double step = animating ? std::min(now - last_time_, kLongestStep) : 0;
  last_time_ = now;
  AppState& state = app_->state();
  frames_->Begin(state.looks, &state.fonts);
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  app_->Frame(SimDuration(std::llround(step * 1e9)));
  ImGui::Render();
  frames_->Draw(width, height, state.theme().window);
  CarryOutPictureWish(width, height);
  glfwSwapBuffers(window_);
}

void Window::CarryOutPictureWish(int width, int height) {
  const std::optional<PictureWish> wish = app_->TakePictureWish();
  if (!wish.has_value()) return;
  absl::Status status = absl::OkStatus();
  if (const absl::StatusOr<FrameImage> picture = frames_->Read(width, height); picture.ok()) {
    if (wish->part.has_value()) {
      const view::Rect& part = *wish->part;
      const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
      const int left = std::clamp(static_cast<int>(part.x * scale.x), 0, width - 1);
      const int top = std::clamp(static_cast<int>(part.y * scale.y), 0, height - 1);
      const int wide = std::clamp(static_cast<int>(part.width * scale.x), 1, width - left);
      const int high = std::clamp(static_cast<int>(part.height * scale.y), 1, height - top);
      status = WritePng(wish->path, wide, high,
                        PartOfPicture(width, height, picture->rgb, left, top, wide, high));
    } else {
      status = WritePng(wish->path, width, height, picture->rgb);
    }
  } else {
    status = picture.status();
  }
  Notice notice;
  notice.error = !status.ok();
  notice.text = status.ok() ? absl::StrCat("Written: ", wish->path) : std::string(status.message());
  app_->state().notices.push_back(std::move(notice));
  due_ = kFramesPerEvent;
}

}  // namespace

absl::Status ShowWindow(const WindowOptions& options, App* app) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, Window::Open(options, app));
  window->Run();
  return absl::OkStatus();
}

void WakeWindow() {
  const std::lock_guard<std::mutex> lock(wake_mutex);
  if (window_is_open) glfwPostEmptyEvent();
}

}  // namespace drasim::gui
