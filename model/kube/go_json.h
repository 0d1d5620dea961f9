// JSON texts as Go's encoder writes them, which kubectl and the API server pass on.
#ifndef DRASIM_MODEL_KUBE_GO_JSON_H_
#define DRASIM_MODEL_KUBE_GO_JSON_H_

#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

// Appends `text` in quotes: <, > and & are escaped, and so are line separators. Requires
// (DRASIM_CHECK): the text is UTF-8. Linear.
void AppendGoQuoted(absl::string_view text, std::string* out);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_GO_JSON_H_
