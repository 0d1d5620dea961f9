// Extended resources by DRA in whole runs: the synthetic claim, its names and mappings, clusters
// where some nodes have a device plugin, scores, releases, and failures on the way.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/kube/objects.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace extended_resources_run_test {

using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ExtendedResourcesTest : public ::testing::Test {
 protected:
  ExtendedResourcesTest() { dir_.Write("classes.yaml", TestText("Classes")); }

  // Two nodes; the second one has two devices of gpu.example.com.
  std::string Scenario(absl::string_view jobs, absl::string_view cluster = "",
                       absl::string_view more = "zero_latency: true",
                       absl::string_view scheduler = "policy: least-allocated") {
    return absl::StrCat(
        "mode: replay\n"
        "order: trace\n"
        "cluster:\n  nodes: 2\n  node: {cpu: \"16\", memory: 64Gi}\n",
        cluster, "scheduler: {", scheduler,
        "}\n"
        "front_end:\n"
        "  kind: dra-structured\n"
        "  structured: {slices: [",
        dir_.PathOf("classes.yaml"),
        "], drivers: [{kind: gpu.example.com, nodes: node-000001, devices: 2}], ", more,
        "}\nworkload:\n", jobs);
  }

  // "a node-000001 0-600": where and when the jobs of the run ran, in seconds.
  static std::vector<std::string> Runs(const Simulation& sim) {
    std::vector<std::string> runs;
    for (size_t j = 0; j < sim.jobs().size(); ++j) {
      const JobRow& row = sim.jobs().row(JobId(j));
      const bool ended = row.state == JobState::kSucceeded;
      runs.push_back(absl::StrCat(sim.cluster().pod_name(row.first_pod), " ",
                                  row.started_once ? row.first_start.ns() / kSecondNs : -1, "-",
                                  ended ? row.ended.ns() / kSecondNs : -1));
    }
    return runs;
  }
  static std::string NodeOf(const Simulation& sim, size_t pod) {
    const NodeId node = sim.cluster().pod_node(PodId(pod));
    return node.valid() ? sim.cluster().node_spec(node).name : "none";
  }
  static std::vector<Ref<ResourceClaim>> Claims(const Simulation& sim) {
    return sim.control_plane()->network().server().objects().of<ResourceClaim>().Sorted();
  }
  // "container-0-request-2 gpu.example.com 1"
  static std::vector<std::string> Requests(const ResourceClaim& claim) {
    std::vector<std::string> requests;
    for (const proto::kube::DeviceRequest& request : claim.spec.devices->requests()) {
      requests.push_back(absl::StrCat(request.name(), " ", request.exactly().device_class_name(),
                                      " ", request.exactly().count()));
    }
    return requests;
  }
  // "main example.com/gpu container-0-request-2"
  static std::vector<std::string> Mappings(const Pod& pod) {
    std::vector<std::string> mappings;
    if (!pod.extended_status) return mappings;
    for (const auto& mapping : pod.extended_status->request_mappings()) {
      mappings.push_back(absl::StrCat(mapping.container_name(), " ", mapping.resource_name(), " ",
                                      mapping.request_name()));
    }
    return mappings;
  }
  static Ref<Pod> PodOf(const Simulation& sim, size_t pod) {
    return sim.control_plane()->pods().ObjectOf(PodId(pod));
  }

  TempDir dir_;
};

// `amount` of a resource, for ever without a run time.
std::string Job(absl::string_view name, absl::string_view amount, absl::string_view rest = "",
                absl::string_view resource = "example.com/gpu") {
  return absl::StrCat("    - {name: ", name,
                      ", cpu: \"1\", memory: 1Gi, extended: [{resource: ", resource, ", amount: \"",
                      amount, "\"}]", rest, "}\n");
}

TEST_F(ExtendedResourcesTest, TheSchedulerMakesAClaim) {
  const auto sim = Finished(BuildText(Scenario(absl::StrCat("  jobs:\n", Job("a", "2")))));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(NodeOf(*sim, 0), "node-000001");
  const auto claims = Claims(*sim);
  ASSERT_EQ(claims.size(), 1U);
  const Ref<Pod> pod = PodOf(*sim, 0);
  EXPECT_THAT(std::string(claims[0]->meta.name.text()), StartsWith("a-extended-resources-"));
  EXPECT_TRUE(claims[0]->for_extended_resources);
  EXPECT_EQ(claims[0]->meta.owner, pod->meta.uid);
  EXPECT_TRUE(IsReservedFor(*claims[0], pod->meta.uid));
  ASSERT_EQ(claims[0]->meta.finalizers.size(), 1U);
  // The third of cpu, example.com/gpu and memory, by name.
  EXPECT_THAT(Requests(*claims[0]), ElementsAre("container-0-request-1 gpu.example.com 2"));
  ASSERT_NE(claims[0]->status.allocation, nullptr);
  EXPECT_EQ(claims[0]->status.allocation->result->devices().results_size(), 2);
  EXPECT_EQ(pod->extended_claim, claims[0]->meta.name);
  EXPECT_THAT(Mappings(*pod), ElementsAre("main example.com/gpu container-0-request-1"));
}

