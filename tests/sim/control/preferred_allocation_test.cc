#include "sim/control/preferred_allocation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/device_spec.h"
#include "model/gpu_topology.h"
#include "model/random.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace preferred_allocation_test {

using Gpus = std::vector<size_t>;

DeviceSpec Gpu(std::string product, int32_t numa_node = -1) {
  DeviceSpec gpu;
  gpu.product = std::move(product);
  gpu.numa_node = numa_node;
  return gpu;
}

Gpus UpTo(size_t count) {
  Gpus gpus;
  for (size_t g = 0; g < count; ++g) gpus.push_back(g);
  return gpus;
}

// Groups of four on NUMA nodes of their own, without NVLink.
GpuTopology FoursOnNodes(size_t nodes) {
  std::vector<DeviceSpec> gpus;
  for (size_t g = 0; g < 4 * nodes; ++g) gpus.push_back(Gpu("T4", static_cast<int32_t>(g / 4)));
  return GpuTopology(gpus);
}

// ---- The oracle: writes all cuts down, puts them in order, and looks for the first best one. ----

class NaiveCuts {
 public:
  using Set = std::vector<size_t>;  // positions; those behind the GPUs are padding
  using Cut = std::vector<Set>;

  NaiveCuts(const GpuTopology& topology, const Gpus& available, const Gpus& required, size_t size)
      : topology_(topology), available_(available), required_(required), size_(size) {
    while ((available.size() + padding_) % size != 0) ++padding_;
    Assign(0);
    std::sort(cuts_.begin(), cuts_.end());
  }

  Gpus Answer() const {
    const Cut* best = nullptr;
    for (const Cut& cut : cuts_) {
      const bool holds =
          std::any_of(cut.begin(), cut.end(), [this](const Set& set) { return Qualifies(set); });
      if (holds && (best == nullptr || Total(cut) > Total(*best))) best = &cut;
    }
    if (best == nullptr) return {};
    const Set* chosen = nullptr;
    for (const Set& set : *best) {
      if (Qualifies(set) && (chosen == nullptr || Score(set) > Score(*chosen))) chosen = &set;
    }
    Gpus gpus;
    for (const size_t position : *chosen) gpus.push_back(available_[position]);
    return gpus;
  }

 private:
  void Assign(size_t position) {
    const size_t positions = available_.size() + padding_;
    if (position == positions) {
      if (PaddingIsTogether()) cuts_.push_back(cut_);
      return;
    }
    for (size_t s = 0; s < cut_.size(); ++s) {
      if (cut_[s].size() == size_) continue;
      cut_[s].push_back(position);
      Assign(position + 1);
      cut_[s].pop_back();
    }
    if (cut_.size() == positions / size_) return;
    cut_.push_back({position});
    Assign(position + 1);
    cut_.pop_back();
  }

  bool PaddingIsTogether() const {
    const auto padded = std::count_if(cut_.begin(), cut_.end(), [this](const Set& set) {
      return set.back() >= available_.size();
    });
    return padded <= 1;
  }

  bool Qualifies(const Set& set) const {
    if (set.back() >= available_.size()) return false;
    return std::all_of(required_.begin(), required_.end(), [this, &set](size_t gpu) {
      return std::any_of(set.begin(), set.end(),
                         [this, gpu](size_t position) { return available_[position] == gpu; });
    });
  }

  int64_t Score(const Set& set) const {
    int64_t score = 0;
    for (const size_t a : set) {
      for (const size_t b : set) {
        if (a >= b || b >= available_.size()) continue;
        score += topology_.pair_score(available_[a], available_[b]);
      }
    }
    return score;
  }

  int64_t Total(const Cut& cut) const {
    int64_t total = 0;
    for (const Set& set : cut) total += Score(set);
    return total;
  }

  const GpuTopology& topology_;
  const Gpus& available_;
  const Gpus& required_;
  size_t size_;
  size_t padding_ = 0;
  Cut cut_;
  std::vector<Cut> cuts_;
};

