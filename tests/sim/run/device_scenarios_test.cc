// Bad input about devices: every mistake is refused with the key or the place in the file, what was
// found, and what was expected. Messages are as the program prints them.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace device_scenarios_test {

using run_texts::ErrorOf;

constexpr char kPlugin[] = "front_end: {kind: device-plugin}\n";
constexpr char kProfiles[] =
    "expected one of 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb";

// Two nodes with two GPUs each, in lines 1 to 4, with more about the cluster from line 5 on; then a
// job, and the rest.
std::string ScenarioText(absl::string_view more_cluster, absl::string_view rest,
                         absl::string_view gpu_model = "A100-SXM4-40GB") {
  return absl::StrCat(
      "mode: replay\n"
      "cluster:\n"
      "  nodes: 2\n"
      "  node: {cpu: \"16\", memory: 64Gi, gpus: 2, gpu_model: ",
      gpu_model, "}\n", more_cluster,
      "workload:\n"
      "  jobs: [{name: a, cpu: \"1\", memory: 1Gi, gpus: 1, run_time: 1h}]\n",
      rest);
}

void ExpectErrors(const TextRows<2>& cases) {
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(ScenarioText("", text)), error) << text;
}
// The text belongs under `cluster`, with the device plugin or without.
void ExpectClusterErrors(const TextRows<2>& cases, absl::string_view front_end) {
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(ErrorOf(ScenarioText(absl::StrCat("  ", text, "\n"), front_end)), error) << text;
  }
}

TEST(DeviceScenariosTest, TheScenarioItselfIsFine) {
  EXPECT_EQ(ErrorOf(ScenarioText("", "")), "");
  EXPECT_EQ(ErrorOf(ScenarioText("", kPlugin)), "");
  EXPECT_EQ(ErrorOf(ScenarioText("  mig: {configs: [{config: all-balanced}]}\n", kPlugin)), "");
}

// ---- MIG layouts ----

const std::string& PartedText() { return TestText("Parted"); }

std::string UseConfig(const std::string& path, absl::string_view config) {
  return ScenarioText(
      absl::StrCat("  mig: {config_file: \"", path, "\", configs: [{config: ", config, "}]}\n"),
      kPlugin);
}

TEST(DeviceScenariosTest, LayoutsThatCannotBe) {
  const TempDir dir;
  dir.Write("parted.yaml", PartedText());
  const std::string path = dir.PathOf("parted.yaml");
  EXPECT_EQ(ErrorOf(UseConfig(path, "fine")), "");
  struct BadConfig {
    const char* name;
    std::string error;  // behind the path
  };
  const std::vector<BadConfig> cases = {
      {"twice",
       ":4:7: mig-configs.twice.0.mig-devices: GPU 0 (A100-40GB): found '4g.20gb: 2', expected "
       "instances that fit together: no room for 4g.20gb beside 4g.20gb; a 1g.5gb, 1g.5gb+me, "
       "1g.10gb, 2g.10gb or 3g.20gb would fit"},
      {"full",
       ":8:7: mig-configs.full.0.mig-devices: GPU 0 (A100-40GB): found '3g.20gb: 2, 1g.5gb: 1', "
       "expected instances that fit together: no room for 1g.5gb beside 3g.20gb x2; nothing else "
       "would fit"},
      {"typo", absl::StrCat(":12:7: mig-configs.typo.0.mig-devices: GPU 1 (A100-40GB): found "
                            "'3g.20g', ",
                            kProfiles, " (did you mean '3g.20gb'?)")},
      {"larger",
       absl::StrCat(":16:7: mig-configs.larger.0.mig-devices: GPU 0 (A100-40GB): found "
                    "'2g.20gb', ",
                    kProfiles, " (did you mean '2g.10gb'?); it is a profile of A100-80GB")},
      {"hopper",
       absl::StrCat(":20:7: mig-configs.hopper.0.mig-devices: GPU 0 (A100-40GB): found "
                    "'1g.12gb', ",
                    kProfiles, " (did you mean '1g.10gb'?); it is a profile of H100-94GB")},
      {"sixth",
       ":24:7: mig-configs.sixth.0.devices: found '5', expected the number of one of the node's 2 "
       "GPUs, from 0"},
  };
  for (const BadConfig& c : cases) {
    EXPECT_EQ(ErrorOf(UseConfig(path, c.name)),
              absl::StrCat(path, c.error, " (node 'node-000000')"));
  }
  EXPECT_EQ(ErrorOf(UseConfig(path, "fime")),
            "cluster.mig.configs[0].config: found 'fime', expected the name of a MIG configuration "
            "(did you mean 'fine'?)");
}

