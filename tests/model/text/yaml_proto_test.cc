#include "model/text/yaml_proto.h"

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "model/proto/mapping.pb.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_writer.h"
#include "tests/model/text/any_schema.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace yaml_proto_test {

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

// The message of the error that merging `text` gives, "OK" when there is none. An error must leave
// *message alone.
std::string MergeError(absl::string_view text, Message* message) {
  const std::string before = message->SerializeAsString();
  const absl::Status status = MergeYaml(text, "s.yaml", message);
  if (status.ok()) return "OK";
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(message->SerializeAsString(), before);
  return std::string(status.message());
}

template <typename M>
void ExpectErrors(const TextRows<2>& cases) {
  for (const auto& [text, error] : cases) {
    M message;
    EXPECT_EQ(MergeError(text, &message), error) << text;
  }
}

TEST(MergeYamlTest, ReadsAScenario) {
  proto::Scenario s;
  ASSERT_TRUE(MergeYaml(TestText("ReadsAScenario"), "s.yaml", &s).ok());
  EXPECT_EQ(s.name(), "first");
  EXPECT_EQ(s.description(), "two lines\n");
  EXPECT_EQ(s.seed(), 18446744073709551615U);
  EXPECT_EQ(s.cluster().path(), "n odes.csv");
  EXPECT_EQ(s.cluster().nodes(), -3);
  EXPECT_EQ(s.scheduler().policy(), "fgd");
  ASSERT_EQ(s.scheduler().score_size(), 2);
  EXPECT_EQ(s.scheduler().score(0).name(), "Fgd");
  EXPECT_EQ(s.scheduler().score(0).weight(), 10);
  EXPECT_EQ(s.scheduler().score(1).name(), "Best");
  EXPECT_TRUE(s.scheduler().has_cache());
  EXPECT_FALSE(s.scheduler().cache());
  EXPECT_EQ(s.workload().tuning().ratio(), 1.3);
  EXPECT_TRUE(s.has_output());
  EXPECT_FALSE(s.has_timing());
}

TEST(MergeYamlTest, ReadsAMapping) {
  proto::TableMapping m;
  ASSERT_TRUE(MergeYaml(TestText("ReadsAMapping"), "m.yaml", &m).ok());
  EXPECT_TRUE(m.no_header());
  ASSERT_EQ(m.columns_size(), 6);
  EXPECT_EQ(m.columns(0), "name");
  EXPECT_EQ(m.columns(1), "cpu");
  EXPECT_EQ(m.columns(2), "3");
  EXPECT_EQ(m.columns(3), "null_column");
  EXPECT_EQ(m.columns(4), "null");
  EXPECT_EQ(m.columns(5), "");
  EXPECT_EQ(ToYaml(m.pods().priority()), "default: \"\"\nvalues:\n  LS: \"2\"\n  \"a: b\": \"\"\n");
  EXPECT_EQ(m.filters(0).at_least(), 0.5);
  EXPECT_FALSE(m.filters(0).has_at_most());
}

TEST(MergeYamlTest, ReadsEveryKindOfField) {
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  const std::string& text = TestText("ReadsEveryKindOfField.text");
  ASSERT_EQ(MergeError(text, m.get()), "OK");
  EXPECT_EQ(ToYaml(*m), text);
}

TEST(MergeYamlTest, KeepsWhatTheTextDoesNotName) {
  proto::Scenario s;
  s.set_name("old");
  s.mutable_cluster()->set_path("old.csv");
  s.mutable_cluster()->set_nodes(5);
  s.mutable_scheduler()->add_score()->set_name("Old");
  s.set_seed(1);
  ASSERT_EQ(
      MergeError("cluster: {path: new.csv}\nscheduler: {score: [{name: A}, {name: B}]}\nseed: 0\n",
                 &s),
      "OK");
  EXPECT_EQ(ToYaml(s),
            "name: old\nseed: 0\ncluster:\n  path: new.csv\n  nodes: 5\n"
            "scheduler:\n  score:\n    - name: A\n    - name: B\n");
  ASSERT_EQ(MergeError("scheduler: {score: []}", &s), "OK");
  EXPECT_EQ(s.scheduler().score_size(), 0);
}

