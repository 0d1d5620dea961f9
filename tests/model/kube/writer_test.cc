// PrintKubeObject and PrintKubeList: exact text, and that ReadKubeObjects reads it back. The exact
// texts of quotes, folds and blocks are what sigs.k8s.io/yaml v1.6.0 prints.
#include "model/kube/writer.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/kube/reader_schema.h"
#include "model/kube/writer_yaml.h"
#include "model/random.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace kube_writer_test {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using kube_manifests::ObjectOf;
using kube_manifests::ReadManifest;

std::string Yaml(const std::string& text) {
  return PrintKubeObject(ObjectOf(text), KubeTextFormat::kYaml);
}

std::string Json(const std::string& text) {
  return PrintKubeObject(ObjectOf(text), KubeTextFormat::kJson);
}

std::string PodText() { return TestLines("Pod"); }

TEST(PrintKubeObjectTest, PrintsYamlAsKubectl) {
  EXPECT_EQ(Yaml(PodText()), TestText("PrintsYamlAsKubectl"));
}

TEST(PrintKubeObjectTest, PrintsJsonAsKubectl) {
  EXPECT_EQ(Json(PodText()), TestText("PrintsJsonAsKubectl"));
}

TEST(PrintKubeObjectTest, JsonEscapesAsGo) {
  EXPECT_EQ(Json(R"(config_map { data {
              key: "k" value: "\"\\/\b\f\n\r\t\001\177\303\251\342\200\250\360\237\230\200" } })"),
            "{\n    \"apiVersion\": \"v1\",\n    \"data\": {\n        \"k\": "
            "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7F\xC3\xA9\\u2028\xF0\x9F\x98\x80\"\n    },\n"
            "    \"kind\": \"ConfigMap\"\n}\n");
}

TEST(PrintKubeObjectTest, NamesTheNewestVersionWhereNoneIsGiven) {
  for (const auto& [input, expected] : TestRows<2>("NamesTheNewestVersionWhereNoneIsGiven")) {
    EXPECT_EQ(Yaml(input), expected) << input;
  }
}

TEST(KubeListItemTest, PiecesMakeTheList) {
  const std::string node = KubeListItem(ObjectOf("node { metadata { name: 'a' } }"));
  const std::string map = KubeListItem(ObjectOf("config_map { data { key: 'k' value: 'v' } }"));
  EXPECT_EQ(absl::StrCat(kKubeListHead, node, map, kKubeListTail), TestText("WrapsObjects"));
}

TEST(PrintKubeListTest, WrapsObjects) {
  const proto::kube::Object node = ObjectOf("node { metadata { name: 'a' } }");
  const proto::kube::Object map = ObjectOf("config_map { data { key: 'k' value: 'v' } }");
  EXPECT_EQ(PrintKubeList({&node, &map}, KubeTextFormat::kYaml), TestText("WrapsObjects"));
  EXPECT_EQ(PrintKubeList({}, KubeTextFormat::kYaml),
            "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"\"\n");
  EXPECT_EQ(PrintKubeList({}, KubeTextFormat::kJson),
            "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n    \"kind\": \"List\",\n"
            "    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n");
}

// The text of a map with one entry, without the final line break.
std::string YamlOf(const std::string& key, const std::string& value) {
  KubeValue text;
  text.kind = KubeValue::Kind::kText;
  text.text = value;
  KubeValue map;
  map.members.push_back({key, text});
  std::string yaml = KubeYamlText(map);
  yaml.pop_back();
  return yaml;
}

TEST(KubeYamlTextTest, Quotes) {
  for (const auto& [text, yaml] : TestRows<2>("Quotes"))
    EXPECT_EQ(YamlOf("k", text), "k: " + yaml) << text;
}

TEST(KubeYamlTextTest, Keys) {
  EXPECT_EQ(YamlOf("true", "v"), "\"true\": v");
  EXPECT_EQ(YamlOf("", "v"), "\"\": v");
  EXPECT_EQ(YamlOf("a: b", "v"), "'a: b': v");
  EXPECT_EQ(YamlOf("<<", "v"), "\"<<\": v");
  const std::string key128(128, 'k');
  EXPECT_EQ(YamlOf(key128, "v"), key128 + ": v");
  EXPECT_EQ(YamlOf(key128 + "k", "v"), "? " + key128 + "k\n: v");
  EXPECT_EQ(YamlOf("a\nb", "v"), "? \"a\\nb\"\n: v");
}

TEST(KubeYamlTextTest, TextsOfSeveralLines) {
  for (const auto& [text, yaml] : TestRows<2>("TextsOfSeveralLines")) {
    EXPECT_EQ(YamlOf("k", text), absl::StrCat("k: ", yaml)) << text;
  }
}

