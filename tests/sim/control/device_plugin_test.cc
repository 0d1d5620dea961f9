#include "sim/control/device_plugin.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "tests/testing/data_text.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace device_plugin_test {

using ::testing::HasSubstr;
using Strings = std::vector<std::string>;
using Layout = std::vector<std::pair<std::string, int32_t>>;  // profiles at their starts

constexpr int64_t kOverInt32 = int64_t{1} << 31;

const MigTable& A100() {
  static const MigTable table = TestTable(TestA100());
  return table;
}
const MigTable& A30() {
  static const MigTable table = TestTable(TestA30());
  return table;
}
const MigTable& Rtx() {
  static const MigTable table = TestTable(TestRtxPro6000());
  return table;
}

// A GPU with MIG off; null: one that has no MIG.
PluginGpu Whole(const MigTable* table, std::string product, int32_t memory_mib = 81920) {
  PluginGpu gpu;
  gpu.product = std::move(product);
  gpu.table = table;
  gpu.memory_mib = memory_mib;
  return gpu;
}
PluginGpu WholeA100() { return Whole(&A100(), "A100-SXM4-80GB"); }

PluginGpu Split(const MigTable& table, const Layout& layout) {
  PluginGpu gpu = Whole(&table, table.product().products.front());
  gpu.mig_enabled = true;
  uint64_t set = 0;
  for (const auto& [profile, start] : layout) {
    const int row = table.FindProfile(profile);
    DRASIM_CHECK_GE(row, 0);
    const int placement = table.FindPlacement(static_cast<size_t>(row), start);
    DRASIM_CHECK_GE(placement, 0);
    set |= uint64_t{1} << static_cast<uint64_t>(placement);
  }
  gpu.layout = table.Find(set);
  DRASIM_CHECK_NE(gpu.layout, kNoMigState);
  return gpu;
}
PluginGpu SplitA100(const Layout& layout) { return Split(A100(), layout); }

PluginGpu SevenSmall() {
  Layout layout;
  for (int32_t start = 0; start < 7; ++start) layout.emplace_back("1g.10gb", start);
  return SplitA100(layout);
}

DevicePluginConfig With(MigStrategy strategy) {
  DevicePluginConfig config;
  config.mig_strategy = strategy;
  return config;
}

DevicePluginConfig Shared(MigStrategy strategy, SharingKind sharing, const std::string& name,
                          int64_t replicas) {
  DevicePluginConfig config = With(strategy);
  config.sharing = sharing;
  DevicePluginConfig::Replicas resource;
  resource.name = name;
  resource.replicas = replicas;
  config.resources.push_back(resource);
  return config;
}

// "nvidia.com/gpu: 0 1x4": GPUs, with the start of an instance behind a colon and the replicas
// behind an x; an exclamation mark on those that are not healthy.
std::string Text(const PluginResource& resource, const std::vector<PluginGpu>& gpus) {
  std::string text = absl::StrCat(resource.name, ":");
  for (const PluginDevice& device : resource.devices) {
    absl::StrAppend(&text, " ", static_cast<int>(device.gpu));
    if (device.placement != kNoPlacement) {
      const MigPlacement& placement = gpus[device.gpu].table->placements()[device.placement];
      absl::StrAppend(&text, ":", static_cast<int>(placement.start));
    }
    if (device.replicas != 1) absl::StrAppend(&text, "x", device.replicas);
    if (!device.healthy) text += "!";
  }
  if (resource.shared) text += " shared";
  return text;
}

Strings Advertised(const std::vector<PluginGpu>& gpus, const DevicePluginConfig& config) {
  const absl::StatusOr<std::vector<PluginResource>> resources = AdvertisedResources(gpus, config);
  if (!resources.ok()) return {std::string(resources.status().message())};
  Strings texts;
  for (const PluginResource& resource : *resources) texts.push_back(Text(resource, gpus));
  return texts;
}

