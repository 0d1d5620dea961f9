// ToControlPlane.
#include "sim/run/manifest_objects.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/kube/reader.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace manifests_objects_test {

// Three nodes: a (zone west, gen 2), b (zone east, gen 10), c (no labels).
class ManifestsObjectsTest : public ::testing::Test {
 protected:
  ManifestsObjectsTest() : shapes_(&models_), cluster_(&models_, &shapes_) {
    AddNode("a", {{"gen", "2"}, {"zone", "west"}});
    AddNode("b", {{"gen", "10"}, {"zone", "east"}});
    AddNode("c", {});
  }

  void AddNode(const char* name, std::vector<std::pair<std::string, std::string>> labels) {
    NodeSpec node;
    node.name = name;
    node.labels = std::move(labels);
    ASSERT_TRUE(cluster_.AddNode(node).ok());
  }

  absl::StatusOr<ObjectRef> Convert(const std::string& yaml, bool validate = true) {
    KubeReadOptions options;
    options.validate = validate;
    const absl::StatusOr<KubeManifest> read = ReadKubeObjects(yaml, "f.yaml", options);
    if (!read.ok()) return read.status();
    EXPECT_EQ(read->objects.size(), 1u);
    return ToControlPlane(read->objects.at(0).object, cluster_, names_);
  }

  template <typename T>
  Ref<T> Made(const std::string& yaml) {
    const absl::StatusOr<ObjectRef> made = Convert(yaml);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return std::make_shared<T>();
    const Ref<T> object = As<T>(*made);
    EXPECT_NE(object, nullptr) << "kind " << made->index();
    return object == nullptr ? std::make_shared<T>() : object;
  }

  Name N(absl::string_view text) { return names_.Intern(text); }

  ObjectMeta Meta(absl::string_view ns, absl::string_view name) {
    ObjectMeta meta;
    meta.ns = N(ns);
    meta.name = N(name);
    return meta;
  }

  // "a b" for a class whose suitableNodes are these terms.
  std::string Suitable(const std::string& terms) {
    const NodeSet nodes =
        Made<ResourceClass>(absl::StrCat("apiVersion: resource.k8s.io/v1alpha2\n",
                                         "kind: ResourceClass\nmetadata: {name: x}\n",
                                         "driverName: d.example.com\nsuitableNodes:\n",
                                         "  nodeSelectorTerms: ", terms, "\n"))
            ->suitable_nodes;
    if (nodes.everywhere()) return "everywhere";
    std::vector<std::string> names;
    for (NodeId node : nodes.nodes()) names.push_back(cluster_.node_spec(node).name);
    return absl::StrJoin(names, " ");
  }

  std::string Fields(const std::string& yaml) {
    std::vector<std::string> lines;
    const Ref<ParametersObject> made = Made<ParametersObject>(yaml);
    for (const auto& [path, text] : made->fields) {
      lines.push_back(absl::StrCat(path, "=", text));
    }
    return absl::StrJoin(lines, "\n");
  }

  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  NamePool names_;
};

TEST_F(ManifestsObjectsTest, AClass) {
  ResourceClass expected;
  expected.meta = Meta("", "gpu.example.com");
  expected.meta.finalizers = {N("a.example.com/x"), N("b.example.com/y")};
  expected.driver = N("gpu.resource.example.com");
  expected.parameters = {N("example.com"), N("Wishes"), N("system"), N("all")};
  EXPECT_TRUE(*Made<ResourceClass>(TestText("AClass")) == expected);
}

TEST_F(ManifestsObjectsTest, ParametersWithoutANamespaceAreFoundByTheirNames) {
  const auto ref = [this](absl::string_view group) {
    return Made<ResourceClass>(
               absl::StrCat("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClass\n"
                            "metadata: {name: x}\ndriverName: d.example.com\n"
                            "parametersRef: {apiGroup: ",
                            group, ", kind: DeviceClassParameters, name: p, namespace: team}\n"))
        ->parameters;
  };
  const auto object = [this](absl::string_view group) {
    return Made<ParametersObject>(absl::StrCat("apiVersion: ", group, "/v1alpha1\n",
                                               "kind: DeviceClassParameters\n",
                                               "metadata: {name: p, namespace: team}\n"))
        ->meta.ns;
  };
  for (const char* group : {"gpu.resource.nvidia.com", "gpu.resource.example.com"}) {
    EXPECT_EQ(ref(group).ns, Name()) << group;
    EXPECT_EQ(object(group), Name()) << group;
  }
  EXPECT_EQ(ref("other.example.com").ns, N("team"));
}

