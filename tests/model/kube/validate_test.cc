// ValidateKubeObject, by itself and as ReadKubeObjects reports it.
#include "model/kube/validate.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace kube_validate_test {

using kube_manifests::ErrorsOf;
using kube_manifests::ObjectOf;
using kube_manifests::ReadManifest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The problems of an object in protobuf's text format, "PATH: WHAT" each.
std::vector<std::string> ProblemsOf(const std::string& text) {
  std::vector<std::string> problems;
  for (const KubeProblem& problem : ValidateKubeObject(ObjectOf(text))) {
    problems.push_back(absl::StrCat(problem.path, ": ", problem.what));
  }
  return problems;
}

// The problems of a pod named p with a container a and the fields in `spec`.
std::vector<std::string> PodProblems(absl::string_view spec) {
  return ProblemsOf(
      absl::StrCat("pod { metadata { name: 'p' } spec { containers { name: 'a' } ", spec, " } }"));
}

TEST(ValidateKubeObjectTest, TheManifestOfEveryKindIsFine) {
  const KubeManifest read = ReadManifest(kube_manifests::EveryKind());
  EXPECT_EQ(read.objects.size(), 53u);
  for (const KubeObject& object : read.objects) {
    EXPECT_THAT(ValidateKubeObject(object.object), IsEmpty()) << object.object.DebugString();
  }
}

TEST(ValidateKubeObjectTest, ErrorsHaveTheirPlaceInTheFile) {
  EXPECT_EQ(ErrorsOf(TestText("ErrorsHaveTheirPlaceInTheFile")),
            TestLines("ErrorsHaveTheirPlaceInTheFile.2"));
}

TEST(ValidateKubeObjectTest, CanBeLeftOut) {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest read = ReadManifest("{apiVersion: v1, kind: Pod}", options);
  EXPECT_EQ(read.objects.size(), 1u);
}

TEST(ValidateKubeObjectTest, WhatCannotBeReadIsNotValidated) {
  EXPECT_EQ(ErrorsOf("{apiVersion: v1, kind: Pod, spec: {containers: 3}}"),
            "f.yaml:1:48: spec.containers: found the number 3, expected a list");
}

TEST(ValidateKubeObjectTest, Metadata) {
  EXPECT_THAT(ProblemsOf("config_map {}"),
              ElementsAre("metadata.name: not given, expected a name"));
  EXPECT_THAT(ProblemsOf("config_map { metadata { generate_name: 'job-' } }"), IsEmpty());
  EXPECT_THAT(ProblemsOf("gpu_config {}"), IsEmpty());
  for (const char* good : {"a", "0", "a.b-c.d", "gpu.nvidia.com"}) {
    EXPECT_THAT(ProblemsOf(absl::StrCat("config_map { metadata { name: '", good, "' } }")),
                IsEmpty());
  }
  for (const std::string& bad :
       {std::string("A"), std::string("a_b"), std::string("-a"), std::string("a-"),
        std::string("a..b"), std::string("a."), std::string(254, 'a')}) {
    EXPECT_EQ(ProblemsOf(absl::StrCat("config_map { metadata { name: '", bad, "' } }")).size(), 1u)
        << bad;
  }
  EXPECT_THAT(
      ProblemsOf("node { metadata { name: 'N' namespace: 'a.b' owner_references { kind: 'x' } } }"),
      ElementsAre(
          "metadata.name: found 'N', expected lower-case letters, digits, '-' and '.', with "
          "letters or digits at both ends, at most 253 characters",
          "metadata.namespace: found 'a.b', expected lower-case letters, digits and '-', "
          "with letters or digits at both ends, at most 63 characters",
          "metadata.ownerReferences[0].apiVersion: not given, expected a text",
          "metadata.ownerReferences[0].name: not given, expected a text",
          "metadata.ownerReferences[0].uid: not given, expected a text"));
}

TEST(ValidateKubeObjectTest, Nodes) {
  EXPECT_THAT(
      ProblemsOf(TestLines("Nodes")),
      ElementsAre("spec.taints[2]: found 'k:NoSchedule' a second time",
                  "spec.taints[3].key: not given, expected a text",
                  "spec.taints[3].effect: found 'Never', expected one of NoSchedule, "
                  "PreferNoSchedule, NoExecute",
                  "status.capacity[cpu]: found -1, expected at least 0",
                  "status.allocatable[x]: found '1 Gi', expected a quantity",
                  "status.conditions[0].status: found 'true', expected one of True, False, Unknown "
                  "(did you mean 'True'?)"));
}

