// Figures of requests are those of kubernetes/kubernetes noderesources/fit_test.go and of
// docs' rule, proven with release 1.34.1.
#include "model/kube/shape_of_pod.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int64_t kMebi = int64_t{1} << 20;

// The shape of a pod in flow style: the specification, more of the metadata, the status.
PodShape ShapeOfText(absl::string_view spec, absl::string_view meta = "",
                     absl::string_view status = "") {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest read = kube_manifests::ReadManifest(
      absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ml",
                   meta.empty() ? "" : ", ", meta, "}, spec: {", spec, "}, status: {", status,
                   "}}"),
      options);
  EXPECT_EQ(read.objects.size(), 1u);
  return read.objects.empty() ? PodShape() : ShapeOfPod(read.objects[0].object.pod());
}

std::string RequestsText(absl::string_view name, absl::string_view requests,
                         absl::string_view more = "") {
  return absl::StrCat("{name: ", name, ", resources: {requests: {", requests, "}}",
                      more.empty() ? "" : ", ", more, "}");
}

// "CPU MEMORY RESIDENT-CPU RESIDENT-MEMORY", memory in Mi.
std::string ScoredText(const PodShape& shape) {
  EXPECT_TRUE(shape.scored.given);
  return absl::StrCat(shape.scored.cpu_milli, " ", shape.scored.memory_bytes / kMebi, " ",
                      shape.scored.resident_cpu_milli, " ",
                      shape.scored.resident_memory_bytes / kMebi);
}

TEST(ShapeOfPodTest, AmountsOfContainers) {
  const PodShape shape = ShapeOfText(
      absl::StrCat("containers: [", RequestsText("a", "cpu: 1500m, memory: 1Mi, nvidia.com/gpu: 2"),
                   ", ", RequestsText("b", "cpu: 1, ephemeral-storage: 1Gi, example.com/none: 0"),
                   "], initContainers: [", RequestsText("i", "cpu: 3, hugepages-2Mi: 4Mi"),
                   "], overhead: {memory: 2Mi}"));
  EXPECT_EQ(shape.request.cpu_milli, 3000);
  EXPECT_EQ(shape.request.memory_bytes, 3 * kMebi);
  EXPECT_EQ(shape.request.gpu_count, 0);
  EXPECT_THAT(shape.request.extended,
              ElementsAre(Pair("ephemeral-storage", 1 << 30), Pair("hugepages-2Mi", 4 * kMebi),
                          Pair("nvidia.com/gpu", 2)));
  EXPECT_EQ(shape.scored.extended, shape.request.extended);
}

TEST(ShapeOfPodTest, ScoresAssumeSomethingOfEveryContainer) {
  EXPECT_EQ(ScoredText(ShapeOfText("containers: [{name: a}, {name: b}, {name: c}]")),
            "300 600 300 600");
  // A request of zero is a request.
  EXPECT_EQ(
      ScoredText(ShapeOfText(absl::StrCat("containers: [", RequestsText("a", "cpu: 0"), "]"))),
      "0 200 0 200");
  EXPECT_EQ(ScoredText(ShapeOfText(absl::StrCat("containers: [", RequestsText("a", "cpu: 50m"),
                                                "], initContainers: [{name: i}]"))),
            "100 200 100 200");
  EXPECT_EQ(ScoredText(ShapeOfText("containers: []")), "0 0 0 0");
  EXPECT_EQ(ShapeOfText("containers: [{name: a}]").request.cpu_milli, 0);
}

TEST(ShapeOfPodTest, PodLevelRequestsCountOnANodeAlone) {
  const PodShape shape = ShapeOfText(absl::StrCat(
      "containers: [", RequestsText("a", "cpu: 1"), ", {name: b}], overhead: {cpu: 250m}, ",
      "resources: {requests: {cpu: 2, hugepages-2Mi: 4Mi}}"));
  EXPECT_EQ(shape.request.cpu_milli, 2250);
  EXPECT_EQ(shape.request.memory_bytes, 0);
  EXPECT_THAT(shape.request.extended, ElementsAre(Pair("hugepages-2Mi", 4 * kMebi)));
  EXPECT_EQ(ScoredText(shape), "1350 400 2250 400");
  EXPECT_THAT(shape.scored.extended, IsEmpty());
  // Memory is requested somewhere, so that no container is assumed to need more.
  EXPECT_EQ(ScoredText(ShapeOfText(absl::StrCat("containers: [", RequestsText("a", "memory: 1Mi"),
                                                ", {name: b}], resources: {requests: {cpu: 2}}"))),
            "200 201 2000 1");
  // Other resources are none of the pod as a whole.
  EXPECT_EQ(
      ScoredText(ShapeOfText("containers: [{name: a}], resources: {requests: {example.com/a: 2}}")),
      "100 200 100 200");
}

