#include "policies/drivers/slice_pool.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

TEST(SlicePoolTest, NamesHaveIndexDriverNodeAndFiveLetters) {
  const std::string name = SliceName("gpu.nvidia.com", "node-1", 26);
  EXPECT_EQ(name.substr(0, name.size() - 5), "0001a-gpu.nvidia.com-node-1-");
  EXPECT_EQ(name.substr(name.size() - 5).find_first_not_of("bcdfghjklmnpqrstvwxz2456789"),
            std::string::npos);
  // As the API server cuts names that it completes.
  const std::string node(60, 'n');
  const std::string cut = SliceName("gpu.nvidia.com", node, 0);
  EXPECT_EQ(cut.size(), 63u);
  EXPECT_EQ(cut.substr(0, 58), absl::StrCat("00000-gpu.nvidia.com-", node).substr(0, 58));
}

TEST(SlicePoolTest, DrawnPartsDifferByNodeAndIndexAndStay) {
  std::set<std::string> drawn;
  std::set<std::string> uuids;
  for (int node = 0; node < 100; ++node) {
    for (size_t index = 0; index < 9; ++index) {
      const std::string name = SliceName("d", absl::StrCat("node-", node), index);
      drawn.insert(name.substr(name.size() - 5));
      uuids.insert(DeviceUuid("GPU", absl::StrCat("node-", node), absl::StrCat("gpu-", index)));
    }
  }
  EXPECT_GE(drawn.size(), 899u);  // of 14 million
  EXPECT_EQ(uuids.size(), 900u);
  EXPECT_EQ(DeviceUuid("GPU", "node-1", "gpu-0"), DeviceUuid("GPU", "node-1", "gpu-0"));
  EXPECT_EQ(DeviceUuid("GPU", "node-1", "gpu-0").size(), 40u);
}

TEST(SlicePoolTest, AmountsAreWrittenAsGoDoes) {
  EXPECT_EQ(BinaryAmount(int64_t{40} << 30U), "40Gi");
  EXPECT_EQ(BinaryAmount(int64_t{4864} << 20U), "4864Mi");
  EXPECT_EQ(BinaryAmount(14), "14");
  EXPECT_EQ(BinaryAmount(0), "0");
}

TEST(SlicePoolTest, EverySliceHasThePool) {
  SlicePool pool("gpu.nvidia.com", "node-1", 7);
  pool.Add()->add_shared_counters()->set_name("set");
  pool.Add()->add_devices()->set_name("gpu-0");
  ASSERT_OK_AND_ASSIGN(const std::vector<proto::kube::ResourceSlice> slices,
                       pool.Finish(DeviceOrder::kAsPublished));
  ASSERT_EQ(slices.size(), 2u);
  for (const proto::kube::ResourceSlice& slice : slices) {
    EXPECT_EQ(slice.spec().driver(), "gpu.nvidia.com");
    EXPECT_EQ(slice.spec().node_name(), "node-1");
    EXPECT_EQ(slice.spec().pool().name(), "node-1");
    EXPECT_EQ(slice.spec().pool().generation(), 7);
    EXPECT_EQ(slice.spec().pool().resource_slice_count(), 2);
  }
  EXPECT_EQ(slices[1].metadata().name(), SliceName("gpu.nvidia.com", "node-1", 1));
  EXPECT_EQ(slices[1].metadata().generate_name(), "00001-gpu.nvidia.com-node-1-");
}

std::string LimitError(int devices, bool counters, int sets) {
  SlicePool pool("d", "node-1", 1);
  proto::kube::ResourceSliceSpec* spec = pool.Add();
  for (int i = 0; i < devices; ++i) spec->add_devices();
  if (counters) spec->mutable_devices(devices - 1)->add_consumes_counters();
  for (int i = 0; i < sets; ++i) spec->add_shared_counters();
  return std::string(pool.Finish(DeviceOrder::kAsPublished).status().message());
}

TEST(SlicePoolTest, LimitsOfTheApiServerHold) {
  EXPECT_EQ(LimitError(128, false, 8), "");
  EXPECT_EQ(LimitError(64, true, 8), "");
  EXPECT_EQ(LimitError(129, false, 0),
            "node-1: d would publish a slice of 129 devices, and the API server takes at most 128");
  EXPECT_EQ(LimitError(65, true, 0),
            "node-1: d would publish a slice of 65 devices, and the API server takes at most 64 "
            "with counters");
  EXPECT_EQ(LimitError(1, false, 9),
            "node-1: d would publish a slice of 9 counter sets, and the API server takes at most "
            "8");
}

}  // namespace
}  // namespace drasim