TEST_F(ManifestsObjectsTest, AClaimAsAUserCreatesIt) {
  ResourceClaim expected;
  expected.meta = Meta("team", "c");
  expected.pod_claim_name = N("gpu");
  expected.labels = {{"a", "1"}, {"b", "2"}};
  expected.spec.class_name = N("gpu");
  expected.spec.parameters = {N("g.example.com"), N("K"), Name(), N("p")};
  expected.spec.mode = AllocationMode::kImmediate;
  EXPECT_TRUE(*Made<ResourceClaim>(TestText("AClaimAsAUserCreatesIt")) == expected);
}

TEST_F(ManifestsObjectsTest, ClaimsAndTemplatesWaitForTheirFirstConsumerInTheDefaultNamespace) {
  ResourceClaim claim;
  claim.meta = Meta("default", "c");
  claim.spec.class_name = N("gpu");
  EXPECT_TRUE(*Made<ResourceClaim>("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\n"
                                   "metadata: {name: c}\nspec: {resourceClassName: gpu}\n") ==
              claim);
  ResourceClaimTemplate claim_template;
  claim_template.meta = Meta("default", "t");
  claim_template.spec.class_name = N("gpu");
  claim_template.spec.parameters = {Name(), N("ConfigMap"), Name(), N("p")};
  EXPECT_TRUE(*Made<ResourceClaimTemplate>(
                  TestText("ClaimsAndTemplatesWaitForTheirFirstConsumerInTheDefaultNamespace")) ==
              claim_template);
}

TEST_F(ManifestsObjectsTest, SelectorsOfNodes) {
  const auto term = [](absl::string_view key, absl::string_view op, absl::string_view values = "") {
    return absl::StrCat("{key: ", key, ", operator: ", op,
                        values.empty() ? "" : absl::StrCat(", values: [", values, "]"), "}");
  };
  const auto labels = [this](const std::string& requirement) {
    return Suitable(absl::StrCat("[{matchExpressions: [", requirement, "]}]"));
  };
  EXPECT_EQ(labels(term("zone", "In", "west")), "a");
  EXPECT_EQ(labels(term("zone", "In", "west, east")), "a b");
  EXPECT_EQ(labels(term("zone", "In", "north")), "");
  EXPECT_EQ(labels(term("zone", "NotIn", "west")), "b c");
  EXPECT_EQ(labels(term("zone", "Exists")), "a b");
  EXPECT_EQ(labels(term("zone", "DoesNotExist")), "c");
  // As numbers: as texts "10" would be less than "2".
  EXPECT_EQ(labels(term("gen", "Gt", "'2'")), "b");
  EXPECT_EQ(labels(term("gen", "Gt", "'1'")), "a b");
  EXPECT_EQ(labels(term("gen", "Lt", "'10'")), "a");
  EXPECT_EQ(labels(term("zone", "Gt", "'0'")), "");
  // All of a term, any of the terms.
  EXPECT_EQ(labels(absl::StrCat(term("zone", "Exists"), ", ", term("gen", "Gt", "'2'"))), "b");
  EXPECT_EQ(Suitable(absl::StrCat("[{matchExpressions: [", term("zone", "In", "east"),
                                  "]}, {matchExpressions: [", term("zone", "DoesNotExist"), "]}]")),
            "b c");
  // Names.
  EXPECT_EQ(Suitable("[{matchFields: [{key: metadata.name, operator: In, values: [c]}]}]"), "c");
  EXPECT_EQ(Suitable("[{matchFields: [{key: metadata.name, operator: NotIn, values: [c]}]}]"),
            "a b");
  EXPECT_EQ(Suitable(absl::StrCat("[{matchExpressions: [", term("zone", "Exists"), "], ",
                                  "matchFields: [{key: metadata.name, operator: NotIn, values: "
                                  "[a]}]}]")),
            "b");
  // A term that says nothing chooses nothing.
  EXPECT_EQ(Suitable("[{}]"), "");
  EXPECT_EQ(Suitable(absl::StrCat("[{}, {matchExpressions: [", term("zone", "In", "west"), "]}]")),
            "a");
}