// A node of one to eight GPUs that are connected in all sorts of ways.
std::vector<DeviceSpec> RandomNode(Random& random) {
  static constexpr std::array<const char*, 4> kProducts = {"T4", "A30-PCIE-24GB", "A100-SXM4-80GB",
                                                           "H100-80GB-SXM"};
  static constexpr std::array<const char*, 4> kNvlinks = {"", "", "pairs", "none"};
  static constexpr std::array<const char*, 3> kRoots = {"", "r0", "r1"};
  std::vector<DeviceSpec> gpus(1 + random.Below(8));
  for (DeviceSpec& gpu : gpus) {
    gpu.product = kProducts[random.Below(kProducts.size())];
    gpu.nvlink = kNvlinks[random.Below(kNvlinks.size())];
    gpu.pcie_root = kRoots[random.Below(kRoots.size())];
    gpu.pcie_switch = static_cast<int32_t>(random.Below(3)) - 1;
    gpu.numa_node = static_cast<int32_t>(random.Below(2));
  }
  return gpus;
}

TEST(PreferBestEffortTest, AgreesWithAllCutsWrittenDown) {
  int answered = 0;
  for (uint64_t seed = 0; seed < SoakSeeds(300); ++seed) {
    Random random(seed, "best effort");
    const std::vector<DeviceSpec> node = RandomNode(random);
    const GpuTopology topology(node);
    Gpus available;
    for (size_t g = 0; g < node.size(); ++g) {
      if (random.Below(6) != 0) available.push_back(g);
    }
    if (available.empty()) continue;
    const size_t size = 1 + static_cast<size_t>(random.Below(available.size()));
    Gpus required;
    for (const size_t gpu : available) {
      const bool wanted = random.Below(6) == 0;
      if (wanted && required.size() < size) required.push_back(gpu);
    }
    const Gpus expected = NaiveCuts(topology, available, required, size).Answer();
    ASSERT_EQ(PreferBestEffort(topology, available, required, size), expected) << seed;
    ASSERT_EQ(expected.size(), size) << seed;
    ++answered;
  }
  EXPECT_GT(answered, 200);
}

TEST(PreferBestEffortTest, AmongEqualsTheFirst) {
  const GpuTopology dgx(std::vector<DeviceSpec>(8, Gpu("A100-SXM4-80GB")));
  for (size_t size = 1; size <= 8; ++size) {
    EXPECT_EQ(PreferBestEffort(dgx, UpTo(8), {}, size), UpTo(size)) << size;
  }
  EXPECT_EQ(PreferBestEffort(dgx, Gpus{1, 3, 4, 6}, {}, 2), Gpus({1, 3}));
}

TEST(PreferBestEffortTest, KeepsToBridges) {
  const GpuTopology bridged(std::vector<DeviceSpec>(4, Gpu("A30-PCIE-24GB")));
  EXPECT_EQ(PreferBestEffort(bridged, UpTo(4), {}, 2), Gpus({0, 1}));
  EXPECT_EQ(PreferBestEffort(bridged, Gpus{1, 2, 3}, {}, 2), Gpus({2, 3}));
  EXPECT_EQ(PreferBestEffort(bridged, UpTo(4), Gpus{2}, 2), Gpus({2, 3}));
  EXPECT_EQ(PreferBestEffort(bridged, UpTo(4), Gpus{1, 2}, 2), Gpus({1, 2}));
}

TEST(PreferBestEffortTest, KeepsToOneSocket) {
  const GpuTopology sockets = FoursOnNodes(2);
  EXPECT_EQ(PreferBestEffort(sockets, UpTo(8), {}, 4), Gpus({0, 1, 2, 3}));
  // The three on the first socket are padded, the other socket is whole.
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{1, 2, 3, 4, 5, 6, 7}, {}, 4), Gpus({4, 5, 6, 7}));
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{0, 3, 4, 7}, {}, 2), Gpus({0, 3}));
}

TEST(PreferBestEffortTest, OneGpuIsTheRequiredOrTheFirst) {
  const GpuTopology sockets = FoursOnNodes(2);
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{2, 5, 6}, {}, 1), Gpus({2}));
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{2, 5, 6}, Gpus{5}, 1), Gpus({5}));
}

