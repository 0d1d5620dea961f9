#include "sim/dra/api/cdi_spec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/device_grant.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/text/mig_catalogue.h"
#include "tests/testing/data_text.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace cdi_spec_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ParametersObject Parameters(std::vector<std::pair<std::string, std::string>> fields) {
  ParametersObject parameters;
  parameters.fields = std::move(fields);
  return parameters;
}

CdiDeviceNode Node(std::string path) {
  CdiDeviceNode node;
  node.path = std::move(path);
  return node;
}

// A specification that is right and uses every field.
CdiSpec FullSpec() {
  CdiDeviceNode node = Node("/dev/card0");
  node.host_path = "/dev/vendor/card0";
  node.type = "c";
  node.major = 25;
  node.minor = 0;
  node.permissions = "rw";
  CdiMount mount;
  mount.host_path = "/opt/vendor";
  mount.container_path = "/usr/vendor";
  mount.type = "none";
  mount.options = {"ro", "rbind"};
  CdiHook hook;
  hook.name = "createContainer";
  hook.path = "/bin/vendor-hook";
  hook.args = {"vendor-hook", "--all"};
  hook.env = {"MODE=fast"};
  hook.timeout_seconds = 30;
  CdiDevice first;
  first.name = "gpu0";
  first.edits.device_nodes = {node};
  CdiDevice second;
  second.name = "gpu1";
  second.edits.env = {"GPU=1"};
  CdiSpec spec;
  spec.version = "0.6.0";
  spec.kind = "vendor.com/device.v1";
  spec.devices = {first, second};
  spec.edits.env = {"VENDOR="};
  spec.edits.mounts = {mount};
  spec.edits.hooks = {hook};
  return spec;
}

TEST(CdiSpecTest, JsonHasEveryFieldInTheOrderOfTheFormat) {
  EXPECT_EQ(CdiSpecJson(FullSpec()), TestText("JsonHasEveryFieldInTheOrderOfTheFormat"));
}

TEST(CdiSpecTest, TestDriverSetsParametersAsEnvironment) {
  const ParametersObject of_class = Parameters({{"b", "2"}, {"x", ""}});
  const ParametersObject of_claim = Parameters({{"a", "y=z"}, {"B", "3"}});
  const std::optional<CdiSpec> spec =
      CdiSpecForParameters("test-driver.cdi.k8s.io", 17, &of_class, &of_claim);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(CdiSpecJson(*spec), TestText("TestDriverSetsParametersAsEnvironment"));
  EXPECT_TRUE(ValidateCdiSpec(*spec).ok()) << ValidateCdiSpec(*spec);
  EXPECT_THAT(CdiDeviceIds(*spec), ElementsAre("test-driver.cdi.k8s.io/test=claim-17"));
}

TEST(CdiSpecTest, TestDriverWithoutParametersWritesNothing) {
  const ParametersObject none = Parameters({});
  EXPECT_EQ(CdiSpecForParameters("d", 1, nullptr, nullptr), std::nullopt);
  EXPECT_EQ(CdiSpecForParameters("d", 1, &none, &none), std::nullopt);
  const ParametersObject one = Parameters({{"a", "1"}});
  EXPECT_TRUE(CdiSpecForParameters("d", 1, &one, nullptr).has_value());
  EXPECT_TRUE(CdiSpecForParameters("d", 1, nullptr, &one).has_value());
}

// --- GPUs ---

std::vector<std::string> Paths(const CdiEdits& edits) {
  std::vector<std::string> paths;
  for (const CdiDeviceNode& node : edits.device_nodes) {
    std::string path = node.path;
    if (node.major.has_value()) path += " " + std::to_string(*node.major);
    if (node.minor.has_value()) path += ":" + std::to_string(*node.minor);
    paths.push_back(path + " " + node.type + " " + node.permissions);
  }
  return paths;
}

