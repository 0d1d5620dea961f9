// ReadManifests: what makes pods, names, and objects that are no pods.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/run/manifests.h"
#include "tests/sim/run/manifest_texts.h"

namespace drasim {
namespace manifests_owners_test {

using manifest_texts::Job;
using manifest_texts::Owner;
using manifest_texts::Pod;
using manifest_texts::ReadTexts;
using ::testing::IsEmpty;

// --- Owners ---

TEST(ManifestsOwnersTest, OwnersAreTheirPods) {
  const ReadTexts read(
      {Owner("apps/v1", "Deployment", "d", "  replicas: 3\n"),
       Owner("apps/v1", "ReplicaSet", "r", ""),
       Owner("apps/v1", "StatefulSet", "s", "  replicas: 2\n  podManagementPolicy: Parallel\n"),
       Owner("batch/v1", "Job", "j", "  completions: 4\n  parallelism: 4\n"),
       Owner("batch/v1", "Job", "k", ""), Owner("batch/v1", "Job", "l", "  parallelism: 2\n")});
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Warnings(), "");
  EXPECT_EQ(read.Jobs(),
            absl::StrJoin(
                {Job(R"(name: "d" replicas: 3)"), Job(R"(name: "r" replicas: 1)"),
                 Job(R"(name: "s" replicas: 2)"), Job(R"(name: "j" replicas: 4 run_time: "1m")"),
                 Job(R"(name: "k" replicas: 1 run_time: "1m")"),
                 Job(R"(name: "l" replicas: 2 run_time: "1m")")},
                "\n"));
}

TEST(ManifestsOwnersTest, TemplatesSayWhatPodsSay) {
  const ReadTexts read(R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: j
  namespace: team
  annotations: {drasim.dev/arrival: 1h}
spec:
  template:
    metadata: {annotations: {drasim.dev/run-time: 30s}}
    spec:
      restartPolicy: Never
      containers: [{name: c, resources: {requests: {cpu: 2}, claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, source: {resourceClaimTemplateName: t}}]
      schedulingGates: [{name: g}]
)");
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), Job(R"(
    name: "team/j" cpu: "2" run_time: "30s" replicas: 1 claims { name: "gpu" template: "t" }
    pending: "schedulingGates")"));
  EXPECT_EQ(
      read.Warnings(),
      "f0.yaml:7:37: metadata.annotations[drasim.dev/arrival]: has no effect here, expected "
      "in spec.template.metadata\n"
      "f0.yaml:15:24: spec.template.spec.schedulingGates: pod is kept pending: its scheduling "
      "gates stay closed (1 pod)");
}

TEST(ManifestsOwnersTest, OwnersWithoutPods) {
  const ReadTexts read({Owner("apps/v1", "Deployment", "a", "  replicas: 0\n"),
                        Owner("apps/v1", "Deployment", "b", "  paused: true\n"),
                        Owner("batch/v1", "Job", "c", "  suspend: true\n"),
                        Owner("batch/v1", "Job", "d", "  parallelism: 0\n"),
                        Owner("batch/v1", "Job", "e", "  completions: 0\n")});
  EXPECT_EQ(read.Jobs(), "");
  EXPECT_EQ(read.Warnings(),
            "f0.yaml:5:13: spec.replicas: makes no pods: left out\n"
            "f1.yaml:5:11: spec.paused: makes no pods: left out\n"
            "f2.yaml:5:12: spec.suspend: makes no pods: left out\n"
            "f3.yaml:5:16: spec.parallelism: makes no pods: left out\n"
            "f4.yaml:5:16: spec.completions: makes no pods: left out");
}

TEST(ManifestsOwnersTest, OneAfterTheOtherIsNotSimulated) {
  const std::string what =
      ": pods one after the other are not simulated: all are there from the beginning";
  const ReadTexts job(Owner("batch/v1", "Job", "j", "  completions: 2\n"));
  EXPECT_EQ(job.Warnings(), "f0.yaml:5:3: spec.parallelism" + what);
  const ReadTexts set(Owner("apps/v1", "StatefulSet", "s", "  replicas: 2\n"));
  EXPECT_EQ(set.Warnings(), "f0.yaml:5:3: spec.podManagementPolicy" + what);
  const ReadTexts deadline(Owner("batch/v1", "Job", "j", "  activeDeadlineSeconds: 9\n"));
  EXPECT_EQ(deadline.Warnings(), "f0.yaml:5:26: spec.activeDeadlineSeconds: not simulated");
}

TEST(ManifestsOwnersTest, DaemonSetsAreLeftOut) {
  const ReadTexts read(
      {Owner("apps/v1", "DaemonSet", "d", ""), Pod("p"), Owner("apps/v1", "DaemonSet", "e", "")});
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), Job(R"(name: "p")"));
  EXPECT_EQ(read.Warnings(),
            "f0.yaml:2:7: kind: the pods of a DaemonSet, one on each node, are not simulated: left "
            "out, and what they hold is free on every node (and 1 more like it)");
}