TEST(PreferBestEffortTest, WhatCannotBeIsEmpty) {
  const GpuTopology sockets = FoursOnNodes(4);
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{0, 1}, {}, 3), Gpus());
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{0, 1}, {}, 0), Gpus());
  EXPECT_EQ(PreferBestEffort(sockets, {}, {}, 1), Gpus());
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{0, 1, 2}, Gpus{0, 1}, 1), Gpus());
  EXPECT_EQ(PreferBestEffort(sockets, Gpus{0, 1, 2}, Gpus{3}, 2), Gpus());
  EXPECT_EQ(PreferBestEffort(sockets, UpTo(16), Gpus{16}, 2), Gpus());
}

// Beyond kBestEffortExact.
TEST(PreferBestEffortTest, OnLargeNodesFindsAGroupThatIsWhole) {
  const GpuTopology nodes = FoursOnNodes(4);
  const Gpus available = {0, 4, 5, 6, 7, 8, 9, 10, 12, 13};
  ASSERT_GT(available.size(), kBestEffortExact);
  EXPECT_EQ(PreferBestEffort(nodes, available, {}, 4), Gpus({4, 5, 6, 7}));
  EXPECT_EQ(PreferBestEffort(nodes, available, {}, 2), Gpus({4, 5}));
  EXPECT_EQ(PreferBestEffort(nodes, available, {}, 3), Gpus({4, 5, 6}));
  EXPECT_EQ(PreferBestEffort(nodes, available, Gpus{9}, 3), Gpus({8, 9, 10}));
  EXPECT_EQ(PreferBestEffort(nodes, available, Gpus{0, 13}, 3), Gpus({0, 12, 13}));
  EXPECT_EQ(PreferBestEffort(nodes, available, {}, 10), available);
}

TEST(PreferBestEffortTest, OnLargeNodesAmongEqualsTheFirst) {
  const GpuTopology many(std::vector<DeviceSpec>(16, Gpu("H100-80GB-SXM")));
  EXPECT_EQ(PreferBestEffort(many, UpTo(16), {}, 8), UpTo(8));
  EXPECT_EQ(PreferBestEffort(many, UpTo(16), {}, 1), Gpus({0}));
}

TEST(PreferBestEffortTest, OnTheLargestNodes) {
  const GpuTopology many(std::vector<DeviceSpec>(kMaxDevicesPerNode, Gpu("H100-80GB-SXM")));
  const Gpus all = UpTo(kMaxDevicesPerNode);
  EXPECT_EQ(PreferBestEffort(many, all, Gpus{63}, 2), Gpus({0, 63}));
  EXPECT_EQ(PreferBestEffort(many, all, {}, 64), all);
}

TEST(PreferBestEffortTest, IsQuickOnEightGpus) {
  const GpuTopology sockets = FoursOnNodes(2);
  for (int round = 0; round < 100; ++round) {
    for (size_t size = 1; size <= 8; ++size) {
      ASSERT_EQ(PreferBestEffort(sockets, UpTo(8), {}, size).size(), size);
    }
  }
}

// ---- Replicas ----

std::vector<ReplicaCandidate> OfParents(const std::vector<size_t>& parents) {
  std::vector<ReplicaCandidate> candidates(parents.size());
  for (size_t c = 0; c < parents.size(); ++c) candidates[c].parent = parents[c];
  return candidates;
}

Gpus Distributed(const std::vector<size_t>& parents, const std::vector<int64_t>& allocated,
                 const Gpus& required, size_t size) {
  return PreferReplicas(OfParents(parents), allocated, required, size, /*packed=*/false);
}

Gpus Packed(const std::vector<size_t>& parents, const std::vector<int64_t>& allocated,
            const Gpus& required, size_t size) {
  return PreferReplicas(OfParents(parents), allocated, required, size, /*packed=*/true);
}

TEST(PreferReplicasTest, DistributedTakesTheLeastUsed) {
  EXPECT_EQ(Distributed({0, 0, 1, 1}, {0, 0}, {}, 2), Gpus({0, 2}));
  EXPECT_EQ(Distributed({0, 0, 1, 1}, {0, 0}, {}, 3), Gpus({0, 2, 1}));
  EXPECT_EQ(Distributed({0, 0, 1, 1}, {2, 0}, {}, 2), Gpus({2, 3}));
  EXPECT_EQ(Distributed({1, 0, 1}, {3, 1}, {}, 3), Gpus({0, 2, 1}));
}

