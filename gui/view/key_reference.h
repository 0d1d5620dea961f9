// The reference of scenario keys, docs/scenario_keys.md, as part of the program.
#ifndef DRASIM_GUI_VIEW_KEY_REFERENCE_H_
#define DRASIM_GUI_VIEW_KEY_REFERENCE_H_

#include "absl/strings/string_view.h"

namespace drasim {

// The page as it is written from the comments of the schema: Markdown tables of the keys.
absl::string_view EmbeddedScenarioKeys();

}  // namespace drasim

#endif  // DRASIM_GUI_VIEW_KEY_REFERENCE_H_
