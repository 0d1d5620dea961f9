#include <memory>

#include "absl/status/statusor.h"
#include "gui/app/gl_frames.h"
#include "gui/app/offscreen.h"
#include "gui/app/window.h"
#include "gui/view/png_writer.h"
#include "model/status_macros.h"
#include "model/time.h"

namespace drasim::gui {

absl::Status WritePicture(const WindowOptions& options, const std::string& path, App* app) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Offscreen> screen,
                   Offscreen::Open(options.width, options.height));
  AppState& state = app->state();
  const auto frame = [&]() -> absl::StatusOr<FrameImage> {
    // Each frame may ask the workers for more, such as the inspection of what is selected.
    RETURN_IF_ERROR(app->Settle());
    return screen->Frame(state.looks, &state.fonts, [&] { app->Frame(SimDuration()); });
  };
  absl::StatusOr<FrameImage> picture = SettledPicture(frame);
  state.fonts = Fonts();  // they end with the screen
  RETURN_IF_ERROR(picture.status());
  return WritePng(path, picture->width, picture->height, picture->rgb);
}

}  // namespace drasim::gui
