// ReadKubeObjects. validate_test.cc tests the findings of ValidateKubeObject.
#include "model/kube/reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/pod_claims.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace kube_reader_test {

using kube_manifests::ErrorsOf;
using kube_manifests::ObjectOf;
using kube_manifests::ReadManifest;
using kube_manifests::TextOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A pod with one line more at the end of its first container.
std::string PodWith(absl::string_view line) {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n",
                      "  - name: a\n    ", line, "\n");
}

std::string Kinds(const KubeManifest& manifest) {
  std::string kinds;
  for (const KubeObject& object : manifest.objects) {
    const auto& reflection = *object.object.GetReflection();
    const auto* member = reflection.GetOneofFieldDescriptor(
        object.object, proto::kube::Object::descriptor()->FindOneofByName("object"));
    absl::StrAppend(&kinds, object.line, ":", member->name(), " ");
  }
  return kinds;
}

// --- Fields ---

TEST(ReadKubeObjectsTest, ReadsANode) {
  const KubeManifest read = ReadManifest(kube_manifests::NodeManifest());
  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_EQ(TextOf(read), ObjectOf(TestLines("ReadsANode")).DebugString());
}

TEST(ReadKubeObjectsTest, ReadsAClaimAndItsClass) {
  const KubeManifest read = ReadManifest(kube_manifests::ClaimsManifest());
  ASSERT_EQ(read.objects.size(), 6u);
  EXPECT_EQ(read.objects[0].object.DebugString(),
            ObjectOf(TestLines("ReadsAClaimAndItsClass")).DebugString());
  EXPECT_EQ(read.objects[1].object.DebugString(),
            ObjectOf(TestLines("ReadsAClaimAndItsClass.2")).DebugString());
  EXPECT_EQ(read.objects[5].object.DebugString(),
            ObjectOf(TestLines("ReadsAClaimAndItsClass.3")).DebugString());
}

// Every field of every message of the schema is set by some object of the manifest, so that none
// has a name that Kubernetes does not know it by.
void EraseSet(const google::protobuf::Message& message, std::vector<std::string>* unset) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const auto* field : fields) {
    unset->erase(std::remove(unset->begin(), unset->end(), field->full_name()), unset->end());
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      EraseSet(message.GetReflection()->GetMessage(message, field), unset);
    }
    for (int i = 0; field->is_repeated() && i < message.GetReflection()->FieldSize(message, field);
         ++i) {
      EraseSet(message.GetReflection()->GetRepeatedMessage(message, field, i), unset);
    }
  }
}

TEST(ReadKubeObjectsTest, ReadsEveryFieldOfTheSchema) {
  const KubeManifest read = ReadManifest(kube_manifests::EveryKind());
  EXPECT_THAT(read.warnings, IsEmpty());
  std::vector<std::string> unset;
  for (const google::protobuf::FileDescriptor* file :
       {proto::kube::Object::descriptor()->file(), proto::kube::ResourceSlice::descriptor()->file(),
        proto::kube::ObjectMeta::descriptor()->file()}) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      const google::protobuf::Descriptor& type = *file->message_type(i);
      for (int j = 0; type.name() != "Api" && j < type.field_count(); ++j) {
        const auto& options = type.field(j)->options();
        // Fields of older versions alone are moved: resource_lift_test.cc.
        if (options.GetExtension(proto::kube::derived)) continue;
        if (!options.GetExtension(proto::kube::only_in).empty()) continue;
        unset.push_back(type.field(j)->full_name());
      }
    }
  }
  EXPECT_GT(unset.size(), 200u);
  for (const KubeObject& object : read.objects) EraseSet(object.object, &unset);
  EXPECT_THAT(unset, IsEmpty());
}

TEST(ReadKubeObjectsTest, SaysInWhichLineObjectsBegin) {
  EXPECT_EQ(
      Kinds(ReadManifest("# a comment\n---\n" + std::string(kube_manifests::OwnersManifest()))),
      "3:deployment 16:replica_set 24:stateful_set 34:daemon_set 41:job ");
}

TEST(ReadKubeObjectsTest, KindsOfTwoGroupsAreToldApart) {
  const char* const kObject =
      "---\n{kind: GpuClaimParameters, metadata: {name: a}, apiVersion: gpu.resource.";
  EXPECT_EQ(Kinds(ReadManifest(absl::StrCat(kObject, "nvidia.com/v1alpha1}\n", kObject,
                                            "example.com/v1alpha1}\n"))),
            "2:gpu_claim_parameters 4:example_gpu_claim_parameters ");
}