std::string Refusal(const std::vector<PluginGpu>& gpus, const DevicePluginConfig& config) {
  const absl::Status status = AdvertisedResources(gpus, config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  return std::string(status.message());
}

using Labels = std::map<std::string, std::string>;

Labels LabelMap(const std::vector<PluginGpu>& gpus, const DevicePluginConfig& config) {
  const std::vector<std::pair<std::string, std::string>> labels = GpuFeatureLabels(gpus, config);
  // In order, and none twice.
  for (size_t i = 1; i < labels.size(); ++i) EXPECT_LT(labels[i - 1].first, labels[i].first);
  return {labels.begin(), labels.end()};
}

// ---- Configuration ----

std::string Complaint(const DevicePluginConfig& config) {
  const absl::Status status = CheckDevicePluginConfig(config, "plugin.sharing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(CheckDevicePluginConfigTest, TakesWhatThePluginTakes) {
  EXPECT_TRUE(CheckDevicePluginConfig(DevicePluginConfig(), "plugin").ok());
  DevicePluginConfig config =
      Shared(MigStrategy::kMixed, SharingKind::kTimeSlicing, "nvidia.com/gpu", 10);
  config.resources.push_back({"nvidia.com/mig-1g.10gb.me", 1});
  EXPECT_TRUE(CheckDevicePluginConfig(config, "plugin").ok());
  EXPECT_TRUE(CheckDevicePluginConfig(
                  Shared(MigStrategy::kNone, SharingKind::kMps, "nvidia.com/gpu", 4), "plugin")
                  .ok());
}

TEST(CheckDevicePluginConfigTest, RefusesReplicasBelowOneAndBeyondReason) {
  const auto replicas = [](int64_t count) {
    return Shared(MigStrategy::kNone, SharingKind::kTimeSlicing, "nvidia.com/gpu", count);
  };
  EXPECT_THAT(Complaint(replicas(0)),
              HasSubstr("plugin.sharing.resources[0].replicas: found '0', expected 1"));
  EXPECT_THAT(Complaint(replicas(-3)), HasSubstr("found '-3'"));
  EXPECT_THAT(Complaint(replicas(kOverInt32)), HasSubstr("found '2147483648'"));
}

TEST(CheckDevicePluginConfigTest, RefusesNamesThatMeanNothing) {
  const auto named = [](const std::string& name) {
    return Shared(MigStrategy::kNone, SharingKind::kTimeSlicing, name, 2);
  };
  EXPECT_THAT(Complaint(named("nvidia.com/gpus")), HasSubstr("did you mean 'nvidia.com/gpu'?"));
  EXPECT_THAT(Complaint(named("amd.com/gpu")), HasSubstr("resources[0].name: found 'amd.com/gpu'"));
  EXPECT_THAT(Complaint(named("nvidia.com/mig-")), HasSubstr("nvidia.com/mig-<profile>"));
  EXPECT_THAT(Complaint(named("")), HasSubstr("found ''"));
  EXPECT_THAT(Complaint(named("nvidia.com/mig-1g.10gb+me")),
              HasSubstr("expected nvidia.com/mig-1g.10gb.me"));
}

TEST(CheckDevicePluginConfigTest, RefusesNamingAResourceTwice) {
  DevicePluginConfig config =
      Shared(MigStrategy::kNone, SharingKind::kTimeSlicing, "nvidia.com/gpu", 2);
  config.resources.push_back({"nvidia.com/gpu", 2});
  EXPECT_THAT(Complaint(config), HasSubstr("resources[1].name: found 'nvidia.com/gpu'"));
}

TEST(CheckDevicePluginConfigTest, RefusesMpsOfInstances) {
  EXPECT_THAT(
      Complaint(Shared(MigStrategy::kMixed, SharingKind::kMps, "nvidia.com/mig-1g.10gb", 2)),
      HasSubstr("MPS does not share MIG instances"));
}

// ---- Resources ----

TEST(MigResourceNameTest, TurnsPlusIntoDot) {
  EXPECT_EQ(MigResourceName("1g.5gb"), "nvidia.com/mig-1g.5gb");
  EXPECT_EQ(MigResourceName("1g.10gb+me"), "nvidia.com/mig-1g.10gb.me");
  EXPECT_EQ(MigResourceName("1g.24gb+gfx"), "nvidia.com/mig-1g.24gb.gfx");
  EXPECT_EQ(MigResourceName("1g.24gb+me.all"), "nvidia.com/mig-1g.24gb.me.all");
  EXPECT_EQ(MigResourceName("1g.24gb-me"), "nvidia.com/mig-1g.24gb-me");
}

TEST(AdvertisedResourcesTest, NoneShowsWholeCardsWhateverMigDoes) {
  EXPECT_EQ(Advertised({WholeA100(), SevenSmall(), SplitA100({})}, With(MigStrategy::kNone)),
            Strings({"nvidia.com/gpu: 0 1 2"}));
  EXPECT_EQ(Advertised({}, With(MigStrategy::kNone)), Strings());
}

TEST(AdvertisedResourcesTest, SingleCountsInstancesAsGpus) {
  EXPECT_EQ(Advertised({SevenSmall(), SplitA100({{"1g.10gb", 6}, {"1g.10gb", 2}})},
                       With(MigStrategy::kSingle)),
            Strings({"nvidia.com/gpu: 0:0 0:1 0:2 0:3 0:4 0:5 0:6 1:2 1:6"}));
  EXPECT_EQ(Advertised({WholeA100(), WholeA100()}, With(MigStrategy::kSingle)),
            Strings({"nvidia.com/gpu: 0 1"}));
  EXPECT_EQ(Advertised({}, With(MigStrategy::kSingle)), Strings());
}

TEST(AdvertisedResourcesTest, SingleRefusesMixtures) {
  const DevicePluginConfig single = With(MigStrategy::kSingle);
  EXPECT_THAT(Refusal({SevenSmall(), WholeA100()}, single), HasSubstr("GPU 1 without"));
  EXPECT_THAT(Refusal({WholeA100(), SevenSmall()}, single), HasSubstr("GPU 1 with,"));
  EXPECT_THAT(Refusal({SevenSmall(), SplitA100({})}, single), HasSubstr("no instance on GPU 1"));
  EXPECT_THAT(Refusal({SplitA100({{"3g.40gb", 0}, {"1g.10gb", 4}})}, single),
              HasSubstr("3g.40gb and, on GPU 0, of 1g.10gb"));
  EXPECT_THAT(Refusal({SevenSmall(), Split(A30(), {{"1g.6gb", 0}})}, single),
              HasSubstr("1g.10gb and, on GPU 1, of 1g.6gb"));
}

// The 1g.10gb of an A100 with 40 GB is not the one of an A100 with 80 GB.
TEST(AdvertisedResourcesTest, SingleLooksAtMoreThanNames) {
  MigProduct other = TestA100();
  other.profiles[0].memory_mib += 128;
  const MigTable table = TestTable(other);
  EXPECT_THAT(Refusal({SevenSmall(), Split(table, {{"1g.10gb", 0}})}, With(MigStrategy::kSingle)),
              HasSubstr("alike in every amount"));
}

TEST(AdvertisedResourcesTest, MixedNamesProfiles) {
  EXPECT_EQ(
      Advertised({WholeA100(),
                  SplitA100({{"1g.10gb", 6}, {"1g.10gb+me", 5}, {"1g.10gb", 4}, {"3g.40gb", 0}}),
                  SplitA100({}), SplitA100({{"7g.80gb", 0}})},
                 With(MigStrategy::kMixed)),
      Strings({"nvidia.com/gpu: 0", "nvidia.com/mig-1g.10gb: 1:4 1:6",
               "nvidia.com/mig-1g.10gb.me: 1:5", "nvidia.com/mig-3g.40gb: 1:0",
               "nvidia.com/mig-7g.80gb: 3:0"}));
  EXPECT_EQ(Advertised({SplitA100({})}, With(MigStrategy::kMixed)), Strings());
}

TEST(AdvertisedResourcesTest, SharingMultipliesDevices) {
  // The documented example: eight GPUs, ten times each.
  const std::vector<PluginGpu> eight(8, WholeA100());
  const absl::StatusOr<std::vector<PluginResource>> resources = AdvertisedResources(
      eight, Shared(MigStrategy::kNone, SharingKind::kTimeSlicing, "nvidia.com/gpu", 10));
  ASSERT_TRUE(resources.ok()) << resources.status();
  ASSERT_EQ(resources->size(), 1U);
  EXPECT_EQ(resources->front().capacity(), 80);
  EXPECT_EQ(resources->front().allocatable(), 80);
  EXPECT_EQ(resources->front().name, "nvidia.com/gpu");
  EXPECT_TRUE(resources->front().shared);
}

TEST(AdvertisedResourcesTest, SharingIsPerResource) {
  const std::vector<PluginGpu> gpus = {WholeA100(), SplitA100({{"1g.10gb", 0}, {"2g.20gb", 2}})};
  DevicePluginConfig config =
      Shared(MigStrategy::kMixed, SharingKind::kTimeSlicing, "nvidia.com/mig-1g.10gb", 4);
  // The node has none of these.
  config.resources.push_back({"nvidia.com/mig-4g.40gb", 3});
  EXPECT_EQ(Advertised(gpus, config),
            Strings({"nvidia.com/gpu: 0", "nvidia.com/mig-1g.10gb: 1:0x4 shared",
                     "nvidia.com/mig-2g.20gb: 1:2"}));
  config.rename_by_default = true;
  EXPECT_EQ(Advertised(gpus, config),
            Strings({"nvidia.com/gpu: 0", "nvidia.com/mig-1g.10gb.shared: 1:0x4 shared",
                     "nvidia.com/mig-2g.20gb: 1:2"}));
  config.sharing = SharingKind::kNone;
  EXPECT_EQ(Advertised(gpus, config), Strings({"nvidia.com/gpu: 0", "nvidia.com/mig-1g.10gb: 1:0",
                                               "nvidia.com/mig-2g.20gb: 1:2"}));
}

TEST(AdvertisedResourcesTest, NamesStaySortedWhenRenamed) {
  DevicePluginConfig config =
      Shared(MigStrategy::kMixed, SharingKind::kTimeSlicing, "nvidia.com/mig-1g.10gb", 2);
  config.rename_by_default = true;
  EXPECT_EQ(
      Advertised({SplitA100({{"1g.10gb", 0}, {"1g.10gb+me", 1}})}, config),
      Strings({"nvidia.com/mig-1g.10gb.me: 0:1", "nvidia.com/mig-1g.10gb.shared: 0:0x2 shared"}));
}

TEST(AdvertisedResourcesTest, OneReplicaIsNotShared) {
  DevicePluginConfig config =
      Shared(MigStrategy::kNone, SharingKind::kTimeSlicing, "nvidia.com/gpu", 1);
  config.rename_by_default = true;
  EXPECT_EQ(Advertised({WholeA100()}, config), Strings({"nvidia.com/gpu: 0"}));
}

TEST(AdvertisedResourcesTest, SingleInstancesMayBeTimeSlicedButNotMps) {
  const std::vector<PluginGpu> gpus = {SplitA100({{"3g.40gb", 0}, {"3g.40gb", 4}})};
  EXPECT_EQ(Advertised(
                gpus, Shared(MigStrategy::kSingle, SharingKind::kTimeSlicing, "nvidia.com/gpu", 2)),
            Strings({"nvidia.com/gpu: 0:0x2 0:4x2 shared"}));
  const DevicePluginConfig mps =
      Shared(MigStrategy::kSingle, SharingKind::kMps, "nvidia.com/gpu", 2);
  EXPECT_THAT(Refusal(gpus, mps), HasSubstr("MPS"));
  EXPECT_EQ(Advertised({WholeA100()}, mps), Strings({"nvidia.com/gpu: 0x2 shared"}));
}

TEST(AdvertisedResourcesTest, HealthAndNumaNodeAreTheGpus) {
  std::vector<PluginGpu> gpus = {SplitA100({{"3g.40gb", 0}, {"3g.40gb", 4}}),
                                 SplitA100({{"3g.40gb", 4}})};
  gpus[0].healthy = false;
  gpus[0].numa_node = 1;
  DevicePluginConfig config =
      Shared(MigStrategy::kMixed, SharingKind::kTimeSlicing, "nvidia.com/mig-3g.40gb", 5);
  const absl::StatusOr<std::vector<PluginResource>> resources = AdvertisedResources(gpus, config);
  ASSERT_TRUE(resources.ok()) << resources.status();
  ASSERT_EQ(resources->size(), 1U);
  const PluginResource& resource = resources->front();
  EXPECT_EQ(Text(resource, gpus), "nvidia.com/mig-3g.40gb: 0:0x5! 0:4x5! 1:4x5 shared");
  EXPECT_EQ(resource.capacity(), 15);
  EXPECT_EQ(resource.allocatable(), 5);
  EXPECT_EQ(resource.devices[1].numa_node, 1);
  EXPECT_EQ(resource.devices[2].numa_node, -1);
}

// ---- Labels ----

TEST(GpuFeatureLabelsTest, NoGpusNoLabels) {
  EXPECT_EQ(LabelMap({}, With(MigStrategy::kMixed)), Labels());
}

TEST(GpuFeatureLabelsTest, WholeGpus) {
  EXPECT_EQ(LabelMap({WholeA100(), WholeA100()}, With(MigStrategy::kNone)),
            Labels({{"nvidia.com/gpu.product", "A100-SXM4-80GB"},
                    {"nvidia.com/gpu.count", "2"},
                    {"nvidia.com/gpu.memory", "81920"},
                    {"nvidia.com/gpu.replicas", "1"},
                    {"nvidia.com/gpu.sharing-strategy", "none"},
                    {"nvidia.com/gpu.family", "ampere"},
                    {"nvidia.com/gpu.compute.major", "8"},
                    {"nvidia.com/gpu.compute.minor", "0"},
                    {"nvidia.com/mig.capable", "true"},
                    {"nvidia.com/mps.capable", "false"}}));
}

TEST(GpuFeatureLabelsTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(LabelMap({Whole(nullptr, "T4", kUnknownAmount)}, With(MigStrategy::kSingle)),
            Labels({{"nvidia.com/gpu.product", "T4"},
                    {"nvidia.com/gpu.count", "1"},
                    {"nvidia.com/gpu.replicas", "1"},
                    {"nvidia.com/gpu.sharing-strategy", "none"},
                    {"nvidia.com/mig.capable", "false"},
                    {"nvidia.com/mig.strategy", "single"},
                    {"nvidia.com/mps.capable", "false"}}));
}

TEST(GpuFeatureLabelsTest, ProductsAreMadeFitForLabels) {
  const auto product = [](const std::string& name) {
    return LabelMap({Whole(nullptr, name)}, With(MigStrategy::kNone))["nvidia.com/gpu.product"];
  };
  EXPECT_EQ(product("RTX PRO 6000 Blackwell Server"), "RTX-PRO-6000-Blackwell-Server");
  EXPECT_EQ(product("NVIDIA  H100 (NVL)/94GB "), "NVIDIA-H100-NVL94GB");
  EXPECT_EQ(product("a_b-c.d"), "a_b-c.d");
  EXPECT_EQ(
      LabelMap({Whole(nullptr, "")}, With(MigStrategy::kNone)).count("nvidia.com/gpu.product"), 0U);
}

TEST(GpuFeatureLabelsTest, SharingMarksTheProductUnlessRenamed) {
  DevicePluginConfig config =
      Shared(MigStrategy::kNone, SharingKind::kTimeSlicing, "nvidia.com/gpu", 4);
  Labels labels = LabelMap({WholeA100()}, config);
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "A100-SXM4-80GB-SHARED");
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "4");
  EXPECT_EQ(labels["nvidia.com/gpu.sharing-strategy"], "time-slicing");
  EXPECT_EQ(labels["nvidia.com/mps.capable"], "false");
  config.rename_by_default = true;
  config.sharing = SharingKind::kMps;
  labels = LabelMap({WholeA100()}, config);
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "A100-SXM4-80GB");
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "4");
  EXPECT_EQ(labels["nvidia.com/gpu.sharing-strategy"], "mps");
  EXPECT_EQ(labels["nvidia.com/mps.capable"], "true");
  config.resources[0].replicas = 1;
  labels = LabelMap({WholeA100()}, config);
  EXPECT_EQ(labels["nvidia.com/gpu.sharing-strategy"], "none");
  EXPECT_EQ(labels["nvidia.com/mps.capable"], "false");
}

