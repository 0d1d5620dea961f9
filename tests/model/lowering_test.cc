// Lowering of demands to requests: every rule, in both front ends.
#include "model/lowering.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/gpu_model_table.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace lowering_test {

using Names = std::vector<std::string>;
using Replicas = std::vector<std::pair<std::string, int64_t>>;

const MigTable& A100() {
  static const MigTable* const table = new MigTable(TestTable(TestA100()));
  return *table;
}
const MigTable& A30() {
  static const MigTable* const table = new MigTable(TestTable(TestA30()));
  return *table;
}

PodShape Demand(int32_t gpus, int32_t milli, int64_t memory_mib = 0) {
  PodShape demand;
  demand.request.cpu_milli = 4000;
  demand.request.memory_bytes = int64_t{1} << 33;
  demand.request.gpu_count = gpus;
  demand.request.gpu_milli = gpus > 0 ? milli : 0;
  demand.demand.memory_mib = memory_mib;
  return demand;
}

LoweringOptions Rule(LoweringRule rule) {
  LoweringOptions options;
  options.rule = rule;
  return options;
}

LoweringOptions Smallest(const MigTable& table, Names profiles = {}) {
  LoweringOptions options = Rule(LoweringRule::kMigSmallest);
  options.table = &table;
  options.profiles = std::move(profiles);
  return options;
}

LoweringOptions WithPlugin(LoweringOptions options, Replicas replicas = {}, bool renamed = false) {
  options.device_plugin = true;
  options.replicas = std::move(replicas);
  options.renamed = renamed;
  return options;
}

std::string Message(const absl::Status& status,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  EXPECT_EQ(status.code(), code);
  return std::string(status.message());
}

Replicas OfGpus(int64_t replicas) { return {{"nvidia.com/gpu", replicas}}; }

// "1x300", "1g.10gb:1" or "nvidia.com/gpu:2", then the GPU milli that this stands for, and what was
// wanted.
std::string Text(const PodShape& shape) {
  Names asked;
  if (shape.request.gpu_count > 0)
    asked.push_back(absl::StrCat(shape.request.gpu_count, "x", shape.request.gpu_milli));
  for (const auto& [profile, count] : shape.request.mig) {
    asked.push_back(absl::StrCat(profile, ":", count));
  }
  for (const auto& [name, amount] : shape.request.extended) {
    asked.push_back(absl::StrCat(name, ":", amount));
  }
  const int64_t wanted = int64_t{shape.wanted_gpus()} * shape.wanted_milli();
  EXPECT_EQ(shape.wanted_gpu_milli(), wanted > 0 ? wanted : shape.request.total_gpu_milli());
  return absl::StrCat(absl::StrJoin(asked, " "), ", ", shape.request.total_gpu_milli(), " for ",
                      shape.wanted_gpus(), "x", shape.wanted_milli());
}

std::string Lowered(const LoweringOptions& options, const PodShape& demand) {
  const absl::StatusOr<Lowering> lowering = Lowering::Make(options);
  if (!lowering.ok()) return Message(lowering.status());
  const absl::StatusOr<PodShape> lowered = lowering->Lower(demand);
  if (!lowered.ok()) return Message(lowered.status());
  // Nothing else changes.
  EXPECT_EQ(lowered->request.cpu_milli, demand.request.cpu_milli);
  EXPECT_EQ(lowered->request.memory_bytes, demand.request.memory_bytes);
  EXPECT_EQ(lowered->demand.memory_mib, demand.demand.memory_mib);
  EXPECT_EQ(lowered->constraints.node_selector, demand.constraints.node_selector);
  return Text(*lowered);
}

