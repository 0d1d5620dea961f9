#include "sim/control/topology_manager.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace topology_manager_test {

constexpr std::array<TopologyPolicy, 3> kMergingPolicies = {
    TopologyPolicy::kBestEffort, TopologyPolicy::kRestricted, TopologyPolicy::kSingleNumaNode};

TopologyHint Hint(uint32_t numa_nodes, bool preferred) {
  TopologyHint hint;
  hint.numa_nodes = numa_nodes;
  hint.preferred = preferred;
  return hint;
}

TopologyHint Any(bool preferred) {
  TopologyHint hint;
  hint.any = true;
  hint.preferred = preferred;
  return hint;
}

ResourceHints Of(std::vector<TopologyHint> hints) {
  ResourceHints resource;
  resource.hints = std::move(hints);
  return resource;
}

ResourceHints Indifferent() {
  ResourceHints resource;
  resource.no_preference = true;
  return resource;
}

std::string Text(const TopologyHint& hint) {
  return absl::StrCat(hint.any ? "any" : absl::StrCat("nodes ", hint.numa_nodes),
                      hint.preferred ? " preferred" : "");
}

// The verdict of a policy on hints.
std::string Verdict(TopologyPolicy policy, int numa_nodes,
                    const std::vector<ResourceHints>& resources) {
  const TopologyVerdict verdict = MergeHints(policy, numa_nodes, resources);
  return absl::StrCat(verdict.admit ? "admit " : "reject ", Text(verdict.best));
}

// ---- The oracle: every combination of hints in turn, each held against the best so far. ----

TopologyHint NaiveMerged(const std::vector<TopologyHint>& combination, uint32_t all) {
  TopologyHint merged = Hint(all, true);
  std::vector<uint32_t> named;
  for (const TopologyHint& hint : combination) {
    if (!hint.preferred) merged.preferred = false;
    if (hint.any) continue;
    named.push_back(hint.numa_nodes);
    merged.numa_nodes &= hint.numa_nodes;
  }
  for (const uint32_t nodes : named) {
    if (nodes != named.front()) merged.preferred = false;
  }
  return merged;
}

bool NaiveNarrower(uint32_t a, uint32_t b) {
  if (std::popcount(a) != std::popcount(b)) return std::popcount(a) < std::popcount(b);
  return a < b;
}

// Whether the candidate takes the best one's place, case by case. `width`: of the neediest.
bool NaiveTakesOver(const TopologyHint& candidate, const TopologyHint& best, int width) {
  if (candidate.preferred != best.preferred) return candidate.preferred;
  const int new_width = std::popcount(candidate.numa_nodes);
  const int old_width = std::popcount(best.numa_nodes);
  const bool narrower = NaiveNarrower(candidate.numa_nodes, best.numa_nodes);
  if (candidate.preferred || old_width > width) return narrower;
  if (old_width == width) return new_width == width && narrower;
  if (new_width > width) return false;
  if (new_width != old_width) return new_width > old_width;
  return narrower;
}

class NaiveMerger {
 public:
  NaiveMerger(TopologyPolicy policy, int numa_nodes) : policy_(policy) {
    for (int node = 0; node < numa_nodes; ++node)
      all_ |= uint32_t{1} << static_cast<uint32_t>(node);
  }

  TopologyVerdict Merge(const std::vector<ResourceHints>& resources) {
    for (const ResourceHints& resource : resources) {
      std::vector<TopologyHint> hints = resource.hints;
      if (resource.no_preference) {
        hints = {Any(true)};
      } else if (hints.empty()) {
        hints = {Any(false)};
      }
      lists_.emplace_back();
      for (const TopologyHint& hint : hints) {
        const bool one = hint.any || std::popcount(hint.numa_nodes) == 1;
        if (policy_ == TopologyPolicy::kSingleNumaNode && !(one && hint.preferred)) continue;
        lists_.back().push_back(hint);
      }
    }
    for (const std::vector<TopologyHint>& list : lists_) {
      int least = 99;
      for (const TopologyHint& hint : list) {
        if (!hint.any) least = std::min(least, std::popcount(hint.numa_nodes));
      }
      if (least != 99) width_ = std::max(width_, least);
    }
    std::vector<TopologyHint> combination;
    Walk(combination);
    TopologyVerdict verdict;
    verdict.best = found_ ? best_ : Hint(all_, false);
    verdict.admit = policy_ == TopologyPolicy::kBestEffort || verdict.best.preferred;
    if (policy_ == TopologyPolicy::kSingleNumaNode && verdict.best.numa_nodes == all_) {
      verdict.best = Any(verdict.best.preferred);
    }
    return verdict;
  }

