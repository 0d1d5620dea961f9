#include "traces/mapping.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "traces/embedded.h"

namespace drasim {
namespace mapping_test {

const std::string& SmallText() { return TestText("Small"); }

// The message of validating SmallText() with `more` behind it.
std::string ErrorWith(absl::string_view more) {
  absl::StatusOr<proto::TableMapping> mapping =
      ParseMapping(absl::StrCat(SmallText(), more), "m.yaml");
  return mapping.ok() ? "" : std::string(mapping.status().message());
}

// The message of validating a whole mapping.
std::string ErrorOf(absl::string_view yaml) {
  absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, "m.yaml");
  if (mapping.ok()) return "";
  EXPECT_EQ(mapping.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(mapping.status().message());
}

TEST(MappingTest, BuiltInMappingsAreValid) {
  const std::vector<std::string> names = EmbeddedMappingNames();
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    ASSERT_OK_AND_ASSIGN(proto::TableMapping mapping, LoadMapping(name));
    EXPECT_EQ(mapping.name(), name);
    EXPECT_FALSE(mapping.description().empty());
    EXPECT_FALSE(mapping.origin().empty());
  }
}

TEST(MappingTest, OpenbMapping) {
  ASSERT_OK_AND_ASSIGN(proto::TableMapping mapping, LoadMapping("openb"));
  const proto::PodColumns& pods = mapping.pods();
  EXPECT_EQ(pods.name().column(), "name");
  EXPECT_EQ(pods.cpu().unit(), "milli");
  EXPECT_EQ(pods.memory().unit(), "MiB");
  EXPECT_EQ(pods.gpu_share().max(), 1000.0);
  EXPECT_EQ(pods.gpu_model_separator(), "|");
  EXPECT_EQ(pods.priority().values().at(std::string("LS")), "2");
  EXPECT_EQ(pods.priority().values().at(std::string("Guaranteed")), "3");
  EXPECT_TRUE(pods.arrival().optional());
  EXPECT_EQ(mapping.nodes().name().column(), "sn");
  EXPECT_EQ(mapping.nodes().pods().default_(), "1001");
}

TEST(MappingTest, LoadsAFile) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/mapping_test_small.yaml");
  std::ofstream(path) << SmallText();
  ASSERT_OK_AND_ASSIGN(proto::TableMapping mapping, LoadMapping(path));
  EXPECT_EQ(mapping.name(), "small");
}

TEST(MappingTest, AnUnknownNameListsTheBuiltInOnes) {
  const absl::Status status = LoadMapping("no-such-mapping").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(status.message(),
                               "mapping 'no-such-mapping': found neither a built-in mapping nor a "
                               "file of this name; the built-in ones are "))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "openb")) << status;
}

// Rows: lines to append to SmallText(), and the error.
void ExpectErrors(absl::string_view section) {
  for (const auto& [more, error] : TestRows<2>(section)) EXPECT_EQ(ErrorWith(more), error) << more;
}

TEST(MappingTest, ErrorsOfTheYamlNameTheFile) {
  EXPECT_TRUE(absl::StartsWith(ErrorWith("  bogus: 1\n"), "m.yaml:5:"))
      << ErrorWith("  bogus: 1\n");
}

TEST(MappingTest, ExplainsWhatIsWrongWithTheTable) {
  EXPECT_EQ(ErrorOf("pods:\n  cpu: {column: c, unit: milli}\n"),
            "m.yaml: name: found '', expected the format's name");
  EXPECT_EQ(ErrorOf("name: x\n"),
            "m.yaml: pods: found '', expected a section 'pods' or a section 'nodes'");
  ExpectErrors("ExplainsWhatIsWrongWithTheTable");
}

TEST(MappingTest, ExplainsWhatIsWrongWithAColumn) {
  ExpectErrors("ExplainsWhatIsWrongWithAColumn");
}

