#include "traces/generator_options.h"

#include "absl/strings/str_cat.h"
#include "model/key_error.h"

namespace drasim {

absl::Status RefusedOption(absl::string_view key, absl::string_view found,
                           absl::string_view expected) {
  return KeyError(absl::StrCat("workload.generated.", key),
                  absl::StrCat("found ", found, ", expected ", expected));
}

}  // namespace drasim
