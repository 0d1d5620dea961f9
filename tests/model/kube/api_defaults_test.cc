#include "model/kube/api_defaults.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

kube::PodSpec WithDefaults(absl::string_view spec) {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest read = kube_manifests::ReadManifest(
      absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {", spec, "}}"),
      options);
  kube::PodSpec pod = read.objects.at(0).object.pod().spec();
  SetPodDefaults(&pod);
  return pod;
}

std::map<std::string, std::string> RequestsOf(const kube::ResourceRequirements& resources) {
  return {resources.requests().begin(), resources.requests().end()};
}

TEST(SetPodDefaultsTest, LimitsStandForMissingRequests) {
  const kube::PodSpec spec = WithDefaults(
      "containers: [{name: a, resources: {limits: {cpu: 2, nvidia.com/gpu: 1}, requests: {cpu: "
      "100m}}}], initContainers: [{name: i, resources: {limits: {memory: 1Gi}}}]");
  EXPECT_THAT(RequestsOf(spec.containers(0).resources()),
              ElementsAre(Pair("cpu", "100m"), Pair("nvidia.com/gpu", "1")));
  EXPECT_THAT(RequestsOf(spec.init_containers(0).resources()), ElementsAre(Pair("memory", "1Gi")));
  EXPECT_FALSE(spec.has_resources());
}

TEST(SetPodDefaultsTest, PodLevelRequestsAreThoseOfTheContainersOrTheLimits) {
  const kube::PodSpec spec = WithDefaults(
      "containers: [{name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: "
      "{cpu: 500m, example.com/a: 1}}}], overhead: {cpu: 4}, resources: {limits: {cpu: 3, memory: "
      "1Gi, example.com/b: 2}}");
  EXPECT_THAT(RequestsOf(spec.resources()),
              ElementsAre(Pair("cpu", "1500m"), Pair("memory", "1Gi")));
  EXPECT_THAT(RequestsOf(WithDefaults("containers: [{name: a, resources: {requests: {cpu: 1}}}], "
                                      "resources: {requests: {memory: 1Gi}}")
                             .resources()),
              ElementsAre(Pair("memory", "1Gi")));
}

TEST(SetPodDefaultsTest, PortsOfTheHostsNetwork) {
  const std::string ports =
      "containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 82}]}], "
      "initContainers: [{name: i, ports: [{containerPort: 83}]}]";
  const kube::PodSpec own = WithDefaults(ports);
  EXPECT_EQ(own.containers(0).ports(0).host_port(), 0);
  const kube::PodSpec host = WithDefaults(absl::StrCat("hostNetwork: true, ", ports));
  EXPECT_EQ(host.containers(0).ports(0).host_port(), 80);
  EXPECT_EQ(host.containers(0).ports(1).host_port(), 82);
  EXPECT_EQ(host.init_containers(0).ports(0).host_port(), 83);
}

TEST(SetPodDefaultsTest, IsIdempotent) {
  kube::PodSpec spec = WithDefaults(
      "containers: [{name: a, resources: {limits: {cpu: 2}}}], resources: {limits: {cpu: 3}}");
  const std::string once = spec.DebugString();
  SetPodDefaults(&spec);
  EXPECT_EQ(spec.DebugString(), once);
  EXPECT_THAT(RequestsOf(WithDefaults("containers: [{name: a}]").resources()), IsEmpty());
}

TEST(SetDeviceClaimDefaultsTest, FillsInRequestsAndSubrequests) {
  proto::kube::DeviceClaim claim;
  claim.add_requests()->mutable_exactly()->add_tolerations();
  claim.add_requests()->mutable_exactly()->set_allocation_mode("All");
  claim.add_requests()->mutable_exactly()->set_count(3);
  claim.add_requests()->add_first_available()->add_tolerations()->set_operator_("Exists");
  claim.add_requests();
  SetDeviceClaimDefaults(&claim);
  EXPECT_EQ(claim.requests(0).exactly().allocation_mode(), "ExactCount");
  EXPECT_EQ(claim.requests(0).exactly().count(), 1);
  EXPECT_EQ(claim.requests(0).exactly().tolerations(0).operator_(), "Equal");
  EXPECT_EQ(claim.requests(1).exactly().allocation_mode(), "All");
  EXPECT_EQ(claim.requests(1).exactly().count(), 0);
  EXPECT_EQ(claim.requests(2).exactly().count(), 3);
  EXPECT_EQ(claim.requests(3).first_available(0).count(), 1);
  EXPECT_EQ(claim.requests(3).first_available(0).tolerations(0).operator_(), "Exists");
  EXPECT_FALSE(claim.requests(4).has_exactly());
}

}  // namespace
}  // namespace drasim
