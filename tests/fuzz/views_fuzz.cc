// libFuzzer: any text ends in a set of views that is read back from its names, or in an error that
// says what was found.
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gui/app/view_list.h"
#include "model/check.h"

namespace drasim {
namespace {

void FuzzViews(absl::string_view text) {
  const absl::StatusOr<gui::ViewSet> views = gui::ParseViews(text);
  if (!views.ok()) {
    DRASIM_CHECK(absl::StartsWith(views.status().message(), "found '"));
    return;
  }
  DRASIM_CHECK(!views->empty());
  const absl::StatusOr<gui::ViewSet> again = gui::ParseViews(gui::ViewsText(*views));
  DRASIM_CHECK(again.ok() && *again == *views);
}

}  // namespace
}  // namespace drasim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  drasim::FuzzViews(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
