// ChoiceSearch against brute force over all solutions, on random clusters.

#include "policies/allocator/choice_search.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/hash.h"
#include "model/random.h"
#include "policies/allocator/choice_policy.h"
#include "policies/allocator/structured_allocator.h"
#include "tests/policies/allocator/naive_rules.h"
#include "tests/policies/allocator/naive_search.h"
#include "tests/policies/allocator/random_world.h"
#include "tests/policies/allocator/world_search.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;

// A device's weight and colour follow from its name. Each device costs its weight, and each pair of
// one colour costs 1.
int64_t WeightOf(const std::string& name) { return static_cast<int64_t>(Fnv1a(name) % 3); }
int64_t ColourOf(const std::string& name) { return static_cast<int64_t>(Fnv1a(name) / 3 % 3); }

int64_t CostOfNames(absl::Span<const NaiveTaken> taken) {
  int64_t cost = 0;
  for (size_t i = 0; i < taken.size(); ++i) {
    const std::string& name = taken[i].device.device->name();
    cost += 1000 * WeightOf(name);
    for (size_t j = 0; j < i; ++j) {
      if (ColourOf(name) == ColourOf(taken[j].device.device->name())) ++cost;
    }
  }
  return cost;
}

class NameMeasure : public ChoiceMeasure {
 public:
  explicit NameMeasure(const ChoiceView& view) : view_(view), of_colour_(3) {}
  void Take(const TakenDevice& device) override {
    weight_ += WeightOf(NameOf(device.device));
    pairs_ += of_colour_[Colour(device.device)]++;
  }
  void Undo(const TakenDevice& device) override {
    weight_ -= WeightOf(NameOf(device.device));
    pairs_ -= --of_colour_[Colour(device.device)];
  }
  ChoiceCost Cost() const override { return {weight_, pairs_, 0}; }
  int64_t NodeRank() const override { return 1000 * weight_ + pairs_; }
  uint64_t KeyOf(const DevicePlace& place) const override {
    return static_cast<uint64_t>(10 * WeightOf(NameOf(place.device)) +
                                 ColourOf(NameOf(place.device)));
  }

 private:
  const std::string& NameOf(uint32_t device) const {
    return view_.catalog().devices()[device].device->name();
  }
  size_t Colour(uint32_t device) const { return static_cast<size_t>(ColourOf(NameOf(device))); }

  const ChoiceView& view_;
  std::vector<int64_t> of_colour_;
  int64_t weight_ = 0;
  int64_t pairs_ = 0;
};

// Each GPU, known by its counter set, costs 1, once any device of it is taken.
int64_t CostOfGpus(absl::Span<const NaiveTaken> taken) {
  std::set<std::string> gpus;
  for (const NaiveTaken& one : taken) {
    gpus.insert(one.device.device->consumes_counters(0).counter_set());
  }
  return static_cast<int64_t>(gpus.size());
}

class GpuMeasure : public ChoiceMeasure {
 public:
  explicit GpuMeasure(const ChoiceView& view) : view_(view) {}
  void Take(const TakenDevice& device) override { ++gpus_[SetOf(device)]; }
  void Undo(const TakenDevice& device) override {
    if (--gpus_[SetOf(device)] == 0) gpus_.erase(SetOf(device));
  }
  ChoiceCost Cost() const override { return {static_cast<int64_t>(gpus_.size()), 0, 0}; }
  int64_t NodeRank() const override { return Cost()[0]; }
  uint64_t KeyOf(const DevicePlace&) const override { return 0; }

 private:
  uint32_t SetOf(const TakenDevice& device) const {
    const PoolView& pool = view_.PoolOf({device.segment, device.device});
    return pool.set_of_counter[pool.uses.at(device.device)[0].counter];
  }
  const ChoiceView& view_;
  std::map<uint32_t, int64_t> gpus_;
};

template <typename Measured>
class TestPolicy : public ChoicePolicy {
 public:
  std::unique_ptr<ChoiceMeasure> Measure(const ChoiceView& view) const override {
    return std::make_unique<Measured>(view);
  }
};

std::string LineOf(const NaiveTaken& one) {
  return absl::StrCat(one.request->claim, " ", one.request->group, "/", one.request->sub, " ",
                      one.device.pool->driver, "/", one.device.pool->name, "/",
                      one.device.device->name());
}

// By claims and requests; variants that try every order of a set give the first order that works.
std::vector<std::string> LinesOf(const std::vector<NaiveTaken>& taken, bool sorted) {
  std::vector<std::string> lines;
  for (const NaiveTaken& one : taken) lines.push_back(LineOf(one));
  if (!sorted) std::sort(lines.begin(), lines.end());
  return lines;
}