// The claim goes with the pod's end, and the next pod gets its devices.
TEST_F(ExtendedResourcesTest, TheClaimIsReleasedAtThePodsEnd) {
  const auto sim = Finished(BuildText(Scenario(absl::StrCat(
      "  jobs:\n", Job("a", "2", ", run_time: 10m"), Job("b", "1", ", run_time: 5m, arrival: 1s"),
      Job("c", "1", ", run_time: 5m, arrival: 2s",
          "deviceclass.resource.kubernetes.io/gpu.example.com")))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-600", "b 600-900", "c 600-900"));
  EXPECT_THAT(Claims(*sim), IsEmpty());
}

// Four writes for the claim and the binding: create, finalizer, status, the pod's status; and the
// kubelet prepares it.
TEST_F(ExtendedResourcesTest, CallsTakeTimeAndKubeletsPrepareTheClaim) {
  const auto sim = Finished(BuildText(
      Scenario(absl::StrCat("  jobs:\n", Job("a", "1", ", run_time: 10m")), "",
               "zero_latency: true, prepare: 7s, scheduler: {write_latency: constant(2)}")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 10-617"));
}

// The informers are slower than the writes: devices stay in flight until they deliver the claim.
TEST_F(ExtendedResourcesTest, TheSchedulerAwaitsTheClaimInItsCache) {
  const auto sim = Finished(
      BuildText(Scenario(absl::StrCat("  jobs:\n", Job("a", "2", ", run_time: 10m"),
                                      Job("b", "1", ", run_time: 10m, arrival: 1500ms")),
                         "", "zero_latency: true, scheduler: {watch_latency: constant(2.5)}")));
  ASSERT_NE(sim, nullptr);
  // `a` is seen after 2.5 s, and its claim 2.5 s after that; a look every second.
  EXPECT_EQ(Runs(*sim)[0], "a 5-605");
  EXPECT_GT(sim->jobs().row(JobId(1U)).attempts_failed, 0U);
  EXPECT_EQ(sim->jobs().row(JobId(1U)).state, JobState::kSucceeded);
}

// Init containers use what later containers hold; sidecars add up.
TEST_F(ExtendedResourcesTest, RequestsFollowTheContainers) {
  dir_.Write("pod.yaml", TestText("InitContainers"));
  const auto sim =
      Finished(BuildText(Scenario(absl::StrCat("  manifests: [", dir_.PathOf("pod.yaml"), "]\n"))));
  ASSERT_NE(sim, nullptr);
  const auto claims = Claims(*sim);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_THAT(Requests(*claims[0]), ElementsAre("container-2-request-0 gpu.example.com 1",
                                                "container-3-request-1 gpu.example.com 1"));
  EXPECT_THAT(Mappings(*PodOf(*sim, 0)),
              ElementsAre("proxy example.com/gpu container-2-request-0",
                          "train example.com/gpu container-3-request-1",
                          "warm-up example.com/gpu container-2-request-0",
                          "warm-up example.com/gpu container-3-request-1"));
}

// The newest of two classes with one name serves it.
TEST_F(ExtendedResourcesTest, TheNewestClassServesTheName) {
  dir_.Write("classes.yaml", absl::StrCat(TestText("Classes"), "---\n", TestText("NewerClass")));
  const auto sim = Finished(BuildText(Scenario(absl::StrCat("  jobs:\n", Job("a", "1")))));
  ASSERT_NE(sim, nullptr);
  const auto claims = Claims(*sim);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_THAT(Requests(*claims[0]), ElementsAre("container-0-request-1 newer.example.com 1"));
}

constexpr absl::string_view kPluginDevices =
    "  devices: [{nodes: node-000000, kind: card, resource: example.com/gpu, count: 1}]\n";

// node-000000 has one by a device plugin, node-000001 two by DRA.
TEST_F(ExtendedResourcesTest, DevicePluginsServeTheirNodes) {
  const auto sim = Finished(BuildText(Scenario(
      absl::StrCat("  jobs:\n", Job("a", "2"), Job("b", "1"), Job("c", "1")), kPluginDevices)));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(NodeOf(*sim, 0), "node-000001");
  EXPECT_EQ(NodeOf(*sim, 1), "node-000000");
  EXPECT_EQ(NodeOf(*sim, 2), "none");
  EXPECT_EQ(Claims(*sim).size(), 1U);
  EXPECT_TRUE(PodOf(*sim, 1)->extended_claim.empty());
}

// The implicit name is DRA's alone; a pod may mix both on one node.
TEST_F(ExtendedResourcesTest, APodMixesBothWays) {
  dir_.Write("pod.yaml", TestText("BothWays"));
  const auto sim = Finished(BuildText(Scenario(
      absl::StrCat("  manifests: [", dir_.PathOf("pod.yaml"), "]\n"),
      "  devices: [{nodes: node-000001, kind: card, resource: example.com/gpu, count: 1}]\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(NodeOf(*sim, 0), "node-000001");
  const auto claims = Claims(*sim);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_THAT(Requests(*claims[0]), ElementsAre("container-0-request-0 gpu.example.com 1"));
  ASSERT_EQ(sim->cluster().extended_names()[1], "example.com/gpu");
  EXPECT_EQ(sim->cluster().extended_idle(NodeId(1U), 1), 0);
}

// GPUs of a node by NVIDIA's device plugin, whose kubelet hands them out, beside one of its driver.
TEST_F(ExtendedResourcesTest, NvidiasPluginAndItsDriverShareACluster) {
  const auto sim = Finished(BuildText(absl::StrCat(
      "mode: replay\norder: trace\ncluster: {nodes: 2, node: {cpu: \"16\", memory: 64Gi, gpus: 2, "
      "gpu_model: A100-SXM4-40GB}}\nscheduler: {policy: least-allocated}\nfront_end:\n  kind: "
      "dra-structured\n  structured: {device_plugin_nodes: node-000000, zero_latency: true}\n"
      "workload:\n  jobs:\n",
      Job("a", "2", "", "nvidia.com/gpu"), Job("b", "2", "", "nvidia.com/gpu"),
      Job("c", "1", "", "nvidia.com/gpu"))));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(NodeOf(*sim, 0), "node-000000");
  EXPECT_EQ(sim->cluster().pod_grants(PodId(0U)).size(), 2U);
  EXPECT_EQ(NodeOf(*sim, 1), "node-000001");
  EXPECT_EQ(NodeOf(*sim, 2), "none");
  const auto claims = Claims(*sim);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_THAT(Requests(*claims[0]), ElementsAre("container-0-request-2 gpu.nvidia.com 2"));
}

TEST_F(ExtendedResourcesTest, WithoutTheGateTheResourceIsAnAmount) {
  for (const absl::string_view more :
       {"release: \"1.35\"", "gates: {DRAExtendedResource: false}"}) {
    const std::string text =
        Scenario(absl::StrCat("  jobs:\n", Job("a", "1")), kPluginDevices, more);
    const auto sim = Finished(BuildText(text));
    ASSERT_NE(sim, nullptr);
    EXPECT_EQ(NodeOf(*sim, 0), "node-000000");
    EXPECT_THAT(Claims(*sim), IsEmpty());
  }
}

// A pod deleted while its claim is made leaves none behind.
TEST_F(ExtendedResourcesTest, ADeletedPodLeavesNoClaim) {
  for (const int at : {1, 3, 5, 7, 9}) {
    const auto sim = Finished(
        BuildText(Scenario(absl::StrCat("  jobs:\n", Job("a", "2", ", run_time: 10m"),
                                        Job("b", "2", ", run_time: 10m, arrival: 100s"),
                                        "  deletions: [{job: a, at: ", at, "s}]\n"),
                           "", "zero_latency: true, scheduler: {write_latency: constant(2)}")));
    ASSERT_NE(sim, nullptr);
    EXPECT_EQ(Runs(*sim)[1], "b 110-710") << at;
    EXPECT_THAT(Claims(*sim), IsEmpty()) << at;
  }
}

// MostAllocated counts devices of the class where no amount is reported.
TEST_F(ExtendedResourcesTest, ScoresCountDevices) {
  dir_.Write("classes.yaml", TestText("Cards"));
  const auto job = [](absl::string_view name, absl::string_view amount, absl::string_view arrival) {
    return Job(name, amount, absl::StrCat(", arrival: ", arrival), "nvidia.com/gpu");
  };
  const auto sim = Finished(BuildText(absl::StrCat(
      "mode: replay\norder: trace\ncluster: {nodes: 2, node: {cpu: \"16\", memory: 64Gi}}\n"
      "scheduler: {policy: most-allocated}\nfront_end:\n  kind: dra-structured\n"
      "  structured: {slices: [",
      dir_.PathOf("classes.yaml"),
      "], drivers: [{kind: gpu.example.com, nodes: node-000000, devices: 8}, "
      "{kind: gpu.example.com, nodes: node-000001, devices: 4}], zero_latency: true}\n"
      "workload:\n  jobs:\n",
      job("a", "1", "0s"), job("b", "1", "10s"), job("c", "2", "20s"), job("d", "1", "30s"))));
  ASSERT_NE(sim, nullptr);
  // One of four is more than one of eight, until the smaller node is full.
  EXPECT_EQ(NodeOf(*sim, 0), "node-000001");
  EXPECT_EQ(NodeOf(*sim, 1), "node-000001");
  EXPECT_EQ(NodeOf(*sim, 2), "node-000001");
  EXPECT_EQ(NodeOf(*sim, 3), "node-000000");
}

TEST_F(ExtendedResourcesTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf(Scenario(absl::StrCat("  jobs:\n", Job("a", "1")), "",
                               "device_plugin_nodes: nobody-*")),
              HasSubstr("front_end.structured.device_plugin_nodes: found 'nobody-*', which matches "
                        "no node of the cluster"));
}

}  // namespace extended_resources_run_test
}  // namespace drasim