TEST(MergeYamlTest, MergesMapsByKey) {
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  ASSERT_EQ(
      MergeError("counts: {a: 1, b: 2}\nnamed: {x: {small: 1, label: keep}}\nby_number: {1: one}",
                 m.get()),
      "OK");
  ASSERT_EQ(MergeError("counts: {b: 3, c: 4}\nnamed: {x: {small: 2}, y: {}}\nby_number: {+1: uno}",
                       m.get()),
            "OK");
  EXPECT_EQ(ToYaml(*m),
            "counts:\n  a: 1\n  b: 3\n  c: 4\n"
            "by_number:\n  1: uno\n"
            "named:\n  x:\n    small: 2\n    label: keep\n  \"y\": {}\n");
}

TEST(MergeYamlTest, NullAndEmptyTextSetNothing) {
  for (const char* text :
       {"", "\n", "# nothing\n", "---\n", "~", "null\n", "---\n...\n", "\xEF\xBB\xBF",
        "seed:\nname: ~\ncluster: null\nscheduler:\n  score: Null\n  # policy: x\n"}) {
    proto::Scenario s;
    s.set_name("n");
    s.set_seed(7);
    s.mutable_scheduler()->add_score()->set_weight(2);
    const std::string before = s.SerializeAsString();
    ASSERT_EQ(MergeError(text, &s), "OK") << text;
    EXPECT_EQ(s.SerializeAsString(), before) << text;
  }
}

TEST(MergeYamlTest, ByteOrderMarkAndLineEndingsDoNotMatter) {
  const std::string unix_text =
      "name: x\ndescription: |\n  a\n  b\ncluster:\n  path: \"p\n    q\"\n";
  const std::string dos_text = absl::StrReplaceAll(unix_text, {{"\n", "\r\n"}});
  proto::Scenario a;
  proto::Scenario b;
  ASSERT_EQ(MergeError(unix_text, &a), "OK");
  ASSERT_EQ(MergeError(absl::StrCat("\xEF\xBB\xBF", dos_text), &b), "OK");
  EXPECT_EQ(a.description(), "a\nb\n");
  EXPECT_EQ(a.cluster().path(), "p q");
  EXPECT_EQ(a.SerializeAsString(), b.SerializeAsString());
  ExpectErrors<proto::Scenario>({
      {"\xEF\xBB\xBFnme: x\r\n", "s.yaml:1:1: nme: unknown key (did you mean 'name'?)"},
      {"\xEF\xBB\xBFname: x\r\nseed: abc\r\n",
       absl::StrCat("s.yaml:2:7: seed: found 'abc', expected ", kUint64Range)},
      {"name: a\rseed: 1\n", "s.yaml:1:8: found the control character 0x0d, expected text"},
  });
}

TEST(MergeYamlTest, BlockTextsEndAsWritten) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, std::string>>{
           {"name: |\n  a\n", "a\n"}, {"name: |-\n  a\n", "a"}, {"name: |+\n  a\n\n", "a\n\n"}}) {
    proto::Scenario s;
    ASSERT_EQ(MergeError(text, &s), "OK");
    EXPECT_EQ(s.name(), value);
  }
}

TEST(MergeYamlTest, NamesUnknownAndDuplicateKeys) {
  ExpectErrors<proto::Scenario>({
      {"name: x\nscheduler:\n    polcy: fgd\n",
       "s.yaml:3:5: scheduler.polcy: unknown key (did you mean 'policy'?)"},
      {"bananas: 1",
       absl::StrCat("s.yaml:1:1: bananas: unknown key, expected one of ", kScenarioKeys)},
      {"<<: {}", absl::StrCat("s.yaml:1:1: <<: unknown key, expected one of ", kScenarioKeys)},
      {"scheduler:\n  score:\n    - name: a\n    - wieght: 2\n",
       "s.yaml:4:7: scheduler.score.1.wieght: unknown key (did you mean 'weight'?)"},
      {"\"a\\nb\": 1",
       absl::StrCat("s.yaml:1:1: a\\nb: unknown key, expected one of ", kScenarioKeys)},
      {"seed: 1\nname: a\nseed: 2\n", "s.yaml:3:1: seed: duplicate key, first given in line 1"},
      {"seed:\nseed: 2\n", "s.yaml:2:1: seed: duplicate key, first given in line 1"},
      {"cluster:\n  path: a\n  'path': b\n",
       "s.yaml:3:3: cluster.path: duplicate key, first given in line 2"},
  });
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  EXPECT_EQ(MergeError("counts:\n  a: 1\n  b: 2\n  \"a\": 3\n", m.get()),
            "s.yaml:4:3: counts.a: duplicate key, first given in line 2");
  EXPECT_EQ(MergeError("by_number: {1: a, +1: b}", m.get()),
            "s.yaml:1:19: by_number.+1: duplicate key, first given in line 1");
  EXPECT_EQ(MergeError("by_number: {x: a}", m.get()),
            "s.yaml:1:13: by_number.x: found 'x', expected a whole number from -2147483648 to "
            "2147483647 as the key");
}

