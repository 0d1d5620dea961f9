// Checkpoints of whole runs leave out the rows of jobs that ended before the previous checkpoint.
// Every part with rows promises that these have not changed since (StateWriter::Rows); here the
// promise is checked in runs in which jobs end in all ways.
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/saved_state.h"
#include "model/state_io.h"
#include "sim/record/pod_log.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace checkpoint_rows_test {

// Plays the scenario with a checkpoint every few records at first. At each, the sum of the
// checkpoints so far is the state that the engine saves as a whole.
void ExpectEveryCheckpointWhole(const std::string& text, bool with_grants) {
  run_texts::Built built = run_texts::BuildText(text);
  ASSERT_EQ(built.status(), absl::OkStatus());
  Simulation& sim = **built;
  PodLog log(with_grants, &sim.summaries());
  sim.AddSink(&log);
  StateImage image;
  size_t checkpoints = 0;
  size_t left_out = 0;  // rows
  sim.set_on_checkpoint([&](const SavedState& state) {
    EXPECT_TRUE(image.Apply(state));
    StateWriter whole;
    sim.engine().Save(whole);
    EXPECT_TRUE(image.Whole().text == whole.bytes()) << "record " << sim.engine().records();
    ++checkpoints;
    for (const SavedTable& table : state.tables) left_out += table.size - table.bytes.size();
    return absl::OkStatus();
  });
  ASSERT_EQ(sim.Start(), absl::OkStatus());
  ASSERT_EQ(sim.Run(), absl::OkStatus());
  EXPECT_GE(checkpoints, 20u);
  EXPECT_GT(left_out, 100u);
}

class CheckpointRowsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CheckpointRowsTest, WhatIsLeftOutHasNotChanged) {
  const std::string front_end = GetParam();
  ExpectEveryCheckpointWhole(absl::StrCat(TestText("Run"), TestText(front_end)),
                             front_end == "DevicePlugin");
}

INSTANTIATE_TEST_SUITE_P(Runs, CheckpointRowsTest,
                         ::testing::Values("Kubernetes", "Batch", "Loss", "DevicePlugin"),
                         [](const ::testing::TestParamInfo<const char*>& tested) {
                           return std::string(tested.param);
                         });

}  // namespace checkpoint_rows_test
}  // namespace drasim
