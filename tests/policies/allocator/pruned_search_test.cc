// Pruned search against exhaustive search, a plain one and brute force, on random clusters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/allocator/structured_allocator.h"
#include "tests/policies/allocator/naive_rules.h"
#include "tests/policies/allocator/naive_search.h"
#include "tests/policies/allocator/random_world.h"
#include "tests/policies/allocator/world_search.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;

std::string TakenText(const std::vector<NaiveTaken>& taken) {
  std::string text;
  for (const NaiveTaken& one : taken) {
    absl::StrAppend(&text, one.request->claim, " ", one.request->group, "/", one.request->sub, " ",
                    one.device.pool->driver, "/", one.device.pool->name, "/",
                    one.device.device->name(), "\n");
  }
  return text;
}

std::string WorldText(const RandomWorld& world) {
  std::string text = absl::StrCat("variant ", static_cast<int>(world.options.variant), ", release ",
                                  static_cast<int>(world.options.release), "\n");
  for (const auto& one : world.slices) absl::StrAppend(&text, one.ShortDebugString(), "\n");
  for (const auto& one : world.classes) absl::StrAppend(&text, one.ShortDebugString(), "\n");
  for (const auto& one : world.claims) absl::StrAppend(&text, one.ShortDebugString(), "\n");
  for (const DeviceId& id : world.use.dedicated) absl::StrAppend(&text, id.Text(), " is held\n");
  for (const DeviceId& id : world.use.shared) absl::StrAppend(&text, id.Text(), " is shared\n");
  return text;
}

// Allocations by what is particular about them, so that no rule goes without cases.
struct Coverage {
  int64_t backtracked = 0;
  int64_t errors = 0;
  int64_t allocated = 0;
  int64_t forced = 0;      // solutions that brute force confirms
  int64_t impossible = 0;  // and cases that do not fit
  int64_t shared = 0;
  int64_t charged = 0;
  int64_t grouped = 0;
  int64_t admin = 0;
  int64_t sub = 0;
  int64_t all = 0;
  int64_t tolerated = 0;
  int64_t conditions = 0;
  int64_t per_device = 0;
  int64_t no_operations = 0;
  int64_t derived = 0;
  int64_t lists = 0;
  int64_t matched = 0;
  int64_t distinct = 0;
  int64_t unsorted = 0;
};

void Count(const RandomWorld& world, const NaiveRules& rules, const std::vector<NaiveTaken>& taken,
           Coverage* coverage) {
  for (const NaiveTaken& one : taken) {
    const Device& device = *one.device.device;
    coverage->shared += rules.IsShared(one.device) ? 1 : 0;
    coverage->charged += device.consumes_counters().empty() ? 0 : 1;
    const bool groups = !device.consumes_counters().empty() &&
                        !device.consumes_counters(0).compatibility_groups().empty();
    coverage->grouped += groups ? 1 : 0;
    coverage->admin += one.request->admin ? 1 : 0;
    coverage->sub += one.request->sub == "s1" ? 1 : 0;
    coverage->all += one.request->all ? 1 : 0;
    coverage->tolerated += device.taints().empty() ? 0 : 1;
    coverage->conditions += device.binding_conditions().empty() ? 0 : 1;
    coverage->per_device += one.device.slice->spec().per_device_node_selection() ? 1 : 0;
    coverage->no_operations += one.device.slice->spec().skip_node_operations().empty() ? 0 : 1;
    coverage->derived += one.request->derived.empty() ? 0 : 1;
  }
  for (const auto& claim : world.claims) {
    for (const auto& constraint : claim.spec().devices().constraints()) {
      const bool is_distinct = constraint.has_distinct_attribute();
      ++(is_distinct ? coverage->distinct : coverage->matched);
      const std::string attribute =
          is_distinct ? constraint.distinct_attribute() : constraint.match_attribute();
      coverage->lists += attribute == "d/list" ? 1 : 0;
    }
  }
  coverage->unsorted += rules.sorted() ? 0 : 1;
}

// Whether the search took a step that a solution without a detour does not need.
bool Backtracked(const RandomWorld& world, const AllocationAnswer& answer) {
  if (answer.outcome != AllocationOutcome::kAllocated) return answer.steps >= 3;
  int64_t direct = 1;
  for (size_t i = 0; i < world.claims.size(); ++i) {
    direct += 1 + answer.results[i].devices().results_size();
    for (const auto& request : world.claims[i].spec().devices().requests()) {
      direct += request.first_available().empty() ? 1 : 2;
    }
  }
  return answer.steps > direct;
}