TEST_F(ManifestsObjectsTest, ParametersAreFlattened) {
  ParametersObject expected;
  expected.meta = Meta("team", "p");
  expected.api_group = N("gpu.resource.nvidia.com");
  expected.kind = N("GpuClaimParameters");
  expected.fields = {
      {"spec.count", "2"},
      {"spec.selector.orExpression.0.productName", "A100*"},
      {"spec.selector.orExpression.1.andExpression.0.memory.operator", "GreaterThan"},
      {"spec.selector.orExpression.1.andExpression.0.memory.value", "40Gi"},
      {"spec.selector.orExpression.1.andExpression.1.migEnabled", "false"},
      {"spec.sharing.mpsConfig.defaultActiveThreadPercentage", "50"},
      {"spec.sharing.mpsConfig.defaultPerDevicePinnedMemoryLimit.0", "1Gi"},
      {"spec.sharing.mpsConfig.defaultPerDevicePinnedMemoryLimit.1", "2Gi"},
      {"spec.sharing.strategy", "MPS"}};
  const Ref<ParametersObject> made = Made<ParametersObject>(TestText("ParametersAreFlattened"));
  EXPECT_EQ(made->fields, expected.fields);
  EXPECT_TRUE(*made == expected);
}

TEST_F(ManifestsObjectsTest, EveryKindOfParameters) {
  const auto head = [](absl::string_view version, absl::string_view kind) {
    return absl::StrCat("apiVersion: ", version, "\nkind: ", kind, "\nmetadata: {name: p}\n");
  };
  const std::string nvidia = "gpu.resource.nvidia.com/v1alpha1";
  const std::string configs = "resource.nvidia.com/v1beta1";
  const std::string example = "gpu.resource.example.com/v1alpha1";
  EXPECT_EQ(Fields(head(nvidia, "MigDeviceClaimParameters") +
                   "spec: {profile: 1g.5gb, gpuClaimName: whole}\n"),
            "spec.gpuClaimName=whole\nspec.profile=1g.5gb");
  EXPECT_EQ(Fields(head(nvidia, "ComputeInstanceClaimParameters") +
                   "spec: {profile: 1c.2g.10gb, migDeviceClaimName: part}\n"),
            "spec.migDeviceClaimName=part\nspec.profile=1c.2g.10gb");
  EXPECT_EQ(Fields(head(nvidia, "DeviceClassParameters") + "spec: {sharable: true}\n"),
            "spec.sharable=true");
  EXPECT_EQ(Fields(head(configs, "GpuConfig") +
                   "sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}\n"),
            "sharing.strategy=TimeSlicing\nsharing.timeSlicingConfig.interval=Long");
  EXPECT_EQ(Fields(head(configs, "MigDeviceConfig") + "sharing: {strategy: MPS}\n"),
            "sharing.strategy=MPS");
  EXPECT_EQ(Fields(head(example, "GpuClaimParameters") + "spec: {count: 3}\n"), "spec.count=3");
  EXPECT_EQ(Fields(head(example, "DeviceClassParameters") +
                   "spec: {deviceSelector: [{type: gpu, name: '*'}]}\n"),
            "spec.deviceSelector.0.name=*\nspec.deviceSelector.0.type=gpu");
  EXPECT_EQ(Fields(head("v1", "ConfigMap")), "");
}

TEST_F(ManifestsObjectsTest, AConfigMapIsItsData) {
  ParametersObject expected;
  expected.meta = Meta("default", "p");
  expected.kind = N("ConfigMap");
  expected.fields = {{"a.b", "x"}, {"count", "2"}};
  EXPECT_TRUE(*Made<ParametersObject>("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\n"
                                      "data: {count: '2', a.b: x}\n") == expected);
}

TEST_F(ManifestsObjectsTest, WhatIsNoObjectOfTheControlPlane) {
  const auto error = [this](const std::string& yaml) {
    const absl::StatusOr<ObjectRef> made = Convert(yaml, /*validate=*/false);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(made.status().message());
  };
  EXPECT_EQ(error("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                  "spec: {containers: [{name: c}]}\n"),
            "kind: found Pod, expected ResourceClass, ResourceClaim, ResourceClaimTemplate or an "
            "object with parameters");
  EXPECT_EQ(error("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\n"
                  "metadata: {name: c}\nspec: {}\n"),
            "spec.resourceClassName: not given, expected the name of a ResourceClass");
  EXPECT_EQ(error("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\n"
                  "metadata: {generateName: c}\nspec: {resourceClassName: x}\n"),
            "metadata.name: not given, expected a name");
  EXPECT_EQ(ToControlPlane(proto::kube::Object(), cluster_, names_).status().message(),
            "kind: not given");
}

}  // namespace manifests_objects_test
}  // namespace drasim
