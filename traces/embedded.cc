#include "traces/embedded.h"

namespace drasim {

absl::string_view EmbeddedMapping(absl::string_view name) {
  if (name == "openb") return EmbeddedOpenbMapping();
  return "";
}

std::vector<std::string> EmbeddedMappingNames() { return {"openb"}; }

}  // namespace drasim