TEST(ValidateKubePodTest, Containers) {
  EXPECT_THAT(ProblemsOf("pod { metadata { name: 'p' } }"),
              ElementsAre("spec.containers: found none, expected at least one container"));
  EXPECT_THAT(PodProblems("containers {} containers { name: 'A' } init_containers { name: 'a' }"),
              ElementsAre("spec.containers[1].name: not given, expected a name",
                          "spec.containers[2].name: found 'A', expected lower-case letters, digits "
                          "and '-', with letters or digits at both ends, at most 63 characters",
                          "spec.initContainers[0].name: found 'a' a second time"));
  EXPECT_THAT(PodProblems("init_containers { name: 'b' resources { claims {} } }"),
              ElementsAre("spec.initContainers[0].resources.claims[0].name: not given, expected an "
                          "entry of the pod's resourceClaims"));
  EXPECT_THAT(PodProblems("resource_claims { name: 'x' resource_claim_name: 'c' } "
                          "init_containers { name: 'b' resources { claims { name: 'x' request: 'a' "
                          "} claims { name: 'x' request: 'b' } } }"),
              IsEmpty());
}

TEST(ValidateKubePodTest, Amounts) {
  const auto amounts = [](absl::string_view requests, absl::string_view limits) {
    std::string spec = "init_containers { name: 'b' resources { ";
    for (const auto& [list, field] :
         {std::pair(requests, "requests"), std::pair(limits, "limits")}) {
      for (const absl::string_view entry : absl::StrSplit(list, ' ', absl::SkipEmpty())) {
        const std::pair<std::string, std::string> named = absl::StrSplit(entry, '=');
        absl::StrAppend(&spec, field, " { key: '", named.first, "' value: '", named.second, "' } ");
      }
    }
    std::vector<std::string> problems = PodProblems(spec + "} }");
    for (std::string& problem : problems) {
      problem = absl::StrReplaceAll(problem, {{"spec.initContainers[0].resources.", ""}});
    }
    return problems;
  };
  EXPECT_THAT(amounts("cpu=500m memory=1Gi hugepages-2Mi=4Mi example.com/x=1",
                      "cpu=1 memory=1Gi hugepages-2Mi=4Mi example.com/x=1 nvidia.com/gpu=2"),
              IsEmpty());
  EXPECT_THAT(amounts("cpu=2", "cpu=1999m"),
              ElementsAre("requests[cpu]: found 2, expected at most the limit 1999m"));
  EXPECT_THAT(amounts("nvidia.com/gpu=1", ""),
              ElementsAre("requests[nvidia.com/gpu]: found no limit, expected one of the same "
                          "amount"));
  EXPECT_THAT(amounts("nvidia.com/gpu=1", "nvidia.com/gpu=2"),
              ElementsAre("requests[nvidia.com/gpu]: found 1, expected the same as the limit 2"));
  EXPECT_THAT(amounts("", "nvidia.com/gpu=500m"),
              ElementsAre("limits[nvidia.com/gpu]: found 500m, expected a whole number"));
  EXPECT_THAT(
      amounts("memroy=1Gi gpu=1 cpu=-1", ""),
      ElementsAre("requests[cpu]: found -1, expected at least 0",
                  "requests[gpu]: unknown resource, expected a name with a '/' for one that "
                  "Kubernetes does not have itself (did you mean 'cpu'?)",
                  "requests[memroy]: unknown resource, expected a name with a '/' for one "
                  "that Kubernetes does not have itself (did you mean 'memory'?)"));
  EXPECT_THAT(PodProblems("overhead { key: 'cpu' value: '-1m' }"),
              ElementsAre("spec.overhead[cpu]: found -1m, expected at least 0"));
}

