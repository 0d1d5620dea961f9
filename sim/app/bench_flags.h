// Flags that the bench commands share.
#ifndef DRASIM_SIM_APP_BENCH_FLAGS_H_
#define DRASIM_SIM_APP_BENCH_FLAGS_H_

#include "absl/status/statusor.h"
#include "sim/app/flags.h"
#include "sim/bench/bench_compare.h"

namespace drasim {

// --tier and --filter.
absl::StatusOr<bench::Scope> BenchScopeOf(const ParsedFlags& flags);
// --timeout in seconds; `usual` without the flag.
absl::StatusOr<double> BenchTimeoutOf(const ParsedFlags& flags, double usual);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_BENCH_FLAGS_H_
