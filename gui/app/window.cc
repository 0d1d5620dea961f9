#include "gui/app/window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/panels.h"
#include "gui/view/png_writer.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// Dear ImGui learns the size of a panel's content by drawing it; the third frame has settled.
constexpr int kScreenshotFrames = 3;
// Sleep of the window while nothing happens.
constexpr double kIdleSeconds = 0.1;

absl::Status GlfwError(absl::string_view what) {
  const char* reason = nullptr;
  glfwGetError(&reason);
  return absl::UnavailableError(
      absl::StrCat(what, reason != nullptr ? ": " : "", reason != nullptr ? reason : ""));
}

// GLFW, a window with an OpenGL context, and a Dear ImGui context that draws into it.
class Window {
 public:
  static absl::StatusOr<std::unique_ptr<Window>> Open(const std::string& title,
                                                      const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Draws a frame, not yet shown.
  void Draw(const RunView& view, PanelState* state);
  // Writes the last picture to a PNG file.
  absl::Status Save(const std::string& path);
  // Shows what was drawn, and waits for something to happen. False when the user is done.
  bool ShowAndWait();

 private:
  explicit Window(GLFWwindow* window);

  GLFWwindow* window_;
  bool has_renderer_ = false;
};

absl::StatusOr<std::unique_ptr<Window>> Window::Open(const std::string& title,
                                                     const WindowOptions& options) {
  if (glfwInit() != GLFW_TRUE) return GlfwError("cannot open a window");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 2);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_VISIBLE, options.screenshot.empty() ? GLFW_TRUE : GLFW_FALSE);
  GLFWwindow* handle =
      glfwCreateWindow(options.width, options.height, title.c_str(), nullptr, nullptr);
  if (handle == nullptr) {
    absl::Status status = GlfwError("cannot open a window with OpenGL 3.2");
    glfwTerminate();
    return status;
  }
  std::unique_ptr<Window> window(new Window(handle));
  window->has_renderer_ = ImGui_ImplOpenGL3_Init("#version 150");
  if (!window->has_renderer_) {
    return absl::UnavailableError("cannot open a window: OpenGL cannot be loaded");
  }
  return window;
}

Window::Window(GLFWwindow* window) : window_(window) {
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::StyleColorsDark();
  // Whoever looks at a run does not want a file with window positions left behind.
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window_, /*install_callbacks=*/true);
}

Window::~Window() {
  if (has_renderer_) ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Window::Draw(const RunView& view, PanelState* state) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  DrawPanels(view, state);
  ImGui::Render();
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

absl::Status Window::Save(const std::string& path) {
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width <= 0 || height <= 0) return absl::InternalError("the window has no pixels");
  std::vector<uint8_t> rgb(size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);  // rows without gaps
  glReadBuffer(GL_BACK);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rgb.data());
  if (const GLenum error = glGetError(); error != GL_NO_ERROR) {
    return absl::InternalError(absl::StrCat("OpenGL error ", error, " while drawing"));
  }
  FlipRows(width, height, &rgb);
  return WritePng(path, width, height, rgb);
}

bool Window::ShowAndWait() {
  glfwSwapBuffers(window_);
  glfwWaitEventsTimeout(kIdleSeconds);
  return glfwWindowShouldClose(window_) == GLFW_FALSE &&
         glfwGetKey(window_, GLFW_KEY_ESCAPE) != GLFW_PRESS;
}

}  // namespace

absl::Status ShowWindow(const RunView& view, const WindowOptions& options) {
  ASSIGN_OR_RETURN(
      std::unique_ptr<Window> window,
      Window::Open(absl::StrCat("drasim-gui: ", view.path, ", ", MomentText(view)), options));
  PanelState state;
  if (!options.screenshot.empty()) {
    for (int i = 0; i < kScreenshotFrames; ++i) window->Draw(view, &state);
    return window->Save(options.screenshot);
  }
  do {
    window->Draw(view, &state);
  } while (window->ShowAndWait());
  return absl::OkStatus();
}

}  // namespace drasim
