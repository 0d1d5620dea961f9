// Worlds by name: what each sets and clears, what all have in common, and what is no world.
#include "sim/compare/worlds.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "policies/devices/mig_rules.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {

void PrintTo(const ScenarioChange& change, std::ostream* out) {
  *out << "clears " << absl::StrJoin(change.clear, " ") << "\nsets "
       << absl::StrJoin(change.set, " ");
}

namespace worlds_test {

using Names = std::vector<std::string>;

constexpr char kA100[] = "cluster:\n  nodes: 2\n  node: {gpus: 8, gpu_model: A100-SXM4-80GB}\n";
constexpr char kT4[] = "cluster: {nodes: 2, node: {gpus: 8, gpu_model: T4}}\n";

ScenarioChange World(absl::string_view name, absl::string_view yaml = kA100) {
  const absl::StatusOr<ScenarioChange> world = WorldOf(name, ScenarioOf(yaml));
  EXPECT_TRUE(world.ok()) << world.status();
  return world.ok() ? *world : ScenarioChange();
}

// The scenario in that world, as YAML.
std::string InWorld(absl::string_view name, absl::string_view yaml) {
  proto::Scenario scenario = ScenarioOf(yaml);
  EXPECT_EQ(ApplyChange(World(name, yaml), "test", &scenario), absl::OkStatus());
  return ToYaml(scenario);
}

const Names kLayouts = {"cluster.mig.configs", "cluster.mig.config_file", "cluster.mig.plan",
                        "cluster.mig.repartitioning"};

Names Joined(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(WorldsTest, Direct) {
  const Names clear = Joined(
      {"front_end.device_plugin", "front_end.dra", "front_end.structured", "front_end.lowering.as"},
      kLayouts);
  EXPECT_EQ(World("direct"),
            (ScenarioChange{clear, {"front_end.kind=direct", "front_end.lowering.rule=none"}}));
  EXPECT_EQ(World("direct:fgd"), (ScenarioChange{clear,
                                                 {"scheduler.policy=fgd", "front_end.kind=direct",
                                                  "front_end.lowering.rule=none"}}));
  // The scheduler hands out instances there.
  EXPECT_EQ(World("direct:mig-best-fit"),
            (ScenarioChange{clear,
                            {"scheduler.policy=mig-best-fit", "front_end.kind=direct",
                             "front_end.lowering.rule=mig-smallest"}}));
}

TEST(WorldsTest, DevicePlugin) {
  const Names clear = {"front_end.dra", "front_end.structured", "front_end.lowering.as",
                       "front_end.device_plugin.time_slicing", "front_end.device_plugin.mps"};
  EXPECT_EQ(World("device-plugin"), (ScenarioChange{Joined(clear, kLayouts),
                                                    {"front_end.kind=device-plugin",
                                                     "front_end.device_plugin.mig_strategy=none",
                                                     "front_end.lowering.rule=whole-gpu"}}));
  const ScenarioChange mig = {
      clear,
      {"front_end.kind=device-plugin", "front_end.lowering.rule=mig-smallest",
       "front_end.device_plugin.mig_strategy=mixed"}};
  // Layouts of the scenario's own stay.
  EXPECT_EQ(World("device-plugin:static-mig",
                  absl::StrCat(kA100, "  mig: {configs: [{config: all-balanced}]}\n")),
            mig);
  ScenarioChange planned = mig;
  planned.set.emplace_back("cluster.mig.plan=demand");
  EXPECT_EQ(World("device-plugin:static-mig"), planned);
  const auto sliced = [&](const std::string& replicas) {
    return ScenarioChange{
        Joined(clear, kLayouts),
        {"front_end.kind=device-plugin", "front_end.device_plugin.mig_strategy=none",
         "front_end.lowering.rule=time-sliced",
         "front_end.device_plugin.time_slicing.resources.0.name=nvidia.com/gpu",
         absl::StrCat("front_end.device_plugin.time_slicing.resources.0.replicas=", replicas)}};
  };
  EXPECT_EQ(World("device-plugin:time-slicing"), sliced("4"));
  EXPECT_EQ(World("device-plugin:time-slicing=7"), sliced("7"));
  const std::string with_replicas =
      "front_end: {device_plugin: {time_slicing: {resources: [{name: nvidia.com/gpu, replicas: "
      "3}]}}}\n";
  EXPECT_EQ(World("device-plugin:time-slicing", with_replicas), sliced("3"));
  EXPECT_EQ(World("device-plugin:time-slicing=2", with_replicas), sliced("2"));
}

ScenarioChange Dra(const std::string& rule, const Names& more) {
  return {
      Joined({"front_end.device_plugin", "front_end.structured", "front_end.lowering.as",
              "timing.bind"},
             kLayouts),
      Joined({"front_end.kind=dra-classic", absl::StrCat("front_end.lowering.rule=", rule)}, more)};
}

TEST(WorldsTest, DraStructured) {
  const auto structured = [](const std::string& rule, const Names& drivers,
                             const std::string& as = "claims") {
    return ScenarioChange{
        Joined({"front_end.device_plugin", "front_end.dra", "timing.bind"}, kLayouts),
        Joined(Joined({"front_end.kind=dra-structured", absl::StrCat("front_end.lowering.as=", as)},
                      drivers),
               {absl::StrCat("front_end.lowering.rule=", rule)})};
  };
  const auto nvidia = [](absl::string_view mig) {
    return Names{"front_end.structured.drivers.0.kind=gpu.nvidia.com",
                 absl::StrCat("front_end.structured.drivers.0.mig=", mig)};
  };
  EXPECT_EQ(World("dra-structured"), structured("mig-smallest", nvidia("dynamic")));
  EXPECT_EQ(World("dra-structured", kT4), structured("whole-gpu", nvidia("none")));
  EXPECT_EQ(
      World("dra-structured:best-fit", kT4),
      structured("whole-gpu", Joined({"front_end.structured.policy=best-fit"}, nvidia("none"))));
  EXPECT_EQ(World("dra-structured:extended"),
            structured("mig-smallest", nvidia("dynamic"), "extended-resources"));
  EXPECT_EQ(World("dra-structured:pack:extended", kT4),
            structured("whole-gpu", Joined({"front_end.structured.policy=pack"}, nvidia("none")),
                       "extended-resources"));
  // The scenario's own driver stays.
  const auto own = [](absl::string_view driver) {
    return absl::StrCat(kA100, "front_end: {structured: {drivers: [{", driver, "}]}}\n");
  };
  EXPECT_EQ(World("dra-structured", own("kind: gpu.nvidia.com, mig: static")),
            structured("mig-smallest", {}));
  EXPECT_EQ(World("dra-structured", own("kind: gpu.nvidia.com, consumable_shares: \"4\"")),
            structured("none", {}));
  EXPECT_EQ(World("dra-structured", own("kind: gpu.example.com")), structured("whole-gpu", {}));
}

TEST(WorldsTest, DraClassic) {
  const std::string nvidia = "front_end.dra.drivers.0.kind=nvidia";
  const auto placed = [&](const std::string& placement, const std::string& gpus) {
    return Dra("mig-smallest",
               {nvidia, absl::StrCat("front_end.dra.drivers.0.placement=", placement),
                absl::StrCat("front_end.dra.drivers.0.gpus=", gpus)});
  };
  EXPECT_EQ(World("dra-classic"), Dra("mig-smallest", {nvidia}));
  EXPECT_EQ(World("dra-classic", kT4), Dra("whole-gpu", {nvidia}));
  EXPECT_EQ(World("dra-classic:first-fit"), placed("", "first"));
  EXPECT_EQ(World("dra-classic:fragmentation"), placed("mfi-any-weighted", "packed"));
  EXPECT_EQ(World("dra-classic:mig-first-fit"), placed("first-fit", "first"));
  EXPECT_EQ(World("dra-classic:best-fit"), placed("best-fit", "first"));
  EXPECT_EQ(World("dra-classic:parted"), placed("parted", "first"));
  EXPECT_EQ(World("dra-classic:mig-parted"), placed("parted", "first"));
  for (const MigRuleInfo& info : MigRuleInfos()) {
    const std::string rule = std::string(info.name).substr(4);
    EXPECT_EQ(World(absl::StrCat("dra-classic:", info.name)), placed(rule, "first"));
  }
  // NVIDIA's driver refuses Immediate claims, Intel's allocates them.
  const std::string mode = "front_end.dra.allocation_mode=Immediate";
  EXPECT_EQ(World("dra-classic:immediate"),
            Dra("none", {"front_end.dra.drivers.0.kind=intel", mode}));
  // The scenario's own driver stays, with the world's placement; shares are for drivers that have
  // parts.
  const auto own = [](absl::string_view kind) {
    return absl::StrCat(kA100, "front_end: {dra: {drivers: [{kind: ", kind, "}]}}\n");
  };
  EXPECT_EQ(World("dra-classic", own("intel")), Dra("none", {}));
  EXPECT_EQ(World("dra-classic:immediate", own("intel")), Dra("none", {mode}));
  EXPECT_EQ(World("dra-classic", own("example")), Dra("whole-gpu", {}));
  EXPECT_EQ(World("dra-classic", own("nvidia")), Dra("mig-smallest", {}));
  const ScenarioChange placed_constraints = Dra(
      "none",
      {"front_end.dra.drivers.0.placement=best-fit", "front_end.dra.drivers.0.gpus=first", mode});
  EXPECT_EQ(World("dra-classic:best-fit:immediate", own("constraints")), placed_constraints);
  EXPECT_EQ(World("dra-classic:immediate:best-fit", own("constraints")), placed_constraints);
  EXPECT_EQ(
      WorldOf("dra-classic:immediate", ScenarioOf(own("nvidia"))).status().message(),
      "--worlds: 'dra-classic:immediate': the driver kind nvidia (front_end.dra.drivers.0.kind) "
      "refuses Immediate claims, expected one that allocates them, such as intel or constraints");
}

TEST(WorldsTest, WhetherGpusCanBePartitioned) {
  const TempDir dir;
  dir.Write("nodes.csv",
            "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\n"
            "n-1,64000,262144,0,A100-SXM4-80GB\n");
  dir.Write("a100.csv",
            "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\n"
            "n-1,64000,262144,8,A100-SXM4-80GB\n");
  const std::string nodes = absl::StrCat("cluster: {path: ", dir.PathOf("nodes.csv"), "}\n");
  const std::string a100 = absl::StrCat("cluster: {path: ", dir.PathOf("a100.csv"), "}\n");
  const std::string product = "front_end: {lowering: {product: A100-80GB}}\n";
  for (const auto& [yaml, mig] : {std::pair<std::string, bool>(nodes, false),
                                  {a100, true},
                                  {nodes + product, true},
                                  {"cluster: {gpu_model: H100-80GB-HBM3}\n", true},
                                  {"cluster: {gpu_model: T4}\n", false},
                                  {kT4, false},
                                  {kA100, true},
                                  {"seed: 1\n", false}}) {
    const ScenarioChange world = World("dra-classic", yaml);
    ASSERT_GE(world.set.size(), 2u) << yaml;
    EXPECT_EQ(world.set[1],
              mig ? "front_end.lowering.rule=mig-smallest" : "front_end.lowering.rule=whole-gpu")
        << yaml;
  }
  const absl::Status missing =
      WorldOf("dra-classic", ScenarioOf("cluster: {path: /none.csv}\n")).status();
  EXPECT_TRUE(absl::StartsWith(missing.message(), "/none.csv: ")) << missing;
}

TEST(WorldsTest, WhatIsNoWorld) {
  const auto error = [](absl::string_view name) {
    return std::string(WorldOf(name, ScenarioOf(kA100)).status().message());
  };
  const std::string known =
      "expected one of direct[:POLICY], device-plugin, device-plugin:static-mig, "
      "device-plugin:time-slicing[=N], dra-classic[:PLACEMENT][:immediate], "
      "dra-structured[:POLICY][:extended]";
  const std::pair<const char*, std::string> cases[] = {
      {"device-plugn", absl::StrCat("--worlds: unknown world 'device-plugn', ", known,
                                    " (did you mean 'device-plugin'?)")},
      {"", absl::StrCat("--worlds: unknown world '', ", known)},
      {"dra-structured:bestfit",
       "--worlds: 'dra-structured:bestfit': unknown policy 'bestfit', expected one of first-fit, "
       "best-fit, mig-fragmentation, pack, spread, topology (did you mean 'best-fit'?)"},
      {"dra-structured:pack:x", absl::StrCat("--worlds: 'dra-structured:pack:x': ", known)},
      {"dra-structured:extended:pack",
       absl::StrCat("--worlds: 'dra-structured:extended:pack': ", known)},
      {"direct:fdg",
       "--worlds: 'direct:fdg': unknown policy 'fdg', expected one of random, dotprod, "
       "gpu-clustering, gpu-packing, best-fit, fgd, consolidate, least-allocated, most-allocated, "
       "requested-to-capacity-ratio, packing-extender, mig-driver, mig-first-fit, mig-dra-driver, "
       "mig-hami, mig-instaslice, mig-nos, mig-parted, mig-best-fit, mig-worst-fit, "
       "mig-round-robin, mig-parvagpu, mig-mfi-any, mig-mfi-part, mig-mfi-any-weighted, "
       "mig-mfi-part-weighted (did you mean 'fgd'?)"},
      {"direct:fgd:x", absl::StrCat("--worlds: 'direct:fgd:x': ", known)},
      {"direct:", absl::StrCat("--worlds: 'direct:': ", known)},
      {"device-plugin:static-mg",
       "--worlds: 'device-plugin:static-mg': unknown variant 'static-mg', expected static-mig or "
       "time-slicing[=N] (did you mean 'static-mig'?)"},
      {"device-plugin:time-slicing=1",
       "--worlds: 'device-plugin:time-slicing=1': expected time-slicing or time-slicing=N with 2 "
       "replicas or more"},
      {"device-plugin:time-slicing=many",
       "--worlds: 'device-plugin:time-slicing=many': expected time-slicing or time-slicing=N with "
       "2 replicas or more"},
      {"dra-classic:immediate:immediate",
       "--worlds: 'dra-classic:immediate:immediate': 'immediate' is there twice"},
      {"dra-classic:first-fit:immediate",
       "--worlds: 'dra-classic:first-fit:immediate': a placement says where NVIDIA's driver puts "
       "MIG instances, and that driver refuses Immediate claims; expected dra-classic:immediate, "
       "which has "
       "Intel's driver, or front_end.dra.drivers.0.kind: constraints"},
      {"dra-classic:first-fit:best-fit",
       "--worlds: 'dra-classic:first-fit:best-fit': 'best-fit' is a second placement"},
      {"dra-classic:first-fitt",
       "--worlds: 'dra-classic:first-fitt': unknown placement 'first-fitt', expected one of "
       "first-fit, fragmentation, driver, dra-driver, hami, instaslice, nos, parted, best-fit, "
       "worst-fit, round-robin, parvagpu, mfi-any, mfi-part, mfi-any-weighted, mfi-part-weighted "
       "(did you mean 'first-fit'?)"},
  };
  for (const auto& [name, message] : cases) EXPECT_EQ(error(name), message) << name;
}

TEST(WorldsTest, Lists) {
  const auto parse = [](absl::string_view text) { return ParseWorlds(text); };
  EXPECT_EQ(*parse("direct"), Names{"direct"});
  EXPECT_EQ(*parse("device-plugin, dra-classic:best-fit"),
            (Names{"device-plugin", "dra-classic:best-fit"}));
  for (const char* text : {"", ",direct", "direct,,device-plugin", " "}) {
    EXPECT_EQ(parse(text).status(),
              absl::InvalidArgumentError(absl::StrCat(
                  "--worlds: found '", text,
                  "', expected names with commas between: direct[:POLICY], device-plugin, "
                  "device-plugin:static-mig, device-plugin:time-slicing[=N], "
                  "dra-classic[:PLACEMENT][:immediate], dra-structured[:POLICY][:extended]")));
  }
  EXPECT_EQ(parse("direct,device-plugin,direct").status(),
            absl::InvalidArgumentError("--worlds: 'direct' is there twice"));
}

TEST(WorldsTest, LikeConditions) {
  const auto of = [](absl::string_view yaml) { return LikeConditions(ScenarioOf(yaml), "p"); };
  const Names clear = {"scheduler.head_of_line", "scheduler.backfill"};
  const Names all = {"scheduler.queue=kubernetes", "scheduler.policy=p"};
  const std::string backoff = "scheduler.kubernetes.pop_from_backoff=false";
  EXPECT_EQ(of("mode: replay"), (ScenarioChange{clear, Joined(all, {backoff})}));
  EXPECT_EQ(of("mode: replay\nscheduler: {kubernetes: {pop_from_backoff: true}}"),
            (ScenarioChange{clear, all}));
  const auto stream = [&](const std::string& order, const Names& more) {
    return ScenarioChange{clear,
                          Joined(Joined(all, {backoff, "mode=replay", absl::StrCat("order=", order),
                                              "workload.stream_interval=1s"}),
                                 more)};
  };
  EXPECT_EQ(of("seed: 1"), stream("seeded", {"preemption.mode=none"}));
  EXPECT_EQ(of("mode: fill\norder: artifact"), stream("artifact", {"preemption.mode=none"}));
  EXPECT_EQ(of("order: trace\npreemption: {mode: priority}"), stream("trace", {}));
  EXPECT_EQ(of("workload: {stream_interval: 10s}"),
            (ScenarioChange{clear, Joined(all, {backoff, "mode=replay", "order=seeded",
                                                "preemption.mode=none"})}));
}

TEST(WorldsTest, WhatBelongsToAnotherFrontEndIsCleared) {
  const std::string full = absl::StrCat("timing: {bind: 5ms, schedule: 1ms}\n", kA100,
                                        TestText("WhatBelongsToAnotherFrontEndIsCleared"));
  const std::string cluster =
      "cluster:\n  nodes: 2\n  node:\n    gpus: 8\n    gpu_model: A100-SXM4-80GB\n  mig:\n";
  const std::string kubelet = "  kubelet:\n    cpu_manager_policy: static\n";
  const auto lowering = [](absl::string_view rule) {
    return absl::StrCat("  lowering:\n    rule: ", rule, "\n    ignore_gpu_model: true\n");
  };
  const std::string timing = "timing:\n  bind: 5ms\n  schedule: 1ms\n";
  // Pods may ask for the replicas that the scenario has.
  const std::string replicas = "    shared_replicas: 9\n";
  EXPECT_EQ(InWorld("direct", full),
            absl::StrCat(cluster, "    driver_branch: 550\n", timing,
                         "front_end:\n  kind: direct\n", lowering("none"), replicas, kubelet));
  EXPECT_EQ(InWorld("device-plugin", full),
            absl::StrCat(cluster, "    driver_branch: 550\n", timing,
                         "front_end:\n  kind: device-plugin\n", lowering("whole-gpu"),
                         "  device_plugin:\n    mig_strategy: none\n", kubelet));
  EXPECT_EQ(InWorld("device-plugin:static-mig", full),
            absl::StrCat(cluster,
                         "    config_file: f.yaml\n    configs:\n      - config: c\n"
                         "    plan: demand\n    repartitioning:\n      every: 1h\n"
                         "    driver_branch: 550\n",
                         timing, "front_end:\n  kind: device-plugin\n", lowering("mig-smallest"),
                         "  device_plugin:\n    mig_strategy: mixed\n", kubelet));
  EXPECT_EQ(
      InWorld("dra-classic:fragmentation", full),
      absl::StrCat(cluster, "    driver_branch: 550\n", "timing:\n  schedule: 1ms\n",
                   "front_end:\n  kind: dra-classic\n", lowering("mig-smallest"), replicas, kubelet,
                   "  dra:\n    release: \"1.28\"\n    drivers:\n      - kind: nvidia\n"
                   "        placement: mfi-any-weighted\n        gpus: packed\n"));
}

// Every setting can be set, and each world resolves.
TEST(WorldsTest, EachWorldResolves) {
  for (const char* name :
       {"direct", "direct:fgd", "direct:mig-mfi-any", "device-plugin", "device-plugin:static-mig",
        "device-plugin:time-slicing", "dra-classic", "dra-classic:first-fit",
        "dra-classic:fragmentation", "dra-classic:immediate", "dra-structured",
        "dra-structured:pack", "dra-structured:extended", "dra-structured:pack:extended"}) {
    for (const char* mode : {"fill", "replay"}) {
      proto::Scenario scenario = ScenarioOf(
          absl::StrCat("mode: ", mode, "\n",
                       "cluster: {nodes: 2, node: {cpu: '64', memory: 256Gi, gpus: 8, gpu_model: "
                       "A100-SXM4-80GB}}\n"));
      ASSERT_EQ(ApplyChange(LikeConditions(scenario, "least-allocated"), "test", &scenario),
                absl::OkStatus());
      const absl::StatusOr<ScenarioChange> world = WorldOf(name, scenario);
      ASSERT_TRUE(world.ok()) << world.status();
      ASSERT_EQ(ApplyChange(*world, "test", &scenario), absl::OkStatus()) << name;
      const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
      ASSERT_EQ(spec.status(), absl::OkStatus()) << name << " " << mode;
      EXPECT_TRUE(spec->is_replay());
      EXPECT_EQ(spec->scheduler.queue, QueueKind::kKubernetes);
      EXPECT_EQ(spec->order,
                absl::string_view(mode) == "fill" ? JobOrder::kSeeded : JobOrder::kTrace);
    }
  }
}

TEST(WorldsTest, AWrongSettingNamesItsOrigin) {
  proto::Scenario scenario;
  EXPECT_EQ(ApplyChange({{}, {"seed=1", "sede=2"}}, "--worlds: 'x'", &scenario),
            absl::InvalidArgumentError("--worlds: 'x': sede: unknown key (did you mean 'seed'?)"));
}

}  // namespace worlds_test
}  // namespace drasim