TEST(KubeYamlTextTest, FoldsAfterEightyColumns) {
  const std::string ten = "word word ";  // ten characters
  std::string words;
  for (int i = 0; i < 9; ++i) words += ten;
  EXPECT_EQ(YamlOf("key", words + "end"),
            "key: word word word word word word word word word word word word word word word word\n"
            "  word word end");
  const std::string line =
      "word word word word word word word word word word word word word word word";
  EXPECT_EQ(YamlOf("key", "a: " + words + "end"), "key: 'a: " + line + "\n  word word word end'");
  EXPECT_EQ(YamlOf("key", "\t" + words + "end"), "key: \"\\t" + line + "\n  word word word end\"");
  const std::string longest(90, 'x');
  EXPECT_EQ(YamlOf("key", longest + "  y z"), "key: " + longest + "  y\n  z");
  EXPECT_EQ(YamlOf("key", "\t" + longest + "  y z"), "key: \"\\t" + longest + "\n  \\ y z\"");
  EXPECT_EQ(Yaml("pod { status { conditions { message: '0/1 nodes are available: 1 Insufficient "
                 "cpu. preemption: 0/1 nodes are available: 1 No preemption victims found.' } } }"),
            "apiVersion: v1\nkind: Pod\nstatus:\n  conditions:\n"
            "  - message: '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are\n"
            "      available: 1 No preemption victims found.'\n");
}

TEST(KubeKeyLessTest, DigitsCountByValueAndLettersComeLast) {
  const std::vector<std::vector<const char*>> orders = {
      {"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.10gb",
       "nvidia.com/mig-2g.10gb"},
      {"-", ".", "/", "0", "1", "2", "10", "100", "A", "a", "a-b", "a.b", "a0", "a1", "a10", "aA",
       "ab"},
      {"v1.0", "v1.1", "v1.10", "v1.11", "v1.101"},
  };
  for (const auto& keys : orders) {
    for (size_t i = 0; i < keys.size(); ++i) {
      for (size_t j = 0; j < keys.size(); ++j) {
        EXPECT_EQ(KubeKeyLess(keys[i], keys[j]), i < j) << keys[i] << " " << keys[j];
      }
    }
  }
}

TEST(KubeKeyLessTest, WhatIsNoOrderStillGivesOneResult) {
  std::vector<std::string> keys = {"2", "10", "1a", "1b", "3", "20", "1_", "01", "001"};
  Random random(1, "keys");
  std::string first;
  for (int round = 0; round < 50; ++round) {
    random.Shuffle(absl::MakeSpan(keys));
    KubeValue map;
    for (const std::string& key : keys) map.members.push_back({key, KubeValue()});
    const std::string text = KubeYamlText(map);
    if (round == 0) first = text;
    ASSERT_EQ(text, first);
  }
}

// --- Back again ---

void ExpectReadsBack(const std::vector<const proto::kube::Object*>& objects) {
  KubeReadOptions options;
  options.validate = false;
  for (const KubeTextFormat format : {KubeTextFormat::kYaml, KubeTextFormat::kJson}) {
    const std::string text =
        objects.size() == 1 ? PrintKubeObject(*objects[0], format) : PrintKubeList(objects, format);
    const absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "f.yaml", options);
    ASSERT_TRUE(read.ok()) << read.status().message() << "\nin\n" << text;
    EXPECT_EQ(absl::StrJoin(read->warnings, "\n"), "");
    ASSERT_EQ(read->objects.size(), objects.size());
    for (size_t i = 0; i < objects.size(); ++i) {
      ASSERT_EQ(read->objects[i].object.DebugString(), objects[i]->DebugString()) << text;
    }
  }
}

TEST(PrintKubeObjectTest, EveryKindIsReadBack) {
  const KubeManifest read = ReadManifest(kube_manifests::EveryKind());
  std::vector<const proto::kube::Object*> all;
  for (const KubeObject& object : read.objects) {
    ExpectReadsBack({&object.object});
    all.push_back(&object.object);
  }
  EXPECT_GT(all.size(), 20u);
  ExpectReadsBack(all);
}

// Pieces that need care in YAML or JSON.
std::string RandomText(Random* random) {
  static const auto* const pieces = new TextRows<1>(TestRows<1>("Pieces"));
  const uint64_t length = random->Below(10) == 0 ? random->Below(40) : random->Below(5);
  std::string text;
  for (uint64_t i = 0; i < length; ++i) text += (*pieces)[random->Below(pieces->size())][0];
  return text;
}

std::string RandomTextOf(proto::kube::Format format, Random* random) {
  if (format == proto::kube::FORMAT_QUANTITY) {
    static constexpr const char* kQuantities[] = {"0",   "1",  "500m", "1.5Gi",
                                                  "1e3", "-2", "+5",   ".5"};
    return kQuantities[random->Below(std::size(kQuantities))];
  }
  if (format == proto::kube::FORMAT_TIME) {
    return random->Below(2) == 0 ? "2024-02-29T12:00:00Z" : "1999-12-31T23:59:59.5-01:30";
  }
  if (format == proto::kube::FORMAT_JSON) {
    static constexpr const char* kValues[] = {
        "{}", "[]", "0.5", R"({"a":[[1,[]],[{"b":"\u003c"}],"x\ny"],"c":{"d":null}})"};
    return kValues[random->Below(std::size(kValues))];
  }
  return RandomText(random);
}