TEST(DeviceScenariosTest, GroupsOfALayoutThatOverlap) {
  const TempDir dir;
  const std::string path = dir.PathOf("overlap.yaml");
  const auto error = [&](absl::string_view groups) {
    dir.Write("overlap.yaml", absl::StrCat("version: v1\nmig-configs:\n  c:\n", groups));
    return ErrorOf(UseConfig(path, "c"));
  };
  EXPECT_EQ(error("    - {devices: [0, 1], mig-enabled: true, mig-devices: {1g.5gb: 7}}\n"
                  "    - {devices: [1], mig-enabled: false}\n"),
            absl::StrCat(path,
                         ":5:17: mig-configs.c.1.devices: found device 1 in the groups of "
                         "line 4 and of line 5, expected each GPU in one group only"));
  EXPECT_EQ(error("    - {devices: all, mig-enabled: true}\n"
                  "    - {device-filter: \"0x20B010DE\", devices: all, mig-enabled: false}\n"),
            absl::StrCat(path,
                         ":5:46: mig-configs.c.1.devices: found all devices in the groups of "
                         "line 4 and of line 5, expected each GPU in one group only"));
}

TEST(DeviceScenariosTest, LayoutsThatNobodyKnows) {
  ExpectClusterErrors(TestRows<2>("LayoutsThatNobodyKnows"), kPlugin);
  ExpectClusterErrors({{"mig: {configs: [{config: all-balanced}]}",
                        "s.yaml:5:18: cluster.mig.configs: expected none: only front_end.kind: "
                        "device-plugin lays GPUs out"}},
                      "");
}

// ---- Front ends ----

TEST(DeviceScenariosTest, ChoicesWithASuggestion) {
  ExpectErrors(TestRows<2>("ChoicesWithASuggestion"));
}

TEST(DeviceScenariosTest, SharingThatCannotBe) {
  const std::string slicing = "front_end.device_plugin.time_slicing.resources[0].";
  const auto resources = [](absl::string_view kind, absl::string_view items) {
    return absl::StrCat("front_end: {kind: device-plugin, device_plugin: {", kind,
                        ": {resources: [", items, "]}}}\n");
  };
  ExpectErrors({
      {resources("time_slicing", "{name: nvidia.com/gpu, replicas: 0}"),
       "s.yaml:7:110: " + slicing + "replicas: found '0', expected 1 (not shared) to 1000"},
      {resources("time_slicing", "{name: nvidia.com/gpu, replicas: -1}"),
       "s.yaml:7:110: " + slicing + "replicas: found '-1', expected 1 (not shared) to 1000"},
      {resources("time_slicing", "{name: nvidia.com/gpu}"),
       "s.yaml:7:77: " + slicing + "replicas: expected a number of 1 or more"},
      {resources("time_slicing", "{name: nvidia.com/gpus, replicas: 2}"),
       "s.yaml:7:84: " + slicing +
           "name: found 'nvidia.com/gpus', expected nvidia.com/gpu or "
           "nvidia.com/mig-<profile> (did you mean 'nvidia.com/gpu'?)"},
      {resources("time_slicing",
                 "{name: nvidia.com/gpu, replicas: 2}, {name: nvidia.com/gpu, replicas: 3}"),
       "s.yaml:7:121: front_end.device_plugin.time_slicing.resources[1].name: found "
       "'nvidia.com/gpu', expected "
       "every resource once; resources[0] is the same"},
      {resources("mps", "{name: nvidia.com/mig-1g.5gb, replicas: 2}"),
       "s.yaml:7:75: front_end.device_plugin.mps.resources[0].name: found 'nvidia.com/mig-1g.5gb', "
       "expected "
       "nvidia.com/gpu, as MPS does not share MIG instances"},
      {"front_end: {kind: device-plugin, device_plugin: {mps: {}, time_slicing: {}}}\n",
       "s.yaml:7:49: front_end.device_plugin: found time_slicing and mps, expected one of them"},
      {"front_end: {device_plugin: {mig_strategy: mixed}}\n",
       "s.yaml:7:28: front_end.device_plugin: expected none without front_end.kind: device-plugin "
       "or front_end.structured.device_plugin_nodes"},
  });
  // More replicas than an instance has thousandths of a GPU.
  EXPECT_EQ(ErrorOf(ScenarioText(
                "  mig: {configs: [{config: all-1g.5gb}]}\n",
                "front_end: {kind: device-plugin, device_plugin: {mig_strategy: mixed, "
                "time_slicing: {resources: [{name: nvidia.com/mig-1g.5gb, replicas: 200}]}}}\n")),
            "s.yaml:8:138: " + slicing + "replicas: found '200', expected 1 (not shared) to 125");
}