// Results, but for the devices.
void ExpectResultsFollow(const RandomWorld& world, const AllocationAnswer& answer,
                         const std::vector<NaiveTaken>& taken, const NaiveRules& rules) {
  size_t next = 0;
  for (const auto& allocation : answer.results) {
    for (const auto& result : allocation.devices().results()) {
      const NaiveTaken& one = taken[next++];
      const Device& device = *one.device.device;
      EXPECT_EQ(result.admin_access(), one.request->admin);
      EXPECT_EQ(result.has_share_id(), rules.IsShared(one.device));
      EXPECT_EQ(result.tolerations_size(), static_cast<int>(one.request->tolerations.size()));
      const bool conditions = world.options.features.device_binding_and_status;
      EXPECT_EQ(result.binding_conditions_size(),
                conditions ? device.binding_conditions_size() : 0);
      if (!rules.IsShared(one.device)) {
        EXPECT_TRUE(result.consumed_capacity().empty());
        continue;
      }
      const auto demand = rules.Demand(*one.request, device);
      ASSERT_TRUE(demand.has_value());
      EXPECT_EQ(result.consumed_capacity().size(), demand->size());
      for (const auto& [name, amount] : result.consumed_capacity()) {
        EXPECT_EQ(Quantity::Parse(amount)->MilliValue(), demand->at(name)) << name;
      }
    }
  }
}

void ExpectSolution(const RandomWorld& world, const NaiveRules& rules,
                    const AllocationAnswer& answer, Coverage* coverage) {
  const auto taken = TakenByResults(rules, answer.results);
  ASSERT_TRUE(taken.has_value());
  ASSERT_EQ(WrongWith(world, rules, *taken), "");
  ExpectResultsFollow(world, answer, *taken, rules);
  Count(world, rules, *taken, coverage);
}

// The same devices, or the same failure, after as many steps.
void ExpectAsPlainSearch(const RandomWorld& world, const NaiveRules& rules,
                         const AllocationAnswer& answer) {
  const NaiveAnswer plain = NaiveSearch(world, rules, 600).Run();
  if (plain.kind == NaiveAnswer::Kind::kTooLong) return;
  ASSERT_EQ(answer.outcome == AllocationOutcome::kError, plain.kind == NaiveAnswer::Kind::kError)
      << answer.error;
  ASSERT_EQ(answer.outcome == AllocationOutcome::kAllocated,
            plain.kind == NaiveAnswer::Kind::kFits);
  ASSERT_EQ(answer.steps, plain.steps);
  if (plain.kind != NaiveAnswer::Kind::kFits) return;
  const auto taken = TakenByResults(rules, answer.results);
  ASSERT_TRUE(taken.has_value());
  ASSERT_EQ(TakenText(*taken), TakenText(plain.taken));
}

void ExpectAsBruteForce(const RandomWorld& world, const NaiveRules& rules,
                        const AllocationAnswer& answer, Coverage* coverage) {
  if (answer.outcome == AllocationOutcome::kError) return;
  const NaiveAnswer forced = BruteForce(world, rules, 250);
  if (forced.kind == NaiveAnswer::Kind::kTooLong) return;
  const bool fits = forced.kind == NaiveAnswer::Kind::kFits;
  ASSERT_EQ(answer.outcome == AllocationOutcome::kAllocated, fits);
  ++(fits ? coverage->forced : coverage->impossible);
  if (!fits) return;
  const auto taken = TakenByResults(rules, answer.results);
  ASSERT_TRUE(taken.has_value());
  ASSERT_EQ(TakenText(*taken), TakenText(forced.taken));
}