TEST(LoweringTest, RulesByName) {
  const std::vector<std::pair<const char*, LoweringRule>> rules = {
      {"", LoweringRule::kNone},
      {"none", LoweringRule::kNone},
      {"whole-gpu", LoweringRule::kWholeGpu},
      {"mig-smallest", LoweringRule::kMigSmallest},
      {"time-sliced", LoweringRule::kTimeSliced}};
  for (const auto& [name, rule] : rules) {
    const absl::StatusOr<LoweringRule> parsed = ParseLoweringRule(name);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, rule) << name;
  }
  EXPECT_EQ(Message(ParseLoweringRule("mig-smalest").status()),
            "found 'mig-smalest', expected one of none, whole-gpu, mig-smallest, time-sliced "
            "(did you mean 'mig-smallest'?)");
  EXPECT_EQ(Message(ParseLoweringRule("mps").status()),
            "found 'mps', expected one of none, whole-gpu, mig-smallest, time-sliced");
}

// ---- The direct front end ----

TEST(LoweringTest, NoneLeavesTheDemandAlone) {
  const LoweringOptions none = Rule(LoweringRule::kNone);
  EXPECT_EQ(Lowered(none, Demand(0, 0)), ", 0 for 0x0");
  EXPECT_EQ(Lowered(none, Demand(1, 300)), "1x300, 300 for 1x300");
  EXPECT_EQ(Lowered(none, Demand(2, 450)), "2x450, 900 for 2x450");
  EXPECT_EQ(Lowered(none, Demand(8, 1000)), "8x1000, 8000 for 8x1000");
  // So much so that it is the same shape.
  GpuModelTable models;
  ShapeTable shapes(&models);
  const absl::StatusOr<Lowering> lowering = Lowering::Make(none);
  ASSERT_TRUE(lowering.ok());
  for (const PodShape& demand : {Demand(0, 0), Demand(1, 300), Demand(2, 1000)}) {
    EXPECT_EQ(shapes.Intern(*lowering->Lower(demand)), shapes.Intern(demand));
  }
}

TEST(LoweringTest, WholeGpuRoundsSharesUp) {
  const LoweringOptions whole = Rule(LoweringRule::kWholeGpu);
  EXPECT_EQ(Lowered(whole, Demand(0, 0)), ", 0 for 0x0");
  EXPECT_EQ(Lowered(whole, Demand(1, 1)), "1x1000, 1000 for 1x1");
  EXPECT_EQ(Lowered(whole, Demand(2, 450)), "2x1000, 2000 for 2x450");
  EXPECT_EQ(Lowered(whole, Demand(4, 1000)), "4x1000, 4000 for 4x1000");
}

TEST(LoweringTest, MigSmallestByComputeSlices) {
  const LoweringOptions smallest = Smallest(A100());
  EXPECT_EQ(Lowered(smallest, Demand(0, 0)), ", 0 for 0x0");
  EXPECT_EQ(Lowered(smallest, Demand(1, 1)), "1g.10gb:1, 125 for 1x1");
  EXPECT_EQ(Lowered(smallest, Demand(1, 142)), "1g.10gb:1, 125 for 1x142");
  EXPECT_EQ(Lowered(smallest, Demand(1, 143)), "2g.20gb:1, 250 for 1x143");
  EXPECT_EQ(Lowered(smallest, Demand(1, 285)), "2g.20gb:1, 250 for 1x285");
  EXPECT_EQ(Lowered(smallest, Demand(1, 286)), "3g.40gb:1, 500 for 1x286");
  EXPECT_EQ(Lowered(smallest, Demand(1, 428)), "3g.40gb:1, 500 for 1x428");
  EXPECT_EQ(Lowered(smallest, Demand(1, 429)), "4g.40gb:1, 500 for 1x429");
  EXPECT_EQ(Lowered(smallest, Demand(1, 571)), "4g.40gb:1, 500 for 1x571");
  EXPECT_EQ(Lowered(smallest, Demand(1, 572)), "7g.80gb:1, 1000 for 1x572");
  EXPECT_EQ(Lowered(smallest, Demand(1, 999)), "7g.80gb:1, 1000 for 1x999");
  // A whole GPU stays one, and several shares become several instances.
  EXPECT_EQ(Lowered(smallest, Demand(1, 1000)), "1x1000, 1000 for 1x1000");
  EXPECT_EQ(Lowered(smallest, Demand(8, 1000)), "8x1000, 8000 for 8x1000");
  EXPECT_EQ(Lowered(smallest, Demand(3, 300)), "3g.40gb:3, 1500 for 3x300");
}