TEST(ShapeOfPodTest, ResizedContainersCountWithTheLargestAmount) {
  const std::string spec = absl::StrCat("containers: [", RequestsText("a", "cpu: 1"),
                                        "], initContainers: [", RequestsText("i", "cpu: 1"), ", ",
                                        RequestsText("s", "cpu: 1", "restartPolicy: Always"), "]");
  const auto cpu = [&spec](absl::string_view status) {
    return ShapeOfText(spec, "", status).request.cpu_milli;
  };
  EXPECT_EQ(cpu(""), 2000);
  EXPECT_EQ(cpu("containerStatuses: [{name: a, resources: {requests: {cpu: 3}}, "
                "allocatedResources: {cpu: 2}}]"),
            4000);
  EXPECT_EQ(cpu("containerStatuses: [{name: a, resources: {requests: {cpu: 2}}, "
                "allocatedResources: {cpu: 5}}]"),
            6000);
  // Without resources, the status is of an old kubelet.
  EXPECT_EQ(cpu("containerStatuses: [{name: a, allocatedResources: {cpu: 5}}]"), 2000);
  // Among init containers, only sidecars can be resized.
  EXPECT_EQ(cpu("initContainerStatuses: [{name: i, resources: {requests: {cpu: 9}}}, {name: s, "
                "resources: {requests: {cpu: 3}}}]"),
            4000);
  EXPECT_EQ(cpu("conditions: [{type: PodResizePending, reason: Infeasible}], containerStatuses: "
                "[{name: a, resources: {requests: {cpu: 500m}}, allocatedResources: {cpu: 400m}}]"),
            1500);
  EXPECT_EQ(cpu("conditions: [{type: PodResizePending, reason: Deferred}], containerStatuses: "
                "[{name: a, resources: {requests: {cpu: 500m}}}]"),
            2000);
}