TEST(ValidateKubePodTest, NodeAffinity) {
  EXPECT_THAT(PodProblems(R"(affinity { node_affinity {
      required_during_scheduling_ignored_during_execution {} } })"),
              ElementsAre("spec.affinity.nodeAffinity."
                          "requiredDuringSchedulingIgnoredDuringExecution: found no "
                          "nodeSelectorTerms, expected at least one"));
  const std::string path =
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]";
  for (const auto& [requirement, problem] : TestRows<2>("NodeAffinity")) {
    const std::vector<std::string> found = PodProblems(absl::StrCat(
        "affinity { node_affinity { preferred_during_scheduling_ignored_during_execution { weight: "
        "1 preference { match_expressions { ",
        requirement, " } } } } }"));
    if (std::string(problem).empty()) {
      EXPECT_THAT(found, IsEmpty()) << requirement;
    } else {
      EXPECT_THAT(found,
                  ElementsAre(absl::StrCat(path, ".preference.matchExpressions[0].", problem)));
    }
  }
  EXPECT_THAT(
      PodProblems(R"(affinity { node_affinity {
      preferred_during_scheduling_ignored_during_execution {
        weight: 101 preference { match_fields { key: "a" operator: "Gt" } } } } })"),
      ElementsAre(path + ".weight: found 101, expected 1 to 100",
                  path + ".preference.matchFields[0].key: found 'a', expected metadata.name",
                  path + ".preference.matchFields[0].operator: found 'Gt', expected one of "
                         "In, NotIn",
                  path + ".preference.matchFields[0].values: expected one value"));
}

TEST(ValidateKubePodTest, PodAffinity) {
  const std::string path = "spec.affinity.";
  EXPECT_THAT(
      PodProblems(TestLines("PodAffinity")),
      ElementsAre(path + "podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                         "topologyKey: not given, expected a text",
                  path + "podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                         "weight: found 0, expected 1 to 100",
                  path + "podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                         "podAffinityTerm.labelSelector.matchExpressions[0].operator: found 'Gt', "
                         "expected one of In, NotIn, Exists, DoesNotExist"));
}

TEST(ValidateKubePodTest, Tolerations) {
  EXPECT_THAT(
      PodProblems("tolerations { operator: 'Exists' } tolerations {} tolerations { key: 'k' "
                  "operator: 'Exists' value: 'v' effect: 'x' toleration_seconds: 5 }"),
      ElementsAre("spec.tolerations[1].operator: expected Exists where no key is given",
                  "spec.tolerations[2].effect: found 'x', expected one of NoSchedule, "
                  "PreferNoSchedule, NoExecute",
                  "spec.tolerations[2].value: found a value, expected none for Exists",
                  "spec.tolerations[2].tolerationSeconds: has a meaning for the effect NoExecute "
                  "only"));
}

TEST(ValidateKubePodTest, TopologySpread) {
  EXPECT_THAT(
      PodProblems("topology_spread_constraints {} topology_spread_constraints { max_skew: 1 "
                  "topology_key: 'z' when_unsatisfiable: 'ScheduleAnyway' min_domains: 0 } "
                  "topology_spread_constraints { max_skew: 2 topology_key: 'z' when_unsatisfiable: "
                  "'ScheduleAnyway' node_taints_policy: 'honor' }"),
      ElementsAre(
          "spec.topologySpreadConstraints[0].maxSkew: found 0, expected at least 1",
          "spec.topologySpreadConstraints[0].topologyKey: not given, expected a text",
          "spec.topologySpreadConstraints[0].whenUnsatisfiable: not given, expected one of "
          "DoNotSchedule, ScheduleAnyway",
          "spec.topologySpreadConstraints[1].minDomains: found 0, expected at least 1",
          "spec.topologySpreadConstraints[1].minDomains: has a meaning with DoNotSchedule "
          "only",
          "spec.topologySpreadConstraints[2].topologyKey: found 'z ScheduleAnyway' a second "
          "time",
          "spec.topologySpreadConstraints[2].nodeTaintsPolicy: found 'honor', expected one "
          "of Honor, Ignore (did you mean 'Honor'?)"));
}

TEST(ValidateKubePodTest, OtherFields) {
  EXPECT_THAT(
      PodProblems("scheduling_gates { name: 'g' } scheduling_gates { name: 'g' } node_name: "
                  "'n' preemption_policy: 'x' restart_policy: 'Sometimes' "
                  "termination_grace_period_seconds: -1"),
      ElementsAre("spec.preemptionPolicy: found 'x', expected one of PreemptLowerPriority, "
                  "Never",
                  "spec.restartPolicy: found 'Sometimes', expected one of Always, "
                  "OnFailure, Never",
                  "spec.terminationGracePeriodSeconds: found -1, expected at least 0",
                  "spec.schedulingGates[1].name: found 'g' a second time",
                  "spec.nodeName: given for a pod with schedulingGates"));
  EXPECT_THAT(
      ProblemsOf("pod { metadata { name: 'p' } spec { containers { name: 'a' } } status { "
                 "phase: 'Done' resource_claim_statuses { name: 'gpu' } } }"),
      ElementsAre("status.phase: found 'Done', expected one of Pending, Running, Succeeded, "
                  "Failed, Unknown",
                  "status.resourceClaimStatuses[0].name: found 'gpu', which "
                  "spec.resourceClaims does not list"));
}