TEST(ReadKubeObjectsTest, BothFormsOfClaimSources) {
  const KubeManifest read = ReadManifest(kube_manifests::PodManifest());
  ASSERT_EQ(read.objects.size(), 1u);
  const auto& entries = read.objects[0].object.pod().spec().resource_claims();
  std::string sources;
  for (const auto& entry : entries) {
    absl::StrAppend(&sources, entry.name(), "=", KubeClaimName(entry), "/",
                    KubeClaimTemplateName(entry), " ");
  }
  EXPECT_EQ(sources, "gpu=/one-gpu net=shared-net/ disk=scratch/ spare=/one-gpu ");
}

TEST(ReadKubeObjectsTest, NullSetsNothing) {
  const KubeManifest read = ReadManifest(
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  labels:\n  creationTimestamp: "
      "null\n"
      "  finalizers: ~\ndata: null\n");
  EXPECT_EQ(TextOf(read), ObjectOf(R"(config_map {
    api_version: "v1" kind: "ConfigMap" metadata { name: "c" } })")
                              .DebugString());
}

TEST(ReadKubeObjectsTest, EmptyMappingsAreThere) {
  const KubeManifest read = ReadManifest(
      "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {}}, spec: {}, status: {}}");
  EXPECT_EQ(TextOf(read), ObjectOf(R"(node {
    api_version: "v1" kind: "Node" metadata { name: "a" } spec {} status {} })")
                              .DebugString());
}

// --- Documents and lists ---

TEST(ReadKubeObjectsTest, TextsWithoutObjects) {
  for (const char* text : {"", "\n\n", "# nothing\n", "---\n---\n", "---\n# one\n---\n...\n",
                           "null", "\xEF\xBB\xBF", "--- # x\n"}) {
    EXPECT_EQ(ErrorsOf(text), "no error\n") << text;
    EXPECT_THAT(ReadManifest(text).objects, IsEmpty()) << text;
  }
}

TEST(ReadKubeObjectsTest, DocumentsEndWhereALineBeginsWithDashes) {
  const KubeManifest read = ReadManifest(
      "\xEF\xBB\xBF--- # first\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: a}\r\n"
      "data:\r\n  x: |\r\n    ---\r\n    ----\r\n---\r\n\r\n"
      "apiVersion: v1\r\nkind: Node\r\nmetadata: {name: b}\r\n...\r\n---\t\r\n"
      "--- {apiVersion: v1, kind: Node, metadata: {name: c}}\r\n");
  ASSERT_EQ(Kinds(read), "2:config_map 11:node 16:node ");
  EXPECT_EQ(read.objects[0].object.config_map().data().at("x"), "---\n----\n");
}

TEST(ReadKubeObjectsTest, ListsOfAnyAndOfOneKind) {
  const KubeManifest read = ReadManifest(TestText("ListsOfAnyAndOfOneKind"));
  ASSERT_EQ(Kinds(read), "5:node 9:config_map 15:node 16:node 18:pod_scheduling_context ");
  EXPECT_EQ(read.objects[2].object.DebugString(), ObjectOf(R"(node {
    api_version: "v1" kind: "Node" metadata { name: "c" } })")
                                                      .DebugString());
  EXPECT_EQ(read.objects[4].object.pod_scheduling_context().kind(), "PodScheduling");
  EXPECT_THAT(read.warnings, IsEmpty());
}

TEST(ReadKubeObjectsTest, AliasesAndMergeKeys) {
  const KubeManifest read = ReadManifest(TestText("AliasesAndMergeKeys"));
  EXPECT_EQ(TextOf(read), ObjectOf(TestLines("AliasesAndMergeKeys.2")).DebugString());
  EXPECT_EQ(ErrorsOf("{apiVersion: v1, kind: Node, metadata: {name: &n 1, <<: x}}"),
            "f.yaml:1:57: metadata: found the text 'x', expected keys and values\n"
            "f.yaml:1:47: metadata.name: found the number 1, expected a text: \"1\" in quotes");
}

// --- JSON ---

TEST(ReadKubeObjectsTest, ReadsJson) {
  const KubeManifest read = ReadManifest(TestText("ReadsJson"));
  ASSERT_EQ(Kinds(read), "5:node 7:node ");
  EXPECT_EQ(read.objects[0].object.DebugString(), ObjectOf(TestLines("ReadsJson.2")).DebugString());
}

TEST(ReadKubeObjectsTest, JsonMayHaveMoreValuesThanYaml) {
  std::string text =
      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"managedFields\":[0";
  for (int i = 0; i < 1000100; ++i) text += ",0";
  EXPECT_EQ(ErrorsOf(text + "]}}"), "no error\n");
}

