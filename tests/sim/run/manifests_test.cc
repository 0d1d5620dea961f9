// ReadManifests: pods, bad input, the demonstrations, owners, names and objects. The checks of
// ReadKubeObjects itself are in tests/model/kube.
#include "sim/run/manifests.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/gpu_model_table.h"
#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "sim/scenario/inline_jobs.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace manifests_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Amounts of resources as text, such as "1 example.com/nic, 2 nvidia.com/gpu".
std::string AmountsText(const std::vector<std::pair<std::string, int64_t>>& amounts) {
  return absl::StrJoin(amounts, ", ", [](std::string* out, const auto& amount) {
    absl::StrAppend(out, amount.second, " ", amount.first);
  });
}

// The job on one line, without values that equal those of an empty job.
std::string JobText(const InlineJob& job) {
  const PodShape& shape = job.shape;
  std::string text = absl::StrCat("name: \"", job.name, "\"");
  const auto number = [&text](absl::string_view name, int64_t value) {
    if (value != 0) absl::StrAppend(&text, " ", name, ": ", value);
  };
  number("replicas", job.replicas);
  number("arrival_ns", job.arrival.time.ns());
  if (job.arrival.has_run_time) number("run_time_ns", job.arrival.run_time.ns());
  number("priority", job.arrival.priority);
  number("cpu_milli", shape.request.cpu_milli);
  number("memory_bytes", shape.request.memory_bytes);
  if (!shape.request.extended.empty())
    absl::StrAppend(&text, " asks ", AmountsText(shape.request.extended));
  for (const ContainerRequest& container : shape.device_plugin.containers) {
    absl::StrAppend(&text, " (", container.init ? "init " : "",
                    container.restartable ? "sidecar " : "", AmountsText(container.extended), ")");
  }
  for (const auto& [label, value] : shape.constraints.node_selector) {
    absl::StrAppend(&text, " on ", label, "=", value);
  }
  number("node_terms", static_cast<int64_t>(shape.constraints.node_terms.size()));
  for (const Toleration& t : shape.constraints.tolerations) {
    absl::StrAppend(&text, " tolerates ", t.key, "=", t.exists ? "*" : t.value, ":", t.effect);
  }
  for (const ClaimEntry& claim : shape.claims) {
    absl::StrAppend(&text, " claim ", claim.name, "=", claim.claim, "/", claim.from_template);
  }
  if (shape.constraints.hold != PodHold::kNone)
    absl::StrAppend(&text, " held by ", PodHoldName(shape.constraints.hold));
  if (shape.constraints.never_preempts) absl::StrAppend(&text, " never preempts");
  return text;
}

// The result of reading texts, which become files f0.yaml, f1.yaml, ...
struct ReadTexts {
  explicit ReadTexts(const std::vector<std::string>& texts) {
    TempDir dir;
    std::vector<std::string> paths;
    for (const std::string& text : texts) {
      const std::string name = absl::StrCat("f", paths.size(), ".yaml");
      dir.Write(name, text);
      paths.push_back(absl::StrCat(dir.path(), "/", name));
    }
    const auto plain = [&dir](absl::string_view text) {
      return absl::StrReplaceAll(text, {{dir.path() + "/", ""}});
    };
    absl::StatusOr<Manifests> read = ReadManifests(paths);
    if (!read.ok()) {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
      error = plain(read.status().message());
      return;
    }
    manifests = *std::move(read);
    for (std::string& warning : manifests.warnings) warning = plain(warning);
  }
  ReadTexts(std::initializer_list<std::string> texts)
      : ReadTexts(std::vector<std::string>(texts)) {}
  explicit ReadTexts(const std::string& text) : ReadTexts(std::vector<std::string>{text}) {}

  // The jobs as text, one per line.
  std::string Jobs() const {
    std::vector<std::string> lines;
    for (const InlineJob& job : manifests.jobs) lines.push_back(JobText(job));
    return absl::StrJoin(lines, "\n");
  }
  std::string Warnings() const { return absl::StrJoin(manifests.warnings, "\n"); }

