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
#include "traces/embedded.h"

namespace drasim {
namespace {

constexpr absl::string_view kSmall = R"(name: small
pods:
  name: {column: id}
  cpu: {column: cpu, unit: cores}
)";

// The message of validating kSmall with `more` behind it.
std::string ErrorWith(absl::string_view more) {
  absl::StatusOr<proto::TableMapping> mapping = ParseMapping(absl::StrCat(kSmall, more), "m.yaml");
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
    absl::StatusOr<proto::TableMapping> mapping = LoadMapping(name);
    ASSERT_TRUE(mapping.ok()) << mapping.status();
    EXPECT_EQ(mapping->name(), name);
    EXPECT_FALSE(mapping->description().empty());
    EXPECT_FALSE(mapping->origin().empty());
  }
}

TEST(MappingTest, OpenbMapping) {
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping("openb");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  const proto::PodColumns& pods = mapping->pods();
  EXPECT_EQ(pods.name().column(), "name");
  EXPECT_EQ(pods.cpu().unit(), "milli");
  EXPECT_EQ(pods.memory().unit(), "MiB");
  EXPECT_EQ(pods.gpu_share().max(), 1000.0);
  EXPECT_EQ(pods.gpu_model_separator(), "|");
  EXPECT_EQ(pods.priority().values().at(std::string("LS")), "2");
  EXPECT_EQ(pods.priority().values().at(std::string("Guaranteed")), "3");
  EXPECT_TRUE(pods.arrival().optional());
  EXPECT_EQ(mapping->nodes().name().column(), "sn");
  EXPECT_EQ(mapping->nodes().pods().default_(), "1001");
}

TEST(MappingTest, LoadsAFile) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/mapping_test_small.yaml");
  std::ofstream(path) << std::string(kSmall);
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping(path);
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(mapping->name(), "small");
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

TEST(MappingTest, ErrorsOfTheYamlNameTheFile) {
  EXPECT_TRUE(absl::StartsWith(ErrorWith("  bogus: 1\n"), "m.yaml:5:"))
      << ErrorWith("  bogus: 1\n");
}

TEST(MappingTest, ExplainsWhatIsWrongWithTheTable) {
  EXPECT_EQ(ErrorOf("pods:\n  cpu: {column: c, unit: milli}\n"),
            "m.yaml: name: found '', expected the format's name");
  EXPECT_EQ(ErrorOf("name: x\n"),
            "m.yaml: pods: found '', expected a section 'pods' or a section 'nodes'");
  EXPECT_EQ(ErrorWith("separator: ',,'\n"), "m.yaml: separator: found ',,', expected one byte");
  EXPECT_EQ(ErrorWith("separator: '\"'\n"),
            "m.yaml: separator: found '\\\"', expected neither a quote nor a line end");
  EXPECT_EQ(ErrorWith("comment: '\"'\n"),
            "m.yaml: comment: found '\\\"', expected a text that does not begin with a quote");
  EXPECT_EQ(ErrorWith("columns: [id, cpu]\n"),
            "m.yaml: columns: found 'id,cpu', expected none, unless no_header is true");
  EXPECT_EQ(
      ErrorWith("no_header: true\n"),
      "m.yaml: columns: found '', expected the names of all columns, because no_header is true");
  EXPECT_EQ(ErrorWith("no_header: true\ncolumns: [id, id, cpu]\n"),
            "m.yaml: columns[1]: found 'id', expected a name that no earlier column has");
  EXPECT_EQ(ErrorWith("no_header: true\ncolumns: [id, gpu]\n"),
            "m.yaml: pods.cpu.column: found 'cpu', expected one of 'columns'");
  EXPECT_EQ(ErrorWith("no_header: true\ncolumns: [id, cpu]\n"), "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithAColumn) {
  EXPECT_EQ(ErrorWith("  memory: {column: m}\n"),
            "m.yaml: pods.memory.unit: found '', expected one of bytes, KiB, MiB, GiB");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: Mi}\n"),
            "m.yaml: pods.memory.unit: found 'Mi', expected one of bytes, KiB, MiB, GiB");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: days}\n"),
            "m.yaml: pods.arrival.unit: found 'days', expected one of ns, us, ms, s, min, h");
  EXPECT_EQ(ErrorWith("  priority: {column: p, unit: s}\n"),
            "m.yaml: pods.priority.unit: found 's', expected no unit, because this is a whole "
            "number");
  EXPECT_EQ(ErrorWith("  memory: {unit: MiB}\n"),
            "m.yaml: pods.memory.column: found '', expected the name of a column");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, default: 1Gi}\n"),
            "m.yaml: pods.memory.default: found '1Gi', expected a plain number of MiB");
  EXPECT_EQ(ErrorWith("  priority: {column: p, values: {a: x}}\n"),
            "m.yaml: pods.priority.values.a: found 'x', expected a whole number");
  EXPECT_EQ(ErrorWith("  priority: {column: p, values: {a: '1'}, default: b}\n"),
            "m.yaml: pods.priority.default: found 'b', expected a whole number or one of 'a'");
  EXPECT_EQ(ErrorWith("  priority: {column: p, values: {a: '1'}, default: a}\n"), "");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, max: -1}\n"),
            "m.yaml: pods.memory.max: found '-1', expected a number that is not negative, below "
            "2^53 and whole in the smallest unit");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, max: 0.5}\n"), "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithPods) {
  EXPECT_EQ(ErrorOf("name: x\npods:\n  name: {column: id}\n"),
            "m.yaml: pods: found '', expected at least one of cpu, memory, gpu_count");
  EXPECT_EQ(ErrorOf("name: x\npods:\n  name: {column: id, optional: true}\n"
                    "  gpu_count: {column: g}\n"),
            "m.yaml: pods.name.optional: found 'true', expected false, because each row has its "
            "own name");
  EXPECT_EQ(ErrorWith("  gpu_share: {column: g, unit: milli}\n"),
            "m.yaml: pods.gpu_count: found '', expected a column, because gpu_share or gpu_model "
            "has one");
  EXPECT_EQ(ErrorWith("  end: {column: e, unit: s}\n"),
            "m.yaml: pods.start: found '', expected both start and end, or neither: a run time "
            "needs both");
  EXPECT_EQ(ErrorWith("  gpu_model_separator: '::'\n"),
            "m.yaml: pods.gpu_model_separator: found '::', expected one byte");
  EXPECT_EQ(ErrorWith("filters:\n  - equals: [a]\n"),
            "m.yaml: filters[0].column: found '', expected the name of a column");
  EXPECT_EQ(ErrorWith("filters:\n  - {column: x, equals: [a]}\n  - {column: x}\n"),
            "m.yaml: filters[1]: found '', expected one of equals, not_equals, at_least, at_most");
}

TEST(MappingTest, ExplainsWhatIsWrongWithNodes) {
  EXPECT_EQ(ErrorOf("name: x\nnodes:\n  cpu: {column: c, unit: cores}\n"),
            "m.yaml: nodes.name: found '', expected a column");
  EXPECT_EQ(ErrorOf("name: x\nnodes:\n  name: {column: n}\n"),
            "m.yaml: nodes: found '', expected at least one of cpu, memory, gpu_count");
  EXPECT_EQ(ErrorOf("name: x\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"
                    "  gpu_model: {column: m}\n"),
            "m.yaml: nodes.gpu_count: found '', expected a column, because gpu_model has one");
  EXPECT_EQ(ErrorOf("name: x\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"
                    "  pods: {column: p, default: '110', optional: true}\n"),
            "");
}

}  // namespace
}  // namespace drasim