TEST(MergeYamlTest, NamesWrongScalars) {
  AnySchema schema;
  const std::string int32_range = "a whole number from -2147483648 to 2147483647";
  const std::string int64_range = "a whole number from -9223372036854775808 to 9223372036854775807";
  const std::string kinds = "one of fifo, priority, odd";
  const TextRows<2> cases = {
      {"flag: yes", "s.yaml:1:7: flag: found 'yes', expected true or false"},
      {"flag: True", "s.yaml:1:7: flag: found 'True', expected true or false"},
      {"flag: 1", "s.yaml:1:7: flag: found '1', expected true or false"},
      {"flag: ''", "s.yaml:1:7: flag: found '', expected true or false"},
      {"small: 2147483648",
       absl::StrCat("s.yaml:1:8: small: found '2147483648', expected ", int32_range)},
      {"small: -2147483649",
       absl::StrCat("s.yaml:1:8: small: found '-2147483649', expected ", int32_range)},
      {"small: 1.0", absl::StrCat("s.yaml:1:8: small: found '1.0', expected ", int32_range)},
      {"small: 1e3", absl::StrCat("s.yaml:1:8: small: found '1e3', expected ", int32_range)},
      {"small: 0x10", absl::StrCat("s.yaml:1:8: small: found '0x10', expected ", int32_range)},
      {"small: 010", absl::StrCat("s.yaml:1:8: small: found '010', expected ", int32_range,
                                  " without leading zeros")},
      {"small: .nan", absl::StrCat("s.yaml:1:8: small: found '.nan', expected ", int32_range)},
      {"small: '1 '", absl::StrCat("s.yaml:1:8: small: found '1 ', expected ", int32_range)},
      {"big: 9223372036854775808",
       absl::StrCat("s.yaml:1:6: big: found '9223372036854775808', expected ", int64_range)},
      {"count: 4294967296",
       "s.yaml:1:8: count: found '4294967296', expected a whole number from 0 to 4294967295"},
      {"total: -1", absl::StrCat("s.yaml:1:8: total: found '-1', expected ", kUint64Range)},
      {"total: 18446744073709551616",
       absl::StrCat("s.yaml:1:8: total: found '18446744073709551616', expected ", kUint64Range)},
      {"ratio: nan", "s.yaml:1:8: ratio: found 'nan', expected a finite number"},
      {"ratio: .inf", "s.yaml:1:8: ratio: found '.inf', expected a finite number"},
      {"ratio: -inf", "s.yaml:1:8: ratio: found '-inf', expected a finite number"},
      {"ratio: 1e999", "s.yaml:1:8: ratio: found '1e999', expected a finite number"},
      {"ratio: 0x1p3", "s.yaml:1:8: ratio: found '0x1p3', expected a finite number"},
      {"ratio: 1,5", "s.yaml:1:8: ratio: found '1,5', expected a finite number"},
      {"ratio: .", "s.yaml:1:8: ratio: found '.', expected a finite number"},
      {"ratio: 1e", "s.yaml:1:8: ratio: found '1e', expected a finite number"},
      {"part: 1e39", "s.yaml:1:7: part: found '1e39', expected a finite number"},
      {"kind: prioriti", absl::StrCat("s.yaml:1:7: kind: found 'prioriti', expected ", kinds,
                                      " (did you mean 'priority'?)")},
      {"kind: QUEUE_KIND_FIFO",
       absl::StrCat("s.yaml:1:7: kind: found 'QUEUE_KIND_FIFO', expected ", kinds)},
      {"kind: 1", absl::StrCat("s.yaml:1:7: kind: found '1', expected ", kinds)},
      {"numbers: [1, x]",
       absl::StrCat("s.yaml:1:14: numbers.1: found 'x', expected ", int32_range)},
      {"counts: {a: 1.5}",
       absl::StrCat("s.yaml:1:13: counts.a: found '1.5', expected ", int64_range)},
      {"named: {x: {flag: 2}}", "s.yaml:1:19: named.x.flag: found '2', expected true or false"},
      {absl::StrCat("flag: ", Repeat("ab", 31)),
       absl::StrCat("s.yaml:1:7: flag: found '", Repeat("ab", 30), "...', expected true or false")},
      {"flag: \"a\\n'\"", "s.yaml:1:7: flag: found 'a\\n\\'', expected true or false"},
  };
  for (const auto& [text, error] : cases) {
    const std::unique_ptr<Message> m = schema.New();
    EXPECT_EQ(MergeError(text, m.get()), error) << text;
  }
}