DeviceGrant Whole(uint8_t gpu) { return {gpu, kNoPlacement, 1000}; }
DeviceGrant Instance(const MigTable& table, uint8_t gpu, absl::string_view profile, int start) {
  const int index = table.FindProfile(profile);
  EXPECT_GE(index, 0);
  const int placement = table.FindPlacement(static_cast<size_t>(index), start);
  EXPECT_GE(placement, 0);
  return {gpu, static_cast<uint8_t>(placement), 0};
}

TEST(CdiSpecTest, WholeGpus) {
  const absl::StatusOr<CdiSpec> spec =
      CdiSpecForGpus("gpu.resource.nvidia.com", 5, {Whole(3), Whole(0)}, {});
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->version, "0.3.0");
  EXPECT_EQ(spec->kind, "k8s.gpu.resource.nvidia.com/claim");
  ASSERT_EQ(spec->devices.size(), size_t{1});
  EXPECT_THAT(Paths(spec->devices[0].edits),
              ElementsAre("/dev/nvidia3 195:3 c rw", "/dev/nvidia0 195:0 c rw"));
  EXPECT_THAT(spec->devices[0].edits.env, ElementsAre("NVIDIA_VISIBLE_DEVICES=3,0"));
  EXPECT_THAT(Paths(spec->edits),
              ElementsAre("/dev/nvidiactl 195:255 c rw", "/dev/nvidia-modeset 195:254 c rw",
                          "/dev/nvidia-uvm c rw", "/dev/nvidia-uvm-tools c rw"));
  EXPECT_THAT(spec->edits.env, IsEmpty());
  EXPECT_TRUE(ValidateCdiSpec(*spec).ok()) << ValidateCdiSpec(*spec);
  EXPECT_THAT(CdiDeviceIds(*spec), ElementsAre("k8s.gpu.resource.nvidia.com/claim=claim-5"));
}

TEST(CdiSpecTest, MigInstances) {
  const MigTable a100 = TestTable(*FindMigProduct("A100-40GB"));
  const MigTable* tables[] = {nullptr, &a100};
  const absl::StatusOr<CdiSpec> spec = CdiSpecForGpus(
      "gpu.resource.nvidia.com", 6,
      {Whole(0), Instance(a100, 1, "3g.20gb", 4), Instance(a100, 1, "1g.5gb", 2)}, tables);
  ASSERT_TRUE(spec.ok()) << spec.status();
  // GPU 1's instance 4: 3 + (15 + 4) * 9.
  EXPECT_THAT(
      Paths(spec->devices[0].edits),
      ElementsAre("/dev/nvidia0 195:0 c rw", "/dev/nvidia1 195:1 c rw",
                  "/dev/nvidia-caps/nvidia-cap174 c rw", "/dev/nvidia-caps/nvidia-cap175 c rw",
                  "/dev/nvidia-caps/nvidia-cap156 c rw", "/dev/nvidia-caps/nvidia-cap157 c rw"));
  EXPECT_THAT(spec->devices[0].edits.env, ElementsAre("NVIDIA_VISIBLE_DEVICES=0,1:4,1:2"));
  EXPECT_TRUE(ValidateCdiSpec(*spec).ok()) << ValidateCdiSpec(*spec);
}

TEST(CdiSpecTest, ReplicasOfOneGpuShareItsNode) {
  const DeviceGrant half = {2, kNoPlacement, 500};
  const absl::StatusOr<CdiSpec> spec = CdiSpecForGpus("d.com", 6, {half, half}, {});
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(Paths(spec->devices[0].edits), ElementsAre("/dev/nvidia2 195:2 c rw"));
  EXPECT_THAT(spec->devices[0].edits.env, ElementsAre("NVIDIA_VISIBLE_DEVICES=2"));
}