TEST(GpuFeatureLabelsTest, GpusWithMigAreNotSharedAndNotFitForMps) {
  const DevicePluginConfig config =
      Shared(MigStrategy::kNone, SharingKind::kMps, "nvidia.com/gpu", 4);
  Labels labels = LabelMap({SevenSmall()}, config);
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "A100-SXM4-80GB");
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "0");
  EXPECT_EQ(labels["nvidia.com/gpu.sharing-strategy"], "none");
  EXPECT_EQ(labels["nvidia.com/mps.capable"], "false");
}

TEST(GpuFeatureLabelsTest, SingleDescribesInstancesAsGpus) {
  EXPECT_EQ(LabelMap({SevenSmall(), SevenSmall()}, With(MigStrategy::kSingle)),
            Labels({{"nvidia.com/gpu.product", "A100-SXM4-80GB-MIG-1g.10gb"},
                    {"nvidia.com/gpu.count", "14"},
                    {"nvidia.com/gpu.memory", "9728"},
                    {"nvidia.com/gpu.multiprocessors", "14"},
                    {"nvidia.com/gpu.slices.gi", "1"},
                    {"nvidia.com/gpu.slices.ci", "1"},
                    {"nvidia.com/gpu.engines.copy", "1"},
                    {"nvidia.com/gpu.engines.decoder", "0"},
                    {"nvidia.com/gpu.engines.encoder", "0"},
                    {"nvidia.com/gpu.engines.jpeg", "0"},
                    {"nvidia.com/gpu.engines.ofa", "0"},
                    {"nvidia.com/gpu.replicas", "1"},
                    {"nvidia.com/gpu.sharing-strategy", "none"},
                    {"nvidia.com/gpu.family", "ampere"},
                    {"nvidia.com/gpu.compute.major", "8"},
                    {"nvidia.com/gpu.compute.minor", "0"},
                    {"nvidia.com/mig.capable", "true"},
                    {"nvidia.com/mig.strategy", "single"},
                    {"nvidia.com/mps.capable", "false"}}));
}

