#include "model/shape_table.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/hash.h"
#include "model/random.h"
#include "tests/model/shapes_rig.h"

namespace drasim {
namespace shape_table_test {

using shapes_rig::Models;
using shapes_rig::Shape;

Toleration MakeToleration(const std::string& key, const std::string& value,
                          const std::string& effect, bool exists) {
  Toleration toleration;
  toleration.key = key;
  toleration.value = value;
  toleration.effect = effect;
  toleration.exists = exists;
  return toleration;
}

LabelSelector MakeSelector(const std::string& key, SelectorOperator op,
                           const std::vector<std::string>& values) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements = {{key, op, values}};
  return selector;
}

// Rules about nodes that pods of Kubernetes have.
void AddPlacementShapes(const PodShape& base, std::vector<PodShape>* shapes) {
  const auto add = [&]() -> PodConstraints& { return shapes->emplace_back(base).constraints; };
  const NodeTerm term = {{{false, "zone", NodeOperator::kIn, {"a"}}}, ""};
  add().node_terms = {term};
  add().node_terms = {{term.requirements, "unusable"}};
  add().preferred_nodes = {{1, term}};
  add().preferred_nodes = {{2, term}};
  add().gives_node_selector = true;
  add().requires_node_terms = true;
  add().prefers_nodes = true;
  add().node_name = "n-1";
  add().gates = {"a"};
  add().gates = {"a", "b"};
  add().host_ports = {{"0.0.0.0", "TCP", 80}};
  add().host_ports = {{"0.0.0.0", "UDP", 80}};
  add().host_ports = {{"10.0.0.1", "TCP", 80}};
  add().host_ports = {{"0.0.0.0", "TCP", 81}};
  add().images = {"a:1"};
  add().images = {"a:2"};
  add().volume_images = {"a:1"};
}

// Rules about other pods, and what other objects see of a pod.
void AddPodShapes(const PodShape& base, std::vector<PodShape>* shapes) {
  const auto add = [&]() -> PodShape& { return shapes->emplace_back(base); };
  const LabelSelector web = MakeSelector("app", SelectorOperator::kIn, {"web"});
  SpreadConstraint spread;
  spread.topology_key = "zone";
  for (const LabelSelector& selector :
       {LabelSelector(), web, MakeSelector("app", SelectorOperator::kNotIn, {"web"}),
        MakeSelector("app", SelectorOperator::kIn, {"db", "web"}),
        MakeSelector("tier", SelectorOperator::kIn, {"web"})}) {
    spread.selector = selector;
    add().topology.spread = {spread};
  }
  spread.selector.error = "unusable";
  add().topology.spread = {spread};
  const auto add_spread = [&](auto change) {
    SpreadConstraint changed;
    changed.topology_key = "zone";
    change(&changed);
    add().topology.spread = {changed};
  };
  add_spread([](SpreadConstraint* c) { c->topology_key = "rack"; });
  add_spread([](SpreadConstraint* c) { c->max_skew = 2; });
  add_spread([](SpreadConstraint* c) { c->min_domains = 2; });
  add_spread([](SpreadConstraint* c) { c->hard = false; });
  add_spread([](SpreadConstraint* c) { c->honor_affinity = false; });
  add_spread([](SpreadConstraint* c) { c->honor_taints = true; });
  AffinityTerm term = {"zone", web, {"default"}, {}};
  add().topology.affinity = {term};
  add().topology.anti_affinity = {term};
  add().topology.preferred_affinity = {{1, term}};
  add().topology.preferred_affinity = {{2, term}};
  add().topology.preferred_anti_affinity = {{1, term}};
  term.namespaces = {"other"};
  add().topology.affinity = {term};
  term.namespace_selector = web;
  add().topology.affinity = {term};
  add().scored.given = true;
  for (int64_t ScoredRequest::*const amount :
       {&ScoredRequest::cpu_milli, &ScoredRequest::memory_bytes, &ScoredRequest::resident_cpu_milli,
        &ScoredRequest::resident_memory_bytes}) {
    ScoredRequest& scored = add().scored;
    scored.given = true;
    scored.*amount = 1;
  }
  PodShape& other = add();
  other.scored.given = true;
  other.scored.extended = {{"example.com/nic", 1}};
  add().identity.ns = "default";
  add().identity.labels = {{"app", "web"}};
  add().identity.labels = {{"app", "db"}};
  add().identity.owner_kind = "ReplicaSet";
  add().identity.owner_name = "web";
  add().identity.scheduler_name = "web";
  add().identity.terminating = true;
}

// Shapes that differ from the first, each in one way.
std::vector<PodShape> DistinctShapes() {
  const PodShape base = Shape(1000, 64, 1, 500, "T4");
  std::vector<PodShape> shapes(14, base);
  shapes[1].request.cpu_milli = 1001;
  shapes[2].request.memory_bytes = 65;
  shapes[3].request.gpu_count = 2;
  shapes[4].request.gpu_milli = 501;
  shapes[5].request.gpu_spec = "";
  shapes[6].request.gpu_spec = "T4|T4";  // the same models, written otherwise
  shapes[7].constraints.node_selector = {{"zone", "a"}};
  shapes[8].constraints.node_selector = {{"zone", "b"}};
  shapes[9].constraints.node_selector = {{"zone", "a"}, {"zone2", "a"}};
  shapes[10].constraints.tolerations = {MakeToleration("gpu", "", "", true)};
  shapes[11].constraints.tolerations = {MakeToleration("gpu", "", "", false)};
  shapes[12].constraints.tolerations = {MakeToleration("gpu", "", "NoSchedule", true)};
  shapes[13].constraints.tolerations = {MakeToleration("gpu", "", "", true),
                                        MakeToleration("gpu", "", "", true)};
  const auto add = [&shapes, &base]() -> PodShape& { return shapes.emplace_back(base); };
  add().request.extended = {{"example.com/nic", 1}};
  add().request.mig = {{"1g.10gb", 1}};
  add().request.nominal_milli = 125;
  add().constraints.node_terms = {{{{true, "metadata.name", NodeOperator::kIn, {"n-1"}}}, ""}};
  add().constraints.hold = PodHold::kVolumes;
  add().constraints.hold = PodHold::kHostPorts;
  add().constraints.never_preempts = true;
  PodShape& grouped = add();
  grouped.constraints.group = "web";
  grouped.constraints.max_per_node = 1;
  add().demand = {2, 300, 0};
  add().demand = {0, 0, 4096};
  add().device_plugin.containers = {{true, false, {{"example.com/nic", 1}}}};
  add().device_plugin.containers = {{true, true, {{"example.com/nic", 1}}}};
  add().device_plugin.function = "aes";
  add().claims = {{"gpu", "shared", ""}};
  add().claims = {{"gpu", "", "shared"}};
  add().gang_remainder = true;
  AddPlacementShapes(base, &shapes);
  AddPodShapes(base, &shapes);
  return shapes;
}

TEST(ShapeTableTest, EveryFieldMakesAShapeOfItsOwn) {
  const GpuModelTable models = Models({"T4"});
  ShapeTable table(&models);
  const std::vector<PodShape> shapes = DistinctShapes();
  for (size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(table.Intern(shapes[i]), ShapeId(i));
  EXPECT_EQ(table.size(), shapes.size());
  for (size_t i = shapes.size(); i-- > 0;) EXPECT_EQ(table.Intern(shapes[i]), ShapeId(i));
  EXPECT_EQ(table.size(), shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) EXPECT_TRUE(table.row(ShapeId(i)) == shapes[i]);
}

// Texts that are equal once they are joined, where a careless hash has collisions.
TEST(ShapeTableTest, ShapesWithTheSameJoinedTextsAreKeptApart) {
  const GpuModelTable models = Models({});
  ShapeTable table(&models);
  std::vector<PodShape> shapes(5, Shape(1, 1, 0, 0, ""));
  shapes[0].constraints.node_selector = {{"ab", "c"}};
  shapes[1].constraints.node_selector = {{"a", "bc"}};
  shapes[2].constraints.tolerations = {MakeToleration("ab", "c", "", false)};
  shapes[3].constraints.tolerations = {MakeToleration("a", "b", "c", false)};
  shapes[4].constraints.tolerations = {MakeToleration("", "abc", "", false)};
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
           (seen[expected].request.cpu_milli != cpu ||
            seen[expected].request.memory_bytes != memory ||
            seen[expected].request.gpu_count != gpus || seen[expected].request.gpu_milli != milli ||
            seen[expected].request.gpu_spec != shape.request.gpu_spec)) {
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
    return table.row(table.Intern(Shape(1, 1, 1, 1000, spec))).request.model_mask;
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
  EXPECT_EQ(table.row(table.Intern(Shape(1, 1, 1, 1000, "m63"))).request.model_mask,
            uint64_t{1} << 63);
}

// The mask of a request is derived; what the caller left in the field is ignored.
TEST(ShapeTableTest, ModelMaskOfTheCallerIsIgnored) {
  const GpuModelTable models = Models({"T4", "P100"});
  ShapeTable table(&models);
  PodShape shape = Shape(1, 1, 1, 1000, "P100");
  shape.request.model_mask = 1;
  const ShapeId id = table.Intern(shape);
  EXPECT_EQ(table.row(id).request.model_mask, 2U);
  shape.request.model_mask = 77;
  EXPECT_EQ(table.Intern(shape), id);
  PodShape any = Shape(1, 1, 1, 1000, "");
  any.request.model_mask = 0;
  EXPECT_EQ(table.row(table.Intern(any)).request.model_mask, ~uint64_t{0});
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
  EXPECT_EQ(table.row(partly).request.model_mask, 1U);
  EXPECT_EQ(table.row(unknown).request.model_mask, 0U);
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

// Every part of a shape enters its hash, in an order that fingerprints depend on.
TEST(ShapeTableTest, ContentHashOfAllPartsIsPinned) {
  const GpuModelTable models = Models({});
  ShapeTable table(&models);
  PodShape shape = Shape(4000, int64_t{16} << 30, 2, 450, "T4");
  shape.request.extended = {{"example.com/nic", 1}};
  shape.request.mig = {{"1g.10gb", 2}};
  shape.request.nominal_milli = 250;
  shape.constraints.node_selector = {{"zone", "a"}};
  shape.constraints.node_terms = {
      {{{true, "metadata.name", NodeOperator::kNotIn, {"n-1", "n-2"}}}, ""}};
  shape.constraints.tolerations = {MakeToleration("gpu", "yes", "NoSchedule", false)};
  shape.constraints.hold = PodHold::kVolumes;
  shape.constraints.never_preempts = true;
  shape.constraints.group = "web";
  shape.constraints.max_per_node = 3;
  shape.device_plugin.containers = {{true, false, {{"example.com/nic", 1}}}};
  shape.device_plugin.function = "aes";
  shape.claims = {{"gpu", "", "whole"}};
  shape.demand = {3, 300, 4096};
  shape.gang_remainder = true;
  EXPECT_EQ(HexHash(table.content_hash(table.Intern(shape))), "042cf7655950421e");
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
  std::set<uint64_t> hashes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    hashes.insert(forward.content_hash(ShapeId(i)));
    EXPECT_EQ(forward.content_hash(ShapeId(i)),
              backward.content_hash(ShapeId(shapes.size() - 1 - i)));
  }
  // Two pairs mix the same words: a claim and a template of one name, never_preempts and
  // gang_remainder. Interning compares the shapes themselves.
  EXPECT_EQ(hashes.size(), shapes.size() - 2);
}

}  // namespace shape_table_test
}  // namespace drasim
