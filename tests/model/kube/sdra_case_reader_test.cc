#include "model/kube/sdra_case_reader.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SdraLineTest, ReadsAnAllocatorsCaseAndItsAnswers) {
  ASSERT_OK_AND_ASSIGN(const SdraLine line, SdraLine::Parse(R"({"case": {"Name": "c-1",
      "Features": ["AdminAccess"], "Node": {"metadata": {"name": "n"}, "status":
      {"declaredFeatures": ["F"]}}, "Claims": null, "AllocatedDevices": ["d/p/e"],
      "AllocatedSharedDeviceIDs": [{"Device": "d/p/f", "ShareID": "s"}],
      "AggregatedCapacity": [{"Device": "d/p/f", "Consumed": {"mem": 4}}],
      "Classes": [{"metadata": {"name": "k"}, "spec": {"config": [{"opaque": {"driver": "d",
      "parameters": {"b": [1, [2.50, "<"]], "a": null}}}]}}],
      "Slices": [{"spec": {"driver": "d", "skipNodeOperations": ["*"], "devices":
      [{"name": "e", "bindingConditions": [], "attributes": {"Name": {"int": -5}},
      "capacity": {"mem": {"value": 8}}}, {"name": "f", "bindingConditions": null}]}}]},
      "want": {"stable": {"Error": "no", "ErrorNodeLocal": true, "NumAllocateOne": 0},
      "experimental": {"Results": [{"devices": {"results": [{"device": "e",
      "shareID": "s"}]}}]}}})",
                                                            "f.jsonl:1"));
  ASSERT_OK_AND_ASSIGN(const kube::SdraCase read, line.Case());
  EXPECT_EQ(read.name(), "c-1");
  EXPECT_THAT(read.features(), ElementsAre("AdminAccess"));
  EXPECT_EQ(read.node().metadata().name(), "n");
  EXPECT_THAT(read.node().status().declared_features(), ElementsAre("F"));
  EXPECT_EQ(read.allocated_shared_device_ids(0).share_id(), "s");
  EXPECT_EQ(read.aggregated_capacity(0).consumed().at("mem"), "4");
  EXPECT_EQ(read.classes(0).spec().config(0).opaque().parameters(),
            R"({"a":null,"b":[1,[2.5,"\u003c"]]})");
  const kube::ResourceSliceSpec& slice = read.slices(0).spec();
  EXPECT_THAT(slice.skip_node_operations(), ElementsAre("*"));
  EXPECT_TRUE(slice.devices(0).given_binding_conditions());
  EXPECT_FALSE(slice.devices(1).given_binding_conditions());
  EXPECT_EQ(slice.devices(0).attributes().at("Name").int_value(), -5);
  EXPECT_EQ(slice.devices(0).capacity().at("mem").value(), "8");
  ASSERT_OK_AND_ASSIGN(const kube::SdraAllocatorWant want, line.AllocatorWant());
  EXPECT_EQ(want.stable().error(), "no");
  EXPECT_TRUE(want.stable().error_node_local());
  EXPECT_TRUE(want.stable().has_num_allocate_one());
  EXPECT_FALSE(want.has_incubating());
  EXPECT_EQ(want.experimental().results(0).devices().results(0).share_id(), "s");
  EXPECT_FALSE(want.experimental().has_num_allocate_one());
}

TEST(SdraLineTest, ReadsASingleAnswerAndOneForEachNode) {
  ASSERT_OK_AND_ASSIGN(const SdraLine one,
                       SdraLine::Parse(R"({"want": {"NumAllocateOne": 3}})", "f"));
  ASSERT_OK_AND_ASSIGN(const kube::SdraAllocatorWant single, one.AllocatorWant());
  ASSERT_EQ(single.answers_size(), 1);
  EXPECT_EQ(single.answers(0).num_allocate_one(), 3);
  ASSERT_OK_AND_ASSIGN(const SdraLine two,
                       SdraLine::Parse(R"({"want": [{"Node": "a"}, {"Node": "b"}]})", "f"));
  ASSERT_OK_AND_ASSIGN(const kube::SdraAllocatorWant nodes, two.AllocatorWant());
  ASSERT_EQ(nodes.answers_size(), 2);
  EXPECT_EQ(nodes.answers(1).node(), "b");
}

