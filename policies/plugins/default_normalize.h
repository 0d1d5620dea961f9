// Kubernetes' usual NormalizeScore (kubernetes/kubernetes
// pkg/scheduler/framework/plugins/helper/normalize_score.go, release 1.34).
#ifndef DRASIM_POLICIES_PLUGINS_DEFAULT_NORMALIZE_H_
#define DRASIM_POLICIES_PLUGINS_DEFAULT_NORMALIZE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace drasim {

// Scales scores (at least 0) to [0, 100], so that the largest becomes 100; with `reverse` takes the
// result from 100. If all are 0 they stay so, or become 100 in reverse.
void DefaultNormalizeScore(bool reverse, absl::Span<int64_t> scores);

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DEFAULT_NORMALIZE_H_
