// Nodes with several GPU models in whole runs: every front end gives pods GPUs of models that they
// accept, and the ledger knows the models.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/record.h"
#include "sim/dra/classic/plane_checks.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace mixed_nodes_test {

using run_texts::BuildText;
using run_texts::Finished;

// GPUs 0 and 1 are A100-SXM4-40GB, GPU 2 is A30. The jobs run for ever.
std::string ScenarioText(absl::string_view jobs, absl::string_view rest,
                         absl::string_view more_cluster = "", absl::string_view mode = "replay") {
  return absl::StrCat(
      "mode: ", mode,
      "\n"
      "order: trace\n"
      "cluster:\n"
      "  nodes: 1\n"
      "  node:\n"
      "    cpu: \"64\"\n"
      "    memory: 256Gi\n"
      "    gpu_models: [{model: A100-SXM4-40GB, count: 2}, {model: A30, count: 1}]\n",
      more_cluster, "workload:\n  jobs:\n", jobs, rest);
}

std::string Job(absl::string_view name, absl::string_view wants) {
  return absl::StrCat("    - {name: ", name, ", cpu: \"1\", ", wants, "}\n");
}

// "a:0-1 b:none c:waits": the devices of each pod at the end.
std::string PlacesOf(const Simulation& sim) {
  const ClusterState& cluster = sim.cluster();
  EXPECT_EQ(cluster.CheckInvariants(), absl::OkStatus());
  std::string text;
  for (size_t p = 0; p < cluster.pod_count(); ++p) {
    const PodId pod(p);
    const DeviceSet devices = cluster.pod_devices(pod);
    absl::StrAppend(&text, text.empty() ? "" : " ", cluster.pod_name(pod), ":",
                    !cluster.pod_node(pod).valid() ? "waits"
                    : devices.empty()              ? "none"
                                                   : DevicesText(devices));
  }
  return text;
}

std::string PlacesIn(const std::string& text) {
  const std::unique_ptr<Simulation> sim = Finished(BuildText(text));
  return sim == nullptr ? "" : PlacesOf(*sim);
}

TEST(MixedNodesTest, TheSchedulerChoosesGpusOfAcceptedModels) {
  const std::string jobs = absl::StrCat(Job("a", "gpus: 1, gpu_milli: 500, gpu_model: A30"),
                                        Job("b", "gpus: 1, gpu_model: A30"), Job("c", "gpus: 2"),
                                        Job("d", "gpus: 1, gpu_milli: 300, gpu_model: A30|T4"));
  const std::string places = "a:2 b:waits c:0-1 d:2";
  for (const char* const policy : {"fgd", "best-fit", "gpu-packing", "dotprod", "random"}) {
    const std::string scheduler = absl::StrCat("scheduler: {policy: ", policy, "}\n");
    EXPECT_EQ(PlacesIn(ScenarioText(jobs, scheduler)), places) << policy;
    EXPECT_EQ(PlacesIn(ScenarioText(jobs, scheduler, "", "fill")), places) << policy;
  }
}

TEST(MixedNodesTest, TheSchedulerMakesInstancesByModel) {
  EXPECT_EQ(
      PlacesIn(ScenarioText(
          absl::StrCat(Job("a", "mig: [{profile: 2g.12gb}]"), Job("b", "mig: [{profile: 7g.40gb}]"),
                       Job("c", "mig: [{profile: 4g.24gb}]"), Job("d", "mig: [{profile: 2g.12gb}]"),
                       Job("e", "gpus: 1")),
          "")),
      "a:2 b:0 c:waits d:2 e:1");
}

// The device plugin's resources do not say which model they are of.
TEST(MixedNodesTest, TheDevicePluginAdvertisesWhatEachGpuHas) {
  EXPECT_EQ(PlacesIn(ScenarioText(absl::StrCat(Job("a", "gpus: 1, gpu_model: A30"),
                                               Job("b", "gpus: 3, gpu_model: A30|A100-SXM4-40GB")),
                                  "front_end: {kind: device-plugin}\n")),
            "a:waits b:0-1-2");
  EXPECT_EQ(
      PlacesIn(ScenarioText(
          absl::StrCat(Job("a", "mig: [{profile: 2g.12gb}]"), Job("b", "mig: [{profile: 2g.12gb}]"),
                       Job("c", "mig: [{profile: 1g.6gb, count: 2}]")),
          "front_end: {kind: device-plugin, device_plugin: {mig_strategy: mixed}}\n",
          "  mig: {configs: [{config: all-balanced}]}\n")),
      "a:2 b:waits c:2");
}

TEST(MixedNodesTest, ClaimsGetInstancesOfTheGpusThatHaveThem) {
  const std::unique_ptr<Simulation> sim = Finished(BuildText(ScenarioText(
      absl::StrCat(Job("a", "mig: [{profile: 2g.12gb}]"), Job("b", "mig: [{profile: 7g.40gb}]"),
                   Job("c", "mig: [{profile: 1g.6gb}]"),
                   Job("d", "gpus: 1, gpu_model: A30, arrival: 10s"),
                   Job("e", "gpus: 1, arrival: 20s")),
      "front_end: {kind: dra-classic, dra: {zero_latency: true, drivers: [{kind: nvidia}]}}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(CheckControlPlane(*sim->control_plane(), false), absl::OkStatus());
  EXPECT_EQ(PlacesOf(*sim), "a:2 b:0 c:2 d:waits e:1");
}

TEST(MixedNodesTest, TheLedgerKnowsTheModels) {
  const TempDir dir;
  auto built = BuildText(ScenarioText(
      absl::StrCat(Job("a", "mig: [{profile: 2g.12gb}]"), Job("b", "gpus: 1, gpu_model: A30"),
                   Job("c", "mig: [{profile: 1g.5gb}]")),
      ""));
  ASSERT_EQ(built.status(), absl::OkStatus());
  Simulation& sim = **built;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), "", sim.cluster(), sim.ranks(), sim.summaries());
  ASSERT_EQ(writer.status(), absl::OkStatus());
  sim.AddSink(writer->get());
  ASSERT_EQ(sim.Start(), absl::OkStatus());
  ASSERT_EQ(sim.Run(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(sim.fingerprint()), absl::OkStatus());

  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir.path());
  ASSERT_EQ(reader.status(), absl::OkStatus());
  Record record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*reader)->Next(&record);
  ASSERT_EQ(more.status(), absl::OkStatus());
  EXPECT_EQ((*reader)->fingerprint(), sim.fingerprint());
  const ClusterState& read = (*reader)->cluster();
  const NodeId node(size_t{0});
  EXPECT_EQ(read.node_spec(node).gpu_models, sim.cluster().node_spec(node).gpu_models);
  EXPECT_TRUE(read.node(node).is_mixed());
  EXPECT_EQ(read.device_mig(node), sim.cluster().device_mig(node));
  for (size_t p = 0; p < read.pod_count(); ++p) {
    EXPECT_EQ(read.pod_devices(PodId(p)), sim.cluster().pod_devices(PodId(p)));
  }
}

}  // namespace mixed_nodes_test
}  // namespace drasim
