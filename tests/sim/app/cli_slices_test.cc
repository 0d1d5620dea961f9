// drasim slices: what it prints is read back by drasim, and bad usage.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/kube/slice_reader.h"
#include "policies/drivers/slice_publishers.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace cli_slices_test {

using SlicesCliTest = CliTest;

// The slices of a text must equal those that the library publishes.
void ExpectPublished(const std::string& text, const proto::SliceDriver& options,
                     const NodeHardware& node) {
  ASSERT_OK_AND_ASSIGN(const PublishedSlices read, ReadResourceSlices(text, "printed"));
  EXPECT_TRUE(read.warnings.empty()) << read.warnings[0];
  ASSERT_OK_AND_ASSIGN(const auto publisher, MakeSlicePublisher(options, {}));
  ASSERT_OK_AND_ASSIGN(const auto made, publisher->Publish(node, 1));
  ASSERT_EQ(read.slices.size(), made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(read.slices[i].DebugString(), made[i].DebugString());
  }
}

TEST_F(SlicesCliTest, WhatIsPrintedIsReadBackEqual) {
  proto::SliceDriver options;
  options.set_kind("gpu.nvidia.com");
  options.set_mig("dynamic");
  options.set_order("size");
  options.set_consumable_shares("memory");
  const NodeHardware node = MadeHardware("node-7", "A100-SXM4-40GB", 8);
  const std::vector<std::string> args = {
      "slices",  "--driver", "gpu.nvidia.com", "--gpu",    "A100-SXM4-40GB",
      "--count", "8",        "--mig",          "dynamic",  "--node",
      "node-7",  "--order",  "size",           "--option", "consumable_shares=memory"};
  ExpectPublished(Succeed(args), options, node);
  std::vector<std::string> json = args;
  json.insert(json.end(), {"--format", "json"});
  ExpectPublished(Succeed(json), options, node);
}

TEST_F(SlicesCliTest, OtherCommandsReadIt) {
  dir_.Write("slices.yaml", Succeed({"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30",
                                     "--mig", "dynamic", "--node", "a"}));
  const std::string verdicts =
      Succeed({"cel", "device.attributes['gpu.nvidia.com'].profile == '4g.24gb'", "slices.yaml"});
  EXPECT_TRUE(absl::StrContains(verdicts, "gpu.nvidia.com/a/gpu-0-mig-4g24gb-0-0\ttrue"))
      << verdicts;
  EXPECT_EQ(Succeed({"validate", "slices.yaml"}), "slices.yaml: a valid manifest of 2 objects\n");
  // Another node like it, from the printed file.
  const std::string adapted = Succeed({"slices", "--driver", "slices", "--slices", "slices.yaml",
                                       "--node", "b", "--option", "templates.0.node=a"});
  EXPECT_TRUE(absl::StrContains(adapted, "nodeName: b\n")) << adapted;
  EXPECT_FALSE(absl::StrContains(adapted, "nodeName: a\n"));
  EXPECT_TRUE(absl::StrContains(adapted, "name: gpu-0-mig-4g24gb-0-0\n"));
}

TEST_F(SlicesCliTest, NodesOfAListOrAScenarioHaveTheirGpus) {
  const std::string from_list =
      Succeed({"slices", "--driver", "gpu.nvidia.com", "--nodes", "nodes.csv"});
  ASSERT_OK_AND_ASSIGN(const PublishedSlices read, ReadResourceSlices(from_list, "printed"));
  ASSERT_EQ(read.slices.size(), 2u);
  EXPECT_EQ(read.slices[0].spec().node_name(), "n-0");
  EXPECT_EQ(read.slices[0].spec().devices_size(), 2);
  EXPECT_EQ(read.slices[1].spec().devices_size(), 4);
  EXPECT_EQ(read.slices[1].spec().devices(3).attributes().at("productName").string_value(),
            "NVIDIA T4");
  dir_.Write("s.yaml",
             "cluster: {path: nodes.csv, gpu_model: A30, scale: 2, "
             "devices: [{kind: gpu, numa_node: 1}]}\n");
  const std::string from_scenario = Succeed({"slices", "--driver", "gpu.nvidia.com", "s.yaml"});
  ASSERT_OK_AND_ASSIGN(const PublishedSlices scaled, ReadResourceSlices(from_scenario, "printed"));
  ASSERT_EQ(scaled.slices.size(), 4u);
  EXPECT_EQ(scaled.slices[3].spec().node_name(), "n-1-2");
  EXPECT_EQ(scaled.slices[3]
                .spec()
                .devices(0)
                .attributes()
                .at("resource.kubernetes.io/numaNode")
                .int_value(),
            1);
}

TEST_F(SlicesCliTest, ValidateWarnsOfConfigurationsThatTheDriverRefuses) {
  dir_.Write("claim.yaml", R"(apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: default}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu.nvidia.com}
    config:
    - opaque:
        driver: gpu.nvidia.com
        parameters:
          apiVersion: resource.nvidia.com/v1beta1
          kind: GpuConfig
          sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Forever}}
)");
  const ProcessResult result = Run({"validate", "claim.yaml"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "drasim: warning: claim.yaml:1: config[0]: gpu.nvidia.com would refuse the parameters: "
            "sharing.timeSlicingConfig.interval: found 'Forever', expected one of Default, Short, "
            "Medium, Long\n");
}

TEST_F(SlicesCliTest, BadUsageIsRefused) {
  ExpectRefused({"slices"}, "slices needs --driver, such as gpu.nvidia.com");
  ExpectRefused({"slices", "--driver", "gpu.nvidia.con", "--gpu", "A30"},
                "--driver: kind: found 'gpu.nvidia.con', expected one of gpu.nvidia.com, "
                "gpu.example.com, slices (did you mean 'gpu.nvidia.com'?)");
  ExpectRefused({"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30", "--mig", "mixed"},
                "--mig: found 'mixed', expected none, static or dynamic");
  ExpectRefused({"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30", "--option", "shares"},
                "--option: found 'shares', expected KEY=VALUE");
  ExpectRefused(
      {"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30", "--option", "mig_mode=auto"},
      "--option: mig_mode: found 'auto', expected any, on or off");
  ExpectRefused({"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30", "--count", "0"},
                "--count: found '0', expected 1 to 64");
  ExpectRefused({"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30", "--nodes", "nodes.csv"},
                "--gpu: not beside a scenario or a cluster, which have the nodes");
  ExpectRefused({"slices", "--driver", "gpu.nvidia.com"},
                "no slices: gpu.nvidia.com runs on nodes with GPUs, and there is none; --gpu gives "
                "one");
  const ProcessResult refused =
      Run({"slices", "--driver", "gpu.nvidia.com", "--gpu", "A30", "--node", "Node_1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(absl::StrContains(refused.err, "the API server would refuse the slice"))
      << refused.err;
}

}  // namespace cli_slices_test
}  // namespace drasim