TEST(ManifestsOwnersTest, PodsKeptPendingAreCounted) {
  const std::string claims =
      "  replicas: 3\n  podManagementPolicy: Parallel\n  serviceName: s\n"
      "  volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]\n";
  const ReadTexts read(
      {Owner("apps/v1", "StatefulSet", "s", claims),
       Pod("p", "  volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]\n")});
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.manifests.jobs.size(), 2u);
  EXPECT_EQ(read.manifests.jobs[0].pending(), "volumes");
  EXPECT_EQ(read.Warnings(),
            "f0.yaml:8:25: spec.volumeClaimTemplates: pod is kept pending: its volumes are not "
            "simulated (4 pods)");
}

TEST(ManifestsOwnersTest, TooManyPods) {
  const ReadTexts read({Pod("p"), Owner("apps/v1", "Deployment", "d", "  replicas: 1000000\n")});
  EXPECT_EQ(read.error,
            "f1.yaml:5:13: spec.replicas: found 1000001 pods with those of the objects before, "
            "expected at most 1000000");
}

// A dump of a cluster has what owners have made, too.
TEST(ManifestsOwnersTest, WhatAnObjectThatIsThereHasMadeIsLeftOut) {
  const auto owned = [](absl::string_view kind, absl::string_view name) {
    return absl::StrCat("ownerReferences: [{apiVersion: apps/v1, kind: ", kind, ", name: ", name,
                        ", uid: u, controller: true}]");
  };
  const auto pod = [](absl::string_view meta, absl::string_view more) {
    return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {", meta,
                        "}\nspec: {containers: [{name: c}]}\n", more);
  };
  std::string set = Owner("apps/v1", "ReplicaSet", "d-1", "");
  set = absl::StrReplaceAll(
      set, {{"{name: d-1}", absl::StrCat("{name: d-1, ", owned("Deployment", "d"), "}")}});
  const ReadTexts read(
      {pod("name: d-1-x, " + owned("ReplicaSet", "d-1"), ""), set,
       Owner("apps/v1", "Deployment", "d", ""),
       pod("name: orphan, " + owned("ReplicaSet", "gone"), ""),
       // Of another namespace.
       pod("name: far, namespace: far, " + owned("ReplicaSet", "d-1"), ""),
       pod("name: old", "status: {phase: Succeeded}\n"),
       pod("name: going, deletionTimestamp: 2024-01-31T12:00:00Z", ""),
       "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata: {name: orphan-gpu, "
       "ownerReferences: [{apiVersion: v1, kind: Pod, name: orphan, uid: u, controller: true}]}\n"
       "spec: {resourceClassName: c}\n"});
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), absl::StrJoin({Job(R"(name: "d" replicas: 1)"), Job(R"(name: "orphan")"),
                                        Job(R"(name: "far/far")")},
                                       "\n"));
  EXPECT_THAT(read.manifests.objects, IsEmpty());
  EXPECT_EQ(read.Warnings(),
            "f0.yaml:3:11: metadata: made by ReplicaSet d-1, which is there: left out\n"
            "f1.yaml:3:11: metadata: made by Deployment d, which is there: left out\n"
            "f5.yaml:3:11: metadata: has ended: left out\n"
            "f6.yaml:3:11: metadata: is being deleted: left out\n"
            "f7.yaml:3:11: metadata: made by Pod orphan, which is there: left out");
}

// --- Names ---

TEST(ManifestsOwnersTest, GeneratedNamesAreCounted) {
  const auto pod = [](absl::string_view meta) {
    return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {", meta,
                        "}\nspec: {containers: [{name: c}]}\n");
  };
  const ReadTexts read({pod("generateName: a-"), pod("generateName: a-, namespace: far"),
                        pod("generateName: a-"), pod("generateName: b-"),
                        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\n"
                        "metadata: {generateName: a-}\nspec: {resourceClassName: c}\n"});
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), "name: \"a-0\"\nname: \"far/a-0\"\nname: \"a-1\"\nname: \"b-0\"");
  EXPECT_EQ(read.manifests.objects.at(0).resource_claim().metadata().name(), "a-0");
}

TEST(ManifestsOwnersTest, TwoObjectsOfOneName) {
  const ReadTexts pods({Pod("p"), Pod("q"), Pod("p")});
  EXPECT_EQ(pods.error,
            "f2.yaml:3:18: metadata.name: found a second Pod default/p, the first is in "
            "f0.yaml:3:18");
  const auto claim = [](absl::string_view version, absl::string_view meta) {
    return absl::StrCat("apiVersion: resource.k8s.io/", version,
                        "\nkind: ResourceClaim\nmetadata: {", meta,
                        "}\nspec: {resourceClassName: c}\n");
  };
  // The version makes no other object of it, and no namespace is the default one.
  const ReadTexts claims({absl::StrCat(claim("v1alpha2", "name: x"), "---\n",
                                       claim("v1alpha1", "name: x, namespace: default"))});
  EXPECT_EQ(claims.error,
            "f0.yaml:8:18: metadata.name: found a second ResourceClaim default/x, the first is in "
            "f0.yaml:3:18");
  EXPECT_EQ(
      ReadTexts({claim("v1alpha2", "name: x"), claim("v1alpha2", "name: x, namespace: far")}).error,
      "");
  const auto of_class = [](absl::string_view meta) {
    return absl::StrCat("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClass\nmetadata: {",
                        meta, "}\ndriverName: d.example.com\n");
  };
  EXPECT_EQ(ReadTexts({of_class("name: x"), of_class("name: x, namespace: far")}).error,
            "f1.yaml:3:18: metadata.name: found a second ResourceClass x, the first is in "
            "f0.yaml:3:18");
}