 private:
  void Walk(std::vector<TopologyHint>& combination) {
    if (combination.size() < lists_.size()) {
      for (const TopologyHint& hint : lists_[combination.size()]) {
        combination.push_back(hint);
        Walk(combination);
        combination.pop_back();
      }
      return;
    }
    const TopologyHint merged = NaiveMerged(combination, all_);
    if (merged.numa_nodes == 0) return;
    if (!found_ || NaiveTakesOver(merged, best_, width_)) best_ = merged;
    found_ = true;
  }

  TopologyPolicy policy_;
  uint32_t all_ = 0;
  std::vector<std::vector<TopologyHint>> lists_;
  int width_ = 0;
  bool found_ = false;
  TopologyHint best_;
};

std::vector<ResourceHints> RandomResources(Random& random, int numa_nodes) {
  const uint64_t masks = uint64_t{1} << static_cast<uint64_t>(numa_nodes);
  std::vector<ResourceHints> resources(random.Below(4));
  for (ResourceHints& resource : resources) {
    resource.no_preference = random.Below(8) == 0;
    const uint64_t hints = resource.no_preference ? 0 : random.Below(6);
    for (uint64_t i = 0; i < hints; ++i) {
      TopologyHint hint;
      hint.any = random.Below(10) == 0;
      const auto nodes = static_cast<uint32_t>(1 + random.Below(masks - 1));
      if (!hint.any) hint.numa_nodes = nodes;
      hint.preferred = random.Below(2) == 0;
      resource.hints.push_back(hint);
    }
  }
  return resources;
}

TEST(MergeHintsTest, AgreesWithTheWholeCrossProduct) {
  int preferred = 0;
  int settled = 0;
  for (uint64_t seed = 0; seed < SoakSeeds(3000); ++seed) {
    Random random(seed, "merge");
    const int numa_nodes = 1 + static_cast<int>(random.Below(4));
    const std::vector<ResourceHints> resources = RandomResources(random, numa_nodes);
    for (const TopologyPolicy policy : kMergingPolicies) {
      const TopologyVerdict expected = NaiveMerger(policy, numa_nodes).Merge(resources);
      const TopologyVerdict got = MergeHints(policy, numa_nodes, resources);
      ASSERT_EQ(got.admit, expected.admit) << seed;
      ASSERT_EQ(got.best, expected.best)
          << seed << ": " << Text(got.best) << ", not " << Text(expected.best);
      ++(got.best.preferred ? preferred : settled);
    }
  }
  // Both kinds of answers were put to the test.
  EXPECT_GT(preferred, 1000);
  EXPECT_GT(settled, 1000);
}

TEST(MergeHintsTest, PolicyNoneAdmitsAndHasNoOpinion) {
  EXPECT_EQ(Verdict(TopologyPolicy::kNone, 2, {Of({})}), "admit any");
}

TEST(MergeHintsTest, NothingAskedForIsPreferredAnywhere) {
  EXPECT_EQ(Verdict(TopologyPolicy::kBestEffort, 2, {}), "admit nodes 3 preferred");
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 2, {Indifferent()}), "admit nodes 3 preferred");
  EXPECT_EQ(Verdict(TopologyPolicy::kSingleNumaNode, 2, {Indifferent()}), "admit any preferred");
}

TEST(MergeHintsTest, AResourceThatIsNotPossibleIsNeverPreferred) {
  const std::vector<ResourceHints> resources = {Of({}), Of({Hint(1, true)})};
  EXPECT_EQ(Verdict(TopologyPolicy::kBestEffort, 2, resources), "admit nodes 1");
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 2, resources), "reject nodes 1");
  EXPECT_EQ(Verdict(TopologyPolicy::kSingleNumaNode, 2, resources), "reject any");
}

TEST(MergeHintsTest, AlignsACpuAndADeviceOnTheNodeThatBothLike) {
  const std::vector<ResourceHints> resources = {Of({Hint(1, true), Hint(2, true), Hint(3, false)}),
                                                Of({Hint(2, true), Hint(3, false)})};
  for (const TopologyPolicy policy : kMergingPolicies) {
    EXPECT_EQ(Verdict(policy, 2, resources), "admit nodes 2 preferred");
  }
}

TEST(MergeHintsTest, OfTwoEqualNodesTheLowerIsTaken) {
  const ResourceHints both = Of({Hint(2, true), Hint(1, true), Hint(3, false)});
  for (const TopologyPolicy policy : kMergingPolicies) {
    EXPECT_EQ(Verdict(policy, 2, {both, both}), "admit nodes 1 preferred");
  }
}

