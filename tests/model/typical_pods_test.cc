// Typical pods: the most popular requests of a workload (model/fragmentation.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/fragmentation.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "tests/model/shapes_rig.h"

namespace drasim {
namespace typical_pods_test {

using shapes_rig::Models;
using shapes_rig::Shape;

struct Counted {
  PodShape shape;
  int64_t pods;
};

// The fields of a shape that BuildTypicalPods reads, in the order in which it sorts.
using RequestKey = std::tuple<int64_t, int32_t, int32_t, std::string>;

RequestKey KeyOf(const PodShape& s) {
  return RequestKey(s.request.cpu_milli, s.request.gpu_milli, s.request.gpu_count,
                    s.request.gpu_spec);
}

RequestKey KeyOf(const TypicalPod& t) {
  return RequestKey(t.cpu_milli, t.gpu_milli, t.gpu_count, t.gpu_spec);
}

std::vector<TypicalPod> Build(const std::vector<Counted>& counted, double popularity_percent) {
  const GpuModelTable models = Models({"P100", "T4"});
  ShapeTable shapes(&models);
  std::vector<int64_t> pods_by_shape;
  for (const Counted& c : counted) {
    const size_t id = shapes.Intern(c.shape).value();
    if (id == pods_by_shape.size()) pods_by_shape.push_back(0);
    pods_by_shape[id] += c.pods;
  }
  return BuildTypicalPods(shapes, pods_by_shape, popularity_percent);
}

std::vector<double> Weights(const std::vector<TypicalPod>& typical) {
  std::vector<double> weights;
  for (const TypicalPod& t : typical) weights.push_back(t.weight);
  return weights;
}

TEST(TypicalPodsTest, TheShortestPrefixThatCoversThePopularity) {
  const std::vector<Counted> counted = {{Shape(1, 1, 0, 0, ""), 5},
                                        {Shape(2, 1, 1, 1000, "T4"), 90},
                                        {Shape(3, 1, 1, 500, ""), 4},
                                        {Shape(4, 1, 8, 1000, ""), 1}};
  const std::vector<TypicalPod> typical = Build(counted, 95);
  ASSERT_EQ(typical.size(), 2U);
  EXPECT_EQ(KeyOf(typical[0]), RequestKey(2, 1000, 1, "T4"));
  EXPECT_EQ(typical[0].model_mask, 0b10U);
  EXPECT_EQ(KeyOf(typical[1]), RequestKey(1, 0, 0, ""));
  EXPECT_EQ(typical[1].model_mask, ~uint64_t{0});
  EXPECT_EQ(Weights(typical),
            (std::vector<double>{(90.0 / 100) / (95.0 / 100), (5.0 / 100) / (95.0 / 100)}));
  EXPECT_EQ(Build(counted, 95.5).size(), 3U);
  EXPECT_EQ(Weights(Build(counted, 90)), std::vector<double>{1.0});
}

TEST(TypicalPodsTest, AWholeListKeepsPlainShares) {
  const std::vector<Counted> counted = {
      {Shape(1, 1, 0, 0, ""), 10}, {Shape(2, 1, 1, 1000, ""), 13}, {Shape(3, 1, 1, 500, ""), 30}};
  for (const double percent : {95.0, 100.0}) {
    EXPECT_EQ(Weights(Build(counted, percent)),
              (std::vector<double>{30.0 / 53, 13.0 / 53, 10.0 / 53}));
  }
}

TEST(TypicalPodsTest, TiesPutTheLargerRequestFirst) {
  const std::vector<PodShape> descending = {
      Shape(2000, 1, 1, 100, ""),         Shape(1000, 1, 2, 1000, ""),
      Shape(1000, 1, 1, 1000, "T4|P100"), Shape(1000, 1, 1, 1000, "T4"),
      Shape(1000, 1, 1, 1000, "P100|T4"), Shape(1000, 1, 1, 1000, ""),
      Shape(1000, 1, 1, 500, "T4"),       Shape(1000, 1, 0, 0, "")};
  std::vector<Counted> counted;
  for (const size_t i : {3U, 0U, 7U, 5U, 2U, 6U, 1U, 4U}) counted.push_back({descending[i], 3});
  counted.push_back({Shape(1, 1, 0, 0, ""), 4});
  const std::vector<TypicalPod> typical = Build(counted, 100);
  ASSERT_EQ(typical.size(), 9U);
  EXPECT_EQ(typical[0].cpu_milli, 1) << "popularity comes before size";
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(KeyOf(typical[i + 1]), KeyOf(descending[i])) << i;
}

TEST(TypicalPodsTest, ShapesThatDifferInMemoryOrSelectorsAreOneRequest) {
  const PodShape small = Shape(1000, 1, 1, 500, "");
  const PodShape large = Shape(1000, 2, 1, 500, "");
  PodShape selective = small;
  selective.constraints.node_selector = {{"zone", "a"}};
  PodShape tolerant = small;
  tolerant.constraints.tolerations = {{"gpu", "", "", true}};
  const std::vector<TypicalPod> typical = Build(
      {{small, 1}, {Shape(9, 1, 0, 0, ""), 3}, {large, 1}, {selective, 1}, {tolerant, 1}}, 100);
  ASSERT_EQ(typical.size(), 2U);
  EXPECT_EQ(KeyOf(typical[0]), KeyOf(small));
  EXPECT_EQ(Weights(typical), (std::vector<double>{4.0 / 7, 3.0 / 7}));
}

TEST(TypicalPodsTest, ShapesWithoutPodsDoNotCount) {
  EXPECT_TRUE(Build({}, 95).empty());
  EXPECT_TRUE(Build({{Shape(1, 1, 0, 0, ""), 0}}, 95).empty());
  const std::vector<TypicalPod> one =
      Build({{Shape(1, 1, 0, 0, ""), 0}, {Shape(2, 1, 0, 0, ""), 1}}, 95);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].cpu_milli, 2);
  EXPECT_EQ(one[0].weight, 1.0);
}