  Manifests manifests;
  std::string error;
};

// An entry of workload.jobs in protobuf's text, printed as Jobs() does.
std::string Job(const std::string& text) {
  proto::InlineJob job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  const absl::StatusOr<InlineJob> read = ReadInlineJob("job", job);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? JobText(*read) : "";
}

// A pod `name` with `lines`, each with its indentation, below spec.
std::string Pod(absl::string_view name, absl::string_view lines = "") {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      "}\nspec:\n  containers: [{name: c}]\n", lines);
}

// Something with a template of an empty pod; `spec` stands beside it.
std::string Owner(absl::string_view version, absl::string_view kind, absl::string_view name,
                  absl::string_view spec) {
  const bool job = kind == "Job";
  return absl::StrCat("apiVersion: ", version, "\nkind: ", kind, "\nmetadata: {name: ", name,
                      "}\nspec:\n", spec, job ? "" : "  selector: {matchLabels: {app: a}}\n",
                      "  template:\n    metadata: {labels: {app: a}}\n",
                      "    spec: {containers: [{name: c}]", job ? ", restartPolicy: Never" : "",
                      "}\n");
}

// --- Pods ---

TEST(ManifestsTest, APodIsAJobOfOnePodThatRunsForEver) {
  const ReadTexts read(TestText("APodIsAJobOfOnePodThatRunsForEver"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), Job(TestLines("APodIsAJobOfOnePodThatRunsForEver.2")));
  EXPECT_THAT(read.manifests.objects, IsEmpty());
  EXPECT_EQ(read.Warnings(), "");
}

TEST(ManifestsTest, RequestsAreAddedUpAsKubeSchedulerDoes) {
  // Long-running containers: 1 + 2 + the sidecar's 3 = 6. The peak: 3 of the sidecar + 4. Plus
  // 500m.
  const ReadTexts read(TestText("RequestsAreAddedUpAsKubeSchedulerDoes"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), Job(R"(name: "p" cpu: "7500m" memory: "1025Mi")"));
}

// CPUs beside as many devices, whose sums MakeInlineJobs makes.
TEST(ManifestsTest, RequestsAreAddedUpAsThoseOfDevices) {
  Random random(17, "manifests");
  for (int round = 0; round < 300; ++round) {
    std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n";
    int number = 0;
    const auto add = [&](const char* list, uint64_t count, bool init) {
      if (count > 0) absl::StrAppend(&pod, "  ", list, ":\n");
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t amount = random.Below(5);
        absl::StrAppend(&pod, "  - {name: c", number++, ", resources: {limits: {cpu: ", amount,
                        ", example.com/x: ", amount, "}}",
                        init && random.Below(2) == 0 ? ", restartPolicy: Always" : "", "}\n");
      }
    };
    add("containers", 1 + random.Below(3), false);
    add("initContainers", random.Below(5), true);
    const ReadTexts read(pod);
    ASSERT_EQ(read.error, "") << pod;
    GpuModelTable models;
    ShapeTable shapes(&models);
    const auto made = MakeInlineJobs(read.manifests.jobs, {}, &shapes);
    ASSERT_TRUE(made.ok()) << made.status() << pod;
    const PodShape& shape = shapes.row(made->at(0).shape);
    const int64_t devices = shape.request.extended.empty() ? 0 : shape.request.extended[0].second;
    EXPECT_EQ(shape.request.cpu_milli, 1000 * devices) << pod << read.Jobs();
  }
}

TEST(ManifestsTest, RequestsOfThePodAsAWholeTakeThePlaceOfTheSum) {
  const std::string containers = "  containers: [{name: a, resources: {requests: {cpu: 1}}}]\n";
  const std::string head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n";
  const ReadTexts requests(
      head + "  resources: {requests: {cpu: 3}, limits: {cpu: 4, memory: 1Gi}}\n" + containers);
  EXPECT_EQ(requests.Jobs(), Job(R"(name: "p" cpu: "3" memory: "1Gi")"));
  const ReadTexts limits(head + "  resources: {limits: {cpu: 4}}\n" + containers);
  EXPECT_EQ(limits.Jobs(), Job(R"(name: "p" cpu: "1")"));
}