TEST(CdiSpecTest, GrantsThatTheGpusDoNotHave) {
  const MigTable a100 = TestTable(*FindMigProduct("A100-40GB"));
  const MigTable* tables[] = {nullptr, &a100};
  const auto error = [&](const DeviceGrants& grants) {
    const absl::StatusOr<CdiSpec> spec = CdiSpecForGpus("d.com", 6, grants, tables);
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(spec.status().message());
  };
  const auto above = static_cast<uint8_t>(a100.placements().size());
  EXPECT_EQ(error({}), "grants: found none, expected a device");
  EXPECT_EQ(error({{0, 3, 0}}),
            "GPU 0: found placement 3, expected none (it has no MIG instances)");
  EXPECT_EQ(error({{2, 3, 0}}),
            "GPU 2: found placement 3, expected none (it has no MIG instances)");
  EXPECT_THAT(error({{1, above, 0}}), HasSubstr("expected one below"));
}

// /proc/driver/nvidia-caps/mig-minors as the MIG user guide shows it.
TEST(CdiSpecTest, MigMinorsAreTheDrivers) {
  EXPECT_EQ(MigCapabilityMinor(0, 0), 3);               // gpu0/gi0/access 3
  EXPECT_EQ(MigCapabilityMinor(31, 14) + 1 + 6, 4321);  // gpu31/gi14/ci6/access 4321
  EXPECT_EQ(MigCapabilityMinor(31, 14) + 1 + 7, 4322);  // gpu31/gi14/ci7/access 4322
}

// Instances that are on a GPU together have different nodes, whatever the product.
TEST(CdiSpecTest, InstancesOfOneGpuHaveTheirOwnNodes) {
  for (const MigProduct& product : MigCatalogue()) {
    const MigTable table = TestTable(product);
    const std::vector<const MigTable*> tables(8, &table);
    for (size_t state = 0; state < table.states(); ++state) {
      const uint64_t set = table.set(static_cast<MigState>(state));
      DeviceGrants grants;
      for (uint8_t i = 0; i < table.placements().size(); ++i) {
        if ((set & PlacementBit(i)) != 0) grants.push_back({7, i, 0});
      }
      if (grants.empty() || state % 37 != 1) continue;
      const absl::StatusOr<CdiSpec> spec = CdiSpecForGpus("d.com", 1, grants, tables);
      ASSERT_TRUE(spec.ok()) << spec.status();
      EXPECT_EQ(spec->devices[0].edits.device_nodes.size(), 1 + 2 * grants.size());
      EXPECT_TRUE(ValidateCdiSpec(*spec).ok()) << ValidateCdiSpec(*spec);
    }
  }
}

// --- The rules ---

struct Rule {
  const char* name;
  void (*spoil)(CdiSpec& spec);
  const char* error;  // empty: it is still right
};

void Check(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    CdiSpec spec = FullSpec();
    rule.spoil(spec);
    const absl::Status status = ValidateCdiSpec(spec);
    EXPECT_EQ(status.message(), rule.error) << rule.name;
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << rule.name;
    }
  }
}

TEST(CdiSpecRulesTest, Header) {
  constexpr char kKnown[] = "one of 0.1.0, 0.2.0, 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0";
  const std::string unknown = std::string("cdiVersion: found '0.9.0', expected ") + kKnown;
  const std::string none = std::string("cdiVersion: found '', expected ") + kKnown;
  Check({
      {"right", [](CdiSpec&) {}, ""},
      {"newer version", [](CdiSpec& s) { s.version = "1.0.0"; }, ""},
      {"unknown version", [](CdiSpec& s) { s.version = "0.9.0"; }, unknown.c_str()},
      {"no version", [](CdiSpec& s) { s.version = ""; }, none.c_str()},
      {"too old for a dot in the class", [](CdiSpec& s) { s.version = "0.5.0"; },
       "cdiVersion: found '0.5.0', expected at least 0.6.0 for what the specification uses"},
      {"no device", [](CdiSpec& s) { s.devices.clear(); },
       "devices: found none, expected at least one"},
  });
}