// Counts pod by pod, sorts ascending and walks from the end: each request with its weight.
std::vector<std::pair<RequestKey, double>> NaiveTypicalPods(const std::vector<Counted>& pods) {
  std::map<RequestKey, int64_t> count;
  for (const Counted& pod : pods) ++count[KeyOf(pod.shape)];
  std::vector<std::pair<int64_t, RequestKey>> ranked;
  for (const auto& [key, n] : count) ranked.emplace_back(n, key);
  std::sort(ranked.begin(), ranked.end());
  std::reverse(ranked.begin(), ranked.end());
  const auto all = static_cast<double>(pods.size());
  int64_t covered = 0;
  size_t taken = 0;
  for (; taken < ranked.size(); ++taken) {
    if (static_cast<double>(covered) >= 95.0 * all / 100) break;
    covered += ranked[taken].first;
  }
  std::vector<std::pair<RequestKey, double>> typical;
  for (size_t i = 0; i < taken; ++i) {
    double weight = static_cast<double>(ranked[i].first) / all;
    if (taken < ranked.size()) weight = weight / (static_cast<double>(covered) / all);
    typical.emplace_back(ranked[i].second, weight);
  }
  return typical;
}

TEST(TypicalPodsTest, EqualsTheNaiveCountOnRandomWorkloads) {
  Random random(2, "pod_shape_test");
  const std::vector<std::string> specs = {"", "", "T4", "P100|T4", "T4|P100"};
  int prefixes = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<PodShape> palette(1 + random.Below(60));
    for (PodShape& shape : palette) {
      shape.request.cpu_milli = static_cast<int64_t>(random.Below(5)) * 1000;
      shape.request.memory_bytes = static_cast<int64_t>(random.Below(2));
      shape.request.gpu_count = static_cast<int32_t>(random.Below(3));
      if (shape.request.gpu_count == 0) continue;
      shape.request.gpu_milli = static_cast<int32_t>(random.Below(4)) * 250 + 250;
      shape.request.gpu_spec = specs[random.Below(specs.size())];
    }
    std::vector<Counted> counted;
    for (uint64_t n = random.Below(400); n-- > 0;) {
      // A product, so that some shapes are rare.
      const uint64_t square = random.Below(palette.size()) * random.Below(palette.size());
      counted.push_back({palette[square / palette.size()], 1});
    }
    const std::vector<std::pair<RequestKey, double>> want = NaiveTypicalPods(counted);
    const std::vector<TypicalPod> typical = Build(counted, 95);
    ASSERT_EQ(typical.size(), want.size());
    for (size_t i = 0; i < typical.size(); ++i) {
      ASSERT_EQ(KeyOf(typical[i]), want[i].first);
      ASSERT_EQ(typical[i].weight, want[i].second);
    }
    if (Build(counted, 100).size() > want.size()) ++prefixes;
  }
  EXPECT_GT(prefixes, 100);
}

}  // namespace typical_pods_test
}  // namespace drasim
