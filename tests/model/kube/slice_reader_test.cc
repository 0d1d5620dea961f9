#include "model/kube/slice_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/resource_lift.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PublishedSlices ReadSlices(const std::string& text) {
  absl::StatusOr<PublishedSlices> read = ReadResourceSlices(text, "f.yaml");
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *std::move(read) : PublishedSlices();
}

TEST(ReadResourceSlicesTest, ReadsSlicesOfAllVersionsAmongOtherObjects) {
  const PublishedSlices read = ReadSlices(TestText("SlicesAmongOtherObjects"));
  ASSERT_EQ(read.slices.size(), 2u);
  EXPECT_EQ(read.slices[0].api_version(), kResourceV1);
  EXPECT_EQ(read.slices[0].spec().devices(0).attributes().at("a").int_value(), 1);
  EXPECT_EQ(read.slices[1].metadata().name(), "b");
  EXPECT_THAT(read.warnings,
              ElementsAre("f.yaml:15:13: spec.devices[0].name: Invalid value: \"G\": a lowercase "
                          "RFC 1123 label must consist of lower case alphanumeric characters or "
                          "'-', and must start and end with an alphanumeric character (e.g. "
                          "'my-name',  or '123-abc', regex used for validation is "
                          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                          "f.yaml:16:31: spec.devices[0].attributes[a]: Invalid value: 2 values: "
                          "exactly one value must be specified",
                          "f.yaml: 2 objects that are no ResourceSlice are left out"));
}

TEST(ReadResourceSlicesTest, TakesListsOfDevices) {
  const PublishedSlices read =
      ReadSlices("- {name: a, attributes: {x: {int: 1}}}\n- {name: b, colour: 1}\n- ...\n");
  ASSERT_EQ(read.slices.size(), 1u);
  EXPECT_EQ(read.slices[0].spec().devices_size(), 2);
  EXPECT_EQ(read.slices[0].spec().devices(1).name(), "b");
  EXPECT_THAT(read.warnings,
              ElementsAre("f.yaml:1:1: found a list of devices, expected a ResourceSlice: name, "
                          "driver, pool and nodes of its devices are unknown",
                          "f.yaml:2:13: colour: unknown field",
                          "f.yaml:3:3: found the text '...', expected keys and values; left out"));
}

TEST(ReadResourceSlicesTest, RefusesTextsWithoutSlices) {
  for (const char* text : {"", "kind: Pod\napiVersion: v1\n", "{apiVersion: v1, kind: List}"}) {
    EXPECT_EQ(ReadResourceSlices(text, "f.yaml").status().message(),
              "f.yaml: found no ResourceSlice");
  }
  EXPECT_FALSE(ReadResourceSlices("a: [", "f.yaml").ok());
  EXPECT_EQ(
      ReadResourceSlices("# devices\n---\n- {name: a}\n---\na: b\n", "f.yaml").status().message(),
      "f.yaml:5:1: expected a list of devices, as in the document before");
}

// "" for the pools of a section, else their problems, one per line.
std::string ProblemsOfPools(absl::string_view specs) {
  std::string text;
  for (const absl::string_view spec :
       std::vector<absl::string_view>(absl::StrSplit(specs, "; ", absl::SkipEmpty()))) {
    absl::StrAppend(&text, "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, spec: {",
                    spec, "}}\n");
  }
  return absl::StrJoin(PoolProblems(ReadSlices(text).slices), "\n");
}

TEST(PoolProblemsTest, NamesWhatMakesPoolsUnusable) {
  for (const auto& [specs, problems] : TestRows<2>("Pools")) {
    EXPECT_EQ(ProblemsOfPools(specs), problems) << specs;
  }
}

// --- Hostile texts ---

TEST(ReadResourceSlicesTest, AHundredThousandDevices) {
  std::string text =
      R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
"spec": {"driver": "d", "allNodes": true, "pool": {"name": "p", "resourceSliceCount": 1},
"devices": [{"name": "d"})";
  for (int i = 1; i < 100000; ++i) absl::StrAppend(&text, ", {\"name\": \"d\"}");
  absl::StrAppend(&text, "]}}");
  const PublishedSlices read = ReadSlices(text);
  EXPECT_EQ(read.slices[0].spec().devices_size(), 100000);
  EXPECT_THAT(
      read.warnings,
      ElementsAre("f.yaml:3:12: spec.devices: Too many: 100000: must have at most 128 items",
                  "f.yaml: pool d/p: two devices are called d: the pool is invalid"));
}

TEST(ReadResourceSlicesTest, EnormousAndNegativeQuantities) {
  const PublishedSlices read = ReadSlices(TestText("Quantities"));
  EXPECT_THAT(read.warnings,
              ElementsAre("f.yaml:11:27: spec.devices[0].capacity[d].value: found the text '1x', "
                          "expected a quantity such as 2, 500m or 1.5Gi; left out",
                          "f.yaml: device x: the capacity d has no value: left out"));
  const auto& capacity = read.slices[0].spec().devices(0).capacity();
  EXPECT_EQ(capacity.at("a").value(), "-5");
  EXPECT_EQ(capacity.at("b").value(), "1e500");
  EXPECT_EQ(capacity.at("c").value(), "99999999999999999999999999999999999999999999Ei");
  EXPECT_EQ(capacity.size(), 3u);
}

}  // namespace
}  // namespace drasim
