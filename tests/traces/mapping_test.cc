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
            "m.yaml: pods.memory.unit: found '', expected one of bytes, KiB, MiB, GiB, "
            "quantity");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: Mi}\n"),
            "m.yaml: pods.memory.unit: found 'Mi', expected one of bytes, KiB, MiB, GiB, "
            "quantity");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: days}\n"),
            "m.yaml: pods.arrival.unit: found 'days', expected one of ns, us, ms, s, min, h, "
            "datetime");
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
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, factor: 0}\n"),
            "m.yaml: pods.memory.factor: found '0', expected a number above 0, at most "
            "1000000000000000");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: GiB, factor: 1e9}\n"),
            "m.yaml: pods.memory.factor: found '1e+09', expected a smaller number");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: bytes, factor: 0.3333333333333}\n"),
            "m.yaml: pods.memory.factor: found '0.3333333333333', expected a number with at most "
            "nine decimals");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: quantity, factor: 2}\n"),
            "m.yaml: pods.memory.factor: found '2', expected none, because the unit is quantity");
  EXPECT_EQ(ErrorWith("  tenant: {column: t, factor: 2}\n"),
            "m.yaml: pods.tenant.factor: found '2', expected none, because this is a text");
}

TEST(MappingTest, ExplainsWhatIsWrongWithPods) {
  EXPECT_EQ(ErrorOf("name: x\npods:\n  name: {column: id}\n"),
            "m.yaml: pods: found '', expected at least one of cpu, memory, gpu_count, gpu_amount");
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

TEST(MappingTest, ExplainsWhatIsWrongWithDatesAndTimes) {
  const std::string lengths = ".unit: found 'datetime', expected one of ns, us, ms, s, min, h";
  for (absl::string_view field : {"run_time", "estimate", "deadline_after"}) {
    EXPECT_EQ(ErrorWith(absl::StrCat("  ", field, ": {column: t, unit: datetime}\n")),
              absl::StrCat("m.yaml: pods.", field, lengths));
  }
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: datetime, zone: PST}\n"),
            "m.yaml: pods.arrival.zone: found 'PST', expected a zone such as Z or +08:00");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: s, zone: Z}\n"),
            "m.yaml: pods.arrival.zone: found 'Z', expected none, because the unit is not "
            "datetime");
  EXPECT_EQ(ErrorWith("  priority: {column: t, zone: Z}\n"),
            "m.yaml: pods.priority.zone: found 'Z', expected none, because the unit is not "
            "datetime");
  EXPECT_EQ(ErrorWith("  tenant: {column: t, zone: Z}\n"),
            "m.yaml: pods.tenant.zone: found 'Z', expected none, because this is a text");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: datetime, max: 5}\n"),
            "m.yaml: pods.arrival.max: found '5', expected no limit, because the unit is datetime");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: datetime, default: '0'}\n"),
            "m.yaml: pods.arrival.default: found '0', expected a date and time such as "
            "2017-10-03 05:48:00");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: datetime, default: '1969-12-31 23:00:00'}\n"),
            "m.yaml: pods.arrival.default: found '1969-12-31 23:00:00', expected a time from 1970 "
            "to 2261");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: datetime, values: {never: '0'}}\n"),
            "m.yaml: pods.arrival.values.never: found '0', expected a date and time such as "
            "2017-10-03 05:48:00");
  EXPECT_EQ(ErrorWith("  arrival: {column: t, unit: datetime, zone: '+08:00', values: {never: "
                      "'2020-01-01 00:00:00'}, default: never}\n"),
            "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithFurtherColumns) {
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, or_column: [n, '']}\n"),
            "m.yaml: pods.memory.or_column[1]: found '', expected the name of a column");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, or_column: [n, m]}\n"),
            "m.yaml: pods.memory.or_column[1]: found 'm', expected a column that is not looked at "
            "before");
  EXPECT_EQ(ErrorWith("  tenant: {column: t, or_column: [n, n]}\n"),
            "m.yaml: pods.tenant.or_column[1]: found 'n', expected a column that is not looked at "
            "before");
  EXPECT_EQ(ErrorWith("  memory: {column: m, unit: MiB, or_column: [n, o]}\n"
                      "no_header: true\ncolumns: [id, cpu, m]\n"),
            "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithGpuAmounts) {
  EXPECT_EQ(ErrorWith("  gpu_count: {column: n}\n  gpu_amount: {column: g}\n"),
            "m.yaml: pods.gpu_amount: found 'g', expected no column, because gpu_count or "
            "gpu_share has one");
  EXPECT_EQ(ErrorWith("  gpu_share: {column: s, unit: milli}\n  gpu_amount: {column: g}\n"),
            "m.yaml: pods.gpu_amount: found 'g', expected no column, because gpu_count or "
            "gpu_share has one");
  EXPECT_EQ(ErrorWith("  gpu_amount: {column: g, unit: GPUs}\n"),
            "m.yaml: pods.gpu_amount.unit: found 'GPUs', expected one of fraction, milli, percent, "
            "quantity");
  EXPECT_EQ(ErrorWith("  gpu_amount: {column: g}\n  gpu_model: {column: m}\n"), "");
  EXPECT_EQ(ErrorOf("name: x\npods:\n  gpu_amount: {column: g, unit: percent}\n"), "");
}