TEST(MergeYamlTest, AcceptsTheEdgesOfNumbers) {
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  ASSERT_EQ(MergeError("small: +5\nbig: -0\nratio: +.5\npart: 5.\nratios: [1E2, 1e+2, 007, 1e-999]",
                       m.get()),
            "OK");
  EXPECT_EQ(ToYaml(*m), "small: 5\nratio: 0.5\npart: 5\nratios:\n  - 100\n  - 100\n  - 7\n  - 0\n");
}

TEST(MergeYamlTest, NamesWrongShapes) {
  ExpectErrors<proto::Scenario>({
      {"- a\n", "s.yaml:1:1: found a list, expected keys and values"},
      {"hello\n", "s.yaml:1:1: found 'hello', expected keys and values"},
      {"cluster: x", "s.yaml:1:10: cluster: found 'x', expected keys and values"},
      {"cluster: [a]", "s.yaml:1:10: cluster: found a list, expected keys and values"},
      {"seed: [1]", absl::StrCat("s.yaml:1:7: seed: found a list, expected ", kUint64Range)},
      {"seed:\n  a: 1\n",
       absl::StrCat("s.yaml:2:3: seed: found keys and values, expected ", kUint64Range)},
      {"scheduler: {cache: yes}",
       "s.yaml:1:20: scheduler.cache: found 'yes', expected true or false"},
      {"scheduler: {score: fgd}",
       "s.yaml:1:20: scheduler.score: found 'fgd', expected a list, each item keys and values"},
      {"scheduler: {score: {name: fgd}}",
       "s.yaml:1:20: scheduler.score: found keys and values, expected a list, each item keys and "
       "values"},
      {"scheduler: {score: [fgd]}",
       "s.yaml:1:21: scheduler.score.0: found 'fgd', expected keys and values"},
      {"[a]: b\n", "s.yaml:1:1: found a list, expected a key"},
      {"cluster: {~: b}\n", "s.yaml:1:11: cluster: found null, expected a key"},
  });
  ExpectErrors<proto::TableMapping>(TestRows<2>("NamesWrongShapes"));
}

TEST(MergeYamlTest, NamesBrokenYaml) {
  ExpectErrors<proto::Scenario>(TestRows<2>("NamesBrokenYaml"));
}

TEST(MergeYamlTest, NamesBytesThatAreNoText) {
  ExpectErrors<proto::Scenario>({
      {std::string("name: a\0b", 9), "s.yaml:1:8: found the control character 0x00, expected text"},
      {"name: a\nseed: \x04 1", "s.yaml:2:7: found the control character 0x04, expected text"},
      {"name: \x7F", "s.yaml:1:7: found the control character 0x7f, expected text"},
      {"\xFF\xFEn", "s.yaml:1:1: found the byte 0xff, expected UTF-8 text"},
      {"name: \xC3\xA9\xE9", "s.yaml:1:8: found the byte 0xe9, expected UTF-8 text"},
      {"name: \xC0\x80", "s.yaml:1:7: found the byte 0xc0, expected UTF-8 text"},
      {"name: \xED\xA0\x80", "s.yaml:1:7: found the byte 0xed, expected UTF-8 text"},
      {"name: \xF4\x90\x80\x80", "s.yaml:1:7: found the byte 0xf4, expected UTF-8 text"},
      {"name: \xE2\x82", "s.yaml:1:7: found the byte 0xe2, expected UTF-8 text"},
      // Columns count characters: the e with an accent is one of them.
      {"{name: \xC3\xA9, seed: x}",
       absl::StrCat("s.yaml:1:17: seed: found 'x', expected ", kUint64Range)},
      {std::string((size_t{64} << 20U) + 1, ' '),
       "s.yaml:1:1: found 67108865 bytes, expected at most 67108864"},
  });
}

TEST(MergeYamlTest, AliasesRepeatAValue) {
  proto::TableMapping m;
  ASSERT_EQ(MergeError(TestText("AliasesRepeatAValue"), &m), "OK");
  EXPECT_EQ(ToYaml(m),
            "name: abc\ndescription: abc\npods:\n"
            "  cpu:\n    column: x\n    unit: milli\n"
            "  memory:\n    column: x\n    unit: milli\n");
  ExpectErrors<proto::Scenario>({
      {"cluster: &c {path: *c}\n", "s.yaml:1:20: the alias stands inside the value it refers to"},
      // An error of the value is reported at the place where the value is written.
      {"name: &n abc\nseed: *n\n",
       absl::StrCat("s.yaml:1:7: seed: found 'abc', expected ", kUint64Range)},
  });
}

