// The workload of a run: which source serves it, and what sources need of the cluster.
#include "sim/run/input_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "model/state_io.h"
#include "model/text/yaml_proto.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace input_files_test {

std::vector<std::string> NamesOf(const std::vector<JobArrival>& jobs) {
  std::vector<std::string> names;
  for (const JobArrival& job : jobs) names.push_back(job.name);
  return names;
}

// Two nodes with an A100 of 40 GB (eight units each) and one without GPUs, and what comes of the
// scenario's workload on them.
struct Opened {
  explicit Opened(absl::string_view yaml, const std::string& other_model = "A100-SXM4-40GB")
      : scenario(ScenarioOf(yaml)), shapes(&models) {
    nodes.resize(3);
    nodes[1].gpu_count = 4;
    nodes[1].gpu_model = "A100-SXM4-40GB";
    nodes[2].gpu_count = 4;
    nodes[2].gpu_model = other_model;
    status = Open(nodes);
  }

  absl::Status Open(const std::vector<NodeSpec>& on) {
    const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
    if (!spec.ok()) return spec.status();
    absl::StatusOr<WorkloadInput> opened =
        OpenWorkloadInput(spec->workload, spec->seed, on, &shapes);
    if (opened.ok()) source = std::move(opened->source);
    return opened.status();
  }

  std::vector<JobArrival> Rest() const {
    std::vector<JobArrival> jobs;
    JobArrival job;
    for (absl::StatusOr<bool> more = source->Next(&job); more.ok() && *more;
         more = source->Next(&job)) {
      jobs.push_back(job);
    }
    return jobs;
  }

  proto::Scenario scenario;
  std::vector<NodeSpec> nodes;
  GpuModelTable models;
  ShapeTable shapes;
  absl::Status status;
  std::unique_ptr<EventSource> source;
};

constexpr char kThreeJobs[] =
    "workload: {jobs: [{name: b, arrival: 1s, mig: [{profile: 3g.20gb}]}, {name: a}, {name: c}]}";

TEST(OpenWorkloadInputTest, ServesInlineJobsAndGoesOnFromASavedPosition) {
  const Opened whole(kThreeJobs);
  ASSERT_EQ(whole.status, absl::OkStatus());
  const std::vector<JobArrival> jobs = whole.Rest();
  EXPECT_EQ(NamesOf(jobs), (std::vector<std::string>{"a", "c", "b"}));
  EXPECT_EQ(whole.shapes.row(jobs.at(2).shape).request.nominal_milli, 500);
  StateWriter end;
  whole.source->Save(end);
  for (size_t position = 0; position <= jobs.size(); ++position) {
    const Opened first(kThreeJobs);
    JobArrival job;
    for (size_t i = 0; i < position; ++i) ASSERT_TRUE(first.source->Next(&job).ok());
    StateWriter out;
    first.source->Save(out);
    const Opened second(kThreeJobs);
    StateReader in(out.bytes());
    ASSERT_EQ(second.source->Load(in), absl::OkStatus());
    EXPECT_EQ(second.Rest().size(), jobs.size() - position);
  }
  const Opened shorter("workload: {jobs: [{name: a}]}");
  StateReader in(end.bytes());
  EXPECT_FALSE(shorter.source->Load(in).ok());
}

TEST(OpenWorkloadInputTest, InstancesNeedAGpuThatHasThem) {
  Opened none("workload: {jobs: [{name: a}]}");
  for (NodeSpec& node : none.nodes) node.gpu_model = node.gpu_count > 0 ? "T4" : "";
  none.scenario = ScenarioOf("workload: {jobs: [{name: a}, {name: b, mig: [{profile: 1g.5gb}]}]}");
  EXPECT_EQ(WithoutCheckedKey(none.Open(none.nodes)),
            absl::InvalidArgumentError("workload.jobs.1.mig: found no GPU in the cluster that can "
                                       "be partitioned, expected one"));
  const Opened other("workload: {jobs: [{name: a, mig: [{profile: 1g.6gb}]}]}");
  EXPECT_TRUE(absl::StartsWith(other.status.message(),
                               "workload.jobs.0.mig.0.profile: found '1g.6gb', expected "))
      << other.status;
  // An A30 among them has it.
  EXPECT_EQ(Opened("workload: {jobs: [{name: a, mig: [{profile: 1g.6gb}]}]}", "A30").status,
            absl::OkStatus());
}