TEST(ReadKubeObjectsTest, JsonThatIsNotValid) {
  for (const auto& [text, error] : TestRows<2>("JsonThatIsNotValid"))
    EXPECT_EQ(ErrorsOf(text), error) << text;
  EXPECT_EQ(ErrorsOf(absl::StrCat("{\"a\":", std::string(64, '['))),
            "f.yaml:1:69: not valid JSON: found values nested more than 64 deep, expected fewer "
            "levels");
}

TEST(ReadKubeObjectsTest, WhatOnlyLooksLikeJsonIsYaml) {
  EXPECT_EQ(Kinds(ReadManifest("{apiVersion: v1, kind: Node, 'metadata': {name: a,}}")), "1:node ");
  EXPECT_EQ(Kinds(ReadManifest("{\"apiVersion\": \"v1\", \"kind\": \"Node\", # why\n"
                               "\"metadata\": {\"name\": \"a\"}}\n---\n"
                               "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": "
                               "{\"name\": \"b\"}}\n")),
            "1:node 4:node ");
}

// --- Words ---

TEST(ReadKubeObjectsTest, NumbersAndBooleansAreNoTexts) {
  const std::vector<std::pair<const char*, const char*>> values = {
      {"42", "found the number 42, expected a text: \"42\" in quotes"},
      {"0x2a", "found the number 0x2a, expected a text: \"0x2a\" in quotes"},
      {"1.10", "found the number 1.10, expected a text: \"1.10\" in quotes"},
      {"yes", "found the boolean yes, expected a text: \"yes\" in quotes"},
      {"[a]", "found a list, expected a text"},
      {"{a: b}", "found keys and values, expected a text"},
  };
  for (const auto& [value, error] : values) {
    EXPECT_EQ(ErrorsOf(PodWith(absl::StrCat("image: ", value))),
              absl::StrCat("f.yaml:7:12: spec.containers[0].image: ", error));
  }
  for (const char* value : {"'42'", "\"yes\"", "|-\n      true", ">-\n      1", "2024-01-31",
                            "12:30", "1.2.3", "! 42"}) {
    EXPECT_EQ(ErrorsOf(PodWith(absl::StrCat("image: ", value))), "no error\n") << value;
  }
  EXPECT_EQ(ErrorsOf("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":1}}"),
            "f.yaml:1:53: metadata.name: found the number 1, expected a text: \"1\" in quotes");
}

TEST(ReadKubeObjectsTest, ValuesOfMapsAndItemsOfLists) {
  EXPECT_EQ(ErrorsOf("apiVersion: v1\nkind: Node\nmetadata:\n  name: x\n  labels:\n    a/b: 1\n"
                     "    c:\n  finalizers: [x, true, null]\nspec: {taints: [null]}\n"),
            TestLines("ValuesOfMapsAndItemsOfLists"));
}

