#include "gui/view/held_devices.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/mig_products.h"

namespace drasim::view {
namespace held_devices_test {

// A GPU is as full as its instances are large.
TEST(HeldDevicesTest, AGpuWithAnInstanceIsNotFull) {
  const MigTable table = TestTable(TestA100());
  GpuModelTable models;
  models.SetMig(models.Intern("A100").value(), &table);
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  NodeSpec spec;
  spec.name = "gpus";
  spec.gpu_count = 2;
  spec.gpu_model = "A100";
  ASSERT_OK_AND_ASSIGN(const NodeId node, cluster.AddNode(spec));
  PodShape shape;
  shape.request.mig = {{"1g.10gb", 1}, {"3g.40gb", 1}};
  const PodId pod = cluster.AddPod("mig", shapes.Intern(shape), 0, SimTime());
  const auto instance = [&table](const std::string& profile, int32_t start) {
    const auto p = static_cast<size_t>(table.FindProfile(profile));
    DeviceGrant grant;
    grant.placement = static_cast<uint8_t>(table.FindPlacement(p, start));
    grant.milli = profile == "1g.10gb" ? 125 : 500;
    return grant;
  };
  const DeviceGrants grants = {instance("1g.10gb", 0), instance("3g.40gb", 4)};
  cluster.Assume(pod, node, DeviceSet::Of(0), grants);
  cluster.Bind(pod);
  // One of eight units and four of eight.
  EXPECT_EQ(AllocatedOnDevices(cluster, node), (std::vector<int32_t>{625, 0}));
}

TEST(HeldDevicesTest, AShareIsWhatIsNotIdle) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  NodeSpec spec;
  spec.name = "gpus";
  spec.gpu_count = 3;
  spec.gpu_model = "T4";
  ASSERT_OK_AND_ASSIGN(const NodeId node, cluster.AddNode(spec));
  EXPECT_EQ(AllocatedOnDevices(cluster, node), (std::vector<int32_t>{0, 0, 0}));
  PodShape shape;
  shape.request.gpu_milli = 250;
  shape.request.gpu_count = 1;
  const PodId pod = cluster.AddPod("share", shapes.Intern(shape), 0, SimTime());
  cluster.Assume(pod, node, DeviceSet::Of(1), {});
  cluster.Bind(pod);
  EXPECT_EQ(AllocatedOnDevices(cluster, node), (std::vector<int32_t>{0, 250, 0}));
}

}  // namespace held_devices_test
}  // namespace drasim::view
