// The catalogue of GPU products that MIG can partition: the built-in one, and a reader of others.
//
// The schema is model/proto/mig.proto, the built-in text model/data/mig_catalogue.yaml, which also
// says where its figures come from.
#ifndef DRASIM_MODEL_TEXT_MIG_CATALOGUE_H_
#define DRASIM_MODEL_TEXT_MIG_CATALOGUE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/mig_product.h"

namespace drasim {

// The products of a catalogue, in its order, each with the sentences of its sources. `file` is used
// in errors only.
//
// Checks: all keys that are named exist (sources, geometries, engines, rows of both, each
// row at most once per product); placements lie within the units, which are at most 16, a start
// comes once, and there are no more instances than starts; profile names say the compute slices and
// the nominal memory, and no two profiles of a product share one, letter case ignored; no two
// products share a name (as FindMigProduct compares them) or a PCI id; amounts are in range.
//
// Errors (InvalidArgument): "FILE:LINE:COLUMN: field.path: found '...', expected ...", of the first
// thing that is wrong. Cost: linear in the text, times the rows of a geometry.
absl::StatusOr<std::vector<MigProduct>> ParseMigCatalogue(absl::string_view yaml,
                                                          absl::string_view file);

// Whether `text` is a PCI device and vendor as products and mig-parted's filters give them: "0x",
// then eight hexadecimal digits.
bool IsPciId(absl::string_view text);

// The built-in catalogue, read at the first call. Safe to call from several threads; lives as long
// as the program.
const std::vector<MigProduct>& MigCatalogue();

// The product of the built-in catalogue that has this name: a group or any product name. Letter
// case is ignored, a leading "NVIDIA" too, and runs of blanks, underscores, dashes and parentheses
// are all one dash: "NVIDIA H100 NVL 94GB (PCIe)" is H100-NVL-94GB-PCIe. Null when there is none,
// as for "A100", which says too little. The product lives as long as the program. O(log names).
const MigProduct* FindMigProduct(absl::string_view name);

// The error for a name that FindMigProduct does not know (InvalidArgument): "GPU product: found
// 'A100', expected one of ... (did you mean 'A100-40GB' or 'A100-80GB'?)", with all groups, and
// those of which a name begins so, or else the nearest name.
absl::Status UnknownMigProduct(absl::string_view name);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_MIG_CATALOGUE_H_
