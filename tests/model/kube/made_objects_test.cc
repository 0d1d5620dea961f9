// Objects of simulated nodes and pods: exact text, names, and that the reader gives the spec back.
#include "model/kube/made_objects.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/kube/spec_of_node.h"
#include "model/kube/writer.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace made_objects_test {

std::string YamlOf(const proto::kube::Node& node) {
  proto::kube::Object object;
  *object.mutable_node() = node;
  return PrintKubeObject(object, KubeTextFormat::kYaml);
}

std::string YamlOf(const proto::kube::Pod& pod) {
  proto::kube::Object object;
  *object.mutable_pod() = pod;
  return PrintKubeObject(object, KubeTextFormat::kYaml);
}

// Validation is the API server's.
void ExpectValid(const std::string& yaml) {
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(yaml, "made.yaml");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->warnings.empty()) << read->warnings[0];
}

NodeSpec GpuNode() {
  NodeSpec node;
  node.name = "gpu-1";
  node.cpu_milli = 31500;
  node.memory_bytes = int64_t{64} << 30;
  node.gpu_count = 4;
  node.gpu_model = "NVIDIA A100 (80GB)";
  node.labels = {{"zone", "a"}};
  node.taints = {{"gpu", "yes", "NoSchedule"}};
  node.extended = {{"example.com/nic", 2}, {"example.com/none", 0}};
  node.images = {{{"web:1", "web@sha256:00"}, 5'000'000'000}};
  node.unschedulable = true;
  return node;
}

TEST(MadeObjectsTest, ANode) {
  const std::string yaml = YamlOf(NodeObjectOf(GpuNode()));
  EXPECT_EQ(yaml, TestText("ANode"));
  ExpectValid(yaml);
  const NodeSpec read = SpecOfNode(NodeObjectOf(GpuNode()));
  EXPECT_EQ(read.cpu_milli, 31500);
  EXPECT_EQ(read.memory_bytes, int64_t{64} << 30);
  EXPECT_EQ(read.pods, 110);
  EXPECT_EQ(read.taints, GpuNode().taints);
  EXPECT_EQ(read.images, GpuNode().images);
  EXPECT_TRUE(read.unschedulable);
}

TEST(MadeObjectsTest, ADevicePluginHasTheLastWordOnGpus) {
  NodeSpec node = GpuNode();
  node.extended = {{"nvidia.com/mig-1g.5gb", 7}};
  EXPECT_EQ(NodeObjectOf(node).status().allocatable().count("nvidia.com/gpu"), 0u);
  EXPECT_EQ(NodeObjectOf(node).status().allocatable().at("nvidia.com/mig-1g.5gb"), "7");
  node.labels = {{"nvidia.com/gpu.product", "as-it-says"}};
  EXPECT_EQ(NodeObjectOf(node).metadata().labels().at("nvidia.com/gpu.product"), "as-it-says");
}

PodShape WholeGpus() {
  PodShape shape;
  shape.request.cpu_milli = 1500;
  shape.request.memory_bytes = int64_t{3} << 30;
  shape.request.gpu_count = 2;
  shape.request.gpu_milli = 1000;
  shape.request.gpu_spec = "V100M16|V100M32";
  shape.request.extended = {{"example.com/nic", 1}, {"ephemeral-storage", 1 << 20}};
  shape.constraints.node_selector = {{"zone", "a"}};
  shape.constraints.tolerations = {{"gpu", "", "NoSchedule", true}};
  shape.constraints.node_terms = {{{{true, "metadata.name", NodeOperator::kNotIn, {"n-7"}},
                                    {false, "disk", NodeOperator::kExists, {}}}}};
  return shape;
}

TEST(MadeObjectsTest, APodWithWholeGpus) {
  const std::string yaml = YamlOf(PodObjectOf("team-a/train", WholeGpus(), -5));
  EXPECT_EQ(yaml, TestText("APodWithWholeGpus"));
  ExpectValid(yaml);
}

TEST(MadeObjectsTest, APodWithAShare) {
  PodShape shape;
  shape.request.gpu_count = 1;
  shape.request.gpu_milli = 460;
  const std::string yaml = YamlOf(PodObjectOf("openb-pod-0017", shape, 0));
  EXPECT_EQ(yaml, TestText("APodWithAShare"));
  ExpectValid(yaml);
}

TEST(MadeObjectsTest, MigInstancesAndClaims) {
  PodShape shape;
  shape.request.mig = {{"1g.5gb+me", 1}, {"2g.10gb", 2}};
  shape.claims = {{"gpu", "", "one-gpu"}};
  const proto::kube::Pod pod = PodObjectOf("p", shape, 0);
  const proto::kube::ResourceRequirements& resources = pod.spec().containers(0).resources();
  EXPECT_EQ(resources.limits().at("nvidia.com/mig-1g.5gb.me"), "1");
  EXPECT_EQ(resources.requests().at("nvidia.com/mig-2g.10gb"), "2");
  EXPECT_EQ(resources.claims(0).name(), "gpu");
  EXPECT_EQ(pod.spec().resource_claims(0).resource_claim_template_name(), "one-gpu");
}

TEST(MadeObjectsTest, NamesAreThoseOfKubernetes) {
  EXPECT_EQ(ObjectNameOf("openb-pod-0017"), "openb-pod-0017");
  EXPECT_EQ(ObjectNameOf("a.b-c.9"), "a.b-c.9");
  EXPECT_EQ(ObjectNameOf("Job_7").substr(0, 6), "job-7-");
  EXPECT_NE(ObjectNameOf("Job_7"), ObjectNameOf("job-7"));
  EXPECT_NE(ObjectNameOf("Job_7"), ObjectNameOf("JOB_7"));
  for (const std::string& odd : std::vector<std::string>{
           "", "-", "...", "a..b", "-a", "a-.b", "\xc3\xa4", std::string(300, 'x'),
           std::string(230, 'x') + "." + std::string(40, '-'), "a/b/c"}) {
    const std::string name = ObjectNameOf(odd);
    EXPECT_EQ(ObjectNameOf(name), name) << odd;
    EXPECT_NE(name, odd);
    EXPECT_LE(name.size(), 253u) << odd;
  }
}

TEST(MadeObjectsTest, ANamespaceIsOneThatCouldBe) {
  const auto named = [](const std::string& name) {
    const proto::kube::ObjectMeta meta = PodObjectOf(name, PodShape(), 0).metadata();
    return meta.namespace_() + " " + meta.name();
  };
  EXPECT_EQ(named("a/b"), "a b");
  EXPECT_EQ(named("b"), "default b");
  EXPECT_EQ(named("A/b"), "default " + ObjectNameOf("A/b"));
  EXPECT_EQ(named("a.c/b"), "default " + ObjectNameOf("a.c/b"));
  EXPECT_EQ(named("a/b/c"), "default " + ObjectNameOf("a/b/c"));
}

TEST(MadeObjectsTest, PriorityClasses) {
  PodShape never;
  never.constraints.never_preempts = true;
  for (const int32_t priority : {-3, 0, 1'000'000'000}) {
    const proto::kube::PodSpec spec = PodObjectOf("p", never, priority).spec();
    const proto::kube::PriorityClass made = MadePriorityClass(priority, true);
    EXPECT_EQ(spec.priority_class_name(), made.metadata().name());
    EXPECT_EQ(spec.preemption_policy(), made.preemption_policy());
    EXPECT_EQ(spec.priority(), made.value());
  }
  EXPECT_EQ(MadePriorityClass(-3, true).metadata().name(), "priority-minus-3-never");
  EXPECT_EQ(MadePriorityClass(7, false).metadata().name(), "priority-7");
  EXPECT_FALSE(PodObjectOf("p", PodShape(), 0).spec().has_priority());
  EXPECT_TRUE(IsUserPriority(1'000'000'000));
  EXPECT_FALSE(IsUserPriority(1'000'000'001));
  EXPECT_EQ(PodObjectOf("p", PodShape(), 2'000'000'000).spec().priority_class_name(), "");
}

}  // namespace made_objects_test
}  // namespace drasim