TEST(ValidateKubeObjectTest, Owners) {
  const std::string pods =
      " template { metadata { labels { key: 'a' value: '1' } } "
      "spec { containers { name: 'a' } } }";
  const auto replica_set = [&pods](absl::string_view spec) {
    return ProblemsOf(
        absl::StrCat("replica_set { metadata { name: 'r' } spec { ", spec, pods, "}}"));
  };
  EXPECT_THAT(replica_set("replicas: 0 selector { match_labels { key: 'a' value: '1' } }"),
              IsEmpty());
  EXPECT_THAT(replica_set("replicas: -1"),
              ElementsAre("spec.replicas: found -1, expected at least 0",
                          "spec.selector: chooses no pods, expected labels of the template"));
  const std::string unlike =
      "spec.template.metadata.labels: spec.selector does not choose pods with these labels";
  EXPECT_THAT(replica_set("selector { match_labels { key: 'a' value: '2' } }"),
              ElementsAre(unlike));
  for (const char* matches : {"operator: 'In' values: '0' values: '1'", "operator: 'Exists'",
                              "operator: 'NotIn' values: '2'"}) {
    EXPECT_THAT(
        replica_set(absl::StrCat("selector { match_expressions { key: 'a' ", matches, "} }")),
        IsEmpty());
  }
  for (const char* differs : {"operator: 'In' values: '2'", "operator: 'DoesNotExist'",
                              "operator: 'NotIn' values: '1'"}) {
    EXPECT_THAT(
        replica_set(absl::StrCat("selector { match_expressions { key: 'a' ", differs, "} }")),
        ElementsAre(unlike));
  }
  EXPECT_THAT(ProblemsOf("stateful_set { metadata { name: 's' } spec { pod_management_policy: 'x' "
                         "selector { match_labels { key: 'a' value: '1' } } template { metadata { "
                         "labels { key: 'a' value: '1' } } spec { restart_policy: 'Never' } } } }"),
              ElementsAre("spec.podManagementPolicy: found 'x', expected one of OrderedReady, "
                          "Parallel",
                          "spec.template.spec.restartPolicy: found 'Never', expected Always",
                          "spec.template.spec.containers: found none, expected at least one "
                          "container"));
  EXPECT_THAT(ProblemsOf("job { metadata { name: 'j' } spec { parallelism: -1 completions: -2 "
                         "template { spec { containers { name: 'a' } } } } }"),
              ElementsAre("spec.parallelism: found -1, expected at least 0",
                          "spec.completions: found -2, expected at least 0",
                          "spec.template.spec.restartPolicy: not given, expected one of OnFailure, "
                          "Never"));
  EXPECT_THAT(
      ProblemsOf("job { metadata { name: 'j' } spec { completion_mode: 'Indexed' template { "
                 "spec { restart_policy: 'Never' containers { name: 'a' } } } } }"),
      ElementsAre("spec.completions: not given, expected a number for an Indexed job"));
}

TEST(ValidateKubeObjectTest, Classes) {
  EXPECT_THAT(ProblemsOf("resource_class { metadata { name: 'c' } parameters_ref { kind: 'k' } "
                         "suitable_nodes {} }"),
              ElementsAre("driverName: not given, expected the name of a driver",
                          "parametersRef.name: not given, expected a text",
                          "suitableNodes: found no nodeSelectorTerms, expected at least one"));
}

