// Validation of resource.k8s.io/v1 (validate_device.h, validate_claim.h, validate_capacity.h,
// api_check.h), as ReadKubeObjects reports it.
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/kube/validate.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace {

constexpr char kSliceBase[] =
    "driver: d.example.com, pool: {name: p, generation: 1, resourceSliceCount: 1}";

// The problems of an object of resource.k8s.io/v1 with these fields, "PATH: WHAT" each.
std::string ResourceProblems(absl::string_view fields) {
  KubeReadOptions options;
  options.validate = false;
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(
      absl::StrCat("{apiVersion: resource.k8s.io/v1, metadata: {name: o}, ", fields, "}"), "f.yaml",
      options);
  if (!read.ok()) return std::string(read.status().message());
  std::vector<std::string> problems = read->warnings;
  for (const KubeProblem& problem : ValidateKubeObject(read->objects[0].object)) {
    // Rules of names stand without their examples and patterns.
    const size_t examples = problem.what.find(" (e.g. ");
    problems.push_back(absl::StrCat(problem.path, ": ", problem.what.substr(0, examples)));
  }
  return absl::StrJoin(problems, "\n");
}

std::string DeviceProblems(absl::string_view fields) {
  const bool named = absl::StrContains(fields, "name: ") && fields.substr(0, 4) == "name";
  return ResourceProblems(absl::StrCat("kind: ResourceSlice, spec: {", kSliceBase,
                                       ", allNodes: true, devices: [{", named ? "" : "name: a, ",
                                       fields, "}]}"));
}

void ExpectProblems(absl::string_view section, std::string (*problems_of)(absl::string_view)) {
  for (const auto& [fields, problems] : TestRows<2>(section)) {
    EXPECT_EQ(problems_of(fields), problems) << section << ": " << fields;
  }
}

TEST(ValidateResourceTest, Devices) { ExpectProblems("Devices", DeviceProblems); }

TEST(ValidateResourceTest, Slices) {
  ExpectProblems("Slices", [](absl::string_view fields) {
    return ResourceProblems(absl::StrCat("kind: ResourceSlice, spec: {",
                                         absl::StrReplaceAll(fields, {{"@", kSliceBase}}), "}"));
  });
}

TEST(ValidateResourceTest, Claims) {
  ExpectProblems("Claims", [](absl::string_view fields) {
    return ResourceProblems(absl::StrCat("kind: ResourceClaim, spec: {devices: {", fields, "}}"));
  });
}

TEST(ValidateResourceTest, ClaimStatuses) {
  ExpectProblems("ClaimStatuses", [](absl::string_view fields) {
    return ResourceProblems(
        absl::StrCat("kind: ResourceClaim, spec: {devices: {requests: [{name: a, exactly: "
                     "{deviceClassName: c}}]}}, status: {",
                     fields == "{}" ? "" : fields, "}"));
  });
}

// `count` devices, the last of which has `fields`, too.
std::string ManyDevices(int count, absl::string_view fields) {
  std::string devices;
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&devices, "{name: d", i, i == count ? fields : "", "}, ");
  }
  return ResourceProblems(absl::StrCat("kind: ResourceSlice, spec: {", kSliceBase,
                                       ", allNodes: true, devices: [", devices, "]}"));
}

TEST(ValidateResourceTest, LongLists) {
  EXPECT_EQ(ManyDevices(128, ""), "");
  EXPECT_EQ(ManyDevices(129, ""), "spec.devices: Too many: 129: must have at most 128 items");
  EXPECT_EQ(ManyDevices(64, ", taints: [{key: k, effect: None}]"), "");
  for (const char* fields : {", taints: [{key: k, effect: None}]", ", attributes: {a: {ints: [1]}}",
                             ", consumesCounters: [{counterSet: s, counters: {m: {value: 1}}}]"}) {
    EXPECT_EQ(ManyDevices(65, fields), "spec.devices: Too many: 65: must have at most 64 items");
  }
  std::string requests;
  for (int i = 1; i <= 33; ++i) {
    absl::StrAppend(&requests, "{name: a", i, ", exactly: {deviceClassName: c}}, ");
  }
  EXPECT_EQ(ResourceProblems(
                absl::StrCat("kind: ResourceClaim, spec: {devices: {requests: [", requests, "]}}")),
            "spec.devices.requests: Too many: 33: must have at most 32 items");
}

TEST(ValidateResourceTest, LongTexts) {
  const auto of_class = [](size_t bytes) {
    const std::string text(bytes - 2, 'x');
    return ResourceProblems(
        absl::StrCat("kind: DeviceClass, spec: {selectors: [{cel: {expression: "
                     "\"xx",
                     text, "\"}}], config: [{opaque: {driver: d, parameters: {a: \"",
                     text.substr(6), "\"}}}]}"));
  };
  EXPECT_EQ(of_class(10240), "");
  EXPECT_EQ(of_class(10241),
            "spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes\n"
            "spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes");
}

TEST(ValidateResourceTest, Others) { ExpectProblems("Others", ResourceProblems); }

}  // namespace
}  // namespace drasim