TEST(MergeHintsTest, PreferencesForDifferentNodesAreNoCommonPreference) {
  const std::vector<ResourceHints> resources = {Of({Hint(1, true), Hint(3, false)}),
                                                Of({Hint(2, true), Hint(3, false)})};
  EXPECT_EQ(Verdict(TopologyPolicy::kBestEffort, 2, resources), "admit nodes 1");
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 2, resources), "reject nodes 1");
  EXPECT_EQ(Verdict(TopologyPolicy::kSingleNumaNode, 2, resources), "reject any");
}

TEST(MergeHintsTest, HintsWithNothingInCommonGiveAllNodes) {
  const std::vector<ResourceHints> resources = {Of({Hint(1, true)}), Of({Hint(2, true)})};
  EXPECT_EQ(Verdict(TopologyPolicy::kBestEffort, 2, resources), "admit nodes 3");
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 2, resources), "reject nodes 3");
}

// Devices that need both sockets, cores that need one: as wide as the devices need, not as narrow
// as the cores could be.
TEST(MergeHintsTest, WithoutPreferenceTheNeediestSetsTheWidth) {
  const std::vector<ResourceHints> resources = {Of({Hint(1, true), Hint(2, true), Hint(3, false)}),
                                                Of({Hint(3, true)})};
  EXPECT_EQ(Verdict(TopologyPolicy::kBestEffort, 2, resources), "admit nodes 3");
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 2, resources), "reject nodes 3");
}

TEST(MergeHintsTest, RestrictedAdmitsWhatCannotBeNarrower) {
  const std::vector<ResourceHints> resources = {Of({Hint(3, true)}), Of({Hint(3, true)})};
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 4, resources), "admit nodes 3 preferred");
  EXPECT_EQ(Verdict(TopologyPolicy::kSingleNumaNode, 4, resources), "reject any");
}

TEST(MergeHintsTest, OnOneNodeEveryAnswerIsThatNode) {
  const std::vector<ResourceHints> resources = {Of({Hint(1, true)})};
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 1, resources), "admit nodes 1 preferred");
  EXPECT_EQ(Verdict(TopologyPolicy::kSingleNumaNode, 1, resources), "admit any preferred");
}

// Every set of eight nodes as a hint of three resources: 16 million combinations, were they walked.
TEST(MergeHintsTest, IsFastOnTheLargestMachine) {
  ResourceHints every;
  for (uint32_t mask = 1; mask < 256; ++mask) every.hints.push_back(Hint(mask, mask == 64));
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, kMaxNumaNodes, {every, every, every}),
            "admit nodes 64 preferred");
}

// ---- Hints of devices and of cores ----

bool IsIn(int32_t node, uint32_t mask) {
  return node >= 0 && ((mask >> static_cast<uint32_t>(node)) & 1U) == 1U;
}

int64_t CountIn(const std::vector<int32_t>& devices, uint32_t mask) {
  return std::count_if(devices.begin(), devices.end(),
                       [mask](int32_t node) { return IsIn(node, mask); });
}

// The rule as it is stated, device by device.
std::vector<TopologyHint> NaiveDeviceHints(const std::vector<int32_t>& all,
                                           const std::vector<int32_t>& available,
                                           const std::vector<int32_t>& reusable, int64_t request,
                                           int numa_nodes) {
  const uint32_t masks = uint32_t{1} << static_cast<uint32_t>(numa_nodes);
  int least = numa_nodes;
  for (uint32_t mask = 1; mask < masks; ++mask) {
    if (CountIn(all, mask) >= request) least = std::min(least, std::popcount(mask));
  }
  std::vector<TopologyHint> hints;
  for (uint32_t mask = 1; mask < masks; ++mask) {
    const bool holds_reusable = std::all_of(reusable.begin(), reusable.end(), [mask](int32_t node) {
      return node < 0 || IsIn(node, mask);
    });
    const int64_t matching = CountIn(available, mask) + CountIn(reusable, mask);
    if (!holds_reusable || matching < request) continue;
    hints.push_back(Hint(mask, std::popcount(mask) == least));
  }
  return hints;
}

std::vector<std::string> Texts(const ResourceHints& resource) {
  std::vector<std::string> texts;
  for (const TopologyHint& hint : resource.hints) texts.push_back(Text(hint));
  return texts;
}

using Strings = std::vector<std::string>;