TEST(LoweringTest, MigSmallestOfEveryShare) {
  const std::vector<std::pair<int32_t, const char*>> profiles = {
      {1, "1g.10gb"}, {2, "2g.20gb"}, {3, "3g.40gb"}, {4, "4g.40gb"}, {7, "7g.80gb"}};
  const absl::StatusOr<Lowering> lowering = Lowering::Make(Smallest(A100()));
  ASSERT_TRUE(lowering.ok());
  for (int32_t milli = 1; milli < 1000; ++milli) {
    size_t first = 0;
    while (profiles[first].first * 1000 < milli * 7) ++first;
    const absl::StatusOr<PodShape> lowered = lowering->Lower(Demand(1, milli));
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    ASSERT_EQ(lowered->request.mig.size(), 1u);
    EXPECT_EQ(lowered->request.mig[0].first, profiles[first].second) << milli;
    EXPECT_EQ(lowered->request.gpu_count, 0);
    EXPECT_EQ(lowered->request.gpu_milli, 0);
    EXPECT_FALSE(lowered->request.gets_devices_from_node());
  }
}

TEST(LoweringTest, MigSmallestOfAnotherProduct) {
  const LoweringOptions smallest = Smallest(A30());
  EXPECT_EQ(Lowered(smallest, Demand(1, 250)), "1g.6gb:1, 250 for 1x250");
  EXPECT_EQ(Lowered(smallest, Demand(1, 251)), "2g.12gb:1, 500 for 1x251");
  EXPECT_EQ(Lowered(smallest, Demand(1, 500)), "2g.12gb:1, 500 for 1x500");
  EXPECT_EQ(Lowered(smallest, Demand(1, 501)), "4g.24gb:1, 1000 for 1x501");
}

TEST(LoweringTest, MemoryMayDecide) {
  const LoweringOptions smallest = Smallest(A100());
  EXPECT_EQ(Lowered(smallest, Demand(1, 100, 9728)), "1g.10gb:1, 125 for 1x100");
  EXPECT_EQ(Lowered(smallest, Demand(1, 100, 9729)), "2g.20gb:1, 250 for 1x100");
  EXPECT_EQ(Lowered(smallest, Demand(1, 100, 19968)), "2g.20gb:1, 250 for 1x100");
  EXPECT_EQ(Lowered(smallest, Demand(1, 100, 19969)), "3g.40gb:1, 500 for 1x100");
  EXPECT_EQ(Lowered(smallest, Demand(1, 100, 40193)), "7g.80gb:1, 1000 for 1x100");
  EXPECT_EQ(Lowered(smallest, Demand(1, 429, 19969)), "4g.40gb:1, 500 for 1x429");
  EXPECT_EQ(Lowered(smallest, Demand(1, 100, 80385)),
            "no allowed MIG profile of A100-80GB (1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb) has "
            "100 thousandths of its compute slices and 80385 MiB");
  // It is that of all GPUs together.
  EXPECT_EQ(Lowered(smallest, Demand(2, 100, 2 * 9728)), "1g.10gb:2, 250 for 2x100");
  EXPECT_EQ(Lowered(smallest, Demand(2, 100, 2 * 9729)), "2g.20gb:2, 500 for 2x100");
  // Memory does not matter for a whole GPU.
  EXPECT_EQ(Lowered(smallest, Demand(1, 1000, 90000)), "1x1000, 1000 for 1x1000");
}

