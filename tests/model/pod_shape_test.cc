#include "model/pod_shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/fragmentation.h"
#include "model/hash.h"
#include "model/random.h"

namespace drasim {
namespace pod_shape_test {

GpuModelTable Models(const std::vector<std::string>& names) {
  GpuModelTable models;
  for (const std::string& name : names) EXPECT_TRUE(models.Intern(name).ok());
  return models;
}

PodShape Shape(int64_t cpu_milli, int64_t memory_bytes, int32_t gpu_count, int32_t gpu_milli,
               const std::string& gpu_spec) {
  PodShape shape;
  shape.cpu_milli = cpu_milli;
  shape.memory_bytes = memory_bytes;
  shape.gpu_count = gpu_count;
  shape.gpu_milli = gpu_milli;
  shape.gpu_spec = gpu_spec;
  return shape;
}

Toleration MakeToleration(const std::string& key, const std::string& value,
                          const std::string& effect, bool exists) {
  Toleration toleration;
  toleration.key = key;
  toleration.value = value;
  toleration.effect = effect;
  toleration.exists = exists;
  return toleration;
}

// Shapes that differ from the first, each in one way.
std::vector<PodShape> DistinctShapes() {
  const PodShape base = Shape(1000, 64, 1, 500, "T4");
  std::vector<PodShape> shapes(14, base);
  shapes[1].cpu_milli = 1001;
  shapes[2].memory_bytes = 65;
  shapes[3].gpu_count = 2;
  shapes[4].gpu_milli = 501;
  shapes[5].gpu_spec = "";
  shapes[6].gpu_spec = "T4|T4";  // the same models, written otherwise
  shapes[7].node_selector = {{"zone", "a"}};
  shapes[8].node_selector = {{"zone", "b"}};
  shapes[9].node_selector = {{"zone", "a"}, {"zone2", "a"}};
  shapes[10].tolerations = {MakeToleration("gpu", "", "", true)};
  shapes[11].tolerations = {MakeToleration("gpu", "", "", false)};
  shapes[12].tolerations = {MakeToleration("gpu", "", "NoSchedule", true)};
  shapes[13].tolerations = {MakeToleration("gpu", "", "", true),
                            MakeToleration("gpu", "", "", true)};
  return shapes;
}

TEST(GpuModelTableTest, InternsNamesInOrder) {
  GpuModelTable models;
  EXPECT_EQ(models.size(), 0U);
  EXPECT_FALSE(models.Find("T4").valid());
  EXPECT_EQ(*models.Intern("T4"), ModelId(0U));
  EXPECT_EQ(*models.Intern("P100"), ModelId(1U));
  EXPECT_EQ(*models.Intern("T4"), ModelId(0U));
  EXPECT_EQ(models.size(), 2U);
  EXPECT_EQ(models.name(ModelId(1U)), "P100");
  EXPECT_EQ(models.Find("P100"), ModelId(1U));
  EXPECT_FALSE(models.Find("p100").valid());
  EXPECT_FALSE(models.Find("").valid());
}

TEST(GpuModelTableTest, TheSixtyFifthModelIsTooMany) {
  GpuModelTable models;
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(*models.Intern(absl::StrCat("m", i)), ModelId(i));
  const absl::StatusOr<ModelId> refused = models.Intern("one more");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), ::testing::HasSubstr("'one more'"));
  EXPECT_EQ(models.size(), 64U);
  EXPECT_FALSE(models.Find("one more").valid());
  EXPECT_EQ(*models.Intern("m63"), ModelId(63U)) << "known models are still found";
}

TEST(PodShapeTest, TotalsAndSharesFollowTheRequest) {
  EXPECT_EQ(Shape(1, 1, 0, 0, "").total_gpu_milli(), 0);
  EXPECT_EQ(Shape(1, 1, 1, 250, "").total_gpu_milli(), 250);
  EXPECT_EQ(Shape(1, 1, 8, 1000, "").total_gpu_milli(), 8000);
  EXPECT_FALSE(Shape(1, 1, 0, 0, "").is_share());
  EXPECT_TRUE(Shape(1, 1, 1, 999, "").is_share());
  EXPECT_FALSE(Shape(1, 1, 1, 1000, "").is_share());
  EXPECT_FALSE(Shape(1, 1, 8, 1000, "").is_share());
}