TEST(GpuFeatureLabelsTest, SharedInstancesAreMarkedToo) {
  Labels labels = LabelMap(
      {SevenSmall()}, Shared(MigStrategy::kSingle, SharingKind::kTimeSlicing, "nvidia.com/gpu", 2));
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "A100-SXM4-80GB-MIG-1g.10gb-SHARED");
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "2");
  EXPECT_EQ(labels["nvidia.com/gpu.count"], "7");
}

TEST(GpuFeatureLabelsTest, TheWholeGpusMemoryIsNotTheInstances) {
  MigProduct product = TestA100();
  product.profiles[0].memory_mib = kUnknownAmount;
  const MigTable table = TestTable(product);
  const Labels labels = LabelMap({Split(table, {{"1g.10gb", 0}})}, With(MigStrategy::kSingle));
  EXPECT_EQ(labels.count("nvidia.com/gpu.memory"), 0U);
  EXPECT_EQ(labels.count("nvidia.com/gpu.multiprocessors"), 1U);
}

TEST(GpuFeatureLabelsTest, SingleMarksMixturesAsInvalid) {
  const std::vector<std::vector<PluginGpu>> mixtures = {
      {SevenSmall(), SplitA100({})},
      {WholeA100(), SevenSmall()},
      {SplitA100({{"3g.40gb", 0}, {"1g.10gb", 4}})},
  };
  for (const std::vector<PluginGpu>& gpus : mixtures) {
    Labels labels = LabelMap(gpus, With(MigStrategy::kSingle));
    EXPECT_EQ(labels["nvidia.com/gpu.product"], "A100-SXM4-80GB-MIG-INVALID");
    EXPECT_EQ(labels["nvidia.com/gpu.count"], "0");
    EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "0");
    EXPECT_EQ(labels["nvidia.com/gpu.memory"], "0");
    EXPECT_EQ(labels.count("nvidia.com/gpu.slices.gi"), 0U);
    EXPECT_EQ(labels["nvidia.com/mig.strategy"], "single");
  }
}