TEST(MappingTest, ExplainsWhatIsWrongWithPods) {
  EXPECT_EQ(ErrorOf("name: x\npods:\n  name: {column: id}\n"),
            "m.yaml: pods: found '', expected at least one of cpu, memory, gpu_count, gpu_amount");
  EXPECT_EQ(ErrorOf("name: x\npods:\n  name: {column: id, optional: true}\n"
                    "  gpu_count: {column: g}\n"),
            "m.yaml: pods.name.optional: found 'true', expected false, because each row has its "
            "own name");
  ExpectErrors("ExplainsWhatIsWrongWithPods");
}

TEST(MappingTest, ExplainsWhatIsWrongWithDatesAndTimes) {
  const std::string lengths = ".unit: found 'datetime', expected one of ns, us, ms, s, min, h";
  for (absl::string_view field : {"run_time", "estimate", "deadline_after"}) {
    EXPECT_EQ(ErrorWith(absl::StrCat("  ", field, ": {column: t, unit: datetime}\n")),
              absl::StrCat("m.yaml: pods.", field, lengths));
  }
  ExpectErrors("ExplainsWhatIsWrongWithDatesAndTimes");
}

TEST(MappingTest, ExplainsWhatIsWrongWithFurtherColumns) {
  ExpectErrors("ExplainsWhatIsWrongWithFurtherColumns");
}

TEST(MappingTest, ExplainsWhatIsWrongWithGpuAmounts) {
  ExpectErrors("ExplainsWhatIsWrongWithGpuAmounts");
  EXPECT_EQ(ErrorOf("name: x\npods:\n  gpu_amount: {column: g, unit: percent}\n"), "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithTheTimesOfJobs) {
  ExpectErrors("ExplainsWhatIsWrongWithTheTimesOfJobs");
}

TEST(MappingTest, ExplainsWhatIsWrongWithThePodsOfJobs) {
  ExpectErrors("ExplainsWhatIsWrongWithThePodsOfJobs");
  EXPECT_EQ(ErrorOf("name: x\npods:\n  gpu_count: {column: g}\n  cores_per_pod: 4\n"),
            "m.yaml: pods.cores_per_pod: found '4', expected 0, because cpu has no column");
  EXPECT_EQ(ErrorWith("  gpu_amount: {column: g}\n  gpus_per_pod: 8\n  cores_per_pod: 64\n"
                      "  gang: false\n"),
            "");
  EXPECT_EQ(ErrorWith("  pods: {column: w, unit: s}\n"),
            "m.yaml: pods.pods.unit: found 's', expected no unit, because this is a whole number");
}

TEST(MappingTest, ExplainsWhatIsWrongWithWhatElseJobsHave) {
  ExpectErrors("ExplainsWhatIsWrongWithWhatElseJobsHave");
}

TEST(MappingTest, ExplainsWhatIsWrongWithExtendedResources) {
  ExpectErrors("ExplainsWhatIsWrongWithExtendedResources");
  EXPECT_EQ(ErrorOf("name: x\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"
                    "  extended:\n    - {resource: pods, amount: {column: p}}\n"),
            "m.yaml: nodes.extended[0].resource: found 'pods', expected another resource, because "
            "this one has a column of its own");
  EXPECT_EQ(ErrorWith("  extended:\n    - {resource: example.com/b, amount: {column: r}}\n"
                      "    - {resource: example.com/a, amount: {column: s, optional: true}}\n"),
            "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithNodes) {
  for (const auto& [input, expected] : TestRows<2>("ExplainsWhatIsWrongWithNodes")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
}

TEST(ParseMappingFileTest, NamesThePlaceInTheFile) {
  constexpr absl::string_view kYaml =
      "name: mine\npods:\n  gpu_count: {column: gpus}\n  arrival: {column: t, unit: sec}\n";
  EXPECT_EQ(ParseMappingFile(kYaml, "m.yaml").status().message(),
            "m.yaml:4:30: pods.arrival.unit: found 'sec', expected one of ns, us, ms, s, min, h, "
            "datetime");
  // Something that is not there has no place.
  EXPECT_EQ(
      ParseMappingFile("pods: {cpu: {column: c, unit: milli}}\n", "m.yaml").status().message(),
      "m.yaml: name: found '', expected the format's name");
}

}  // namespace mapping_test
}  // namespace drasim