TEST(ManifestsTest, DevicesOfSeveralContainersStayApart) {
  const ReadTexts read(TestText("DevicesOfSeveralContainersStayApart"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), Job(TestLines("DevicesOfSeveralContainersStayApart.2")));
  // MakeInlineJobs accepts them, too.
  GpuModelTable models;
  ShapeTable shapes(&models);
  const auto made = MakeInlineJobs(read.manifests.jobs, {}, &shapes);
  ASSERT_TRUE(made.ok()) << made.status();
  using Extended = std::vector<std::pair<std::string, int64_t>>;
  EXPECT_EQ(shapes.row(made->at(0).shape).request.extended, (Extended{{"nvidia.com/gpu", 3}}));
}

TEST(ManifestsTest, AnInitContainerAloneIsNoContainerThatLasts) {
  const ReadTexts read(TestText("AnInitContainerAloneIsNoContainerThatLasts"));
  EXPECT_EQ(read.Jobs(), Job(R"(
    name: "p"
    containers { init: true extended { resource: "nvidia.com/gpu" amount: "1" } }
    containers {})"));
}

TEST(ManifestsTest, AnnotationsSayWhenAndHowLong) {
  const ReadTexts read(TestText("AnnotationsSayWhenAndHowLong"));
  EXPECT_EQ(read.Jobs(), Job(R"(name: "p" arrival: "5s" run_time: "10m")"));
  EXPECT_EQ(read.Warnings(), "");
}

TEST(ManifestsTest, BadAnnotations) {
  const auto pod = [](absl::string_view annotation) {
    return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n    ",
                        annotation, "\nspec: {containers: [{name: c}]}\n");
  };
  const ReadTexts word(pod("drasim.dev/run-time: soon"));
  EXPECT_EQ(word.error,
            "f0.yaml:6:26: metadata.annotations[drasim.dev/run-time]: found 'soon', expected a "
            "duration such as 5ms, 1.5s or 2h");
  const ReadTexts empty(pod("drasim.dev/run-time: ''"));
  EXPECT_THAT(empty.error, HasSubstr("found an empty text"));
  const ReadTexts negative(pod("drasim.dev/arrival: -5s"));
  EXPECT_THAT(negative.error, HasSubstr("metadata.annotations[drasim.dev/arrival]: found '-5s'"));
  const ReadTexts ages(pod("drasim.dev/arrival: 900000h"));
  EXPECT_THAT(ages.error, HasSubstr("expected at most 100 years"));
  const ReadTexts misspelt(pod("drasim.dev/runtime: 5s"));
  EXPECT_EQ(misspelt.error, "");
  EXPECT_EQ(misspelt.Warnings(),
            "f0.yaml:6:25: metadata.annotations[drasim.dev/runtime]: unknown annotation (did you "
            "mean 'drasim.dev/run-time'?)");
  EXPECT_EQ(misspelt.Jobs(), Job(R"(name: "p")"));
}

