#include "policies/dra/extended_resources.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::FromText;
using proto::kube::DeviceClass;

DeviceClass ClassNamed(const std::string& name, const std::string& resource,
                       const std::string& created) {
  DeviceClass device_class;
  device_class.mutable_metadata()->set_name(name);
  device_class.mutable_metadata()->set_creation_timestamp(created);
  if (!resource.empty()) device_class.mutable_spec()->set_extended_resource_name(resource);
  return device_class;
}

ResourceClasses GpuClasses() {
  ResourceClasses classes;
  classes.Add(ClassNamed("gpu", "example.com/gpu", ""));
  return classes;
}

// "container-0-request-0=2 | c0:container-0-request-0 ..."
std::string RequestsText(const std::string& spec) {
  const ResourceRequests found =
      RequestsOfResources(FromText<proto::kube::PodSpec>(spec), {"example.com/gpu"}, GpuClasses());
  std::vector<std::string> words;
  for (const auto& request : found.requests) {
    EXPECT_EQ(request.exactly().device_class_name(), "gpu");
    EXPECT_EQ(request.exactly().allocation_mode(), "ExactCount");
    words.push_back(absl::StrCat(request.name(), "=", request.exactly().count()));
  }
  words.push_back("|");
  for (const auto& mapping : found.mappings) {
    EXPECT_EQ(mapping.resource_name(), "example.com/gpu");
    words.push_back(absl::StrCat(mapping.container_name(), ":", mapping.request_name()));
  }
  return absl::StrJoin(words, " ");
}

std::string ContainerText(const std::string& kind, const std::string& name, int gpus,
                          const std::string& more = "") {
  return absl::StrCat(kind, " { name: \"", name,
                      "\" resources { requests { key: \"example.com/gpu\" value: \"", gpus,
                      "\" } requests { key: \"cpu\" value: \"1\" } } ", more, " } ");
}

TEST(ResourceClassesTest, TheNewerClassServesTheName) {
  ResourceClasses classes;
  classes.Add(ClassNamed("old", "r/x", "2026-01-01T00:00:00Z"));
  classes.Add(ClassNamed("new", "r/x", "2026-01-02T00:00:00Z"));
  EXPECT_EQ(classes.ClassOf("r/x"), "new");
  EXPECT_EQ(classes.ClassOf("deviceclass.resource.kubernetes.io/old"), "old");
  EXPECT_EQ(classes.ClassOf("deviceclass.resource.kubernetes.io/new"), "new");
  EXPECT_EQ(classes.ClassOf("r/y"), "");
}

TEST(ResourceClassesTest, LoserThatComesLaterHasNoImplicitNameEither) {
  ResourceClasses classes;
  classes.Add(ClassNamed("aaa", "r/x", "2026-01-02T00:00:00Z"));
  classes.Add(ClassNamed("gpu", "r/x", ""));
  EXPECT_EQ(classes.ClassOf("r/x"), "aaa");
  EXPECT_EQ(classes.ClassOf("deviceclass.resource.kubernetes.io/gpu"), "");
}

TEST(ResourceClassesTest, TheSmallerNameWinsAmongEquallyOld) {
  ResourceClasses classes;
  classes.Add(ClassNamed("b", "r/x", ""));
  classes.Add(ClassNamed("c", "r/x", ""));
  EXPECT_EQ(classes.ClassOf("r/x"), "b");
  classes.Add(ClassNamed("a", "r/x", ""));
  EXPECT_EQ(classes.ClassOf("r/x"), "a");
}

TEST(ResourceClassesTest, UpdatesAndRemovalsForgetNames) {
  ResourceClasses classes;
  const DeviceClass before = ClassNamed("gpu", "r/x", "");
  classes.Add(before);
  const DeviceClass after = ClassNamed("gpu", "r/y", "");
  classes.Update(before, after);
  EXPECT_EQ(classes.ClassOf("r/x"), "");
  EXPECT_EQ(classes.ClassOf("r/y"), "gpu");
  classes.Remove(after);
  EXPECT_EQ(classes.ClassOf("r/y"), "");
  EXPECT_EQ(classes.ClassOf("deviceclass.resource.kubernetes.io/gpu"), "");
}

TEST(ResourceRequestsTest, KnowNames) {
  EXPECT_TRUE(IsDraResourceName("example.com/gpu"));
  EXPECT_TRUE(IsDraResourceName("deviceclass.resource.kubernetes.io/gpu"));
  EXPECT_FALSE(IsDraResourceName("kubernetes.io/gpu"));
  EXPECT_FALSE(IsDraResourceName("cpu"));
}

TEST(ResourceRequestsTest, EachContainerHasItsOwn) {
  EXPECT_EQ(RequestsText(ContainerText("containers", "c0", 2) + "containers { name: \"c1\" } " +
                         ContainerText("containers", "c2", 1)),
            "container-0-request-1=2 container-2-request-1=1 | c0:container-0-request-1 "
            "c2:container-2-request-1");
}

TEST(ResourceRequestsTest, InitContainerUsesDevicesOfLaterContainers) {
  EXPECT_EQ(RequestsText(ContainerText("init_containers", "i0", 2) +
                         ContainerText("containers", "c0", 3)),
            "container-1-request-1=3 | c0:container-1-request-1 i0:container-1-request-1");
  // It takes the containers in order until it has enough.
  EXPECT_EQ(RequestsText(
                ContainerText("init_containers", "i0", 3) + ContainerText("containers", "c0", 1) +
                ContainerText("containers", "c1", 2) + ContainerText("containers", "c2", 2)),
            "container-1-request-1=1 container-2-request-1=2 container-3-request-1=2 | "
            "c0:container-1-request-1 c1:container-2-request-1 c2:container-3-request-1 "
            "i0:container-1-request-1 i0:container-2-request-1");
}

TEST(ResourceRequestsTest, LargestRequestServesAllInitContainers) {
  EXPECT_EQ(RequestsText(ContainerText("init_containers", "i0", 2) +
                         ContainerText("init_containers", "i1", 4) +
                         ContainerText("init_containers", "i2", 3) +
                         ContainerText("containers", "c0", 1)),
            "container-1-request-1=3 container-3-request-1=1 | c0:container-3-request-1 "
            "i0:container-3-request-1 i0:container-1-request-1 i1:container-3-request-1 "
            "i1:container-1-request-1 i2:container-3-request-1 i2:container-1-request-1");
}

TEST(ResourceRequestsTest, SidecarsAddUpAndServeEarlierInitContainersOnly) {
  EXPECT_EQ(RequestsText(ContainerText("init_containers", "i0", 1) +
                         ContainerText("init_containers", "s", 2, "restart_policy: \"Always\"") +
                         ContainerText("init_containers", "i2", 1) +
                         ContainerText("containers", "c0", 1)),
            "container-1-request-1=2 container-3-request-1=1 | s:container-1-request-1 "
            "c0:container-3-request-1 i0:container-1-request-1 i2:container-3-request-1");
}

}  // namespace
}  // namespace drasim
