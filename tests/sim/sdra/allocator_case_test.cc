// Wrong values in the cases for the allocator.

#include "sim/sdra/allocator_case.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/kube/reader_json.h"

namespace drasim {
namespace {

std::string AllocatorCaseProblem(absl::string_view json) {
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(json, 0, &nodes);
  if (tree.root == nullptr) return tree.problem;
  return std::string(ReadAllocatorCase(json, *tree.root).status().message());
}

TEST(AllocatorCaseTest, WrongValuesAreNamed) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"5", "case: expected an object"},
      {"[]", "case: expected an object"},
      {R"({"Claims": {}})", "Claims: expected a list"},
      {R"({"Nodes": 5})", "Nodes: expected a list"},
      {R"({"Node": []})", "Node: expected an object"},
      {R"({"Node": {"metadata": 5}})", "Node.metadata: expected an object"},
      {R"({"Slices": [{}, 5]})", "Slices[1]: expected an object"},
      {R"({"Features": "AdminAccess"})", "Features: expected a list"},
      {R"({"Features": ["AdminAccess", "x"]})", "Features[1]: unknown feature 'x'"},
      {R"({"Slices": [{"spec": {"devices": [{"attributes": {"a": {"ints": [1, "b"]}}}]}}]})",
       "Slices[0].spec.devices[0].attributes[a].ints[1]: expected a whole number of 64 bits"},
      {R"({"Claims": [{"spec": {"devices": {"requests": [{"exactly": {"count": 1e30}}]}}}]})",
       "Claims[0].spec.devices.requests[0].exactly.count: expected a whole number of 64 bits"},
      {R"({"AllocatedDevices": ["a/b"]})",
       "AllocatedDevices[0]: found 'a/b', expected driver/pool/device"},
      {R"({"AllocatedSharedDeviceIDs": [{"Device": "x"}]})",
       "AllocatedSharedDeviceIDs[0].Device: found 'x', expected driver/pool/device"},
      {R"({"AggregatedCapacity": [{"Device": "a/b/c", "Consumed": []}]})",
       "AggregatedCapacity[0].Consumed: expected an object"},
      {R"({"AggregatedCapacity": [{"Device": "a/b/c", "Consumed": {"m": "x"}}]})",
       "AggregatedCapacity[0].Consumed[m]: found 'x', expected a quantity such as 2 or 1.5Gi"}};
  for (const auto& [json, problem] : cases) EXPECT_EQ(AllocatorCaseProblem(json), problem);
  EXPECT_EQ(AllocatorCaseProblem(R"({"Name": "a", "Claims": null, "Unknown": 1})"), "");
}

}  // namespace
}  // namespace drasim
