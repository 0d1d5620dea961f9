#include "traces/generator_options.h"

#include "absl/strings/str_cat.h"

namespace drasim {

absl::Status RefusedOption(absl::string_view key, absl::string_view found,
                           absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("workload.generated.", key, ": found ", found, ", expected ", expected));
}

}  // namespace drasim
