#include "gui/view/run_figures.h"

#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace run_figures_test {

using view::RunFigures;

TEST(RunFiguresTest, AveragesOverTime) {
  ViewRig rig;
  PlayThreePods(&rig);
  const PodId last = rig.Arrive("last", ViewRig::Gpus(1));
  rig.Drop(last);
  const RunFigures figures = rig.Figures();
  EXPECT_EQ(figures.pods, 4);
  EXPECT_EQ(figures.started, 2);
  EXPECT_EQ(figures.finished, 1);
  EXPECT_EQ(figures.dropped, 1);
  EXPECT_EQ(figures.waiting, 2);
  EXPECT_EQ(figures.most_waiting, 3);
  EXPECT_EQ(figures.attempts_failed, 1);
  EXPECT_EQ(figures.evictions, 1);
  // `b` waits for 10 s and again, beside `c`, for 60 s.
  EXPECT_DOUBLE_EQ(figures.waiting_mean, (10.0 + 2 * 60) / 100);
  // 8 of 32 slices for 40 s, and 8 more for 20 s.
  EXPECT_DOUBLE_EQ(figures.held_percent_mean, 100.0 * (8 * 40 + 8 * 20) / (32 * 100));
  EXPECT_EQ(figures.waits.pods, 3);
  EXPECT_EQ(figures.waits.longest, SimDuration::Seconds(60));
}

}  // namespace run_figures_test
}  // namespace drasim