TEST(MergeYamlTest, NestsSixtyFourDeepAndNoDeeper) {
  AnySchema schema;
  const std::unique_ptr<Message> m = schema.New();
  const std::string deep = "found values nested more than 64 deep, expected fewer levels";
  EXPECT_EQ(MergeError(absl::StrCat(Repeat("child: {", 63), Repeat("}", 63)), m.get()), "OK");
  std::string expected;
  for (int i = 0; i < 63; ++i) {
    absl::StrAppend(&expected, Repeat("  ", i), "child:", i == 62 ? " {}\n" : "\n");
  }
  EXPECT_EQ(ToYaml(*m), expected);
  EXPECT_EQ(MergeError(absl::StrCat(Repeat("child: {", 64), Repeat("}", 64)), m.get()),
            absl::StrCat("s.yaml:1:", 64 * 8, ": ", deep));
  std::string block;
  for (int i = 0; i < 65; ++i) absl::StrAppend(&block, Repeat(" ", i), "child:\n");
  EXPECT_EQ(MergeError(block, m.get()), absl::StrCat("s.yaml:65:65: ", deep));
  // Far more than yaml-cpp itself takes.
  EXPECT_EQ(MergeError(absl::StrCat("labels: ", Repeat("[", 5000), Repeat("]", 5000)), m.get()),
            absl::StrCat("s.yaml:1:72: ", deep));
  // Two values of 40 levels each: the alias adds up.
  EXPECT_EQ(MergeError(absl::StrCat("counts: &a ", Repeat("[", 40), Repeat("]", 40),
                                    "\nlabels: ", Repeat("[", 30), "*a", Repeat("]", 30), "\n"),
                       m.get()),
            absl::StrCat("s.yaml:2:39: ", deep));
}

TEST(MergeYamlTest, CountsAliasesInFull) {
  // 1 document + 100 + 10,001 + 980,099 in a, b, c, their 3 keys, and d: its key, its list and
  // `rest` items.
  const auto text = [](int rest) {
    return absl::StrCat("a: &a [", Repeat("x,", 99), "]\nb: &b [", Repeat("*a,", 100), "]\nc: [",
                        Repeat("*b,", 98), "]\nd: [", Repeat("x,", rest), "]\n");
  };
  const int room = 1000000 - (1 + 100 + 10001 + 980099 + 3 + 2);
  proto::Scenario s;
  EXPECT_EQ(MergeError(text(room), &s),
            absl::StrCat("s.yaml:1:1: a: unknown key, expected one of ", kScenarioKeys));
  EXPECT_EQ(
      MergeError(text(room + 1), &s),
      absl::StrCat("s.yaml:4:", 5 + 2 * room,
                   ": found more than 1000000 values, expected fewer (aliases count in full)"));
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i)
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  EXPECT_TRUE(absl::StrContains(MergeError(bomb, &s), "found more than 1000000 values"));
}

TEST(MergeYamlTest, EveryPrefixIsReadOrRefusedWithItsPlace) {
  const std::string text =
      "name: 'it''s'\ncluster: &c {path: \"a\\tb\", nodes: 3}\nscheduler:\n  score:\n  - name: |\n "
      "     x\n"
      "    weight: 1\n  - {name: y, \"weight\" : 2}\n  cache: true # no\n? seed\n: 5\n";
  int refused = 0;
  for (size_t length = 0; length <= text.size(); ++length) {
    proto::Scenario s;
    const std::string error = MergeError(text.substr(0, length), &s);
    if (error == "OK") continue;
    ++refused;
    EXPECT_TRUE(absl::StartsWith(error, "s.yaml:")) << error;
  }
  EXPECT_GT(refused, 50);
  proto::Scenario s;
  EXPECT_EQ(MergeError(text, &s), "OK");
}

// ---- SetField ----

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
  for (const auto& [path, value] : TestRows<2>("SetsByPath.2"))
    EXPECT_EQ(SetError(path, value, m.get()), "OK") << path;
  EXPECT_EQ(ToYaml(*m), TestText("SetsByPath"));
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
  for (const auto& [first, second, expected] : TestRows<3>("NamesWhatIsWrongWithListsAndMaps")) {
    EXPECT_EQ(SetError(first, second, m.get()), expected) << first;
  }
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

}  // namespace yaml_proto_test
}  // namespace drasim
