// SetField of yaml_proto.h.
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "tests/model/text/any_schema.h"

namespace drasim {
namespace yaml_set_field_test {

using google::protobuf::Message;

constexpr char kUint64Range[] = "a whole number from 0 to 18446744073709551615";
constexpr char kScenarioKeys[] =
    "name, description, mode, seed, order, cluster, workload, scheduler, timing, output, compat, "
    "preemption, metrics, quotas, front_end, comparison";

std::string Repeat(absl::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) absl::StrAppend(&out, piece);
  return out;
}

// The message of the error that setting gives, "OK" when there is none. An error must leave
// *message alone.
std::string SetError(absl::string_view path, absl::string_view value, Message* message) {
  const std::string before = message->SerializeAsString();
  const absl::Status status = SetField(path, value, "--set", message);
  if (status.ok()) return "OK";
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(message->SerializeAsString(), before);
  return std::string(status.message());
}

TEST(SetFieldTest, SetsByPath) {
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"flag", "true"},          {"label", " null, a "},
      {"kind", "odd"},           {"child.child.ratio", "1.3"},
      {"numbers", "3, 4 ,-5"},   {"labels", "a,,b c"},
      {"counts.a.b/c", "7"},     {"counts.x", "1"},
      {"counts.x", "2"},         {"by_number.-3", "three"},
      {"children.0.small", "1"}, {"children.1.small", "2"},
      {"children.0.small", "9"}, {"named.k.child.big", "5"},
      {"named.k.flag", "true"},  {"flags", "true,false"},
      {"kinds", "odd,fifo"},     {"by_flag.true", "odd"},
  };
  for (const auto& [path, value] : settings)
    EXPECT_EQ(SetError(path, value, m.get()), "OK") << path;
  EXPECT_EQ(ToYaml(*m),
            "flag: true\n"
            "label: \" null, a \"\n"
            "kind: odd\n"
            "child:\n  child:\n    ratio: 1.3\n"
            "numbers:\n  - 3\n  - 4\n  - -5\n"
            "kinds:\n  - odd\n  - fifo\n"
            "children:\n  - small: 9\n  - small: 2\n"
            "counts:\n  a.b/c: 7\n  x: 2\n"
            "by_number:\n  -3: three\n"
            "named:\n  k:\n    flag: true\n    child:\n      big: 5\n"
            "labels:\n  - a\n  - \"\"\n  - b c\n"
            "flags:\n  - true\n  - false\n"
            "by_flag:\n  true: odd\n");
  EXPECT_EQ(SetError("labels", "only", m.get()), "OK");
  EXPECT_EQ(SetError("numbers", "", m.get()), "OK");
  EXPECT_FALSE(absl::StrContains(ToYaml(*m), "numbers"));
  EXPECT_TRUE(absl::StrContains(ToYaml(*m), "labels:\n  - only\nflags"));
}

TEST(SetFieldTest, SetsAnOptionalFieldToItsDefault) {
  proto::Scenario s;
  ASSERT_EQ(SetError("seed", "0", &s), "OK");
  EXPECT_TRUE(s.has_seed());
}

TEST(SetFieldTest, NamesWhatIsWrong) {
  proto::Scenario s;
  s.mutable_scheduler()->add_score()->set_name("Fgd");
  const std::vector<std::vector<std::string>> cases = {
      {"scheduler.polcy", "x", "--set: scheduler.polcy: unknown key (did you mean 'policy'?)"},
      {"scheduler.polcy.more", "x", "--set: scheduler.polcy: unknown key (did you mean 'policy'?)"},
      {"bananas", "x",
       absl::StrCat("--set: bananas: unknown key, expected one of ", kScenarioKeys)},
      {"workload.tuning.ratio", "abc",
       "--set: workload.tuning.ratio: found 'abc', expected a finite number"},
      {"seed", "", absl::StrCat("--set: seed: found '', expected ", kUint64Range)},
      {"seed", "null", absl::StrCat("--set: seed: found 'null', expected ", kUint64Range)},
      {"seed.x", "1", "--set: seed.x: 'seed' has no keys of its own"},
      {"workload.tuning", "1", "--set: workload.tuning: expected one of its keys after it: ratio"},
      {"", "1", "--set: found the path '', expected keys joined by dots"},
      {"cluster.", "1", "--set: found the path 'cluster.', expected keys joined by dots"},
      {"cluster..path", "1", "--set: found the path 'cluster..path', expected keys joined by dots"},
      {"scheduler.score", "Fgd",
       "--set: scheduler.score: expected an item's number after it, as in scheduler.score.0"},
      {"scheduler.score.2.name", "x",
       "--set: scheduler.score.2: found '2', expected an item's number, 0 to 1 (1 adds an item)"},
      {"scheduler.score.-1.name", "x",
       "--set: scheduler.score.-1: found '-1', expected an item's number, 0 to 1 (1 adds an item)"},
      {"scheduler.score.name", "x",
       "--set: scheduler.score.name: found 'name', expected an item's number, 0 to 1 (1 adds an "
       "item)"},
      {"scheduler.score.1", "x",
       "--set: scheduler.score.1: expected one of its keys after it: name, weight"},
      {"name", "\xFF", "--set: name: found bytes that are not UTF-8, expected a text"},
      {Repeat("a.", 64) + "a", "1",
       absl::StrCat("--set: ", Repeat("a.", 30),
                    "...: found a path of 65 keys, expected at most 64")},
  };
  for (const std::vector<std::string>& c : cases) EXPECT_EQ(SetError(c[0], c[1], &s), c[2]);
}

TEST(SetFieldTest, NamesWhatIsWrongWithListsAndMaps) {
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  const std::string int32_range = "a whole number from -2147483648 to 2147483647";
  EXPECT_EQ(SetError("numbers", "1,x", m.get()),
            absl::StrCat("--set: numbers: found 'x', expected ", int32_range));
  EXPECT_EQ(SetError("numbers.0", "1", m.get()),
            "--set: numbers.0: 'numbers' has no keys of its own");
  EXPECT_EQ(SetError("counts", "1", m.get()),
            "--set: counts: expected a key of this map after it, as in counts.KEY");
  EXPECT_EQ(SetError("counts.", "1", m.get()),
            "--set: counts: expected a key of this map after it, as in counts.KEY");
  EXPECT_EQ(SetError("counts.a", "x", m.get()),
            "--set: counts.a: found 'x', expected a whole number from -9223372036854775808 to "
            "9223372036854775807");
  EXPECT_EQ(SetError("by_number.x", "a", m.get()),
            absl::StrCat("--set: by_number.x: found 'x', expected ", int32_range, " as the key"));
  EXPECT_TRUE(
      absl::StartsWith(SetError("named.k", "x", m.get()),
                       "--set: named.k: expected one of its keys after it: flag, small, big, "));
  EXPECT_EQ(SetError("named.k.flg", "x", m.get()),
            "--set: named.k.flg: unknown key (did you mean 'flag'?)");
  EXPECT_EQ(SetError("kind", "od", m.get()),
            "--set: kind: found 'od', expected one of fifo, priority, odd (did you mean 'odd'?)");
}

}  // namespace yaml_set_field_test
}  // namespace drasim
