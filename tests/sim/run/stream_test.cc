// A fill as a stream (workload.stream_interval): the same pods in the same order on the same nodes,
// one after the other in time.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/run/device_outputs.h"
#include "sim/run/input_files.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace stream_test {

const std::string& FillText() { return TestText("Fill"); }
const std::string& StreamText() { return TestText("Stream"); }

absl::StatusOr<RunSpec> Resolved(const std::vector<absl::string_view>& yamls) {
  proto::Scenario scenario;
  for (const absl::string_view yaml : yamls) {
    EXPECT_EQ(MergeYaml(yaml, "test.yaml", &scenario), absl::OkStatus());
  }
  return ResolveScenario(scenario);
}

std::unique_ptr<Simulation> Ran(const std::vector<absl::string_view>& yamls) {
  const absl::StatusOr<RunSpec> spec = Resolved(yamls);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return run_texts::Finished(Simulation::Build(*spec));
}

// Name and node of each pod, in order of arrival; no node: none.
std::vector<std::string> Placements(const Simulation& sim) {
  std::vector<std::string> lines;
  for (size_t p = 0; p < sim.cluster().pod_count(); ++p) {
    const NodeId node = sim.cluster().pod_node(PodId(p));
    lines.push_back(absl::StrCat(sim.cluster().pod_name(PodId(p)), " ",
                                 node.valid() ? sim.cluster().node_spec(node).name : "-"));
  }
  return lines;
}

TEST(StreamTest, PlacesWhatTheFillPlaces) {
  for (const char* order : {"trace", "seeded", "artifact"}) {
    const std::string with_order = absl::StrCat("order: ", order, "\nseed: 7\n");
    const std::unique_ptr<Simulation> fill = Ran({FillText(), with_order});
    const std::unique_ptr<Simulation> stream = Ran({FillText(), with_order, StreamText()});
    const std::vector<std::string> placements = Placements(*stream);
    EXPECT_EQ(placements, Placements(*fill)) << order;
    EXPECT_EQ(stream->ranks(), fill->ranks()) << order;
    ASSERT_GT(placements.size(), 90u) << order;  // tuned
    EXPECT_TRUE(stream->engine().finished());
    for (size_t p = 0; p < placements.size(); ++p) {
      EXPECT_EQ(stream->cluster().pod_arrival(PodId(p)).ns(), static_cast<int64_t>(p) * 250'000'000)
          << order << p;
    }
    // Some wait without success, where the fill has dropped them, and none has left.
    EXPECT_GT(stream->metrics().sample().pods_scheduled, 50);
    EXPECT_LT(stream->metrics().sample().pods_scheduled, static_cast<int64_t>(placements.size()));
    EXPECT_EQ(stream->metrics().sample().totals.gpu_milli_allocated,
              fill->metrics().sample().totals.gpu_milli_allocated);
  }
}

TEST(StreamTest, TimesOfTheTraceDoNotMatter) {
  const TempDir dir;
  dir.Write(
      "nodes.csv",
      "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\nn-1,64000,262144,2,P100\n");
  dir.Write("pods.csv", TestText("TimesOfTheTraceDoNotMatter"));
  const std::string files =
      absl::StrCat("order: trace\ncluster: {path: ", dir.PathOf("nodes.csv"),
                   "}\nworkload: {trace: {path: ", dir.PathOf("pods.csv"), "}}\n");
  const std::unique_ptr<Simulation> stream = Ran({files, StreamText()});
  ASSERT_EQ(stream->cluster().pod_count(), 3u);
  const std::pair<const char*, int64_t> expected[] = {{"late", 0}, {"early", 250}, {"gone", 500}};
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(stream->cluster().pod_name(PodId(p)), expected[p].first);
    EXPECT_EQ(stream->cluster().pod_arrival(PodId(p)).ns(), expected[p].second * 1'000'000);
    EXPECT_EQ(stream->cluster().pod_phase(PodId(p)), PodPhase::kBound);
  }
  EXPECT_EQ(stream->engine().now().ns(), 500'000'000);
}

// A share of the pods of a fill can only be told at its end; an average would count the time in
// which the stream had only begun.
TEST(StreamTest, DevicesAreThoseAtTheEnd) {
  const std::string front_end = "order: seeded\nfront_end: {kind: direct}\n";
  const std::unique_ptr<Simulation> fill = Ran({FillText(), front_end});
  const std::unique_ptr<Simulation> stream = Ran({FillText(), front_end, StreamText()});
  const DeviceFigures expected = DeviceFiguresOf(*fill);
  const DeviceFigures figures = DeviceFiguresOf(*stream);
  EXPECT_GT(expected.allocated_percent, 50);
  EXPECT_EQ(figures.allocated_percent, expected.allocated_percent);
  EXPECT_EQ(figures.demanded_percent, expected.demanded_percent);
  EXPECT_EQ(figures.slot_fragmentation_percent, expected.slot_fragmentation_percent);
}

TEST(StreamTest, Defaults) {
  const absl::StatusOr<RunSpec> stream = Resolved({FillText(), StreamText()});
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->written->order(), "seeded");
  EXPECT_TRUE(stream->is_stream());
  EXPECT_FALSE(stream->workload.shaped);
  EXPECT_FALSE(Resolved({FillText()})->is_stream());
}

TEST(StreamTest, WhatIsRefused) {
  const auto error = [](absl::string_view yaml) {
    return WithoutCheckedKey(Resolved({FillText(), yaml}).status());
  };
  EXPECT_EQ(error("workload: {stream_interval: 1s}"),
            absl::InvalidArgumentError("workload.stream_interval: found '1s', expected none in "
                                       "mode fill, which has no clock"));
  EXPECT_EQ(error("mode: replay\nworkload: {stream_interval: 0s}"),
            absl::InvalidArgumentError(
                "workload.stream_interval: found '0s', expected above 0s, at most 24h"));
  EXPECT_EQ(error("mode: replay\nworkload: {stream_interval: 25h}"),
            absl::InvalidArgumentError(
                "workload.stream_interval: found '25h', expected above 0s, at most 24h"));
  EXPECT_FALSE(error("mode: replay\nworkload: {stream_interval: soon}").ok());
  EXPECT_EQ(error("mode: replay\norder: seeded"),
            absl::InvalidArgumentError(
                "order: found 'seeded', expected 'trace': a replay keeps the arrival times"));
}

}  // namespace stream_test
}  // namespace drasim
