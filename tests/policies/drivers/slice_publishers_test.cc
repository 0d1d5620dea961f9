#include "policies/drivers/slice_publishers.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/key_error.h"

namespace drasim {
namespace {

struct WrongOption {
  void (*set)(proto::SliceDriver* options);
  const char* key;
  const char* message;
};

TEST(SlicePublishersTest, KindsAreListed) {
  EXPECT_THAT(SlicePublisherKinds(),
              testing::ElementsAre("gpu.nvidia.com", "gpu.example.com", "slices"));
}

TEST(SlicePublishersTest, WrongOptionsAreErrorsOfTheirKey) {
  const WrongOption cases[] = {
      {[](proto::SliceDriver* o) { o->set_kind("gpu.nvidia.con"); }, "kind",
       "kind: found 'gpu.nvidia.con', expected one of gpu.nvidia.com, gpu.example.com, slices "
       "(did you mean 'gpu.nvidia.com'?)"},
      {[](proto::SliceDriver* o) { o->set_partitions(2); }, "partitions",
       "partitions: the kind gpu.nvidia.com has no such key, only kind, name, order, release, "
       "on_unhealthy, recovery, publish, mig, "
       "layout, mig_mode, consumable_shares, driver_version, cuda_version, addressing_mode, "
       "time_slicing, mps"},
      {[](proto::SliceDriver* o) { o->set_mig("mixed"); }, "mig",
       "mig: found 'mixed', expected none, static or dynamic"},
      {[](proto::SliceDriver* o) { o->set_mig("static"); }, "layout",
       "layout: expected instances such as 3g.20gb:2 or a configuration such as all-balanced, for "
       "mig: static"},
      {[](proto::SliceDriver* o) { o->set_layout("1g.5gb"); }, "layout",
       "layout: found '1g.5gb' without mig: static"},
      {[](proto::SliceDriver* o) { o->set_mig_mode("on"); }, "mig_mode",
       "mig_mode: found 'on' without mig: dynamic"},
      {[](proto::SliceDriver* o) { o->set_mig_mode("auto"); }, "mig_mode",
       "mig_mode: found 'auto', expected any, on or off"},
      {[](proto::SliceDriver* o) { o->set_release("1.30"); }, "release",
       "release: found '1.30', expected a release: 1.34, 1.35, 1.36 or 1.37"},
      {[](proto::SliceDriver* o) { o->set_consumable_shares("0"); }, "consumable_shares",
       "consumable_shares: found '0', expected disabled, unlimited, memory or a number from 1 on"},
      {[](proto::SliceDriver* o) { o->set_driver_version("new"); }, "driver_version",
       "driver_version: found 'new', expected a version such as 580.95.5"},
      {[](proto::SliceDriver* o) { o->set_addressing_mode("hmm"); }, "addressing_mode",
       "addressing_mode: found 'hmm', expected HMM, ATS or None"},
      {[](proto::SliceDriver* o) {
         o->set_mig("dynamic");
         o->set_mps(true);
       },
       "mps", "mps: found true, which the driver refuses beside mig: dynamic"},
  };
  for (const WrongOption& wrong : cases) {
    proto::SliceDriver options;
    options.set_kind("gpu.nvidia.com");
    wrong.set(&options);
    const absl::Status status = MakeSlicePublisher(options, {}).status();
    EXPECT_EQ(status.message(), wrong.message);
    EXPECT_EQ(KeyOfError(status), wrong.key);
  }
  proto::SliceDriver options;
  options.set_kind("gpu.example.com");
  options.set_name("No_Driver");
  EXPECT_EQ(KeyOfError(MakeSlicePublisher(options, {}).status()), "name");
}

TEST(SlicePublishersTest, ConfigurationsAreForTheirDriver) {
  EXPECT_FALSE(CheckOpaqueConfig("gpu.nvidia.com", R"({"kind": "x"})").ok());
  EXPECT_TRUE(CheckOpaqueConfig("gpu.nvidia.com",
                                R"({"apiVersion": "resource.nvidia.com/v1beta1",
                                    "kind": "GpuConfig", "sharing": {"strategy": "MPS"}})")
                  .ok());
  EXPECT_TRUE(CheckOpaqueConfig("gpu.example.com", R"({"kind": "x"})").ok());
  EXPECT_TRUE(CheckOpaqueConfig("unknown.example.com", R"({"kind": "x"})").ok());
}

}  // namespace
}  // namespace drasim
