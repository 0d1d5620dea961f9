// Text inside XML and HTML.
#ifndef DRASIM_SIM_OUTPUTS_XML_TEXT_H_
#define DRASIM_SIM_OUTPUTS_XML_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

// The text for an element or a quoted attribute: markup and line ends as entities; control
// characters, which XML 1.0 does not have, as U+FFFD.
std::string XmlText(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_XML_TEXT_H_
