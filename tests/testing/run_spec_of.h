// Scenarios that tests write as YAML, and their specs: reading and resolving must succeed.
#ifndef DRASIM_TESTS_TESTING_RUN_SPEC_OF_H_
#define DRASIM_TESTS_TESTING_RUN_SPEC_OF_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/scenario/resolve.h"

namespace drasim {

inline proto::Scenario ScenarioOf(absl::string_view yaml) {
  proto::Scenario scenario;
  EXPECT_EQ(MergeYaml(yaml, "s.yaml", &scenario), absl::OkStatus()) << yaml;
  return scenario;
}

// The spec; after a failure, which fails the test, an empty one.
inline RunSpec RunSpecOf(const proto::Scenario& scenario) {
  absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  EXPECT_EQ(spec.status(), absl::OkStatus());
  return spec.ok() ? *std::move(spec) : RunSpec();
}

// The spec of a scenario in several parts, each over those before.
inline RunSpec SpecOf(const std::vector<absl::string_view>& yamls) {
  proto::Scenario scenario;
  for (const absl::string_view yaml : yamls) {
    EXPECT_EQ(MergeYaml(yaml, "test.yaml", &scenario), absl::OkStatus());
  }
  return RunSpecOf(scenario);
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_RUN_SPEC_OF_H_