TEST(OpenWorkloadInputTest, JobsComeFromOnePlace) {
  EXPECT_EQ(WithoutCheckedKey(Opened("workload: {jobs: [{name: a}], trace: {path: p.csv}}").status),
            absl::InvalidArgumentError(
                "workload.jobs: found workload.trace.path, too, expected one of them"));
  EXPECT_EQ(WithoutCheckedKey(Opened("workload: {jobs: [{name: a}], generated: {pods: 3}}").status),
            absl::InvalidArgumentError(
                "workload.jobs: found workload.generated, too, expected one of them"));
}

// Units that the mix asks for in all, and in its last pod.
std::pair<int64_t, int64_t> UnitsAsked(const Opened& opened) {
  std::pair<int64_t, int64_t> units;
  for (const JobArrival& pod : opened.Rest()) {
    units.second = opened.shapes.row(pod.shape).request.nominal_milli / 125;
    units.first += units.second;
  }
  return units;
}

TEST(OpenWorkloadInputTest, AMixIsOfferedInPercentOfTheClustersUnits) {
  // 8 GPUs of 8 units.
  for (const auto& [percent, units] : std::vector<std::pair<double, int64_t>>{
           {100, 64}, {400, 256}, {50, 32}, {12.5, 8}, {12.6, 9}, {55, 36}, {0.001, 1}}) {
    const Opened opened(absl::StrCat("seed: 4\nworkload: {generated: {offered_percent: ", percent,
                                     ", mig: [{profile: 1g.5gb, weight: 1}]}}"));
    ASSERT_EQ(opened.status, absl::OkStatus());
    EXPECT_EQ(UnitsAsked(opened).first, units) << percent;
  }
  const Opened mixed(
      "seed: 4\nworkload: {generated: {offered_percent: 100, mig: [{profile: 7g.40gb, weight: 1}, "
      "{profile: 3g.20gb, weight: 2}]}}");
  ASSERT_EQ(mixed.status, absl::OkStatus());
  const auto [all, last] = UnitsAsked(mixed);
  EXPECT_GE(all, 64);
  EXPECT_LT(all - last, 64);
  EXPECT_EQ(Opened("workload: {generated: {pods: 7, mig: [{profile: 7g.40gb, weight: 1}]}}")
                .Rest()
                .size(),
            7u);
}

TEST(OpenWorkloadInputTest, AMixNeedsOneProduct) {
  const std::string yaml = "workload: {generated: {pods: 3, mig: [{profile: 1g.5gb, weight: 1}]}}";
  EXPECT_EQ(Opened(yaml, "A100-PCIE-40GB").status, absl::OkStatus());  // the same table
  EXPECT_EQ(Opened(yaml, "T4").status, absl::OkStatus());              // cannot be partitioned
  EXPECT_EQ(WithoutCheckedKey(Opened(yaml, "A100-SXM4-80GB").status),
            absl::InvalidArgumentError(
                "workload.generated.mig: found A100-40GB, A100-80GB among the GPUs of the cluster, "
                "expected exactly one product that can be partitioned"));
  Opened none(yaml);
  EXPECT_EQ(WithoutCheckedKey(none.Open({})),
            absl::InvalidArgumentError(
                "workload.generated.mig: found none among the GPUs of the cluster, expected "
                "exactly one product that can be partitioned"));
}

// A format without a file is one that was meant for a file.
TEST(OpenWorkloadInputTest, AFormatNeedsItsTrace) {
  EXPECT_EQ(WithoutCheckedKey(Opened("workload: {trace: {format: philly}}").status),
            absl::InvalidArgumentError("workload.trace.path: expected the trace's file beside "
                                       "workload.trace.format: philly"));
  EXPECT_EQ(Opened("workload: {generated: {pods: 2}, trace: {format: openb}}").status,
            absl::OkStatus());
}

// --- Labels and taints of generated nodes ---

NodeListSpec NodeListOf(absl::string_view node) {
  return RunSpecOf(ScenarioOf(absl::StrCat("cluster: {nodes: 5, node: {cpu: 4, memory: 8Gi, ", node,
                                           "}}\n")))
      .cluster.nodes;
}

std::vector<std::string> LabelOfEach(const std::vector<NodeSpec>& nodes, const std::string& key) {
  std::vector<std::string> values;
  for (const NodeSpec& node : nodes) {
    for (const auto& [name, value] : node.labels) {
      if (name == key) values.push_back(value);
    }
  }
  return values;
}