TEST(MappingTest, ExplainsWhatIsWrongWithTheTimesOfJobs) {
  EXPECT_EQ(ErrorWith("  start: {column: s, unit: s}\n"),
            "m.yaml: pods.end: found '', expected both start and end, or neither: a run time "
            "needs both");
  EXPECT_EQ(ErrorWith("  start: {column: s, unit: s}\n  run_time: {column: r, unit: s}\n"), "");
  EXPECT_EQ(ErrorWith("  end: {column: e, unit: s}\n  run_time: {column: r, unit: s}\n"),
            "m.yaml: pods.start: found '', expected both start and end, or neither: a run time "
            "needs both");
  EXPECT_EQ(ErrorWith("  end_without_start_deletes: true\n"),
            "m.yaml: pods.end_without_start_deletes: found 'true', expected false, because there "
            "are no columns start and end");
  EXPECT_EQ(ErrorWith("  deadline: {column: d, unit: s}\n"
                      "  deadline_after: {column: l, unit: s}\n"),
            "m.yaml: pods.deadline_after: found 'l', expected no column, because deadline has one");
}

TEST(MappingTest, ExplainsWhatIsWrongWithThePodsOfJobs) {
  EXPECT_EQ(ErrorWith("  gpus_per_pod: 8\n"),
            "m.yaml: pods.gpus_per_pod: found '8', expected 0, because neither gpu_count nor "
            "gpu_amount has a column");
  EXPECT_EQ(ErrorWith("  gpu_count: {column: g}\n  gpus_per_pod: -1\n"),
            "m.yaml: pods.gpus_per_pod: found '-1', expected a number that is not negative");
  EXPECT_EQ(ErrorWith("  gpu_count: {column: g}\n  pods: {column: w}\n  gpus_per_pod: 8\n"),
            "m.yaml: pods.gpus_per_pod: found '8', expected 0, because pods has a column: the "
            "amounts are those of each pod then");
  EXPECT_EQ(ErrorWith("  pods: {column: w}\n  cores_per_pod: 4\n"),
            "m.yaml: pods.cores_per_pod: found '4', expected 0, because pods has a column: the "
            "amounts are those of each pod then");
  EXPECT_EQ(ErrorOf("name: x\npods:\n  gpu_count: {column: g}\n  cores_per_pod: 4\n"),
            "m.yaml: pods.cores_per_pod: found '4', expected 0, because cpu has no column");
  EXPECT_EQ(ErrorWith("  gpu_amount: {column: g}\n  gpus_per_pod: 8\n  cores_per_pod: 64\n"
                      "  gang: false\n"),
            "");
  EXPECT_EQ(ErrorWith("  pods: {column: w, unit: s}\n"),
            "m.yaml: pods.pods.unit: found 's', expected no unit, because this is a whole number");
}

TEST(MappingTest, ExplainsWhatIsWrongWithWhatElseJobsHave) {
  EXPECT_EQ(ErrorWith("  state: {column: s, values: {A: failed, C: gone, B: dead}}\n"),
            "m.yaml: pods.state.values.B: found 'dead', expected one of succeeded, failed, "
            "cancelled, skip");
  EXPECT_EQ(ErrorWith("  state: {column: s, default: DONE}\n"),
            "m.yaml: pods.state.default: found 'DONE', expected one of succeeded, failed, "
            "cancelled, skip");
  EXPECT_EQ(ErrorWith("  state: {column: s, values: {DONE: succeeded, none: ''}, default: DONE}\n"),
            "");
  EXPECT_EQ(ErrorWith("  preemptible: {column: p, default: '2'}\n"),
            "m.yaml: pods.preemptible.default: found '2', expected at most 1");
  EXPECT_EQ(ErrorWith("  group: {column: g}\n"),
            "m.yaml: pods.max_per_node: found '', expected both group and max_per_node, or "
            "neither: a limit needs both");
  EXPECT_EQ(ErrorWith("  max_per_node: {column: m}\n"),
            "m.yaml: pods.group: found '', expected both group and max_per_node, or neither: a "
            "limit needs both");
}

TEST(MappingTest, ExplainsWhatIsWrongWithExtendedResources) {
  EXPECT_EQ(ErrorWith("  extended:\n    - {amount: {column: r}}\n"),
            "m.yaml: pods.extended[0].resource: found '', expected a name");
  EXPECT_EQ(ErrorWith("  extended:\n    - {resource: cpu, amount: {column: r}}\n"),
            "m.yaml: pods.extended[0].resource: found 'cpu', expected another resource, because "
            "this one has a column of its own");
  EXPECT_EQ(ErrorWith("  extended:\n    - {resource: a, amount: {column: r}}\n"
                      "    - {resource: a, amount: {column: s}}\n"),
            "m.yaml: pods.extended[1].resource: found 'a', expected a name that no earlier one "
            "has");
  EXPECT_EQ(ErrorWith("  extended:\n    - {resource: a}\n"),
            "m.yaml: pods.extended[0].amount: found '', expected a column");
  EXPECT_EQ(ErrorWith("  extended:\n    - {resource: a, amount: {column: r, unit: GiB}}\n"),
            "m.yaml: pods.extended[0].amount.unit: found 'GiB', expected no unit or quantity, "
            "because this is a whole number");
  EXPECT_EQ(ErrorOf("name: x\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"
                    "  extended:\n    - {resource: pods, amount: {column: p}}\n"),
            "m.yaml: nodes.extended[0].resource: found 'pods', expected another resource, because "
            "this one has a column of its own");
  EXPECT_EQ(ErrorWith("  extended:\n    - {resource: example.com/b, amount: {column: r}}\n"
                      "    - {resource: example.com/a, amount: {column: s, optional: true}}\n"),
            "");
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