TEST(ManifestsOwnersTest, PodsOfOneName) {
  const ReadTexts read({Pod("d-1"), Owner("apps/v1", "Deployment", "d", "  replicas: 2\n")});
  EXPECT_EQ(read.error,
            "f1.yaml:3:18: metadata.name: found a pod called 'd-1', as the Pod in f0.yaml:3:18 has "
            "one, expected names of their own");
}

TEST(ManifestsOwnersTest, ParametersAreKnownByTheirNamesAlone) {
  const ReadTexts read({"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
                        "apiVersion: gpu.resource.nvidia.com/v1alpha1\nkind: GpuClaimParameters\n"
                        "metadata: {name: x}\nspec: {count: 1}\n"});
  EXPECT_EQ(
      read.error,
      "f1.yaml:3:18: metadata.name: found a GpuClaimParameters with the name of the ConfigMap "
      "in f0.yaml:3:18, expected objects with parameters to have names of their own");
}

// --- Objects ---

TEST(ManifestsOwnersTest, ObjectsComeAsTheyAreInTheOrderOfTheFiles) {
  const ReadTexts read({R"(
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: gpu}
driverName: nobody.serves.example.com
parametersRef: {apiGroup: g, kind: K, name: missing}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: gpu.resource.nvidia.com/v1alpha1
kind: GpuClaimParameters
metadata: {name: two}
spec: {count: 2}
)",
                        R"(
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaimTemplate
metadata: {name: t}
spec:
  spec:
    resourceClassName: missing
    parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: missing}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: c}
spec: {resourceClassName: gpu}
)"});
  // Nobody serves the class, and some references lead nowhere: Kubernetes takes that, too.
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Warnings(), "");
  std::string objects;
  for (const proto::kube::Object& object : read.manifests.objects) {
    absl::StrAppend(&objects, object.ShortDebugString(), "\n");
  }
  EXPECT_EQ(objects,
            "resource_class { api_version: \"resource.k8s.io/v1alpha2\" kind: \"ResourceClass\" "
            "metadata { name: \"gpu\" } driver_name: \"nobody.serves.example.com\" parameters_ref "
            "{ api_group: \"g\" kind: \"K\" name: \"missing\" } }\n"
            "gpu_claim_parameters { api_version: \"gpu.resource.nvidia.com/v1alpha1\" kind: "
            "\"GpuClaimParameters\" metadata { name: \"two\" } spec { count: 2 } }\n"
            "resource_claim_template { api_version: \"resource.k8s.io/v1alpha2\" kind: "
            "\"ResourceClaimTemplate\" metadata { name: \"t\" } spec { spec { "
            "resource_class_name: \"missing\" parameters_ref { api_group: "
            "\"gpu.resource.nvidia.com\" kind: \"GpuClaimParameters\" name: \"missing\" } } } }\n"
            "resource_claim { api_version: \"resource.k8s.io/v1alpha2\" kind: \"ResourceClaim\" "
            "metadata { name: \"c\" } spec { resource_class_name: \"gpu\" } }\n");
}

TEST(ManifestsOwnersTest, ObjectsThatMeanNothingHere) {
  const ReadTexts read({"apiVersion: v1\nkind: Node\nmetadata: {name: team}\n",
                        "apiVersion: resource.k8s.io/v1alpha2\nkind: PodSchedulingContext\n"
                        "metadata: {name: p}\n",
                        "apiVersion: resource.nvidia.com/v1beta1\nkind: GpuConfig\n",
                        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"});
  ASSERT_EQ(read.error, "");
  EXPECT_THAT(read.manifests.objects, IsEmpty());
  // What the reader says comes first.
  EXPECT_EQ(read.Warnings(),
            "f3.yaml:2:7: kind: objects of the kind Service of v1 are not read: left out\n"
            "f0.yaml:2:7: kind: nodes are those of the scenario's cluster: left out\n"
            "f1.yaml:2:7: kind: made by the scheduler of the run: left out\n"
            "f2.yaml:1:1: metadata.name: not given, so that nothing can refer to it: left out");
  const ReadTexts odd(
      {"apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClass\n"
       "metadata: {name: x}\ndriverName: d.example.com\nstructuredParameters: true\n",
       "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\n"
       "metadata: {name: x}\nspec: {resourceClassName: x}\n"
       "status: {driverName: d.example.com, allocation: {shareable: true}}\n"});
  EXPECT_EQ(odd.manifests.objects.size(), 2u);
  EXPECT_EQ(odd.Warnings(),
            "f0.yaml:5:23: structuredParameters: not simulated: its claims are its driver's "
            "business\n"
            "f1.yaml:5:9: status: of no effect: a new claim is not allocated");
}

}  // namespace manifests_owners_test
}  // namespace drasim