TEST(ValidateKubeObjectTest, Claims) {
  const auto claim = [](absl::string_view status) {
    return ProblemsOf(
        absl::StrCat("resource_claim { metadata { name: 'c' } spec { "
                     "resource_class_name: 'g' } status { ",
                     status, " } }"));
  };
  const auto consumers = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&text, "reserved_for { resource: 'pods' name: 'p' uid: 'u", i, "' } ");
    }
    return text;
  };
  const std::string driver = "driver_name: 'd' ";
  EXPECT_THAT(claim(driver + "allocation {} " + consumers(1)), IsEmpty());
  EXPECT_THAT(claim(driver + "allocation { shareable: true } " + consumers(32)), IsEmpty());
  EXPECT_THAT(claim(driver + "allocation { shareable: true } " + consumers(33)),
              ElementsAre("status.reservedFor: found 33 reservations, expected at most 32"));
  EXPECT_THAT(claim(driver + "allocation {} " + consumers(2)),
              ElementsAre("status.reservedFor: found 2 reservations of a claim that is not "
                          "shareable"));
  EXPECT_THAT(claim(consumers(1)), ElementsAre("status.reservedFor: found a reservation of a claim "
                                               "that is not allocated"));
  EXPECT_THAT(claim("allocation { shareable: true } reserved_for { uid: 'a' } reserved_for { "
                    "resource: 'pods' name: 'p' uid: 'a' }"),
              ElementsAre("status.driverName: not given, expected the driver of status.allocation",
                          "status.reservedFor[0].resource: not given, expected a text",
                          "status.reservedFor[0].name: not given, expected a text",
                          "status.reservedFor[1].uid: found 'a' a second time"));
  std::string handles;
  for (int i = 0; i < 33; ++i) handles += "resource_handles {} ";
  EXPECT_THAT(
      claim(absl::StrCat(driver, "allocation { ", handles, " resource_handles { data: '",
                         std::string(16385, 'x'), "' } }")),
      ElementsAre("status.allocation.resourceHandles: found 34 handles, expected at most 32",
                  "status.allocation.resourceHandles[33].data: found 16385 bytes, expected "
                  "at most 16384"));
}

TEST(ValidateKubeObjectTest, SchedulingContexts) {
  std::string nodes;
  for (int i = 0; i < 129; ++i) absl::StrAppend(&nodes, "potential_nodes: 'n", i, "' ");
  EXPECT_THAT(
      ProblemsOf(absl::StrCat("pod_scheduling_context { metadata { name: 'p' } spec { ", nodes,
                              "} status { resource_claims { name: 'a' "
                              "unsuitable_nodes: 'x' unsuitable_nodes: 'x' } "
                              "resource_claims { name: 'a' } resource_claims {} } }")),
      ElementsAre("spec.potentialNodes: found 129 nodes, expected at most 128",
                  "status.resourceClaims[0].unsuitableNodes[1]: found 'x' a second time",
                  "status.resourceClaims[1].name: found 'a' a second time",
                  "status.resourceClaims[2].name: not given, expected a text"));
}

TEST(ValidateKubeObjectTest, Parameters) {
  EXPECT_THAT(
      ProblemsOf(TestLines("Parameters")),
      ElementsAre(
          "spec.count: found 0, expected at least 1",
          "spec.selector: found 4 properties, expected one: put them into andExpression",
          "spec.selector.memory.value: not given, expected a text",
          "spec.selector.memory.operator: found 'AtLeast', expected one of Equals, LessThan, "
          "LessThanOrEqualTo, GreaterThan, GreaterThanOrEqualTo",
          "spec.selector.andExpression[0].orExpression[0].andExpression[0]: found "
          "expressions nested more than 3 deep",
          "spec.sharing.timeSlicingConfig.timeSlice: found 'Longer', expected one of "
          "Default, Short, Medium, Long (did you mean 'Long'?)",
          "spec.sharing.timeSlicingConfig: has no meaning with the strategy MPS"));
  EXPECT_THAT(ProblemsOf("mig_device_claim_parameters { metadata { name: 'm' } spec { sharing { "
                         "strategy: 'TimeSlicing' mps_config {} } } }"),
              ElementsAre("spec.profile: not given, expected a text",
                          "spec.sharing.mpsConfig: has no meaning with the strategy TimeSlicing"));
  EXPECT_THAT(ProblemsOf("gpu_config { sharing {} }"),
              ElementsAre("sharing.strategy: not given, expected one of TimeSlicing, MPS"));
  EXPECT_THAT(ProblemsOf("example_gpu_claim_parameters { metadata { name: 'e' } spec { count: -1 } "
                         "}"),
              ElementsAre("spec.count: found -1, expected at least 1"));
  EXPECT_THAT(ProblemsOf("priority_class { metadata { name: 'p' } preemption_policy: 'x' }"),
              ElementsAre("preemptionPolicy: found 'x', expected one of PreemptLowerPriority, "
                          "Never"));
}

}  // namespace kube_validate_test
}  // namespace drasim
