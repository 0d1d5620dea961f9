// Data files that are part of the program: the contents of traces/data/, turned into code at build
// time.
//
// All functions are pure: they return the same bytes at every call, which live as long as the
// program.
#ifndef DRASIM_TRACES_EMBEDDED_H_
#define DRASIM_TRACES_EMBEDDED_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

// The YAML text of the built-in mapping `name`: traces/data/NAME.yaml. Empty when there is none.
absl::string_view EmbeddedMapping(absl::string_view name);

// The names that EmbeddedMapping knows, sorted.
std::vector<std::string> EmbeddedMappingNames();

// traces/data/catalogue.csv: the public trace files that can be fetched.
absl::string_view EmbeddedTraceCatalogue();

// traces/data/openb_like.csv: how often each pod shape and each kind of node occurs in openb.
absl::string_view EmbeddedOpenbLikeTable();

}  // namespace drasim

#endif  // DRASIM_TRACES_EMBEDDED_H_