TEST(PreferReplicasTest, PackedTakesTheMostUsed) {
  EXPECT_EQ(Packed({0, 0, 1, 1}, {0, 0}, {}, 2), Gpus({0, 1}));
  EXPECT_EQ(Packed({0, 0, 1, 1}, {0, 1}, {}, 3), Gpus({2, 3, 0}));
  EXPECT_EQ(Packed({0, 1, 1}, {3, 1}, {}, 2), Gpus({0, 1}));
}

TEST(PreferReplicasTest, OnTiesTheParentThatWasPickedLess) {
  // After the first pick both parents have one replica in use.
  EXPECT_EQ(Distributed({0, 0, 1}, {0, 1}, {}, 2), Gpus({0, 2}));
}

TEST(PreferReplicasTest, RequiredOnesComeFirstAndAreInUse) {
  EXPECT_EQ(Distributed({0, 0, 1, 1}, {0, 0}, {1}, 2), Gpus({1, 2}));
  EXPECT_EQ(Packed({0, 0, 1, 1}, {0, 0}, {3}, 2), Gpus({3, 2}));
  EXPECT_EQ(Distributed({0, 1}, {0, 0}, {1, 0}, 2), Gpus({1, 0}));
}

TEST(PreferReplicasTest, TooFewIsEmpty) {
  EXPECT_EQ(Distributed({0, 1}, {0, 0}, {}, 3), Gpus());
  EXPECT_EQ(Distributed({0, 1}, {0, 0}, {0, 1}, 1), Gpus());
  EXPECT_EQ(Distributed({}, {}, {}, 1), Gpus());
  EXPECT_EQ(Distributed({0, 1}, {0, 0}, {}, 0), Gpus());
}

// MIG instances are parents of their own: neither way packs them on a card.
TEST(PreferReplicasTest, MigInstancesAreTakenInTheirOrder) {
  EXPECT_EQ(Distributed({3, 1, 2}, {0, 0, 0, 0}, {}, 2), Gpus({0, 1}));
  EXPECT_EQ(Packed({3, 1, 2}, {0, 0, 0, 0}, {}, 2), Gpus({0, 1}));
}

TEST(PreferReplicasTest, AgreesWithSortingAnewBeforeEveryPick) {
  for (uint64_t seed = 0; seed < SoakSeeds(500); ++seed) {
    Random random(seed, "replicas");
    std::vector<int64_t> allocated(1 + random.Below(4));
    for (int64_t& replicas : allocated) replicas = static_cast<int64_t>(random.Below(4));
    std::vector<size_t> parents(1 + random.Below(10));
    for (size_t& parent : parents) parent = static_cast<size_t>(random.Below(allocated.size()));
    const bool packed = random.Below(2) == 0;
    const size_t size = static_cast<size_t>(random.Below(parents.size() + 1));
    Gpus required;
    if (size > 0 && random.Below(2) == 0) {
      required.push_back(static_cast<size_t>(random.Below(parents.size())));
    }
    Gpus expected = required;
    while (expected.size() < size) {
      // Replicas in use (negative if many are good), picks in this call, candidate.
      std::vector<std::tuple<int64_t, int64_t, size_t>> line;
      for (size_t c = 0; c < parents.size(); ++c) {
        if (std::count(expected.begin(), expected.end(), c) > 0) continue;
        int64_t used = allocated[parents[c]];
        int64_t picked = 0;
        for (size_t e = 0; e < expected.size(); ++e) {
          if (parents[expected[e]] != parents[c]) continue;
          ++used;
          picked += e < required.size() ? 0 : 1;
        }
        line.emplace_back(packed ? -used : used, picked, c);
      }
      std::sort(line.begin(), line.end());
      expected.push_back(std::get<2>(line.front()));
    }
    ASSERT_EQ(PreferReplicas(OfParents(parents), allocated, required, size, packed), expected)
        << seed;
  }
}

}  // namespace preferred_allocation_test
}  // namespace drasim