TEST(ManifestsTest, ClaimsInBothForms) {
  const ReadTexts read(TestText("ClaimsInBothForms"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Jobs(), Job(TestLines("ClaimsInBothForms.2")));
  EXPECT_EQ(read.Warnings(),
            "f0.yaml:12:5: spec.resourceClaims[3]: entry idle is used by no container: it is "
            "allocated but never prepared");
}

TEST(ManifestsTest, NodeAffinityThatIsNoMoreThanANodeSelector) {
  const std::string& affinity = TestText("NodeAffinityThatIsNoMoreThanANodeSelector.affinity");
  const ReadTexts same(Pod("p", absl::StrReplaceAll(affinity, {{"WHERE", "west"}})));
  EXPECT_EQ(same.Warnings(), "");
  EXPECT_EQ(same.Jobs(), Job(R"(
    name: "p" node_selector { key: "disk" value: "fast" }
    node_selector { key: "zone" value: "west" })"));
  // Anything more goes to the simulation as it is.
  for (const char* other : {"east", "west, east"}) {
    const ReadTexts more(Pod("p", absl::StrReplaceAll(affinity, {{"WHERE", other}})));
    EXPECT_EQ(more.Warnings(), "") << other;
    ASSERT_EQ(more.manifests.jobs.size(), 1u);
    const PodShape& shape = more.manifests.jobs[0].shape;
    EXPECT_EQ(shape.constraints.node_selector.size(), 1u);
    ASSERT_EQ(shape.constraints.node_terms.size(), 1u);
    EXPECT_EQ(shape.constraints.node_terms[0].requirements.size(), 2u);
  }
}

// The nodes of three that take a pod with these lines below spec.
std::string NodesThatTake(const std::string& lines) {
  const ReadTexts read(Pod("p", lines));
  EXPECT_EQ(read.error, "");
  GpuModelTable models;
  ShapeTable shapes(&models);
  const auto made = MakeInlineJobs(read.manifests.jobs, {}, &shapes);
  EXPECT_TRUE(made.ok()) << made.status();
  std::string nodes;
  for (const char* name : {"a", "b", "c"}) {
    NodeSpec node;
    node.name = name;
    if (node.name != "c") node.labels = {{"cores", node.name == "a" ? "8" : "16"}, {"zone", name}};
    const PodShape& shape = shapes.row(made->at(0).shape);
    if (shape.constraints.node_terms.empty() || MeetsNodeTerms(node, shape.constraints.node_terms))
      nodes += name;
  }
  return nodes;
}

TEST(ManifestsTest, RequiredNodeAffinityIsSimulated) {
  const auto with = [](absl::string_view terms) {
    return NodesThatTake(
        absl::StrCat("  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                     "{nodeSelectorTerms: [",
                     terms, "]}}}\n"));
  };
  EXPECT_EQ(with("{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}"), "ab");
  EXPECT_EQ(with("{matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}"), "bc");
  EXPECT_EQ(with("{matchExpressions: [{key: zone, operator: Exists}]}"), "ab");
  EXPECT_EQ(with("{matchExpressions: [{key: zone, operator: DoesNotExist}]}"), "c");
  EXPECT_EQ(with("{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}"), "b");
  EXPECT_EQ(with("{matchExpressions: [{key: cores, operator: Lt, values: ['9']}]}"), "a");
  EXPECT_EQ(with("{matchFields: [{key: metadata.name, operator: NotIn, values: [b]}]}"), "ac");
  // All requirements of a term, one of the terms.
  EXPECT_EQ(with("{matchExpressions: [{key: zone, operator: Exists}, {key: cores, operator: Gt, "
                 "values: ['8']}]}, {matchFields: [{key: metadata.name, operator: In, values: "
                 "[c]}]}"),
            "bc");
  EXPECT_EQ(NodesThatTake("  nodeName: b\n"), "b");
}

TEST(ManifestsTest, WhatIsNotSimulatedIsSaid) {
  const ReadTexts read(TestText("WhatIsNotSimulatedIsSaid"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Warnings(), TestLines("WhatIsNotSimulatedIsSaid.2"));
  EXPECT_EQ(read.Jobs(), Job(R"(name: "p" tolerations { operator: "Exists" }
                                pending: "schedulingGates" never_preempts: true)"));
  const ReadTexts bound(Pod("p", "  nodeName: node-1\n"));
  EXPECT_EQ(bound.Warnings(),
            "f0.yaml:6:13: spec.nodeName: the scheduler of the run places the pod, on that node "
            "alone");
}

// One thing each, which keeps the pod pending or does not.
TEST(ManifestsTest, WhatKeepsAPodPending) {
  const auto pending = [](const std::string& lines) {
    const ReadTexts read(Pod("p", lines));
    EXPECT_EQ(read.error, "");
    return std::string(PodHoldName(read.manifests.jobs.at(0).shape.constraints.hold));
  };
  for (const auto& [input, expected] : TestRows<2>("WhatKeepsAPodPending")) {
    EXPECT_EQ(pending(input), expected) << input;
  }
  const ReadTexts network(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  hostNetwork: true\n"
      "  containers: [{name: c, ports: [{containerPort: 9100}]}]\n");
  EXPECT_EQ(PodHoldName(network.manifests.jobs.at(0).shape.constraints.hold), "hostPort");
}

TEST(ManifestsTest, RuntimeClasses) {
  const std::string runtime =
      "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\n"
      "overhead: {podFixed: {cpu: 250m, memory: 120Mi}}\n"
      "scheduling: {nodeSelector: {kata: yes-it-has}, tolerations: [{key: kata, operator: Exists}]}"
      "\n";
  const ReadTexts read({Pod("p", "  runtimeClassName: kata\n"), runtime});
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.Warnings(), "");
  EXPECT_EQ(read.Jobs(), Job(R"(name: "p" cpu: "250m" memory: "120Mi"
      node_selector { key: "kata" value: "yes-it-has" }
      tolerations { key: "kata" operator: "Exists" })"));
  const ReadTexts own({Pod("p", "  runtimeClassName: kata\n  overhead: {cpu: 1}\n"), runtime});
  EXPECT_EQ(own.manifests.jobs.at(0).shape.request.cpu_milli, 1000);
  const ReadTexts unknown(Pod("p", "  runtimeClassName: nvidia\n"));
  EXPECT_EQ(unknown.Warnings(),
            "f0.yaml:6:21: spec.runtimeClassName: no RuntimeClass 'nvidia' is given: taken to have "
            "neither overhead nor scheduling");
  const ReadTexts other(
      {Pod("p", "  runtimeClassName: kata\n  nodeSelector: {kata: other}\n"), runtime});
  EXPECT_THAT(other.error, HasSubstr("found 'other', expected 'yes-it-has', which is what the "
                                     "RuntimeClass 'kata' says"));
}

TEST(ManifestsTest, TheSameWarningIsGivenOnce) {
  std::vector<std::string> texts;
  for (const char* name : {"a", "b", "c"}) {
    texts.push_back(Pod(name, "  activeDeadlineSeconds: 5\n"));
  }
  const ReadTexts read(texts);
  EXPECT_EQ(read.Warnings(),
            "f0.yaml:6:26: spec.activeDeadlineSeconds: not simulated (and 2 more like it)");
  // Tolerations of every pod that was ever created say nothing.
  const ReadTexts common(Pod("p", R"(  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}
)"));
  EXPECT_EQ(common.Warnings(), "");
  EXPECT_EQ(common.Jobs(), Job(R"(name: "p")"));
}

TEST(ManifestsTest, AmountsThatNoJobCanHave) {
  const auto with = [](absl::string_view limits) {
    return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n",
                        "  containers: [{name: c, resources: {limits: ", limits, "}}]\n");
  };
  EXPECT_EQ(ReadTexts(with("{cpu: 2000000000}")).error,
            "f0.yaml:5:3: spec: cpu: found '2G', expected at most 1000000000");
  EXPECT_EQ(ReadTexts(with("{cpu: 1e21}")).error,
            "f0.yaml:5:3: spec: asks for more cpu than can be counted, expected at most "
            "9223372036854775");
  EXPECT_EQ(ReadTexts(with("{nvidia.com/gpu: 2G}")).error,
            "f0.yaml:5:3: spec: extended.0.amount: found '2G', expected at most 1000000000");
}

// --- Priorities ---

TEST(ManifestsTest, PrioritiesOfClasses) {
  const auto high = [](absl::string_view more) {
    return absl::StrCat("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n",
                        "metadata: {name: high}\nvalue: 1000\n", more);
  };
  const auto priority = [&](absl::string_view pod, absl::string_view of_class) {
    // The class may come later, in another file.
    const ReadTexts read({Pod("p", pod), high(of_class)});
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.Warnings(), "");
    return read.manifests.jobs.at(0).arrival.priority;
  };
  EXPECT_EQ(priority("", ""), 0);
  EXPECT_EQ(priority("  priorityClassName: high\n", ""), 1000);
  EXPECT_EQ(priority("  priorityClassName: high\n  priority: 1000\n", ""), 1000);
  EXPECT_EQ(priority("  priorityClassName: system-node-critical\n", ""), 2'000'001'000);
  EXPECT_EQ(priority("  priority: -5\n", ""), -5);
  EXPECT_EQ(priority("  priority: -5\n", "globalDefault: true\n"), -5);
  EXPECT_EQ(priority("", "globalDefault: true\n"), 1000);
  EXPECT_EQ(priority("  priorityClassName: other\n  priority: 3\n", ""), 3);

  const ReadTexts unknown({Pod("p", "  priorityClassName: hihg\n"), high("")});
  EXPECT_EQ(unknown.Warnings(),
            "f0.yaml:6:22: spec.priorityClassName: no PriorityClass 'hihg' is given: the priority "
            "is 0");
  const ReadTexts other({Pod("p", "  priorityClassName: high\n  priority: 3\n"), high("")});
  EXPECT_EQ(other.error,
            "f0.yaml:7:13: spec.priority: found 3, expected 1000, which is what the PriorityClass "
            "'high' says, or nothing");
  const ReadTexts never({high("preemptionPolicy: Never\n")});
  EXPECT_EQ(never.Warnings(), "");
  const ReadTexts meek(
      {Pod("p", "  priorityClassName: high\n"), high("preemptionPolicy: Never\n")});
  EXPECT_TRUE(meek.manifests.jobs.at(0).shape.constraints.never_preempts);
}

// --- Bad input ---

TEST(ManifestsTest, AClaimWithoutAClass) {
  EXPECT_EQ(ReadTexts("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\n"
                      "metadata: {name: c}\nspec: {allocationMode: Immediate}\n")
                .error,
            "f0.yaml:4:7: spec.resourceClassName: not given, expected the name of a ResourceClass");
}

TEST(ManifestsTest, ATemplateWithAnUnknownMode) {
  EXPECT_EQ(ReadTexts("apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaimTemplate\n"
                      "metadata: {name: t}\nspec:\n  spec:\n    resourceClassName: c\n"
                      "    allocationMode: Imediate\n")
                .error,
            "f0.yaml:7:21: spec.spec.allocationMode: found 'Imediate', expected one of "
            "WaitForFirstConsumer, Immediate (did you mean 'Immediate'?)");
}

TEST(ManifestsTest, AContainerThatClaimsWhatItsPodDoesNotList) {
  EXPECT_EQ(ReadTexts(TestText("AContainerThatClaimsWhatItsPodDoesNotList")).error,
            "f0.yaml:6:43: spec.containers[0].resources.claims[0].name: found 'gpus', which "
            "spec.resourceClaims does not list (did you mean 'gpu'?)");
}

TEST(ManifestsTest, TwoEntriesOfOneNameAndEntriesWithoutASource) {
  EXPECT_EQ(ReadTexts(Pod("p", R"(  resourceClaims:
  - {name: a, resourceClaimName: x}
  - {name: a, resourceClaimName: z}
)"))
                .error,
            "f0.yaml:8:12: spec.resourceClaims[1].name: found 'a' a second time");
  EXPECT_EQ(ReadTexts(Pod("p", "  resourceClaims: [{name: a}]\n")).error,
            "f0.yaml:6:20: spec.resourceClaims[0]: found no source, expected resourceClaimName or "
            "resourceClaimTemplateName");
  EXPECT_EQ(ReadTexts(Pod("p",
                          "  resourceClaims: [{name: a, resourceClaimName: b, "
                          "resourceClaimTemplateName: c}]\n"))
                .error,
            "f0.yaml:6:20: spec.resourceClaims[0]: found both resourceClaimName and "
            "resourceClaimTemplateName, expected one");
}

TEST(ManifestsTest, StructuredDraNeedsItsFrontEnd) {
  for (const char* version : {"v1", "v1beta2", "v1beta1", "v1alpha3"}) {
    const ReadTexts read(absl::StrCat("apiVersion: resource.k8s.io/", version,
                                      "\nkind: ResourceClaim\nmetadata: {name: c}\n"));
    EXPECT_EQ(read.error, "");
    EXPECT_THAT(
        read.manifests.warnings,
        ::testing::ElementsAre("f0.yaml:2:7: kind: ResourceClaim of resource.k8s.io/v1 (structured "
                               "DRA) has no effect without front_end.kind: dra-structured: left "
                               "out"));
  }
  EXPECT_EQ(ReadTexts("apiVersion: resource.k8s.io/v2\nkind: ResourceSlice\n"
                      "metadata: {name: c}\n")
                .error,
            "f0.yaml:1:13: apiVersion: found 'resource.k8s.io/v2', expected for the kind "
            "ResourceSlice resource.k8s.io/v1 or resource.k8s.io/v1beta2 or "
            "resource.k8s.io/v1beta1 or resource.k8s.io/v1alpha3");
}

TEST(ManifestsTest, ErrorsOfAllFilesTogether) {
  const std::string bad = "apiVersion: apps/v2\nkind: Deployment\n";
  const ReadTexts read({bad, Pod("p"), bad});
  const std::string what =
      ": apiVersion: found 'apps/v2', expected for the kind Deployment apps/v1";
  EXPECT_EQ(read.error, "f0.yaml:1:13" + what + "\nf2.yaml:1:13" + what);
  std::vector<std::string> sets;
  for (int i = 0; i < 25; ++i) {
    sets.push_back(absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: p", i,
                                ", annotations: {drasim.dev/run-time: soon}}\n",
                                "spec: {containers: [{name: c}]}\n"));
  }
  const std::string many = ReadTexts(sets).error;
  EXPECT_THAT(many, HasSubstr("f19.yaml:3:"));
  EXPECT_THAT(many, HasSubstr("\nand 5 more errors"));
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 20);
}

TEST(ManifestsTest, AFileThatIsNotThere) {
  const auto read = ReadManifests({"/nowhere/at/all.yaml"});
  EXPECT_EQ(read.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("/nowhere/at/all.yaml"));
}

// --- The demonstrations ---

TEST(ManifestsTest, DemosSayWhatTheyShow) {
  const char kOne[] = R"( cpu: "1" memory: "1Gi" run_time: "5m" )";
  const char kPlain[] = R"(extended { resource: "nvidia.com/gpu" amount: "1" })";
  const auto pod = [&](const char* name, const std::string& rest) {
    return Job(absl::StrCat("name: \"", name, "\"", kOne, rest));
  };
  const auto jobs_of = [](const std::string& file, size_t objects) {
    const auto read = ReadManifests(
        {absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/demos/", file, ".manifest.yaml")});
    EXPECT_TRUE(read.ok()) << read.status();
    if (!read.ok()) return std::vector<std::string>();
    EXPECT_THAT(read->warnings, IsEmpty()) << file;
    EXPECT_EQ(read->objects.size(), objects) << file;
    std::vector<std::string> jobs;
    for (const InlineJob& job : read->jobs) jobs.push_back(JobText(job));
    return jobs;
  };
  using Jobs = std::vector<std::string>;
  const std::string own = R"(claims { name: "gpu" template: "one-gpu" })";
  EXPECT_EQ(jobs_of("gpu-test1", 2), (Jobs{pod("pod0", own), pod("pod1", own)}));
  EXPECT_EQ(jobs_of("gpu-test2", 2), (Jobs{Job(R"(name: "pod0" cpu: "2" memory: "2Gi" run_time: "5m"
                         claims { name: "both" template: "one-gpu" })")}));
  const std::string common = R"(claims { name: "common" claim: "common-gpu" })";
  EXPECT_EQ(jobs_of("gpu-test3", 2), (Jobs{pod("pod0", common), pod("pod1", common)}));
  EXPECT_EQ(jobs_of("gpu-test4", 3), (Jobs{Job(R"(name: "pod0" cpu: "4" memory: "4Gi" run_time: "5m"
                         claims { name: "gpus" template: "four-gpus" })")}));
  EXPECT_EQ(jobs_of("gpu-test1-device-plugin", 0),
            (Jobs{pod("pod0", kPlain), pod("pod1", kPlain)}));
  EXPECT_EQ(jobs_of("gpu-test2-device-plugin", 0),
            (Jobs{Job(absl::StrCat(R"(name: "pod0" cpu: "2" memory: "2Gi" run_time: "5m")",
                                   "containers {", kPlain, "} containers {", kPlain, "}"))}));
  EXPECT_EQ(jobs_of("gpu-test3-device-plugin", 0),
            (Jobs{pod("pod0", kPlain), pod("pod1", kPlain)}));
  EXPECT_EQ(jobs_of("gpu-test4-device-plugin", 0),
            (Jobs{Job(R"(name: "pod0" cpu: "4" memory: "4Gi" run_time: "5m"
                         extended { resource: "nvidia.com/gpu" amount: "4" })")}));
}

// ---- ReadManifests: what makes pods, names, and objects that are no pods. ----

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
  const ReadTexts read(TestText("TemplatesSayWhatPodsSay"));
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
  EXPECT_EQ(read.Warnings(), TestLines("OwnersWithoutPods"));
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
  EXPECT_EQ(PodHoldName(read.manifests.jobs[0].shape.constraints.hold), "volumes");
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
       // An owner in another namespace.
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
  EXPECT_EQ(read.Warnings(), TestLines("WhatAnObjectThatIsThereHasMadeIsLeftOut"));
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
  EXPECT_EQ(read.manifests.objects.at(0)->resource_claim().metadata().name(), "a-0");
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
  const ReadTexts read({TestText("ObjectsComeAsTheyAreInTheOrderOfTheFiles"),
                        TestText("ObjectsComeAsTheyAreInTheOrderOfTheFiles.2")});
  // No driver serves the class, and some references lead nowhere: Kubernetes takes that, too.
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Warnings(), "");
  std::string objects;
  for (const std::shared_ptr<const proto::kube::Object>& object : read.manifests.objects) {
    absl::StrAppend(&objects, object->ShortDebugString(), "\n");
  }
  EXPECT_EQ(objects, TestText("ObjectsComeAsTheyAreInTheOrderOfTheFiles.3"));
}

TEST(ManifestsOwnersTest, ObjectsThatMeanNothingHere) {
  const ReadTexts read({"apiVersion: v1\nkind: Node\nmetadata: {name: team}\n",
                        "apiVersion: resource.k8s.io/v1alpha2\nkind: PodSchedulingContext\n"
                        "metadata: {name: p}\n",
                        "apiVersion: resource.nvidia.com/v1beta1\nkind: GpuConfig\n",
                        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
                        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"});
  ASSERT_EQ(read.error, "");
  EXPECT_THAT(read.manifests.objects, IsEmpty());
  // Warnings of the reader come first.
  EXPECT_EQ(read.Warnings(),
            "f4.yaml:2:7: kind: objects of the kind Secret of v1 are not read: left out\n"
            "f0.yaml:2:7: kind: nodes are those of the scenario's cluster: left out\n"
            "f1.yaml:2:7: kind: made by the scheduler of the run: left out\n"
            "f2.yaml:1:1: metadata.name: not given, so that nothing can refer to it: left out\n"
            "f3.yaml:2:7: kind: not simulated: left out");
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

}  // namespace manifests_test
}  // namespace drasim