TEST(DeviceHintsTest, AgreesWithTheRuleDeviceByDevice) {
  int with_hints = 0;
  for (uint64_t seed = 0; seed < SoakSeeds(1000); ++seed) {
    Random random(seed, "devices");
    const int numa_nodes = 1 + static_cast<int>(random.Below(4));
    std::vector<int32_t> all;
    std::vector<int32_t> available;
    std::vector<int32_t> reusable;
    const uint64_t devices = 1 + random.Below(8);
    for (uint64_t d = 0; d < devices; ++d) {
      const auto node =
          static_cast<int32_t>(random.Below(static_cast<uint64_t>(numa_nodes) + 1)) - 1;
      all.push_back(node);
      const uint64_t fate = random.Below(8);
      if (fate < 5) available.push_back(node);
      if (fate == 5) reusable.push_back(node);
    }
    const auto request = static_cast<int64_t>(1 + random.Below(devices));
    const ResourceHints got = DeviceHints(all, available, reusable, request, numa_nodes);
    const bool cares = *std::max_element(all.begin(), all.end()) >= 0;
    ASSERT_EQ(got.no_preference, !cares) << seed;
    if (!cares) continue;
    ASSERT_EQ(got.hints, NaiveDeviceHints(all, available, reusable, request, numa_nodes)) << seed;
    with_hints += got.hints.empty() ? 0 : 1;
  }
  EXPECT_GT(with_hints, 100);
}

TEST(DeviceHintsTest, TwoSocketsOfFour) {
  const std::vector<int32_t> all = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(Texts(DeviceHints(all, all, {}, 4, 2)),
            Strings({"nodes 1 preferred", "nodes 2 preferred", "nodes 3"}));
  EXPECT_EQ(Texts(DeviceHints(all, all, {}, 5, 2)), Strings({"nodes 3 preferred"}));
  EXPECT_EQ(Texts(DeviceHints(all, all, {}, 9, 2)), Strings());
}

// Preference looks at the empty machine: what is left of both sockets is not what was hoped for.
TEST(DeviceHintsTest, AFragmentedMachineHasNoPreferredHint) {
  const std::vector<int32_t> all = {0, 0, 1, 1};
  const ResourceHints hints = DeviceHints(all, std::vector<int32_t>{0, 1}, {}, 2, 2);
  EXPECT_EQ(Texts(hints), Strings({"nodes 3"}));
  EXPECT_EQ(Verdict(TopologyPolicy::kBestEffort, 2, {hints}), "admit nodes 3");
  EXPECT_EQ(Verdict(TopologyPolicy::kRestricted, 2, {hints}), "reject nodes 3");
}

TEST(DeviceHintsTest, DevicesToReuseMustBePartOfTheAnswer) {
  const std::vector<int32_t> all = {0, 0, 1, 1};
  const std::vector<int32_t> reusable = {1};
  EXPECT_EQ(Texts(DeviceHints(all, std::vector<int32_t>{0, 0, 1}, reusable, 2, 2)),
            Strings({"nodes 2 preferred", "nodes 3"}));
  EXPECT_EQ(Texts(DeviceHints(all, std::vector<int32_t>{0, 0}, reusable, 2, 2)),
            Strings({"nodes 3"}));
}

TEST(DeviceHintsTest, DevicesWithoutANodeAreOfNoPreference) {
  const std::vector<int32_t> nowhere = {-1, -1};
  const ResourceHints hints = DeviceHints(nowhere, nowhere, {}, 1, 2);
  EXPECT_TRUE(hints.no_preference);
  // One that has a node is enough to care, and the others then count nowhere.
  const std::vector<int32_t> mixed = {-1, -1, 1};
  EXPECT_EQ(Texts(DeviceHints(mixed, mixed, {}, 1, 2)), Strings({"nodes 2 preferred", "nodes 3"}));
  EXPECT_EQ(Texts(DeviceHints(mixed, mixed, {}, 2, 2)), Strings());
}

TEST(CpuHintsTest, CountsCoresLikeDevices) {
  const std::vector<int64_t> cores = {4, 4};
  const std::vector<int64_t> free_cores = {1, 4};
  EXPECT_EQ(Texts(CpuHints(cores, free_cores, 2)), Strings({"nodes 2 preferred", "nodes 3"}));
  EXPECT_EQ(Texts(CpuHints(cores, free_cores, 5)), Strings({"nodes 3 preferred"}));
  EXPECT_EQ(Texts(CpuHints(cores, free_cores, 6)), Strings());
  EXPECT_FALSE(CpuHints(cores, free_cores, 6).no_preference);
  const std::vector<int64_t> halves = {2, 2};
  EXPECT_EQ(Texts(CpuHints(cores, halves, 3)), Strings({"nodes 3"}));
}

TEST(CpuHintsTest, NoWholeCoresNoPreference) {
  const std::vector<int64_t> cores = {4, 4};
  EXPECT_TRUE(CpuHints(cores, cores, 0).no_preference);
}

}  // namespace topology_manager_test
}  // namespace drasim