class RandomObjects {
 public:
  explicit RandomObjects(uint64_t seed) : random_(seed, "kube objects") {}

  proto::kube::Object Next() {
    proto::kube::Object object;
    const auto& type = *proto::kube::Object::descriptor();
    const auto index = static_cast<int>(random_.Below(static_cast<uint64_t>(type.field_count())));
    const FieldDescriptor& member = *type.field(index);
    Message* message = object.GetReflection()->MutableMessage(&object, &member);
    Fill(message, 0);
    const auto& options = member.message_type()->options();
    // Older versions of resource.k8s.io come back as v1, the first of them.
    const auto& first = options.GetExtension(proto::kube::api, 0);
    const int count =
        first.version() == "resource.k8s.io/v1" ? 1 : options.ExtensionSize(proto::kube::api);
    const auto& api = options.GetExtension(
        proto::kube::api, static_cast<int>(random_.Below(static_cast<uint64_t>(count))));
    SetText(message, "api_version", api.version());
    SetText(message, "kind", api.kind().empty() ? member.message_type()->name() : api.kind());
    return object;
  }

 private:
  static void SetText(Message* message, const char* field, const std::string& text) {
    message->GetReflection()->SetString(message, message->GetDescriptor()->FindFieldByName(field),
                                        text);
  }

  void Fill(Message* message, int depth) {
    const auto& type = *message->GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.options().GetExtension(proto::kube::derived)) continue;
      if (!field.options().GetExtension(proto::kube::only_in).empty()) continue;
      const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      if (random_.Below(3) == 0 || (is_message && depth > 6)) continue;
      const uint64_t count = field.is_repeated() ? random_.Below(4) : 1;
      for (uint64_t j = 0; j < count; ++j) {
        if (field.is_map()) {
          AddEntry(message, field, depth);
        } else {
          SetOrAdd(message, field, depth);
        }
      }
      const FieldDescriptor* given = GivenFieldOf(field);
      if (given != nullptr && message->GetReflection()->FieldSize(*message, &field) > 0) {
        message->GetReflection()->SetBool(message, given, true);
      }
    }
  }

  void AddEntry(Message* message, const FieldDescriptor& field, int depth) {
    const std::string key = RandomText(&random_);
    const Reflection& reflection = *message->GetReflection();
    const FieldDescriptor* key_field = field.message_type()->map_key();
    for (int i = 0; i < reflection.FieldSize(*message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(*message, &field, i);
      if (entry.GetReflection()->GetString(entry, key_field) == key) return;
    }
    Message* entry = reflection.AddMessage(message, &field);
    entry->GetReflection()->SetString(entry, key_field, key);
    const FieldDescriptor* value_field = field.message_type()->map_value();
    if (value_field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Fill(entry->GetReflection()->MutableMessage(entry, value_field), depth + 1);
      return;
    }
    entry->GetReflection()->SetString(
        entry, value_field,
        RandomTextOf(field.options().GetExtension(proto::kube::format), &random_));
  }

  void SetOrAdd(Message* message, const FieldDescriptor& field, int depth) {
    const Reflection& to = *message->GetReflection();
    const bool add = field.is_repeated();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(add ? to.AddMessage(message, &field) : to.MutableMessage(message, &field), depth + 1);
        return;
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string text =
            RandomTextOf(field.options().GetExtension(proto::kube::format), &random_);
        add ? to.AddString(message, &field, text) : to.SetString(message, &field, text);
        return;
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        add ? to.AddBool(message, &field, random_.Below(2) == 0)
            : to.SetBool(message, &field, random_.Below(2) == 0);
        return;
      case FieldDescriptor::CPPTYPE_INT32:
        to.SetInt32(message, &field, static_cast<int32_t>(random_.U64()));
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        add ? to.AddInt64(message, &field, static_cast<int64_t>(random_.U64()))
            : to.SetInt64(message, &field, static_cast<int64_t>(random_.U64()));
        return;
      default:
        FAIL() << field.full_name() << " has a type that this test does not know";
    }
  }

  Random random_;
};

TEST(PrintKubeObjectTest, RandomObjectsAreReadBack) {
  RandomObjects objects(20240131);
  for (int i = 0; i < 300 && !::testing::Test::HasFailure(); ++i) {
    const proto::kube::Object a = objects.Next();
    ExpectReadsBack({&a});
    if (i % 10 != 0) continue;
    const proto::kube::Object b = objects.Next();
    ExpectReadsBack({&a, &b});
  }
}

}  // namespace kube_writer_test
}  // namespace drasim