TEST(GeneratedNodesTest, ListsOfLabelsAreDealtInTurn) {
  const absl::StatusOr<NodeInput> input = ReadNodeInput(
      NodeListOf("labels: {zone: [a, b, c], example.com/disk: ssd, arch: 'x , y', empty: ''}"));
  ASSERT_EQ(input.status(), absl::OkStatus());
  using Values = std::vector<std::string>;
  EXPECT_EQ(LabelOfEach(input->nodes, "zone"), (Values{"a", "b", "c", "a", "b"}));
  EXPECT_EQ(LabelOfEach(input->nodes, "example.com/disk"), Values(5, "ssd"));
  EXPECT_EQ(LabelOfEach(input->nodes, "arch"), (Values{"x", "y", "x", "y", "x"}));
  EXPECT_EQ(LabelOfEach(input->nodes, "empty"), Values(5, ""));
  for (const NodeSpec& node : input->nodes) {
    EXPECT_TRUE(std::is_sorted(node.labels.begin(), node.labels.end()));
    EXPECT_EQ(node.labels.size(), 4U);
  }
}

TEST(GeneratedNodesTest, EveryNodeHasTheTaints) {
  const absl::StatusOr<NodeInput> input = ReadNodeInput(NodeListOf(
      "taints: [{key: gpu, value: 'yes', effect: NoSchedule}, {key: gpu, effect: NoExecute}]"));
  ASSERT_EQ(input.status(), absl::OkStatus());
  for (const NodeSpec& node : input->nodes) {
    EXPECT_EQ(node.taints,
              (std::vector<Taint>{{"gpu", "yes", "NoSchedule"}, {"gpu", "", "NoExecute"}}));
  }
}

TEST(GeneratedNodesTest, LabelsByFlag) {
  proto::Scenario scenario = ScenarioOf("cluster: {nodes: 3, node: {cpu: 4, memory: 8Gi}}\n");
  ASSERT_EQ(SetField("cluster.node.labels.topology.kubernetes.io/zone", "a,b", "--set", &scenario),
            absl::OkStatus());
  const absl::StatusOr<NodeInput> input = ReadNodeInput(RunSpecOf(scenario).cluster.nodes);
  ASSERT_EQ(input.status(), absl::OkStatus());
  EXPECT_EQ(LabelOfEach(input->nodes, "topology.kubernetes.io/zone"),
            (std::vector<std::string>{"a", "b", "a"}));
}

TEST(GeneratedNodesTest, WhatIsNoLabelOrTaintIsRefusedWithItsKey) {
  const auto refusal = [](absl::string_view node) {
    return std::string(
        WithoutCheckedKey(
            ResolveScenario(ScenarioOf(absl::StrCat(
                                "cluster: {nodes: 2, node: {cpu: 4, memory: 8Gi, ", node, "}}\n")))
                .status())
            .message());
  };
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {"labels: {'a b': c}", "cluster.node.labels.a b: found 'a b': "},
      {"labels: {zone: [a, 'b/c']}", "cluster.node.labels.zone: found 'b/c': "},
      {"labels: {zone: 'a,-b'}", "cluster.node.labels.zone: found '-b': "},
      {"taints: [{effect: NoSchedule}]", "cluster.node.taints[0].key: found '': "},
      {"taints: [{key: a, value: 'b c', effect: NoSchedule}]",
       "cluster.node.taints[0].value: found 'b c': "},
      {"taints: [{key: a}]", "cluster.node.taints[0].effect: found '', expected one of "},
      {"taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]",
       "cluster.node.taints[1]: found the key and effect of an earlier taint, 'a' and NoSchedule"},
  };
  for (const auto& [node, message] : cases) {
    EXPECT_TRUE(absl::StartsWith(refusal(node), message)) << refusal(node);
  }
}

TEST(GeneratedNodesTest, ListsOfLabelsThatAreNoTexts) {
  const auto error = [](absl::string_view labels) {
    proto::Scenario scenario;
    return std::string(MergeYaml(absl::StrCat("cluster: {node: {labels: {zone: ", labels, "}}}\n"),
                                 "s.yaml", &scenario)
                           .message());
  };
  EXPECT_EQ(error("[]"),
            "s.yaml:1:33: cluster.node.labels.zone: found an empty list, expected a "
            "text or more");
  EXPECT_EQ(error("[a, 'b,c']"),
            "s.yaml:1:37: cluster.node.labels.zone.1: found 'b,c', expected no comma");
  EXPECT_TRUE(absl::StrContains(error("[a, [b]]"), "cluster.node.labels.zone.1: found "));
  // Other maps of texts take no lists.
  proto::Scenario scenario;
  EXPECT_FALSE(
      MergeYaml("workload: {jobs: [{name: a, node_selector: {zone: [a]}}]}\n", "s.yaml", &scenario)
          .ok());
}

}  // namespace input_files_test
}  // namespace drasim