TEST(ShapeOfPodTest, AmountsBeyondInt64AreCut) {
  const PodShape shape = ShapeOfText(absl::StrCat(
      "containers: [", RequestsText("a", "cpu: 1e30, memory: 9Ei, example.com/a: -1"), "]"));
  EXPECT_EQ(shape.request.cpu_milli, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(shape.request.memory_bytes, std::numeric_limits<int64_t>::max());
  EXPECT_THAT(shape.request.extended, IsEmpty());
}

TEST(ShapeOfPodTest, NodeSelectorAndAffinity) {
  const PodConstraints none = ShapeOfText("containers: []").constraints;
  EXPECT_FALSE(none.gives_node_selector);
  EXPECT_FALSE(none.requires_node_terms);
  EXPECT_FALSE(none.prefers_nodes);
  const PodConstraints rules =
      ShapeOfText(
          "nodeSelector: {b: \"2\", a: \"1\"}, affinity: {nodeAffinity: "
          "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions:"
          " [{key: a, operator: Lt, values: [\"-1\"]}]}, {}]}, "
          "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
          "{matchExpressions: [{key: a, operator: Exists}]}}]}}")
          .constraints;
  EXPECT_THAT(rules.node_selector, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_TRUE(rules.gives_node_selector);
  EXPECT_TRUE(rules.requires_node_terms);
  ASSERT_THAT(rules.node_terms, SizeIs(2));
  EXPECT_NE(rules.node_terms[0].error, "");
  EXPECT_EQ(rules.node_terms[1], NodeTerm());
  EXPECT_TRUE(rules.prefers_nodes);
  ASSERT_THAT(rules.preferred_nodes, SizeIs(1));
  EXPECT_EQ(rules.preferred_nodes[0].weight, 7);
  proto::kube::Pod pod;
  pod.mutable_spec()->set_empty_node_selector(true);
  EXPECT_TRUE(ShapeOfPod(pod).constraints.gives_node_selector);
}

TEST(ShapeOfPodTest, OtherRulesAboutNodes) {
  const PodConstraints rules =
      ShapeOfText(
          "nodeName: n-1, preemptionPolicy: Never, schedulingGates: [{name: b}, {name: a}], "
          "tolerations: [{key: a, operator: Exists}], containers: [{name: a, ports: "
          "[{containerPort: 1, hostPort: 80}, {containerPort: 2}, {containerPort: 3, hostPort: 81, "
          "hostIP: 10.0.0.1, protocol: UDP}]}], initContainers: [{name: i, ports: [{hostPort: 82}]}"
          ", {name: s, restartPolicy: Always, ports: [{hostPort: 83}]}]")
          .constraints;
  EXPECT_EQ(rules.node_name, "n-1");
  EXPECT_TRUE(rules.never_preempts);
  EXPECT_THAT(rules.gates, ElementsAre("b", "a"));
  EXPECT_THAT(rules.tolerations, ElementsAre(Toleration{"a", "", "", true}));
  EXPECT_THAT(rules.host_ports,
              ElementsAre(HostPort{"0.0.0.0", "TCP", 80}, HostPort{"10.0.0.1", "UDP", 81},
                          HostPort{"0.0.0.0", "TCP", 83}));
  EXPECT_EQ(rules.hold, PodHold::kNone);
}

TEST(ShapeOfPodTest, ImagesHaveTags) {
  EXPECT_THAT(
      ShapeOfText("containers: [{name: a, image: app}, {name: b, image: \"app:v1\"}, {name: "
                  "c, image: \"host:5000/app\"}], initContainers: [{name: i, image: "
                  "\"host:5000/app:v2\"}, {name: j, image: \"app@sha256:00\"}, {name: k}]")
          .constraints.images,
      ElementsAre("host:5000/app:v2", "app@sha256:00", ":latest", "app:latest", "app:v1",
                  "host:5000/app:latest"));
}

TEST(ShapeOfPodTest, ImagesOfVolumesHaveTags) {
  const PodShape shape = ShapeOfText(
      "volumes: [{name: a, image: {reference: model}}, {name: b, emptyDir: {}}, {name: c, image: "
      "{reference: \"model:v2\", pullPolicy: Always}}], containers: [{name: a, image: app}]");
  EXPECT_THAT(shape.constraints.images, ElementsAre("app:latest"));
  EXPECT_THAT(shape.constraints.volume_images, ElementsAre("model:latest", "model:v2"));
}

// Up to 1.32 the status says in a field what a condition says since.
TEST(ShapeOfPodTest, AnInfeasibleResizeOfOlderReleases) {
  const auto cpu = [](const std::string& resize) {
    proto::kube::Pod pod;
    proto::kube::Container* const container = pod.mutable_spec()->add_containers();
    container->set_name("c");
    (*container->mutable_resources()->mutable_requests())["cpu"] = "9";
    pod.mutable_status()->set_resize(resize);
    proto::kube::ContainerStatus* const status = pod.mutable_status()->add_container_statuses();
    status->set_name("c");
    (*status->mutable_allocated_resources())["cpu"] = "1";
    (*status->mutable_resources()->mutable_requests())["cpu"] = "1";
    return ShapeOfPod(pod).request.cpu_milli;
  };
  EXPECT_EQ(cpu("Infeasible"), 1000);
  EXPECT_EQ(cpu("InProgress"), 9000);
}

TEST(ShapeOfPodTest, SpreadConstraints) {
  const std::vector<SpreadConstraint> spread =
      ShapeOfText(
          "topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: "
          "DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [rev, none], "
          "minDomains: 3, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}, {maxSkew: 1, "
          "topologyKey: host, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 1, topologyKey: host, "
          "whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [rev]}]",
          "labels: {rev: \"7\", app: web}")
          .topology.spread;
  ASSERT_THAT(spread, SizeIs(3));
  SpreadConstraint first;
  first.max_skew = 2;
  first.topology_key = "zone";
  first.selector.given = true;
  first.selector.requirements = {{"app", SelectorOperator::kIn, {"web"}},
                                 {"rev", SelectorOperator::kIn, {"7"}}};
  first.min_domains = 3;
  first.honor_affinity = false;
  first.honor_taints = true;
  EXPECT_EQ(spread[0], first);
  SpreadConstraint second;
  second.topology_key = "host";
  second.hard = false;
  EXPECT_EQ(spread[1], second);
  // Keys join a selector; without one they select nothing, as for the API server.
  EXPECT_FALSE(spread[2].selector.given);
  EXPECT_THAT(spread[2].selector.requirements, IsEmpty());
}

TEST(ShapeOfPodTest, AffinityTerms) {
  const PodTopology topology =
      ShapeOfText(
          "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
          "a, labelSelector: {}, matchLabelKeys: [rev]}, {topologyKey: b, namespaces: [z, x, z]}], "
          "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, podAffinityTerm: "
          "{topologyKey: c, namespaceSelector: {matchLabels: {t: x}}}}]}, podAntiAffinity: "
          "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: d}], "
          "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 6, podAffinityTerm: "
          "{topologyKey: e, namespaces: [z], namespaceSelector: {}}}]}}",
          "labels: {rev: \"7\"}")
          .topology;
  ASSERT_THAT(topology.affinity, SizeIs(2));
  // Keys are merged at admission, not here.
  EXPECT_TRUE(topology.affinity[0].selector.selects_all());
  EXPECT_THAT(topology.affinity[0].namespaces, ElementsAre("ml"));
  EXPECT_FALSE(topology.affinity[0].namespace_selector.given);
  EXPECT_FALSE(topology.affinity[1].selector.given);
  EXPECT_THAT(topology.affinity[1].namespaces, ElementsAre("x", "z"));
  ASSERT_THAT(topology.preferred_affinity, SizeIs(1));
  EXPECT_EQ(topology.preferred_affinity[0].weight, 5);
  EXPECT_THAT(topology.preferred_affinity[0].term.namespaces, IsEmpty());
  EXPECT_THAT(topology.preferred_affinity[0].term.namespace_selector.requirements, SizeIs(1));
  ASSERT_THAT(topology.anti_affinity, SizeIs(1));
  EXPECT_EQ(topology.anti_affinity[0].topology_key, "d");
  ASSERT_THAT(topology.preferred_anti_affinity, SizeIs(1));
  EXPECT_EQ(topology.preferred_anti_affinity[0].weight, 6);
  EXPECT_THAT(topology.preferred_anti_affinity[0].term.namespaces, ElementsAre("z"));
  EXPECT_TRUE(topology.preferred_anti_affinity[0].term.namespace_selector.selects_all());
}

TEST(ShapeOfPodTest, Identity) {
  const auto owner = [](absl::string_view version, absl::string_view kind,
                        absl::string_view controller) {
    const PodIdentity identity =
        ShapeOfText("schedulerName: s",
                    absl::StrCat("labels: {b: x, a: w}, ownerReferences: "
                                 "[{apiVersion: ",
                                 version, ", kind: ", kind,
                                 ", name: o, uid: u, controller: ", controller, "}]"))
            .identity;
    EXPECT_EQ(identity.ns, "ml");
    EXPECT_THAT(identity.labels, ElementsAre(Pair("a", "w"), Pair("b", "x")));
    EXPECT_EQ(identity.scheduler_name, "s");
    EXPECT_FALSE(identity.terminating);
    return absl::StrCat(identity.owner_kind, " ", identity.owner_name);
  };
  EXPECT_EQ(owner("apps/v1", "ReplicaSet", "true"), "ReplicaSet o");
  EXPECT_EQ(owner("apps/v1", "StatefulSet", "true"), "StatefulSet o");
  EXPECT_EQ(owner("v1", "ReplicationController", "true"), "ReplicationController o");
  EXPECT_EQ(owner("apps/v1", "ReplicaSet", "false"), " ");
  EXPECT_EQ(owner("extensions/v1beta1", "ReplicaSet", "true"), " ");
  EXPECT_EQ(owner("batch/v1", "Job", "true"), " ");
  EXPECT_TRUE(ShapeOfText("", "deletionTimestamp: \"2025-01-01T00:00:00Z\"").identity.terminating);
}

}  // namespace
}  // namespace drasim