TEST(ShapeTableTest, EveryFieldMakesAShapeOfItsOwn) {
  const GpuModelTable models = Models({"T4"});
  ShapeTable table(&models);
  const std::vector<PodShape> shapes = DistinctShapes();
  for (size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(table.Intern(shapes[i]), ShapeId(i));
  EXPECT_EQ(table.size(), shapes.size());
  for (size_t i = shapes.size(); i-- > 0;) EXPECT_EQ(table.Intern(shapes[i]), ShapeId(i));
  EXPECT_EQ(table.size(), shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(table.row(ShapeId(i)).cpu_milli, shapes[i].cpu_milli);
    EXPECT_EQ(table.row(ShapeId(i)).gpu_spec, shapes[i].gpu_spec);
    EXPECT_TRUE(table.row(ShapeId(i)).node_selector == shapes[i].node_selector);
    EXPECT_TRUE(table.row(ShapeId(i)).tolerations == shapes[i].tolerations);
  }
}

// Texts that are equal once they are joined, where a careless hash has collisions.
TEST(ShapeTableTest, ShapesWithTheSameJoinedTextsAreKeptApart) {
  const GpuModelTable models = Models({});
  ShapeTable table(&models);
  std::vector<PodShape> shapes(5, Shape(1, 1, 0, 0, ""));
  shapes[0].node_selector = {{"ab", "c"}};
  shapes[1].node_selector = {{"a", "bc"}};
  shapes[2].tolerations = {MakeToleration("ab", "c", "", false)};
  shapes[3].tolerations = {MakeToleration("a", "b", "c", false)};
  shapes[4].tolerations = {MakeToleration("", "abc", "", false)};
  for (size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(table.Intern(shapes[i]), ShapeId(i));
  for (size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(table.Intern(shapes[i]), ShapeId(i));
}

TEST(ShapeTableTest, InterningARowGivesItsId) {
  const GpuModelTable models = Models({"T4"});
  ShapeTable table(&models);
  for (const PodShape& shape : DistinctShapes()) table.Intern(shape);
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.Intern(table.row(ShapeId(i))), ShapeId(i));
  }
}

TEST(ShapeTableTest, InterningMatchesALinearSearch) {
  const GpuModelTable models = Models({"T4", "P100"});
  ShapeTable table(&models);
  Random random(1, "pod_shape_test");
  const std::vector<std::string> specs = {"", "T4", "P100|T4"};
  std::vector<PodShape> seen;
  for (int step = 0; step < 6000; ++step) {
    const auto cpu = static_cast<int64_t>(random.Below(5));
    const auto memory = static_cast<int64_t>(random.Below(3));
    const auto gpus = static_cast<int32_t>(random.Below(3));
    const int32_t milli = gpus == 0 ? 0 : static_cast<int32_t>(random.Below(2)) * 500 + 500;
    const PodShape shape = Shape(cpu, memory, gpus, milli, specs[random.Below(specs.size())]);
    size_t expected = 0;
    while (expected < seen.size() &&
           (seen[expected].cpu_milli != cpu || seen[expected].memory_bytes != memory ||
            seen[expected].gpu_count != gpus || seen[expected].gpu_milli != milli ||
            seen[expected].gpu_spec != shape.gpu_spec)) {
      ++expected;
    }
    if (expected == seen.size()) seen.push_back(shape);
    ASSERT_EQ(table.Intern(shape), ShapeId(expected));
  }
  EXPECT_EQ(table.size(), 225U) << "5 CPU, 3 memory and 3 spec values times 1 + 2 * 2 GPU requests";
}

TEST(ShapeTableTest, ModelMaskHasTheAcceptableModels) {
  const GpuModelTable models = Models({"T4", "P100", "V100M16", "V100M32"});
  ShapeTable table(&models);
  const auto mask = [&table](const std::string& spec) {
    return table.row(table.Intern(Shape(1, 1, 1, 1000, spec))).model_mask;
  };
  EXPECT_EQ(mask(""), ~uint64_t{0});
  EXPECT_EQ(mask("T4"), 0b0001U);
  EXPECT_EQ(mask("V100M32"), 0b1000U);
  EXPECT_EQ(mask("V100M16|V100M32"), 0b1100U);
  EXPECT_EQ(mask("V100M32|T4|V100M32"), 0b1001U) << "duplicates are harmless";
  EXPECT_EQ(mask("V100"), 0U) << "names match whole";
  EXPECT_EQ(mask("t4"), 0U) << "names match case";
}

TEST(ShapeTableTest, TheSixtyFourthModelHasABit) {
  GpuModelTable models;
  for (size_t i = 0; i < 64; ++i) ASSERT_TRUE(models.Intern(absl::StrCat("m", i)).ok());
  ShapeTable table(&models);
  EXPECT_EQ(table.row(table.Intern(Shape(1, 1, 1, 1000, "m63"))).model_mask, uint64_t{1} << 63);
}

// The mask of a request is derived; what the caller left in the field is ignored.
TEST(ShapeTableTest, ModelMaskOfTheCallerIsIgnored) {
  const GpuModelTable models = Models({"T4", "P100"});
  ShapeTable table(&models);
  PodShape shape = Shape(1, 1, 1, 1000, "P100");
  shape.model_mask = 1;
  const ShapeId id = table.Intern(shape);
  EXPECT_EQ(table.row(id).model_mask, 2U);
  shape.model_mask = 77;
  EXPECT_EQ(table.Intern(shape), id);
  PodShape any = Shape(1, 1, 1, 1000, "");
  any.model_mask = 0;
  EXPECT_EQ(table.row(table.Intern(any)).model_mask, ~uint64_t{0});
}

TEST(ShapeTableTest, RemembersModelsThatNoNodeHas) {
  const GpuModelTable models = Models({"T4"});
  ShapeTable table(&models);
  const ShapeId known = table.Intern(Shape(1, 1, 1, 1000, "T4"));
  const ShapeId any = table.Intern(Shape(1, 1, 1, 1000, ""));
  const ShapeId partly = table.Intern(Shape(1, 1, 1, 1000, "H100|T4|A10"));
  const ShapeId unknown = table.Intern(Shape(1, 1, 1, 1000, "A10|B200"));
  EXPECT_FALSE(table.names_unknown_model(known));
  EXPECT_FALSE(table.names_unknown_model(any));
  EXPECT_TRUE(table.names_unknown_model(partly));
  EXPECT_TRUE(table.names_unknown_model(unknown));
  EXPECT_EQ(table.row(partly).model_mask, 1U);
  EXPECT_EQ(table.row(unknown).model_mask, 0U);
  EXPECT_EQ(table.unknown_models(), (std::vector<std::string>{"H100", "A10", "B200"}));
}

TEST(ShapeTableTest, ContentHashIsPinned) {
  const GpuModelTable models = Models({});
  ShapeTable table(&models);
  const ShapeId empty = table.Intern(PodShape());
  const ShapeId share = table.Intern(Shape(1000, int64_t{1} << 30, 1, 500, "T4|P100"));
  const ShapeId eight = table.Intern(Shape(11400, 0, 8, 1000, ""));
  EXPECT_EQ(HexHash(table.content_hash(empty)), "9a7a1791bf45041a");
  EXPECT_EQ(HexHash(table.content_hash(share)), "c210d10d9f6357bd");
  EXPECT_EQ(HexHash(table.content_hash(eight)), "5b1f96b233fc10ba");
}

TEST(ShapeTableTest, ContentHashDependsOnTheContentAlone) {
  const GpuModelTable few = Models({"T4"});
  const GpuModelTable many = Models({"P100", "A10", "T4"});
  ShapeTable forward(&few);
  ShapeTable backward(&many);
  const std::vector<PodShape> shapes = DistinctShapes();
  for (size_t i = 0; i < shapes.size(); ++i) {
    forward.Intern(shapes[i]);
    backward.Intern(shapes[shapes.size() - 1 - i]);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(forward.content_hash(ShapeId(i)),
              backward.content_hash(ShapeId(shapes.size() - 1 - i)));
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(forward.content_hash(ShapeId(i)), forward.content_hash(ShapeId(j)));
    }
  }
}

