// Runs of scenarios that a test writes as text.
#ifndef DRASIM_TESTS_SIM_RUN_RUN_TEXTS_H_
#define DRASIM_TESTS_SIM_RUN_RUN_TEXTS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "sim/run/simulation.h"
#include "sim/scenario/given_scenario.h"

namespace drasim::run_texts {

using Built = absl::StatusOr<std::unique_ptr<Simulation>>;

// The simulation of the scenario file s.yaml with this text.
inline Built BuildText(const std::string& text) {
  GivenScenario given;
  given.file = "s.yaml";
  given.text = text;
  RETURN_IF_ERROR(MergeYaml(text, given.file, &*given.scenario));
  ASSIGN_OR_RETURN(RunSpec spec, ResolveGiven(given));
  return Simulation::Build(std::move(spec));
}

// The reason why the scenario cannot be run; empty when it can.
inline std::string ErrorOf(const std::string& text) {
  const Built built = BuildText(text);
  if (built.ok()) return "";
  EXPECT_EQ(built.status().code(), absl::StatusCode::kInvalidArgument) << built.status();
  return std::string(built.status().message());
}

// The finished run; null after a failure, which fails the test.
inline std::unique_ptr<Simulation> Finished(Built built) {
  EXPECT_EQ(built.status(), absl::OkStatus());
  if (!built.ok()) return nullptr;
  EXPECT_EQ((*built)->Start(), absl::OkStatus());
  EXPECT_EQ((*built)->Run(), absl::OkStatus());
  return *std::move(built);
}

}  // namespace drasim::run_texts

#endif  // DRASIM_TESTS_SIM_RUN_RUN_TEXTS_H_