TEST(CdiSpecRulesTest, Kind) {
  const std::string label63(63, 'a');
  const std::string label64(64, 'a');
  const std::string vendor253 =
      label63 + "." + label63 + "." + label63 + "." + std::string(61, 'a');
  for (const std::string& kind :
       {std::string("vendor.com/foo"), std::string("foo.bar.baz/foo-bar123.B_az"),
        std::string("v/c"), std::string("ven-dor1.com/c1"), "vendor.com/" + label63,
        vendor253 + "/c", label63 + ".com/c"}) {
    CdiSpec spec = FullSpec();
    spec.kind = kind;
    EXPECT_TRUE(ValidateCdiSpec(spec).ok()) << ValidateCdiSpec(spec);
  }
  for (const std::string& kind : {std::string(),
                                  std::string("foo"),
                                  std::string("vendor.com/foo/"),
                                  std::string("vendor.com/foo/bar"),
                                  std::string("/foo"),
                                  std::string("vendor.com/"),
                                  std::string("vendor..com/foo"),
                                  std::string(".com/foo"),
                                  std::string("vendor.com./foo"),
                                  std::string("-vendor.com/foo"),
                                  std::string("vendor-.com/foo"),
                                  std::string("1v.com/foo"),
                                  std::string("ven_dor.com/foo"),
                                  std::string("ven dor.com/foo"),
                                  std::string("vendor.com/_foo"),
                                  std::string("vendor.com/foo."),
                                  std::string("vendor.com/1foo"),
                                  std::string("vendor.com/f:oo"),
                                  "vendor.com/" + label64,
                                  vendor253 + "a/c",
                                  label64 + ".com/c"}) {
    CdiSpec spec = FullSpec();
    spec.kind = kind;
    EXPECT_EQ(ValidateCdiSpec(spec).message(),
              "kind: found '" + kind + "', expected 'vendor.com/class'");
  }
}

TEST(CdiSpecRulesTest, Devices) {
  constexpr char kWord[] = "letters and digits, with '-', '_', '.' or ':' between them";
  for (const char* name : {"a", "7", "gpu-0", "0_1.2:3-x"}) {
    CdiSpec spec = FullSpec();
    spec.devices[1].name = name;
    EXPECT_TRUE(ValidateCdiSpec(spec).ok()) << ValidateCdiSpec(spec);
  }
  for (const char* name : {"", "-a", "a-", "_", "a b", "a/b", "a=b", "a:", "\xc3\xa4"}) {
    CdiSpec spec = FullSpec();
    spec.devices[1].name = name;
    EXPECT_EQ(ValidateCdiSpec(spec).message(),
              std::string("devices[1].name: found '") + name + "', expected " + kWord);
  }
  Check({
      {"twice", [](CdiSpec& s) { s.devices[1].name = "gpu0"; },
       "devices[1].name: found 'gpu0', expected a name that no other device has"},
      {"no edits", [](CdiSpec& s) { s.devices[1].edits = CdiEdits(); },
       "devices[1].containerEdits: found none, expected at least one"},
      {"no edits of all", [](CdiSpec& s) { s.edits = CdiEdits(); }, ""},
  });
}