// ---- Typical pods: the most popular requests of a workload (fragmentation.h). ----

struct Counted {
  PodShape shape;
  int64_t pods;
};

// What BuildTypicalPods reads of a shape, in the order in which it sorts.
using RequestKey = std::tuple<int64_t, int32_t, int32_t, std::string>;

RequestKey KeyOf(const PodShape& s) {
  return RequestKey(s.cpu_milli, s.gpu_milli, s.gpu_count, s.gpu_spec);
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
  selective.node_selector = {{"zone", "a"}};
  PodShape tolerant = small;
  tolerant.tolerations = {MakeToleration("gpu", "", "", true)};
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
      shape.cpu_milli = static_cast<int64_t>(random.Below(5)) * 1000;
      shape.memory_bytes = static_cast<int64_t>(random.Below(2));
      shape.gpu_count = static_cast<int32_t>(random.Below(3));
      if (shape.gpu_count == 0) continue;
      shape.gpu_milli = static_cast<int32_t>(random.Below(4)) * 250 + 250;
      shape.gpu_spec = specs[random.Below(specs.size())];
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

// The published test vectors of FNV-1a, 64 bits.
TEST(HashTest, IsFnv1a) {
  EXPECT_EQ(Fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(Fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(Fnv1a("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(Fnv1a("bar", Fnv1a("foo")), Fnv1a("foobar"));
  EXPECT_NE(Fnv1a("\xff"), Fnv1a("\x7f"));
}

TEST(HashTest, MixWordIsPinned) {
  EXPECT_EQ(MixWord(0, 0), 0xc9d874ca57d9e055U);
  EXPECT_EQ(MixWord(kFnvOffset, 0), 0x76fad9863d856f97U);
  EXPECT_EQ(MixWord(kFnvOffset, 1), 0x5fe3db79a63f6125U);
  EXPECT_EQ(MixWord(1, kFnvOffset), 0xc806e2b0ae7b276cU);
  EXPECT_EQ(MixWord(~uint64_t{0}, ~uint64_t{0}), 0x36278b35a8261faaU);
  EXPECT_EQ(MixWord(MixWord(kFnvOffset, 1), 2), 0x83697980ae5ec950U);
  EXPECT_EQ(MixWord(MixWord(kFnvOffset, 2), 1), 0xa3353a92f8496e24U);
}

TEST(HashTest, HexHashHasSixteenLowerCaseDigits) {
  EXPECT_EQ(HexHash(0), "0000000000000000");
  EXPECT_EQ(HexHash(0x0123456789abcdefU), "0123456789abcdef");
  EXPECT_EQ(HexHash(~uint64_t{0}), "ffffffffffffffff");
}

}  // namespace pod_shape_test
}  // namespace drasim
