#include "sim/bench/build_flags.h"

namespace drasim::bench {

// CMake defines the macros for this file alone (sim/CMakeLists.txt).
absl::string_view BuildCompiler() { return DRASIM_BUILD_COMPILER; }
absl::string_view BuildFlags() { return DRASIM_BUILD_FLAGS; }

}  // namespace drasim::bench
