#include "policies/plugins/volume_zone.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/plugin_rig.h"
#include "tests/testing/volume_rig.h"

namespace drasim {
namespace {

constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
constexpr char kBetaZone[] = "failure-domain.beta.kubernetes.io/zone";

// Verdicts on nodes of the zones a and b, with zone a by the beta label, and without any label.
std::vector<int> VerdictsForLabel(const std::string& key, const std::string& value) {
  ClusterBuilder builder;
  builder.AddNode(HostNode("a", "a"));
  builder.AddNode(HostNode("b", "b"));
  NodeSpec beta = HostNode("beta");
  beta.labels.insert(beta.labels.begin(), {kBetaZone, "a"});
  builder.AddNode(beta);
  builder.AddNode(HostNode("plain"));
  PersistentVolumeObject volume = TestVolume("v");
  volume.labels.emplace_back(key, value);
  VolumeObjects volumes;
  volumes.claims = {TestClaim("c", "v")};
  volumes.volumes = {volume};
  SetVolumes(builder, volumes);
  VolumeZone plugin;
  const PodShape pod = PodWithClaims({"c"});
  if (PreFilterResult(plugin, builder, pod).code == StepCode::kSkip) return {};
  return FilterVerdicts(plugin, builder, pod);
}

TEST(VolumeZoneTest, NodesShareTheZonesOfTheVolume) {
  EXPECT_EQ(VerdictsForLabel(kZoneLabel, "a"), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(VerdictsForLabel(kZoneLabel, "c__ b"), (std::vector<int>{1, 0, 1, 0}));
  EXPECT_EQ(VerdictsForLabel(kBetaZone, "a"), (std::vector<int>{0, 1, 0, 0}))
      << "the newer label of a node will do";
  EXPECT_EQ(VerdictsForLabel(kZoneLabel, "a__"), std::vector<int>()) << "unreadable: not looked at";
  EXPECT_EQ(VerdictsForLabel("rack", "a"), std::vector<int>());
}

TEST(VolumeZoneTest, ClaimsMustBeBoundOrWaitForThePod) {
  using BindingMode = StorageClassObject::BindingMode;
  ClusterBuilder builder;
  builder.AddNode(HostNode("a", "a"));
  VolumeClaimObject without_class = TestClaim("plain");
  without_class.storage_class.clear();
  VolumeClaimObject strange = TestClaim("strange");
  strange.storage_class = "nope";
  VolumeClaimObject immediate = TestClaim("immediate");
  immediate.storage_class = "imm";
  VolumeObjects volumes;
  volumes.claims = {without_class, strange, immediate, TestClaim("waits"), TestClaim("lost", "v")};
  volumes.classes = {TestClass("std", "csi.x"), TestClass("imm", "csi.x", BindingMode::kImmediate)};
  SetVolumes(builder, volumes);
  VolumeZone plugin;
  const auto message = [&](const char* claim) {
    const StepResult result = PreFilterResult(plugin, builder, PodWithClaims({claim}));
    EXPECT_EQ(result.code, StepCode::kUnresolvable) << claim;
    return result.message;
  };
  EXPECT_EQ(message("plain"), "PersistentVolumeClaim had no pv name and storageClass name");
  EXPECT_EQ(message("strange"), "storageclass.storage.k8s.io \"nope\" not found");
  EXPECT_EQ(message("immediate"), "PersistentVolume had no name");
  EXPECT_EQ(message("lost"), "persistentvolume \"v\" not found");
  EXPECT_EQ(message("missing"), "persistentvolumeclaim \"missing\" not found");
  EXPECT_EQ(PreFilterResult(plugin, builder, PodWithClaims({"waits"})).code, StepCode::kSkip);
}

}  // namespace
}  // namespace drasim
