#include "sim/dra/structured/allocation_grants.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/gpu_model_table.h"
#include "model/kube/slice_facts_of.h"
#include "model/mig_table.h"
#include "model/shape_table.h"
#include "model/text/mig_catalogue.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node with two A100; the second one is published with three instances, too.
class AllocationGrantsTest : public ::testing::Test {
 protected:
  AllocationGrantsTest() {
    const absl::StatusOr<ModelId> model = models_.Intern("A100-SXM4-40GB");
    EXPECT_TRUE(model.ok());
    absl::StatusOr<MigTable> table = MigTable::Make(*FindMigProduct("A100-SXM4-40GB"));
    EXPECT_TRUE(table.ok());
    table_ = std::make_unique<MigTable>(*std::move(table));
    models_.SetMig(*model, table_.get());
    NodeSpec node;
    node.name = "n";
    node.gpu_count = 2;
    node.gpu_model = "A100-SXM4-40GB";
    EXPECT_TRUE(cluster_.AddNode(node).ok());
    kube::ResourceSlice slice;
    slice.mutable_spec()->set_driver("gpu.nvidia.com");
    slice.mutable_spec()->set_node_name("n");
    slice.mutable_spec()->mutable_pool()->set_name("n");
    for (const char* name : {"gpu-0", "gpu-1", "gpu-1-mig-3g20gb-9-4"}) {
      kube::Device* const device = slice.mutable_spec()->add_devices();
      device->set_name(name);
      if (std::string(name).size() > 5) {
        (*device->mutable_attributes())["profile"].set_string_value("3g.20gb");
      }
      for (const auto& [capacity, amount] : {std::pair("memory", "40Gi"), {"shares", "4"}}) {
        (*device->mutable_capacity())[capacity].set_value(amount);
      }
    }
    const absl::StatusOr<SliceFacts> facts = SliceFactsOf(slice);
    EXPECT_TRUE(facts.ok()) << facts.status();
    cluster_.PublishSlice(*facts);
  }

  kube::DeviceRequestAllocationResult* Add(const std::string& device) {
    kube::DeviceRequestAllocationResult* const result = result_.mutable_devices()->add_results();
    result->set_driver("gpu.nvidia.com");
    result->set_pool("n");
    result->set_device(device);
    return result;
  }

  GpuModelTable models_;
  std::unique_ptr<MigTable> table_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  kube::AllocationResultV1 result_;
};

TEST_F(AllocationGrantsTest, WholeGpusAndInstances) {
  Add("gpu-1-mig-3g20gb-9-4");
  Add("gpu-0");
  const int placement =
      table_->FindPlacement(static_cast<size_t>(table_->FindProfile("3g.20gb")), /*start=*/4);
  EXPECT_THAT(GrantsOfAllocation(result_, cluster_),
              ElementsAre(DeviceGrant{1, static_cast<uint8_t>(placement), 500},
                          DeviceGrant{0, kNoPlacement, 1000}));
}

TEST_F(AllocationGrantsTest, SharesAreTheirPartOfTheCapacity) {
  Add("gpu-0")->set_share_id("a");  // consumes nothing that is known
  kube::DeviceRequestAllocationResult* share = Add("gpu-0");
  share->set_share_id("b");
  (*share->mutable_consumed_capacity())["shares"] = "1";
  (*share->mutable_consumed_capacity())["memory"] = "30Gi";
  share = Add("gpu-1-mig-3g20gb-9-4");
  share->set_share_id("c");
  (*share->mutable_consumed_capacity())["memory"] = "10Gi";
  const DeviceGrants grants = GrantsOfAllocation(result_, cluster_);
  ASSERT_EQ(grants.size(), 2U);
  EXPECT_EQ(grants[0], (DeviceGrant{0, kNoPlacement, 250}));
  EXPECT_EQ(grants[1].milli, 125);
}

TEST_F(AllocationGrantsTest, NeitherAdminAccessNorUnknownDevices) {
  Add("gpu-0")->set_admin_access(true);
  Add("gpu-7");
  Add("gpu-1")->set_pool("other");
  EXPECT_THAT(GrantsOfAllocation(result_, cluster_), IsEmpty());
}

}  // namespace
}  // namespace drasim