struct ChoiceCoverage {
  int64_t better = 0;     // a cost below that of the first solution
  int64_t confirmed = 0;  // the best of several solutions
  int64_t pruned = 0;     // fewer solutions were looked at than there are
};

void TryChoice(RandomWorld world, const std::shared_ptr<const ChoicePolicy>& policy,
               const NaiveCost& cost, ChoiceCoverage* coverage) {
  const NaiveRules rules(world);
  const AllocationAnswer first = WorldSearch(world, WorldSearch::Mode::kUsual).Allocate(world);
  world.options.policy = policy;
  world.options.policy_budget = 100'000;
  WorldSearch search(world, WorldSearch::Mode::kUsual);
  const AllocationAnswer answer = search.Allocate(world);
  // Fits exactly if it fits without a policy, with the same words if not.
  ASSERT_EQ(answer.outcome, first.outcome);
  ASSERT_EQ(answer.error, first.error);
  // The choice leaves nothing behind.
  ASSERT_EQ(AnswerText(search.Allocate(world)), AnswerText(answer));
  if (answer.outcome != AllocationOutcome::kAllocated) {
    ASSERT_FALSE(answer.choice.has_value());
    return;
  }
  ASSERT_TRUE(answer.choice.has_value());
  // The plain rules are those of 1.37.
  if (world.options.release != StructuredRelease::k1_37 || answer.choice->exhausted) return;
  const auto taken = TakenByResults(rules, answer.results);
  ASSERT_TRUE(taken.has_value());
  ASSERT_EQ(WrongWith(world, rules, *taken), "");
  ASSERT_EQ(answer.choice->rank, cost(*taken));
  const auto before = TakenByResults(rules, first.results);
  int64_t solutions = 0;
  const NaiveAnswer best = BestByBruteForce(world, rules, 3000, [&](auto all) {
    ++solutions;
    return cost(all);
  });
  if (best.kind == NaiveAnswer::Kind::kTooLong) return;
  ASSERT_EQ(cost(*taken), cost(best.taken));
  ASSERT_EQ(LinesOf(*taken, rules.sorted()), LinesOf(best.taken, rules.sorted()));
  coverage->better += cost(*taken) < cost(*before) ? 1 : 0;
  coverage->confirmed += solutions > 1 ? 1 : 0;
  coverage->pruned += answer.choice->solutions < solutions ? 1 : 0;
}

TEST(ChoiceSearchTest, FindsTheFirstOfTheBestSolutions) {
  const int64_t cases = static_cast<int64_t>(SoakSeeds(1500, /*most=*/50000));
  const auto policy = std::make_shared<TestPolicy<NameMeasure>>();
  ChoiceCoverage coverage;
  for (int64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    TryChoice(RandomWorldMaker(static_cast<uint64_t>(seed)).Make(), policy, CostOfNames, &coverage);
    if (HasFailure()) return;
  }
  EXPECT_GE(coverage.confirmed * 20, cases);
  EXPECT_GE(coverage.better * 40, cases);
  EXPECT_GE(coverage.pruned * 40, cases);
}

// GPUs with equal partitions, in the order of GPUs or mixed; some are held. Claims of several.
RandomWorld MakeGpus(uint64_t seed) {
  Random random(seed, "gpus");
  RandomWorld world;
  world.options.features.partitionable_devices = true;
  world.node.mutable_metadata()->set_name("node");
  world.classes.emplace_back().mutable_metadata()->set_name("class-0");
  const uint64_t gpus = 2 + random.Below(2);
  const uint64_t units = 2 + random.Below(2);
  ResourceSlice counters;
  ResourceSlice slice;
  for (ResourceSlice* one : {&counters, &slice}) {
    one->mutable_metadata()->set_name(one == &slice ? "b" : "a");
    one->mutable_spec()->set_driver("d");
    one->mutable_spec()->set_node_name("node");
    one->mutable_spec()->mutable_pool()->set_name("pool");
    one->mutable_spec()->mutable_pool()->set_resource_slice_count(2);
  }
  std::vector<Device> devices;
  for (uint64_t gpu = 0; gpu < gpus; ++gpu) {
    auto* set = counters.mutable_spec()->add_shared_counters();
    set->set_name(absl::StrCat("gpu-", gpu));
    for (uint64_t unit = 0; unit < units; ++unit) {
      (*set->mutable_counters())[absl::StrCat("unit-", unit)].set_value("1");
    }
    for (uint64_t unit = 0; unit <= units; ++unit) {
      Device& device = devices.emplace_back();
      const bool whole = unit == units;
      device.set_name(absl::StrCat("gpu-", gpu, "-", unit));
      (*device.mutable_attributes())["whole"].set_bool_value(whole);
      auto* use = device.add_consumes_counters();
      use->set_counter_set(set->name());
      for (uint64_t u = whole ? 0 : unit; u < (whole ? units : unit + 1); ++u) {
        (*use->mutable_counters())[absl::StrCat("unit-", u)].set_value("1");
      }
      if (random.Below(8) == 0) world.use.dedicated.push_back({"d", "pool", device.name()});
    }
  }
  if (random.Below(2) == 0) {
    std::stable_sort(devices.begin(), devices.end(), [](const Device& left, const Device& right) {
      return left.name().back() < right.name().back();
    });
  }
  for (Device& device : devices) *slice.mutable_spec()->add_devices() = std::move(device);
  world.slices = {std::move(counters), std::move(slice)};
  const uint64_t claims = 1 + random.Below(2);
  for (uint64_t c = 0; c < claims; ++c) {
    auto* devices_of = world.claims.emplace_back().mutable_spec()->mutable_devices();
    world.claims.back().mutable_metadata()->set_name(absl::StrCat("claim-", c));
    for (uint64_t r = 0; r <= random.Below(2); ++r) {
      auto* request = devices_of->add_requests();
      request->set_name(absl::StrCat("r", r));
      request->mutable_exactly()->set_device_class_name("class-0");
      request->mutable_exactly()->set_allocation_mode("ExactCount");
      request->mutable_exactly()->set_count(1 + static_cast<int64_t>(random.Below(3)));
    }
  }
  return world;
}

