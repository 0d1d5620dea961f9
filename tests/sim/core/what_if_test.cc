// What-ifs leave the cluster as it was, whatever was removed and restored meanwhile.
#include "sim/core/what_if.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace what_if_test {

// Everything that readers of the cluster see, but for the change log, which moves on.
std::string StateOf(const ClusterState& cluster) {
  std::string state = absl::StrCat("version ", cluster.version());
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    absl::StrAppend(&state, "; idle ", cluster.node(NodeId(n)).cpu_milli_idle, ", pods");
    for (PodId pod : cluster.pods_on(NodeId(n))) {
      absl::StrAppend(&state, " ", pod.value(), ":", static_cast<int>(cluster.pod_phase(pod)));
    }
  }
  return state;
}

class WhatIfTest : public testing::Test {
 protected:
  WhatIfTest() {
    NodeSpec spec;
    spec.name = "n";
    spec.cpu_milli = 8000;
    spec.memory_bytes = 1 << 20;
    spec.pods = 10;
    node_ = builder_.AddNode(spec);
    PodShape shape;
    shape.request.cpu_milli = 3000;
    shape_ = builder_.AddShape(shape);
    bound_ = builder_.Place(shape_, node_);
    assumed_ = cluster().AddPod("assumed", shape_, 0, SimTime());
    cluster().Assume(assumed_, node_, DeviceSet());
  }
  ClusterState& cluster() { return builder_.cluster(); }
  int64_t idle() { return cluster().node(node_).cpu_milli_idle; }

  ClusterBuilder builder_;
  NodeId node_;
  ShapeId shape_;
  PodId bound_;
  PodId assumed_;
};

TEST_F(WhatIfTest, RemovedPodsMakeRoomAndAreBackAtTheEnd) {
  const std::string before = StateOf(cluster());
  {
    WhatIf what_if(&cluster());
    what_if.Remove(bound_);
    EXPECT_EQ(idle(), 5000);
    what_if.Remove(assumed_);
    EXPECT_EQ(idle(), 8000);
    EXPECT_EQ(cluster().pod_phase(bound_), PodPhase::kPending);
    EXPECT_EQ(cluster().pod_phase(assumed_), PodPhase::kPending);
  }
  EXPECT_EQ(idle(), 2000);
  EXPECT_EQ(StateOf(cluster()), before);
}

TEST_F(WhatIfTest, RestoredPodsHaveTheirPhaseAgain) {
  WhatIf what_if(&cluster());
  const size_t bound = what_if.Remove(bound_);
  const size_t assumed = what_if.Remove(assumed_);
  what_if.Restore(bound);
  EXPECT_EQ(idle(), 5000);
  EXPECT_EQ(cluster().pod_phase(bound_), PodPhase::kBound);
  what_if.Restore(assumed);
  EXPECT_EQ(idle(), 2000);
  EXPECT_EQ(cluster().pod_phase(assumed_), PodPhase::kAssumed);
  // A pod may be removed again.
  what_if.Remove(bound_);
  EXPECT_EQ(idle(), 5000);
  what_if.End();
  EXPECT_EQ(idle(), 2000);
  EXPECT_EQ(cluster().pod_phase(bound_), PodPhase::kBound);
}

TEST_F(WhatIfTest, JobsAreRemovedAsAWhole) {
  JobRow row;
  row.first_pod = bound_;  // and the assumed pod, which follows it
  row.pods = 2;
  WhatIf what_if(&cluster());
  const size_t first = what_if.RemoveJob(row);
  EXPECT_EQ(idle(), 8000);
  what_if.RestoreJob(row, first);
  EXPECT_EQ(idle(), 2000);
  EXPECT_EQ(cluster().pod_phase(bound_), PodPhase::kBound);
  EXPECT_EQ(cluster().pod_phase(assumed_), PodPhase::kAssumed);
}

TEST_F(WhatIfTest, AnUnusedWhatIfEndsNoOther) {
  cluster().BeginWhatIf();
  cluster().Forget(assumed_);
  { WhatIf what_if(&cluster()); }
  EXPECT_EQ(idle(), 5000);
  cluster().Rollback();
  EXPECT_EQ(idle(), 2000);
}

TEST_F(WhatIfTest, ChangesByOthersAreUndoneToo) {
  const std::string before = StateOf(cluster());
  WhatIf what_if(&cluster());
  what_if.Remove(bound_);
  cluster().Forget(assumed_);
  what_if.End();
  EXPECT_EQ(StateOf(cluster()), before);
  EXPECT_TRUE(cluster().CheckInvariants().ok());
}

}  // namespace what_if_test
}  // namespace drasim