TEST(LoweringTest, MemoryThatNoListingShowsIsInTheName) {
  MigProduct product = TestA100();
  for (MigProfile& profile : product.profiles) profile.memory_mib = kUnknownAmount;
  const MigTable table = TestTable(product);
  EXPECT_EQ(Lowered(Smallest(table), Demand(1, 100, 10240)), "1g.10gb:1, 125 for 1x100");
  EXPECT_EQ(Lowered(Smallest(table), Demand(1, 100, 10241)), "2g.20gb:1, 250 for 1x100");
}

TEST(LoweringTest, OnlyAllowedProfiles) {
  // In whatever order they are given; the one with double memory only if it is named.
  const LoweringOptions three = Smallest(A100(), {"7g.80gb", "1g.20gb", "1g.10gb"});
  EXPECT_EQ(Lowered(three, Demand(1, 142)), "1g.10gb:1, 125 for 1x142");
  EXPECT_EQ(Lowered(three, Demand(1, 142, 10000)), "1g.20gb:1, 250 for 1x142");
  EXPECT_EQ(Lowered(three, Demand(1, 143)), "7g.80gb:1, 1000 for 1x143");
  EXPECT_EQ(Lowered(Smallest(A100(), {"1g.10gb+me"}), Demand(1, 100)),
            "1g.10gb+me:1, 125 for 1x100");
  // As another driver prints it.
  EXPECT_EQ(Lowered(Smallest(A100(), {"3g.39gb"}), Demand(1, 100)), "3g.40gb:1, 500 for 1x100");
  EXPECT_EQ(
      Lowered(Smallest(A100(), {"2g.20gb"}), Demand(1, 286)),
      "no allowed MIG profile of A100-80GB (2g.20gb) has 286 thousandths of its compute slices");
}

// ---- The device plugin's front end ----

TEST(LoweringTest, DevicesBecomeExtendedResources) {
  const LoweringOptions none = WithPlugin(Rule(LoweringRule::kNone));
  EXPECT_EQ(Lowered(none, Demand(0, 0)), ", 0 for 0x0");
  EXPECT_EQ(Lowered(none, Demand(2, 1000)), "nvidia.com/gpu:2, 2000 for 2x1000");
  EXPECT_EQ(Lowered(none, Demand(1, 300)),
            "a pod wants 300 thousandths of a GPU, which the device plugin cannot hand out; choose "
            "a rule in front_end.lowering.rule");
  const LoweringOptions whole = WithPlugin(Rule(LoweringRule::kWholeGpu));
  EXPECT_EQ(Lowered(whole, Demand(2, 450)), "nvidia.com/gpu:2, 2000 for 2x450");
  const absl::StatusOr<Lowering> lowering = Lowering::Make(whole);
  ASSERT_TRUE(lowering.ok());
  const absl::StatusOr<PodShape> lowered = lowering->Lower(Demand(1, 300));
  ASSERT_TRUE(lowered.ok());
  EXPECT_EQ(lowered->request.gpu_count, 0);
  EXPECT_EQ(lowered->request.gpu_milli, 0);
  EXPECT_EQ(lowered->request.nominal_milli, 1000);
  EXPECT_EQ(lowered->wanted_gpu_milli(), 300);
  EXPECT_TRUE(lowered->request.gets_devices_from_node());
}

TEST(LoweringTest, AddsToWhatIsAskedForByName) {
  PodShape demand = Demand(1, 1000);
  demand.request.extended = {{"example.com/nic", 1}, {"nvidia.com/gpu", 2}};
  demand.constraints.node_selector = {{"zone", "west"}};
  EXPECT_EQ(Lowered(WithPlugin(Rule(LoweringRule::kNone)), demand),
            "example.com/nic:1 nvidia.com/gpu:3, 1000 for 1x1000");
  demand.request.extended = {{"zeta.com/x", 1}};
  EXPECT_EQ(Lowered(WithPlugin(Rule(LoweringRule::kNone)), demand),
            "nvidia.com/gpu:1 zeta.com/x:1, 1000 for 1x1000");
}