TEST(SdraLineTest, ReadsAPluginsCaseAndItsAnswers) {
  ASSERT_OK_AND_ASSIGN(const SdraLine line, SdraLine::Parse(R"({"case": {"name": "p",
      "gates": {"DRADeviceTaints": false}, "args": {"bindingTimeout": "10s"},
      "steps": [{"schedule": "a", "during": [{"after": "20s", "claim": "c", "conditions":
      [{"type": "t", "status": "True"}]}]}, {"putSlice": {"metadata": {"name": "s"}}},
      {"conditions": {"claim": "c", "device": "d", "conditions": [{"type": "u"}]}},
      {"conditions": [{"type": "v"}], "claim": "e"}, {"wait": "5s"}]},
      "want": [{"step": "schedule a", "filter": [{"node": "n", "code": "Error",
      "reasons": ["r"]}], "scores": {"n": 8}, "claims": [{"name": "c", "reservedFor":
      ["pods/a"], "requests": [{"name": "q"}]}]}]})",
                                                            "f"));
  ASSERT_OK_AND_ASSIGN(const kube::SdraCase read, line.Case());
  EXPECT_FALSE(read.gates().at("DRADeviceTaints"));
  EXPECT_EQ(read.args().binding_timeout(), "10s");
  ASSERT_EQ(read.steps_size(), 5);
  EXPECT_EQ(read.steps(0).schedule(), "a");
  EXPECT_EQ(read.steps(0).during(0).conditions(0).type(), "t");
  EXPECT_FALSE(read.steps(0).has_conditions_now());
  EXPECT_EQ(read.steps(1).put_slice().metadata().name(), "s");
  EXPECT_EQ(read.steps(2).conditions_now().device(), "d");
  EXPECT_EQ(read.steps(2).conditions_now().conditions(0).type(), "u");
  EXPECT_EQ(read.steps(3).conditions_now().claim(), "e");
  EXPECT_EQ(read.steps(3).conditions_now().conditions(0).type(), "v");
  EXPECT_EQ(read.steps(4).wait(), "5s");
  ASSERT_OK_AND_ASSIGN(const std::vector<kube::SdraStepAnswer> want, line.PluginWant());
  ASSERT_EQ(want.size(), 1u);
  EXPECT_THAT(want[0].filter(0).reasons(), ElementsAre("r"));
  EXPECT_EQ(want[0].scores().at("n"), 8);
  EXPECT_EQ(want[0].claims(0).requests(0).name(), "q");
}

TEST(SdraLineTest, SaysWhatIsWrong) {
  EXPECT_THAT(SdraLine::Parse("[]", "f").status().message(), "f: expected one JSON object");
  EXPECT_FALSE(SdraLine::Parse("{\"case\": ", "f").ok());
  ASSERT_OK_AND_ASSIGN(const SdraLine empty, SdraLine::Parse("{\"case\": null}", "f"));
  EXPECT_EQ(empty.Case().status().message(), "f:1:1: expected a member \"case\"");
  ASSERT_OK_AND_ASSIGN(const std::vector<kube::SdraStepAnswer> none, empty.PluginWant());
  EXPECT_THAT(none, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const SdraLine wrong, SdraLine::Parse("{\"case\": {\"Slices\": 3}}", "f"));
  EXPECT_EQ(wrong.Case().status().message(), "f:1:21: Slices: found the number 3, expected a list");
  KubeWarnings warnings;
  ASSERT_OK_AND_ASSIGN(const SdraLine odd,
                       SdraLine::Parse("{\"case\": {\"sliced\": 3}}", "f", &warnings));
  EXPECT_TRUE(odd.Case().ok());
  EXPECT_THAT(warnings.Texts(), ElementsAre("f:1:11: sliced: unknown field"
                                            " (did you mean 'slices'?)"));
}

// All lines of a file; no field of them is unknown.
void ReadAllLines(const std::string& file, size_t count) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source,
                       OpenByteSource(SharedPath(absl::StrCat("expected/sdra/", file))));
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadAll(*source, size_t{64} << 20U));
  KubeWarnings warnings;
  size_t lines = 0;
  size_t answers = 0;
  for (const absl::string_view text_line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    ++lines;
    ASSERT_OK_AND_ASSIGN(const SdraLine line,
                         SdraLine::Parse(text_line, absl::StrCat(file, ":", lines), &warnings));
    ASSERT_OK_AND_ASSIGN(const kube::SdraCase read, line.Case());
    if (read.steps_size() > 0) {
      ASSERT_OK_AND_ASSIGN(const std::vector<kube::SdraStepAnswer> want, line.PluginWant());
      EXPECT_EQ(want.size(), static_cast<size_t>(read.steps_size()));
      ++answers;
    } else {
      ASSERT_OK_AND_ASSIGN(const kube::SdraAllocatorWant want, line.AllocatorWant());
      answers += want.has_experimental() || want.answers_size() == read.nodes_size() ? 1u : 0u;
    }
  }
  EXPECT_EQ(lines, count);
  EXPECT_EQ(answers, count);
  EXPECT_THAT(warnings.Texts(), IsEmpty());
}

TEST(SdraLineTest, KnowsEveryFieldOfTheSharedCases) {
  DRASIM_NEEDS_SHARED_DATA("expected/sdra/allocator_upstream_v1.37.2.jsonl.gz",
                           "expected/sdra/nvidia_pools_shared.jsonl.gz",
                           "expected/sdra/plugin_cases_shared.jsonl.gz");
  ReadAllLines("allocator_upstream_v1.37.2.jsonl.gz", 279);
  ReadAllLines("nvidia_pools_shared.jsonl.gz", 40);
  ReadAllLines("plugin_cases_shared.jsonl.gz", 147);
}

}  // namespace
}  // namespace drasim
