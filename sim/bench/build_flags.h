// The compiler and the flags that built this program.
#ifndef DRASIM_SIM_BENCH_BUILD_FLAGS_H_
#define DRASIM_SIM_BENCH_BUILD_FLAGS_H_

#include "absl/strings/string_view.h"

namespace drasim::bench {

// Name and version: "GNU 12.2.0".
absl::string_view BuildCompiler();
// The flags for C++, as CMake passed them.
absl::string_view BuildFlags();

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BUILD_FLAGS_H_
