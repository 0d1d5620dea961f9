// RoomCheck: what a node turns away, and for which reason.
#include "sim/core/room_check.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/pod_constraints.h"
#include "policies/builtins.h"
#include "policies/framework/plugin_args.h"
#include "policies/framework/profile_spec.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace room_check_test {

class RoomCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RegisterBuiltins(registry_);
    NodeSpec spec = TestNode("n", 4000, 2);
    spec.memory_bytes = 8 * kTestGib;
    spec.pods = 2;
    spec.extended = {{"example.com/card", 1}};
    node_ = builder_.AddNode(spec);
    context_.extended_resources = builder_.cluster().extended_names();
    std::vector<std::unique_ptr<Plugin>> filters;
    for (const char* const name : {"NodeResourcesFit", "GpuShareFit", "NodePorts"}) {
      auto plugin = registry_.MakePlugin(name, context_);
      ASSERT_TRUE(plugin.ok()) << plugin.status();
      filters.push_back(*std::move(plugin));
    }
    check_ = std::make_unique<RoomCheck>(std::move(filters));
  }

  // A profile with NodeResourcesFit that ignores some resources.
  Profile ProfileThatIgnores(std::vector<std::string> resources) {
    ProfileSpec spec;
    spec.queue_sort = "PrioritySort";
    spec.filter = {"NodeResourcesFit"};
    NodeResourcesFitArgs args;
    args.ignored_resources = std::move(resources);
    spec.args["NodeResourcesFit"] = args;
    absl::StatusOr<Profile> made = Profile::MakeKube(registry_, spec, context_);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  AdmissionFailure Ask(const PodShape& shape, std::vector<std::string> ignored = {}) {
    const Profile profile = ProfileThatIgnores(std::move(ignored));
    const ShapeId id = builder_.AddShape(shape);
    // Amounts of a shape are known to the cluster once a pod has it.
    builder_.cluster().AddPod(absl::StrCat("waiting-", builder_.cluster().pod_count()), id, 0,
                              SimTime());
    return check_->Ask(builder_.Context(id), profile, builder_.cluster(), node_);
  }

  Registry registry_;
  ClusterBuilder builder_;
  PolicyContext context_;
  NodeId node_;
  std::unique_ptr<RoomCheck> check_;
};

TEST_F(RoomCheckTest, AmountsOfTheNode) {
  EXPECT_EQ(Ask(TestShape(4000, 0)), AdmissionFailure::kNone);
  EXPECT_EQ(Ask(TestShape(4001, 0)), AdmissionFailure::kOutOfCpu);
  PodShape large = TestShape(1000, 0);
  large.request.memory_bytes = 9 * kTestGib;
  EXPECT_EQ(Ask(large), AdmissionFailure::kOutOfMemory);
  const ShapeId small = builder_.AddShape(TestShape(1000, 0));
  builder_.Place(small, node_);
  EXPECT_EQ(Ask(TestShape(3000, 0)), AdmissionFailure::kNone);
  EXPECT_EQ(Ask(TestShape(3001, 0)), AdmissionFailure::kOutOfCpu);
  builder_.Place(small, node_);
  EXPECT_EQ(Ask(TestShape(1, 0)), AdmissionFailure::kOutOfPods);
}

TEST_F(RoomCheckTest, DevicesAndResources) {
  EXPECT_EQ(Ask(TestShape(1000, 2)), AdmissionFailure::kNone);
  EXPECT_EQ(Ask(TestShape(1000, 3)), AdmissionFailure::kOutOfDevices);
  builder_.Place(builder_.AddShape(TestShape(1000, 1)), node_, DeviceSet::FirstN(1));
  EXPECT_EQ(Ask(TestShape(1000, 1)), AdmissionFailure::kNone);
  EXPECT_EQ(Ask(TestShape(1000, 2)), AdmissionFailure::kOutOfDevices);
  PodShape cards = TestShape(1000, 0);
  cards.request.extended = {{"example.com/card", 2}};
  EXPECT_EQ(Ask(cards), AdmissionFailure::kOutOfDevices);
  // Another part counts them.
  EXPECT_EQ(Ask(cards, {"example.com/card"}), AdmissionFailure::kNone);
}

TEST_F(RoomCheckTest, HostPorts) {
  PodShape shape = TestShape(1000, 0);
  HostPort port;
  port.port = 80;
  shape.constraints.host_ports = {port};
  EXPECT_EQ(Ask(shape), AdmissionFailure::kNone);
  builder_.Place(builder_.AddShape(shape), node_);
  EXPECT_EQ(Ask(shape), AdmissionFailure::kPortsInUse);
}

// A cordoned node admits what is bound to it.
TEST_F(RoomCheckTest, CordonsAreNotTheKubelets) {
  builder_.cluster().SetSchedulable(node_, false);
  EXPECT_EQ(Ask(TestShape(4000, 0)), AdmissionFailure::kNone);
}

}  // namespace room_check_test
}  // namespace drasim
