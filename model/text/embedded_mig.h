// Data files about MIG that are part of the program, turned into code at build time.
//
// Both functions are pure: they return the same bytes at every call, which live as long as the
// program.
#ifndef DRASIM_MODEL_TEXT_EMBEDDED_MIG_H_
#define DRASIM_MODEL_TEXT_EMBEDDED_MIG_H_

#include "absl/strings/string_view.h"

namespace drasim {

// model/data/mig_catalogue.yaml: the products. ParseMigCatalogue reads it.
absl::string_view EmbeddedMigCatalogue();

// model/data/mig_parted_default.yaml: built-in configurations of nodes. ParseMigParted reads it.
absl::string_view EmbeddedMigPartedConfig();

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_EMBEDDED_MIG_H_