TEST(DeviceScenariosTest, LoweringsThatCannotBe) {
  ExpectErrors({
      {"front_end: {lowering: {rule: time-sliced}}\n",
       "front_end.lowering.rule: found 'time-sliced', expected another rule: only the device "
       "plugin has replicas"},
      {"front_end: {lowering: {rule: mig-smallest, product: A30}}\n",
       "front_end.lowering.product: found 'A30', which no node of the cluster has"},
      {"front_end: {kind: device-plugin, lowering: {rule: mig-smallest}}\n",
       "front_end.device_plugin.mig_strategy: expected mixed with front_end.lowering.rule: "
       "mig-smallest, whose pods ask for nvidia.com/mig-* resources"},
  });
  // Shares, and nobody says what becomes of them.
  std::string shares = ScenarioText("", kPlugin);
  const std::string whole = "gpus: 1, run_time";
  shares.replace(shares.find(whole), whole.size(), "gpus: 1, gpu_milli: 300, run_time");
  EXPECT_EQ(ErrorOf(shares),
            "front_end.lowering: job 'a': a pod wants 300 thousandths of a GPU, which the device "
            "plugin cannot hand out; choose a rule in front_end.lowering.rule");
  // Which products there are does not matter here.
  for (const char* const front_end :
       {"front_end: {lowering: {rule: mig-smallest}}\n",
        "front_end: {kind: device-plugin, lowering: {rule: mig-smallest}, "
        "device_plugin: {mig_strategy: mixed}}\n"}) {
    const std::string error = ErrorOf(ScenarioText("", front_end, "T4"));
    EXPECT_TRUE(absl::StartsWith(error,
                                 "cluster: no GPU model of its nodes (T4) is a MIG product; GPU "
                                 "product: found 'T4', expected one of A100-40GB, A100-80GB, "))
        << error;
  }
}

// ---- Devices of nodes, and what happens to them ----

TEST(DeviceScenariosTest, GroupsOfDevicesThatCannotBe) {
  for (const char* const front_end : {"", kPlugin}) {
    ExpectClusterErrors(TestRows<2>("GroupsOfDevicesThatCannotBe"), front_end);
  }
}

TEST(DeviceScenariosTest, EventsThatCannotBe) {
  const auto event = [](absl::string_view what) {
    return absl::StrCat("events: [{at: 1s, nodes: \"*\", ", what, "}]");
  };
  ExpectClusterErrors(
      {{event("action: device-unhealthy, devices: [0, 2]"),
        "cluster.events[0].devices: found 2, expected below 2, the GPUs of node 'node-000000'"},
       {event("action: device-unhealthy, devices: [64]"),
        "s.yaml:5:68: cluster.events[0].devices: found 64, expected 0 to 63"},
       {event("action: device-unhealthy, devices: [-1]"),
        "s.yaml:5:68: cluster.events[0].devices: found -1, expected 0 to 63"},
       {event("action: device-healthy, devices: [1, 1]"),
        "s.yaml:5:66: cluster.events[0].devices: found 1 twice, expected it once"},
       {event("action: device-unhealthy"),
        "s.yaml:5:12: cluster.events[0].devices: expected indices of GPUs"},
       {event("action: plugin-restart, devices: [0]"),
        "s.yaml:5:66: cluster.events[0].devices: expected none with this action"},
       {event("action: mig-config"),
        "s.yaml:5:12: cluster.events[0].config: expected the name of a MIG configuration"},
       {event("action: plugin-restart, config: all-balanced"),
        "s.yaml:5:65: cluster.events[0].config: expected none with this action"},
       {event("action: mig-config, config: all-balanced, duration: 1h"),
        "s.yaml:5:85: cluster.events[0].duration: found '1h', expected none: only fail, cordon, "
        "drain, "
        "device-unhealthy, plugin-restart and device-taint last"},
       {event("action: device-unhealty, devices: [0]"),
        "s.yaml:5:41: cluster.events[0].action: found 'device-unhealty', expected one of add, "
        "remove, fail, "
        "recover, cordon, uncordon, drain, device-unhealthy, device-healthy, plugin-restart, "
        "mig-config, device-taint (did you mean 'device-unhealthy'?)"},
       {event("action: device-taint, taint: {key: a, effect: None}"),
        "s.yaml:5:41: cluster.events[0].action: found 'device-taint', which needs front_end.kind: "
        "dra-structured"}},
      kPlugin);
  const auto direct = [](absl::string_view action) {
    return absl::StrCat("s.yaml:5:41: cluster.events[0].action: found '", action,
                        "', which needs front_end.kind: device-plugin or dra-structured");
  };
  ExpectClusterErrors(
      {{event("action: device-unhealthy, devices: [0]"), direct("device-unhealthy")},
       {event("action: device-healthy, devices: [0]"), direct("device-healthy")},
       {event("action: plugin-restart, duration: 1s"), direct("plugin-restart")},
       {event("action: mig-config, config: all-balanced"), direct("mig-config")}},
      "");
  // An event without nodes is placed at the event.
  ExpectClusterErrors({{"events: [{at: 1s, action: fail}]",
                        "s.yaml:5:12: cluster.events[0].nodes: found none, expected a node's name "
                        "or a pattern with *"}},
                      "");
}

}  // namespace device_scenarios_test
}  // namespace drasim
