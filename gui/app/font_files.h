// The font files inside the binary, which gui/CMakeLists.txt takes from Debian's packages: Roboto,
// whose figures all have one width, and DejaVu for the signs that Roboto lacks, such as arrows.
#ifndef DRASIM_GUI_APP_FONT_FILES_H_
#define DRASIM_GUI_APP_FONT_FILES_H_

#include "absl/strings/string_view.h"

namespace drasim {

// TrueType files. They live as long as the program.
absl::string_view TextFont();
absl::string_view StrongFont();
absl::string_view SignFont();

}  // namespace drasim

#endif  // DRASIM_GUI_APP_FONT_FILES_H_
