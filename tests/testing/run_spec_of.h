// Scenarios of tests as specs: resolved, which must succeed.
#ifndef DRASIM_TESTS_TESTING_RUN_SPEC_OF_H_
#define DRASIM_TESTS_TESTING_RUN_SPEC_OF_H_

#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/scenario/resolve.h"

namespace drasim {

// The spec; after a failure, which fails the test, an empty one.
inline RunSpec RunSpecOf(const proto::Scenario& scenario) {
  absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  EXPECT_EQ(spec.status(), absl::OkStatus());
  return spec.ok() ? *std::move(spec) : RunSpec();
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_RUN_SPEC_OF_H_
