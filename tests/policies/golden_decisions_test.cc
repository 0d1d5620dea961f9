// A small trace scheduled by each policy, against decisions on file (tests/golden/decisions).
//
// The files come from a separate program, written from the published rules alone (and, for
// `random`, from the definition of the seeded streams), not from this code's output. A change of a
// file is a change of a policy.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/fragmentation.h"
#include "model/record.h"
#include "policies/framework/profile.h"
#include "sim/core/engine.h"
#include "sim/core/fill_dispatcher.h"
#include "sim/core/placer.h"
#include "sim/core/scheduling_cycle.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace golden_decisions_test {

constexpr uint64_t kSeed = 7;

struct PodRow {
  int64_t cpu_milli;
  int64_t memory_gib;
  int32_t gpu_count;
  int32_t gpu_milli;
  const char* gpu_spec;
};

// pod-01, pod-02, ... in order of arrival.
constexpr PodRow kPods[] = {
    {16000, 16, 1, 200, ""}, {6000, 32, 1, 500, ""},         {2000, 4, 1, 200, "G2"},
    {2000, 64, 2, 1000, ""}, {1000, 64, 1, 1000, "G2|V100"}, {8000, 16, 1, 350, ""},
    {2000, 64, 0, 0, ""},    {8000, 32, 0, 0, ""},           {6000, 8, 4, 1000, ""},
    {8000, 16, 1, 500, ""},  {1000, 8, 1, 200, "G2"},        {4000, 64, 1, 1000, ""},
    {2000, 8, 1, 400, ""},   {8000, 32, 1, 400, "T4|V100"},  {12000, 8, 1, 300, "T4|V100"},
    {4000, 16, 1, 500, ""},
};

void AddNodes(ClusterBuilder& builder) {
  struct NodeShape {
    const char* name;
    int64_t cpu_milli;
    int64_t memory_gib;
    int32_t gpu_count;
    const char* gpu_model;
  };
  for (const NodeShape& n :
       {NodeShape{"node-a", 32000, 128, 2, "T4"}, NodeShape{"node-b", 64000, 256, 4, "G2"},
        NodeShape{"node-c", 96000, 192, 4, "V100"}, NodeShape{"node-d", 48000, 256, 2, "G2"}}) {
    NodeSpec spec = TestNode(n.name, n.cpu_milli, n.gpu_count, n.gpu_model);
    spec.memory_bytes = n.memory_gib * kTestGib;
    builder.AddNode(spec);
  }
}

std::vector<JobArrival> AddPods(ClusterBuilder& builder) {
  std::vector<JobArrival> pods;
  for (const PodRow& row : kPods) {
    PodShape shape = TestShape(row.cpu_milli, row.gpu_count, row.gpu_milli, row.gpu_spec);
    shape.request.memory_bytes = row.memory_gib * kTestGib;
    JobArrival pod;
    const size_t number = pods.size() + 1;
    pod.name = absl::StrCat("pod-", number < 10 ? "0" : "", number);
    pod.shape = builder.AddShape(shape);
    pods.push_back(std::move(pod));
  }
  return pods;
}

// Turns placements and rejections into the lines of the golden files.
class DecisionLog : public RecordSink {
 public:
  explicit DecisionLog(const VerdictSummaryTable* summaries) : summaries_(summaries) {}
  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (record.kind == RecordKind::kPodBound) {
      absl::StrAppend(&text_, cluster.pod_name(record.pod), " ",
                      cluster.node_spec(record.node).name);
      if (!record.devices.empty()) absl::StrAppend(&text_, " gpu ", DevicesText(record.devices));
      absl::StrAppend(&text_, "\n");
    } else if (record.kind == RecordKind::kAttemptFailed) {
      absl::StrAppend(&text_, cluster.pod_name(record.pod),
                      " dropped: ", summaries_->Text(SummaryId(record.detail)), "\n");
    }
  }
  const std::string& text() const { return text_; }

 private:
  const VerdictSummaryTable* summaries_;
  std::string text_;
};

std::string Decide(const std::string& policy, bool use_cache) {
  ClusterBuilder builder;
  AddNodes(builder);
  std::vector<JobArrival> pods = AddPods(builder);
  std::vector<int64_t> pods_by_shape(builder.shapes().size());
  for (const JobArrival& pod : pods) ++pods_by_shape[pod.shape.value()];
  const ProfileParts parts(BuildTypicalPods(builder.shapes(), pods_by_shape, 95), kSeed,
                           SimDuration());
  Profile profile = MakeTestProfile(TestRegistry(), policy, {}, parts);
  SchedulingCycle cycle(&profile, &builder.cluster(), {2, 0, 3, 1}, use_cache);
  VerdictSummaryTable summaries;
  summaries.SetReasons(profile.reasons());
  VectorSource source(std::move(pods));
  DecisionLog log(&summaries);
  JobTable jobs;
  Quotas quotas;
  Placer placer(&profile, &builder.cluster(), &jobs, &cycle, &summaries, use_cache);
  EngineParts engine_parts;
  engine_parts.jobs = &jobs;
  engine_parts.quotas = &quotas;
  engine_parts.placer = &placer;
  engine_parts.make_dispatcher = [&](JobControl* control) {
    DispatchParts parts_of_it;
    parts_of_it.cluster = &builder.cluster();
    parts_of_it.jobs = &jobs;
    parts_of_it.placer = &placer;
    parts_of_it.control = control;
    return std::make_unique<FillDispatcher>(parts_of_it);
  };
  engine_parts.cluster = &builder.cluster();
  engine_parts.source = &source;
  engine_parts.profile = &profile;
  engine_parts.cycle = &cycle;
  engine_parts.summaries = &summaries;
  engine_parts.sinks = {&log};
  Engine engine(std::move(engine_parts), EngineOptions());
  const absl::Status status = engine.Run();
  EXPECT_TRUE(status.ok()) << status;
  return log.text();
}

std::string ReadGolden(const std::string& policy) {
  const std::string path =
      absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/decisions/", policy, ".txt");
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

TEST(GoldenDecisionsTest, ThePublishedPoliciesDecideAsOnFile) {
  for (const char* const policy :
       {"random", "dotprod", "gpu-clustering", "gpu-packing", "best-fit", "fgd"}) {
    SCOPED_TRACE(policy);
    const std::string golden = ReadGolden(policy);
    EXPECT_EQ(Decide(policy, /*use_cache=*/true), golden);
    EXPECT_EQ(Decide(policy, /*use_cache=*/false), golden);
  }
}

}  // namespace golden_decisions_test
}  // namespace drasim