void TryWorld(uint64_t seed, Coverage* coverage) {
  const RandomWorld world = RandomWorldMaker(seed).Make();
  const NaiveRules rules(world);
  WorldSearch exhaustive(world, WorldSearch::Mode::kExhaustive);
  WorldSearch pruned(world, WorldSearch::Mode::kPruned);
  WorldSearch usual(world, WorldSearch::Mode::kUsual);
  const AllocationAnswer expected = exhaustive.Allocate(world);
  const AllocationAnswer answer = pruned.Allocate(world);
  ASSERT_EQ(AnswerText(answer), AnswerText(expected));
  ASSERT_EQ(AnswerText(usual.Allocate(world)), AnswerText(expected));
  // The search leaves nothing behind.
  ASSERT_EQ(AnswerText(pruned.Allocate(world)), AnswerText(expected));
  if (expected.steps < 1000) {
    ASSERT_EQ(exhaustive.Allocate(world).steps, expected.steps);
  }
  coverage->allocated += expected.outcome == AllocationOutcome::kAllocated ? 1 : 0;
  // The plain rules are those of 1.37; earlier releases had bugs.
  if (world.options.release == StructuredRelease::k1_37) {
    ASSERT_NO_FATAL_FAILURE(ExpectAsPlainSearch(world, rules, expected));
    ASSERT_NO_FATAL_FAILURE(ExpectAsBruteForce(world, rules, expected, coverage));
    if (expected.outcome == AllocationOutcome::kAllocated) {
      ASSERT_NO_FATAL_FAILURE(ExpectSolution(world, rules, expected, coverage));
    }
  }
  coverage->backtracked += Backtracked(world, expected) ? 1 : 0;
  coverage->errors += expected.error.empty() ? 0 : 1;
}

TEST(PrunedSearchTest, AnswersAsTheExhaustiveOne) {
  const int64_t cases = static_cast<int64_t>(SoakSeeds(5000, /*most=*/100000));
  Coverage coverage;
  for (int64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    TryWorld(static_cast<uint64_t>(seed), &coverage);
    if (HasFailure()) FAIL() << WorldText(RandomWorldMaker(static_cast<uint64_t>(seed)).Make());
  }
  EXPECT_GE(coverage.backtracked * 3, cases);
  EXPECT_GE(coverage.errors * 10, cases);
  EXPECT_GE(coverage.allocated * 10, cases);
  EXPECT_GE(coverage.forced * 5, coverage.allocated);
  EXPECT_GE(coverage.impossible * 10, cases);
  const std::vector<std::pair<const char*, int64_t>> features = {
      {"shared", coverage.shared},
      {"charged", coverage.charged},
      {"grouped", coverage.grouped},
      {"admin", coverage.admin},
      {"sub", coverage.sub},
      {"all", coverage.all},
      {"tolerated", coverage.tolerated},
      {"conditions", coverage.conditions},
      {"per device", coverage.per_device},
      {"no operations", coverage.no_operations},
      {"derived", coverage.derived},
      {"lists", coverage.lists},
      {"matched", coverage.matched},
      {"distinct", coverage.distinct},
      {"unsorted", coverage.unsorted}};
  for (const auto& [name, count] : features) EXPECT_GE(count * 500, cases) << name;
}

// Exponential without pruning: 23 of 22 equal devices, and a next request that cannot be met.
TEST(PrunedSearchTest, GivesUpEarly) {
  for (const int64_t devices : {20, 22}) {
    RandomWorld world;
    world.node.mutable_metadata()->set_name("node");
    world.classes.emplace_back().mutable_metadata()->set_name("class-0");
    ResourceSlice& slice = world.slices.emplace_back();
    slice.mutable_spec()->set_driver("d");
    slice.mutable_spec()->set_node_name("node");
    slice.mutable_spec()->mutable_pool()->set_resource_slice_count(1);
    for (int64_t i = 0; i < devices; ++i) {
      Device* device = slice.mutable_spec()->add_devices();
      device->set_name(absl::StrCat("device-", i));
      (*device->mutable_attributes())["index"].set_int_value(i);
    }
    auto* claim = world.claims.emplace_back().mutable_spec()->mutable_devices();
    const bool too_many = devices == 22;
    for (const int64_t count : {too_many ? 23 : 10, too_many ? 1 : 11}) {
      auto* request = claim->add_requests();
      request->set_name(absl::StrCat("r", count));
      request->mutable_exactly()->set_device_class_name("class-0");
      request->mutable_exactly()->set_allocation_mode("ExactCount");
      request->mutable_exactly()->set_count(count);
    }
    WorldSearch pruned(world, WorldSearch::Mode::kPruned);
    EXPECT_EQ(pruned.Allocate(world).outcome, AllocationOutcome::kDoesNotFit);
  }
}

}  // namespace
}  // namespace drasim