TEST(ReadKubeObjectsTest, KeysAreTexts) {
  const KubeManifest read = ReadManifest(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {010: a, y: b, 'n': c, "
      "2024-01-31: d, \"1.5\": e}\n");
  EXPECT_EQ(TextOf(read), ObjectOf(TestLines("KeysAreTexts")).DebugString());
  EXPECT_EQ(
      ErrorsOf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {1.5: a, [b]: c, ~: d, "
               "8: d, 010: e}\n"),
      "f.yaml:4:8: data: found the number 1.5 as a key, expected a text: \"1.5\"\n"
      "f.yaml:4:16: data: found a list, expected a key\n"
      "f.yaml:4:24: data: found null, expected a key\n"
      "f.yaml:4:36: data.8: duplicate key, first given in line 4");
}

TEST(ReadKubeObjectsTest, Quantities) {
  const std::vector<std::pair<const char*, const char*>> values = {
      {"1", "1"},        {"'1'", "1"},      {"010", "8"},       {"0.50", "0.5"},
      {"1e3", "1000"},   {"500m", "500m"},  {"1.5Gi", "1.5Gi"}, {"' 2 '", "2"},
      {"1_000", "1000"}, {"1e-3", "0.001"}, {"\"1e3\"", "1e3"},
  };
  for (const auto& [value, text] : values) {
    const KubeManifest read =
        ReadManifest(PodWith(absl::StrCat("resources: {limits: {cpu: ", value, "}}")));
    ASSERT_EQ(read.objects.size(), 1u) << value;
    const auto& resources = read.objects[0].object.pod().spec().containers(0).resources();
    EXPECT_EQ(resources.limits().at("cpu"), text) << value;
  }
  for (const char* value : {"true", "1 Gi", "'1 Gi'", "''", "1GB", "[1]", ".inf", "2024-01-31"}) {
    EXPECT_THAT(ErrorsOf(PodWith(absl::StrCat("resources: {limits: {cpu: ", value, "}}"))),
                HasSubstr("spec.containers[0].resources.limits[cpu]: found "))
        << value;
  }
  EXPECT_EQ(ErrorsOf(PodWith("resources: {limits: {cpu: 1GB}}")),
            "f.yaml:7:31: spec.containers[0].resources.limits[cpu]: found the text '1GB', expected "
            "a quantity such as 2, 500m or 1.5Gi");
}

TEST(ReadKubeObjectsTest, WholeNumbersAndBooleansAndTimes) {
  const auto job = [](absl::string_view line) {
    return absl::StrCat("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  ", line,
                        "\n  template: {spec: {restartPolicy: Never, containers: [{name: a}]}}\n");
  };
  for (const char* good : {"parallelism: 3", "parallelism: 3.0", "parallelism: 3e0",
                           "parallelism: 0x3", "suspend: yes", "suspend: Off", "suspend: ~"}) {
    EXPECT_EQ(ErrorsOf(job(good)), "no error\n") << good;
  }
  for (const auto& [line, error] : TestRows<2>("WholeNumbersAndBooleansAndTimes")) {
    EXPECT_EQ(ErrorsOf(job(line)), absl::StrCat("f.yaml:", error)) << line;
  }
  EXPECT_EQ(ErrorsOf("{apiVersion: v1, kind: Node, metadata: {name: x, creationTimestamp: "
                     "2024-01-31}}"),
            "f.yaml:1:69: metadata.creationTimestamp: found the text '2024-01-31', expected a time "
            "such as 2024-01-31T12:00:00Z");
}

// --- Messages ---

TEST(ReadKubeObjectsTest, ErrorsSayWhereAndWhat) {
  const std::vector<std::pair<std::string, const char*>> texts = {
      {"- a", "f.yaml:1:1: found a list, expected an object"},
      {"x", "f.yaml:1:1: found the text 'x', expected an object"},
      {"a: b",
       "f.yaml:1:1: kind: not given, expected a text such as Pod\n"
       "f.yaml:1:1: apiVersion: not given, expected a text such as v1 or apps/v1"},
      {"kind: Pod\napiVersion: 1",
       "f.yaml:2:13: apiVersion: found the number 1, expected a text "
       "such as v1 or apps/v1"},
      {"kind: {}\napiVersion: v1",
       "f.yaml:1:7: kind: found keys and values, expected a text such "
       "as Pod"},
      {"{kind: List, apiVersion: v1, items: {}}",
       "f.yaml:1:37: items: found keys and values, "
       "expected a list of objects"},
      {"{kind: List, apiVersion: v1, items: [1, {kind: Node}]}",
       "f.yaml:1:38: found the number 1, expected an object\n"
       "f.yaml:1:41: apiVersion: not given, expected a text such as v1 or apps/v1"},
      {PodWith("name: b"),
       "f.yaml:7:5: spec.containers[0].name: duplicate key, first given in "
       "line 6"},
      {PodWith("command: [{x: 1, x: 2}]"),
       "f.yaml:7:22: spec.containers[0].command[0].x: "
       "duplicate key, first given in line 7"},
      {PodWith("ports: {}"),
       "f.yaml:7:12: spec.containers[0].ports: found keys and values, "
       "expected a list"},
      {PodWith("resources: x"),
       "f.yaml:7:16: spec.containers[0].resources: found the text 'x', "
       "expected keys and values"},
      {"a: b\n---\n# c\na: [", "f.yaml:4:5: not valid YAML: expected ',' or ']'"},
      {"a: !!str b",
       "f.yaml:1:4: found the tag 'tag:yaml.org,2002:str', expected a value without a "
       "tag"},
      {"a: \xFF", "f.yaml:1:4: found the byte 0xff, expected UTF-8 text"},
  };
  for (const auto& [text, error] : texts) EXPECT_EQ(ErrorsOf(text), error) << text;
}

TEST(ReadKubeObjectsTest, VersionsThatAreNotRead) {
  const auto object = [](absl::string_view version, absl::string_view kind) {
    return absl::StrCat("kind: ", kind, "\napiVersion: ", version, "\nmetadata: {name: a}\n");
  };
  const std::string claim = object("resource.k8s.io/v2", "ResourceClaim");
  EXPECT_EQ(ErrorsOf(claim),
            "f.yaml:2:13: apiVersion: found 'resource.k8s.io/v2', expected for the kind "
            "ResourceClaim resource.k8s.io/v1alpha2 or resource.k8s.io/v1alpha1 or "
            "resource.k8s.io/v1 or resource.k8s.io/v1beta2 or resource.k8s.io/v1beta1 or "
            "resource.k8s.io/v1alpha3");
  for (const auto& [first, second, expected] : TestRows<3>("VersionsThatAreNotRead")) {
    EXPECT_EQ(ErrorsOf(object(first, second)), expected) << first;
  }
  EXPECT_EQ(ErrorsOf("apiVersion: v2\nkind: NodeList\nitems: [{metadata: {name: a}}]\n"),
            "f.yaml:3:9: apiVersion: found 'v2', expected for the kind Node v1");
  EXPECT_EQ(ErrorsOf(object("resource.k8s.io/v1alpha3", "PodSchedulingContext")), "no error\n");
  // A kind of the same name in another group.
  EXPECT_EQ(ErrorsOf(object("batch.volcano.sh/v1alpha1", "Job")),
            "no error\nf.yaml:1:7: kind: objects of the kind Job of batch.volcano.sh/v1alpha1 are "
            "not read: left out (read of batch/v1)");
}

TEST(ReadKubeObjectsTest, TextOfAClusterIsNeverRefused) {
  KubeReadOptions options;
  options.of_cluster = true;
  const KubeManifest read = ReadManifest(TestText("TextOfAClusterIsNeverRefused"), options);
  EXPECT_EQ(Kinds(read), "5:resource_claim 8:node 9:node ");
  ASSERT_EQ(read.skipped.size(), 2u);
  EXPECT_EQ(read.skipped[0].api_version, "resource.k8s.io/v2");
  EXPECT_EQ(read.skipped[0].kind, "ResourceClaim");
  EXPECT_EQ(read.skipped[0].ns, "ml");
  EXPECT_EQ(read.skipped[0].name, "c");
  EXPECT_EQ(read.skipped[0].line, 4u);
  EXPECT_EQ(read.skipped[1].kind, "ResourcePool");
  EXPECT_EQ(read.skipped[1].name, "s");
  EXPECT_THAT(read.warnings,
              ElementsAre("f.yaml:8:64: metadata.labels[a]: found the number 1, expected a text: "
                          "\"1\" in quotes; left out (and 1 more like it)"));
}

TEST(ReadKubeObjectsTest, WarnsOfWhatItDoesNotKnow) {
  const KubeManifest read = ReadManifest(TestText("WarnsOfWhatItDoesNotKnow"));
  EXPECT_THAT(
      read.warnings,
      ElementsAre("f.yaml:4:26: kind: objects of the kind Secret of v1 are not read: left out (and "
                  "1 more like it)",
                  "f.yaml:7:23: metadata.lables: unknown field (did you mean 'labels'?)",
                  "f.yaml:9:28: spec.containers[0].imagePullPolcy: unknown field (did you mean "
                  "'imagePullPolicy'?) (and 1 more like it)",
                  "f.yaml:9:77: spec.containers[1].zzz: unknown field (and 1 more like it)",
                  "f.yaml:10:5: spec.schedulername: unknown field (did you mean 'schedulerName'?)",
                  "f.yaml:11:3: extra: unknown field",
                  "f.yaml:13:26: kind: objects of the kind SecretList of v1 are not read: left "
                  "out"));
  EXPECT_EQ(Kinds(read), "5:pod 14:pod ");
}

TEST(ReadKubeObjectsTest, ColumnsCountCharacters) {
  EXPECT_EQ(ErrorsOf("{\"\xC3\xA9\xF0\x9F\x98\x80\": 1, \"kind\": 2, \"\xC3\xA9\": 3,\n"
                     "\"\xC3\xA9\": 1, \"apiVersion\": 2}"),
            "f.yaml:2:1: \xC3\xA9: duplicate key, first given in line 1\n"
            "f.yaml:1:19: kind: found the number 2, expected a text such as Pod\n"
            "f.yaml:2:23: apiVersion: found the number 2, expected a text such as v1 or apps/v1");
}

TEST(ReadKubeObjectsTest, ReportsAtMostTwentyErrors) {
  std::string text = "apiVersion: v1\nkind: List\nitems:\n";
  for (int i = 0; i < 23; ++i) text += "- {apiVersion: v1, kind: Node, metadata: {name: 1}}\n";
  const std::string errors = ErrorsOf(text);
  EXPECT_THAT(errors, HasSubstr("\nf.yaml:23:49: metadata.name: found the number 1"));
  EXPECT_THAT(errors, HasSubstr("in quotes\nand 3 more errors"));
  EXPECT_THAT(errors, ::testing::Not(HasSubstr("f.yaml:24:")));
}

}  // namespace kube_reader_test
}  // namespace drasim