TEST(LoweringTest, InstancesByTheNamesOfThePlugin) {
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100())), Demand(1, 142)),
            "nvidia.com/mig-1g.10gb:1, 125 for 1x142");
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100())), Demand(3, 300)),
            "nvidia.com/mig-3g.40gb:3, 1500 for 3x300");
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100(), {"1g.10gb+me"})), Demand(1, 142)),
            "nvidia.com/mig-1g.10gb.me:1, 125 for 1x142");
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100())), Demand(2, 1000)),
            "nvidia.com/gpu:2, 2000 for 2x1000");
  EXPECT_EQ(
      Lowered(WithPlugin(Smallest(A100(), {"1g.10gb"})), Demand(1, 143)),
      "no allowed MIG profile of A100-80GB (1g.10gb) has 143 thousandths of its compute slices");
}

TEST(LoweringTest, InstancesThatTheWorkloadNamesItself) {
  PodShape demand = Demand(0, 0);
  demand.request.mig = {{"1g.10gb", 2}, {"3g.40gb", 1}};
  demand.request.nominal_milli = 750;
  EXPECT_EQ(Lowered(Rule(LoweringRule::kWholeGpu), demand), "1g.10gb:2 3g.40gb:1, 750 for 0x0");
  EXPECT_EQ(Lowered(WithPlugin(Rule(LoweringRule::kNone)), demand),
            "nvidia.com/mig-1g.10gb:2 nvidia.com/mig-3g.40gb:1, 750 for 0x0");
}

TEST(LoweringTest, ReplicasOfSharedGpus) {
  const LoweringOptions sliced = WithPlugin(Rule(LoweringRule::kTimeSliced), OfGpus(4));
  EXPECT_EQ(Lowered(sliced, Demand(0, 0)), ", 0 for 0x0");
  EXPECT_EQ(Lowered(sliced, Demand(1, 300)), "nvidia.com/gpu:1, 250 for 1x300");
  EXPECT_EQ(Lowered(sliced, Demand(1, 10)), "nvidia.com/gpu:1, 250 for 1x10");
  EXPECT_EQ(Lowered(sliced, Demand(2, 450)), "nvidia.com/gpu:2, 500 for 2x450");
  EXPECT_EQ(Lowered(sliced, Demand(1, 1000)), "nvidia.com/gpu:4, 1000 for 1x1000");
  EXPECT_EQ(Lowered(sliced, Demand(2, 1000)), "nvidia.com/gpu:8, 2000 for 2x1000");
  // Nothing is shared: a replica is a GPU.
  for (const Replicas& replicas : {Replicas(), OfGpus(1)}) {
    EXPECT_EQ(Lowered(WithPlugin(Rule(LoweringRule::kTimeSliced), replicas), Demand(1, 300)),
              "nvidia.com/gpu:1, 1000 for 1x300");
  }
  // Other rules know that a GPU is all of its replicas, too.
  EXPECT_EQ(Lowered(WithPlugin(Rule(LoweringRule::kNone), OfGpus(4)), Demand(2, 1000)),
            "nvidia.com/gpu:8, 2000 for 2x1000");
  EXPECT_EQ(Lowered(WithPlugin(Rule(LoweringRule::kWholeGpu), OfGpus(4)), Demand(1, 300)),
            "nvidia.com/gpu:4, 1000 for 1x300");
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100()), OfGpus(4)), Demand(1, 1000)),
            "nvidia.com/gpu:4, 1000 for 1x1000");
}

TEST(LoweringTest, ReplicasOfSharedInstances) {
  const Replicas replicas = {{"nvidia.com/gpu", 4}, {"nvidia.com/mig-1g.10gb", 2}};
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100()), replicas), Demand(2, 142)),
            "nvidia.com/mig-1g.10gb:4, 250 for 2x142");
  EXPECT_EQ(Lowered(WithPlugin(Smallest(A100()), replicas), Demand(1, 143)),
            "nvidia.com/mig-2g.20gb:1, 250 for 1x143");
}