// The cases of upstream's TestValidateContainerEdits, by its names, and what SPEC.md says besides.
TEST(CdiSpecRulesTest, ContainerEdits) {
  Check({
      {"invalid env, empty var",
       [](CdiSpec& s) {
         s.edits.env = {"A=1", ""};
       },
       "containerEdits.env[1]: found '', expected 'NAME=value'"},
      {"invalid env, no var name", [](CdiSpec& s) { s.edits.env = {"=foo"}; },
       "containerEdits.env[0]: found '=foo', expected 'NAME=value'"},
      {"invalid env, no assignment", [](CdiSpec& s) { s.devices[1].edits.env = {"FOOBAR"}; },
       "devices[1].containerEdits.env[0]: found 'FOOBAR', expected 'NAME=value'"},
      {"valid device, path only", [](CdiSpec& s) { s.edits.device_nodes = {Node("/dev/null")}; },
       ""},
      {"valid device, path+type+permissions",
       [](CdiSpec& s) {
         s.devices[0].edits.device_nodes[0].type = "b";
         s.devices[0].edits.device_nodes[0].permissions = "rwm";
       },
       ""},
      {"invalid device, empty path", [](CdiSpec& s) { s.edits.device_nodes = {Node("")}; },
       "containerEdits.deviceNodes[0].path: found '', expected an absolute path"},
      {"a relative path", [](CdiSpec& s) { s.edits.device_nodes = {Node("dev/null")}; },
       "containerEdits.deviceNodes[0].path: found 'dev/null', expected an absolute path"},
      {"a relative path of the host",
       [](CdiSpec& s) { s.devices[0].edits.device_nodes[0].host_path = "null"; },
       "devices[0].containerEdits.deviceNodes[0].hostPath: found 'null', expected an absolute "
       "path"},
      {"invalid device, wrong type",
       [](CdiSpec& s) { s.devices[0].edits.device_nodes[0].type = "f"; },
       "devices[0].containerEdits.deviceNodes[0].type: found 'f', expected 'b', 'c', 'u' or 'p'"},
      {"invalid device, wrong permissions",
       [](CdiSpec& s) { s.devices[0].edits.device_nodes[0].permissions = "to land"; },
       "devices[0].containerEdits.deviceNodes[0].permissions: found 'to land', expected letters "
       "of 'rwm'"},
      {"a negative major", [](CdiSpec& s) { s.devices[0].edits.device_nodes[0].major = -1; },
       "devices[0].containerEdits.deviceNodes[0].major: found '-1', expected at least 0"},
      {"a negative minor", [](CdiSpec& s) { s.devices[0].edits.device_nodes[0].minor = -7; },
       "devices[0].containerEdits.deviceNodes[0].minor: found '-7', expected at least 0"},
      {"invalid mount, empty host path", [](CdiSpec& s) { s.edits.mounts[0].host_path = ""; },
       "containerEdits.mounts[0].hostPath: found '', expected an absolute path"},
      {"invalid mount, empty container path",
       [](CdiSpec& s) { s.edits.mounts[0].container_path = ""; },
       "containerEdits.mounts[0].containerPath: found '', expected an absolute path"},
      {"valid hooks", [](CdiSpec& s) { s.edits.hooks[0].name = "poststop"; }, ""},
      {"invalid hook, empty path", [](CdiSpec& s) { s.edits.hooks[0].path = ""; },
       "containerEdits.hooks[0].path: found '', expected an absolute path"},
      {"invalid hook, wrong hook name",
       [](CdiSpec& s) { s.edits.hooks[0].name = "misCreateRuntime"; },
       "containerEdits.hooks[0].hookName: found 'misCreateRuntime', expected one of prestart, "
       "createRuntime, createContainer, startContainer, poststart, poststop"},
      {"invalid hook, wrong env", [](CdiSpec& s) { s.edits.hooks[0].env = {"=value2"}; },
       "containerEdits.hooks[0].env[0]: found '=value2', expected 'NAME=value'"},
      {"no time for a hook", [](CdiSpec& s) { s.edits.hooks[0].timeout_seconds = 0; },
       "containerEdits.hooks[0].timeout: found '0', expected at least 1"},
  });
}

// The features by version of upstream's TestMinimumRequiredVersion.
TEST(CdiSpecRulesTest, MinimumVersion) {
  CdiSpec spec = FullSpec();
  EXPECT_EQ(MinimumCdiVersion(spec), "0.6.0");  // a dot in the class
  spec.kind = "vendor.com/device";
  EXPECT_EQ(MinimumCdiVersion(spec), "0.5.0");  // hostPath of a node
  spec.devices[0].edits.device_nodes[0].host_path.clear();
  EXPECT_EQ(MinimumCdiVersion(spec), "0.4.0");  // type of a mount
  spec.edits.mounts[0].type.clear();
  EXPECT_EQ(MinimumCdiVersion(spec), "0.3.0");
  spec.devices[1].name = "1gpu";
  EXPECT_EQ(MinimumCdiVersion(spec), "0.5.0");  // a name that begins with a digit
  EXPECT_EQ(MinimumCdiVersion(CdiSpec()), "0.3.0");
}

}  // namespace cdi_spec_test
}  // namespace drasim