TEST(ChoiceSearchTest, ExchangesEqualGpus) {
  const int64_t cases = static_cast<int64_t>(SoakSeeds(400, /*most=*/20000));
  const auto policy = std::make_shared<TestPolicy<GpuMeasure>>();
  ChoiceCoverage coverage;
  for (int64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    TryChoice(MakeGpus(static_cast<uint64_t>(seed)), policy, CostOfGpus, &coverage);
    if (HasFailure()) return;
  }
  EXPECT_GE(coverage.confirmed * 3, cases);
  EXPECT_GE(coverage.better * 20, cases);
  EXPECT_GE(coverage.pruned * 3, cases);
}

// Seven devices of any of eight equal GPUs: 231,917,400 sets.
TEST(ChoiceSearchTest, EqualGpusCostOneSearch) {
  RandomWorld world = MakeGpus(1);
  ResourceSlice counters = world.slices[0];
  ResourceSlice slice = world.slices[1];
  counters.mutable_spec()->clear_shared_counters();
  slice.mutable_spec()->clear_devices();
  world.use.dedicated.clear();
  for (int gpu = 0; gpu < 8; ++gpu) {
    auto* set = counters.mutable_spec()->add_shared_counters();
    set->set_name(absl::StrCat("gpu-", gpu));
    for (int unit = 0; unit < 7; ++unit) {
      (*set->mutable_counters())[absl::StrCat("unit-", unit)].set_value("1");
      Device* device = slice.mutable_spec()->add_devices();
      device->set_name(absl::StrCat("gpu-", gpu, "-", unit));
      auto* use = device->add_consumes_counters();
      use->set_counter_set(set->name());
      (*use->mutable_counters())[absl::StrCat("unit-", unit)].set_value("1");
    }
  }
  // One of each of the first seven is held, so that only the last can serve all.
  for (int gpu = 0; gpu < 7; ++gpu) {
    world.use.dedicated.push_back({"d", "pool", absl::StrCat("gpu-", gpu, "-0")});
  }
  world.slices = {counters, slice};
  world.claims.resize(1);
  auto* devices = world.claims[0].mutable_spec()->mutable_devices();
  while (devices->requests_size() > 1) devices->mutable_requests()->RemoveLast();
  devices->mutable_requests(0)->mutable_exactly()->set_count(7);
  world.options.policy = std::make_shared<TestPolicy<GpuMeasure>>();
  const AllocationAnswer answer = WorldSearch(world, WorldSearch::Mode::kUsual).Allocate(world);
  ASSERT_EQ(answer.outcome, AllocationOutcome::kAllocated);
  EXPECT_EQ(answer.choice->rank, 1);
  EXPECT_FALSE(answer.choice->exhausted);
  EXPECT_LT(answer.choice->steps, 1500);
  EXPECT_EQ(answer.results[0].devices().results(0).device(), "gpu-7-0");

  // With few steps the best so far counts, and the answer says so.
  world.options.policy_budget = 10;
  const AllocationAnswer early = WorldSearch(world, WorldSearch::Mode::kUsual).Allocate(world);
  EXPECT_TRUE(early.choice->exhausted);
  EXPECT_EQ(early.choice->rank, 2);
  EXPECT_EQ(early.results[0].devices().results(0).device(), "gpu-0-1");
}

}  // namespace
}  // namespace drasim