TEST(GpuFeatureLabelsTest, MixedDescribesProfilesBesideGpus) {
  const std::vector<PluginGpu> gpus = {SplitA100({{"2g.20gb", 0}, {"2g.20gb", 2}, {"3g.40gb", 4}}),
                                       WholeA100(), SplitA100({{"2g.20gb", 4}})};
  Labels labels = LabelMap(
      gpus, Shared(MigStrategy::kMixed, SharingKind::kTimeSlicing, "nvidia.com/mig-2g.20gb", 3));
  // GPUs with MIG count as GPUs of the product.
  for (const auto& [input, expected] : TestRows<2>("MixedDescribesProfilesBesideGpus")) {
    EXPECT_EQ(labels[input], expected) << input;
  }
}

TEST(GpuFeatureLabelsTest, MixedWithSuffixedProfiles) {
  Labels labels = LabelMap({Split(Rtx(), {{"1g.24gb+me.all", 0}, {"1g.24gb-me", 3}})},
                           With(MigStrategy::kMixed));
  EXPECT_EQ(labels["nvidia.com/gpu.family"], "blackwell");
  EXPECT_EQ(labels["nvidia.com/gpu.compute.major"], "12");
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "0");
  // The value loses its plus, the key has a dot instead.
  EXPECT_EQ(labels["nvidia.com/mig-1g.24gb.me.all.product"],
            "RTX-PRO-6000-Blackwell-Server-MIG-1g.24gbme.all");
  EXPECT_EQ(labels["nvidia.com/mig-1g.24gb-me.product"],
            "RTX-PRO-6000-Blackwell-Server-MIG-1g.24gb-me");
  EXPECT_EQ(labels["nvidia.com/mig-1g.24gb.me.all.engines.encoder"], "4");
}

TEST(GpuFeatureLabelsTest, OfSeveralProductsTheFirstWithoutMigIsShown) {
  std::vector<PluginGpu> gpus = {SevenSmall(), Whole(&A30(), "A30-PCIE-24GB", 24576), WholeA100()};
  Labels labels = LabelMap(gpus, With(MigStrategy::kMixed));
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "A30-PCIE-24GB");
  EXPECT_EQ(labels["nvidia.com/gpu.count"], "1");
  EXPECT_EQ(labels["nvidia.com/gpu.memory"], "24576");
}

}  // namespace device_plugin_test
}  // namespace drasim