TEST(LoweringTest, RenamedOnlyIfShared) {
  const LoweringOptions rule = Rule(LoweringRule::kTimeSliced);
  const LoweringOptions sliced = WithPlugin(rule, OfGpus(4), /*renamed=*/true);
  EXPECT_EQ(Lowered(sliced, Demand(1, 300)), "nvidia.com/gpu.shared:1, 250 for 1x300");
  EXPECT_EQ(Lowered(sliced, Demand(1, 1000)), "nvidia.com/gpu.shared:4, 1000 for 1x1000");
  EXPECT_EQ(Lowered(WithPlugin(rule, OfGpus(1), /*renamed=*/true), Demand(1, 300)),
            "nvidia.com/gpu:1, 1000 for 1x300");
  const LoweringOptions instances =
      WithPlugin(Smallest(A100()), {{"nvidia.com/mig-1g.10gb", 2}}, /*renamed=*/true);
  EXPECT_EQ(Lowered(instances, Demand(1, 142)), "nvidia.com/mig-1g.10gb.shared:2, 125 for 1x142");
  EXPECT_EQ(Lowered(instances, Demand(1, 143)), "nvidia.com/mig-2g.20gb:1, 250 for 1x143");
  EXPECT_EQ(Lowered(instances, Demand(1, 1000)), "nvidia.com/gpu:1, 1000 for 1x1000");
}

// ---- Rules for all lowerings ----

TEST(LoweringTest, ModelsAreIgnoredOnlyIfAsked) {
  std::vector<LoweringOptions> all = {Rule(LoweringRule::kNone), Rule(LoweringRule::kWholeGpu),
                                      Smallest(A100()),
                                      WithPlugin(Rule(LoweringRule::kTimeSliced), OfGpus(2))};
  for (LoweringOptions& options : all) {
    for (const bool ignore : {false, true}) {
      options.ignore_gpu_model = ignore;
      const absl::StatusOr<Lowering> lowering = Lowering::Make(options);
      ASSERT_TRUE(lowering.ok()) << lowering.status();
      for (PodShape demand : {Demand(0, 0), Demand(1, 300), Demand(2, 1000)}) {
        demand.request.gpu_spec = "V100|T4";
        const absl::StatusOr<PodShape> lowered = lowering->Lower(demand);
        ASSERT_TRUE(lowered.ok()) << lowered.status();
        EXPECT_EQ(lowered->request.gpu_spec, ignore ? "" : "V100|T4");
      }
    }
  }
}

TEST(LoweringTest, WhatCannotBeMade) {
  EXPECT_EQ(Message(Lowering::Make(Rule(LoweringRule::kTimeSliced)).status()),
            "found 'time-sliced', expected another rule: only the device plugin has replicas");
  for (const bool plugin : {false, true}) {
    LoweringOptions options = Rule(LoweringRule::kMigSmallest);
    options.device_plugin = plugin;
    EXPECT_EQ(Message(Lowering::Make(options).status()),
              "found 'mig-smallest', expected GPUs of a MIG product in the cluster");
  }
  EXPECT_EQ(Message(Lowering::Make(Smallest(A100(), {"7g.80gb", "1g.10g"})).status(),
                    absl::StatusCode::kNotFound),
            "unknown profile '1g.10g' of A100-80GB, expected one of 1g.10gb, 1g.10gb+me, 1g.20gb, "
            "2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb (did you mean '1g.10gb'?)");
  // Its name, but of another product.
  EXPECT_EQ(
      Message(Lowering::Make(Smallest(A30(), {"1g.10gb"})).status(), absl::StatusCode::kNotFound),
      "unknown profile '1g.10gb' of A30, expected one of 1g.6gb, 1g.6gb+me, 2g.12gb, "
      "2g.12gb+me, 4g.24gb (did you mean '1g.6gb'?)");
}

}  // namespace lowering_test
}  // namespace drasim
