// ToYaml: exact text, and that MergeYaml reads it back.
#include "model/text/yaml_writer.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/proto/mapping.pb.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "tests/model/text/any_schema.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace yaml_writer_test {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::MessageDifferencer;

TEST(ToYamlTest, WritesSetFieldsInTheSchemasOrder) {
  proto::Scenario s;
  EXPECT_EQ(ToYaml(s), "");
  s.mutable_output()->set_dir("-");
  s.mutable_timing()->set_bind("5ms");
  s.mutable_scheduler()->mutable_typical()->set_popularity_percent(0.1 + 0.2);
  s.mutable_scheduler()->set_cache(false);
  s.mutable_scheduler()->add_score()->set_name("Fgd");
  s.mutable_scheduler()->mutable_score(0)->set_weight(1);
  s.mutable_scheduler()->add_score();
  s.mutable_workload()->mutable_tuning();
  s.mutable_workload()->set_limit(5);
  s.mutable_cluster()->set_path("nodes.csv");
  s.set_seed(0);
  s.set_description("a: b");
  s.set_name("demo");
  const std::string& expected = TestText("WritesSetFieldsInTheSchemasOrder.expected");
  EXPECT_EQ(ToYaml(s), expected);
  proto::Scenario read;
  ASSERT_TRUE(MergeYaml(expected, "s.yaml", &read).ok());
  EXPECT_EQ(read.SerializeAsString(), s.SerializeAsString());
}

TEST(ToYamlTest, SortsMapsByKey) {
  proto::Column a;
  proto::Column b;
  for (int i = 0; i < 100; ++i) {
    (*a.mutable_values())[absl::StrCat("k", i)] = "v";
    (*b.mutable_values())[absl::StrCat("k", 99 - i)] = "v";
  }
  const std::string text = ToYaml(a);
  EXPECT_EQ(text, ToYaml(b));
  EXPECT_EQ(text.substr(0, 38), "values:\n  k0: v\n  k1: v\n  k10: v\n  k11");
}

// Each text and how ToYaml writes it, as a value and as a map's key.
void ExpectWritten(const TextRows<2>& cases) {
  for (const auto& [value, yaml] : cases) {
    proto::TableMapping m;
    m.add_columns(value);
    const std::string text = ToYaml(m);
    EXPECT_EQ(text, absl::StrCat("columns:\n  - ", yaml, "\n"));
    proto::TableMapping read;
    EXPECT_TRUE(MergeYaml(text, "m.yaml", &read).ok()) << text;
    ASSERT_EQ(read.columns_size(), 1) << text;
    EXPECT_EQ(read.columns(0), value);

    proto::Column column;
    (*column.mutable_values())[value] = value;
    const std::string map_text = ToYaml(column);
    EXPECT_EQ(map_text, absl::StrCat("values:\n  ", yaml, ": ", yaml, "\n"));
    proto::Column read_column;
    EXPECT_TRUE(MergeYaml(map_text, "m.yaml", &read_column).ok()) << map_text;
    EXPECT_TRUE(MessageDifferencer::Equals(column, read_column)) << map_text;
  }
}

TEST(ToYamlTest, LeavesWordsPlain) { ExpectWritten(TestRows<2>("LeavesWordsPlain")); }

TEST(ToYamlTest, QuotesNullsAndBooleansOfAnyYamlVersion) {
  ExpectWritten(TestRows<2>("QuotesNullsAndBooleansOfAnyYamlVersion"));
}

TEST(ToYamlTest, QuotesNumbersDatesAndTimes) {
  ExpectWritten(TestRows<2>("QuotesNumbersDatesAndTimes"));
}

TEST(ToYamlTest, QuotesIndicators) { ExpectWritten(TestRows<2>("QuotesIndicators")); }

TEST(ToYamlTest, QuotesBlanksLineBreaksAndControls) {
  ExpectWritten(TestRows<2>("QuotesBlanksLineBreaksAndControls"));
}

TEST(ToYamlTest, KeysTooLongForOneLineGetAQuestionMark) {
  for (const size_t length : {size_t{1000}, size_t{1001}, size_t{5000}}) {
    AnySchema schema;
    const std::unique_ptr<Message> m = schema.New();
    const std::string key(length, 'k');
    ASSERT_TRUE(SetField(absl::StrCat("counts.", key), "1", "--set", m.get()).ok());
    ASSERT_TRUE(SetField("counts.a", "2", "--set", m.get()).ok());
    ASSERT_TRUE(SetField("counts.z", "3", "--set", m.get()).ok());
    ASSERT_TRUE(
        SetField(absl::StrCat("named.", key, ".child.flag"), "true", "--set", m.get()).ok());
    const std::string text = ToYaml(*m);
    const std::string written =
        length > 1000 ? absl::StrCat("? ", key, "\n  :") : absl::StrCat(key, ":");
    EXPECT_EQ(text, absl::StrCat("counts:\n  a: 2\n  ", written, " 1\n  z: 3\nnamed:\n  ", written,
                                 "\n    child:\n      flag: true\n"));
    const std::unique_ptr<Message> read = schema.New();
    EXPECT_EQ(MergeYaml(text, "m.yaml", read.get()).message(), "");
    EXPECT_EQ(ToYaml(*read), text);
  }
}

TEST(ToYamlTest, WritesTheShortestNumberThatReadsBack) {
  const std::vector<std::pair<double, std::string>> cases = {
      {1.0, "1"},
      {-0.5, "-0.5"},
      {0.1, "0.1"},
      {1.0 / 3.0, "0.3333333333333333"},
      {100000.0, "1e+05"},
      {123456.0, "123456"},
      {1e-7, "1e-07"},
      {-0.0, "-0"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {std::numeric_limits<double>::denorm_min(), "5e-324"},
  };
  for (const auto& [value, yaml] : cases) {
    proto::Tuning t;
    t.set_ratio(value);
    EXPECT_EQ(ToYaml(t), absl::StrCat("ratio: ", yaml, "\n"));
    proto::Tuning read;
    ASSERT_TRUE(MergeYaml(ToYaml(t), "t.yaml", &read).ok());
    EXPECT_EQ(std::bit_cast<uint64_t>(read.ratio()), std::bit_cast<uint64_t>(value));
  }
}

// Messages with random fields, and texts made of everything that YAML treats specially.
class RandomFiller {
 public:
  explicit RandomFiller(uint64_t seed) : state_(seed) {}

  void Fill(Message* message, int depth) {
    for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message->GetDescriptor()->field(i);
      if (Below(3) == 0) continue;
      const int times = field.is_repeated() ? Below(4) : 1;
      for (int j = 0; j < times; ++j) {
        if (field.is_map()) {
          // By the value's own path, so that no key comes twice.
          SetMapEntry(field, message, depth);
        } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
          if (depth == 0) continue;
          const Reflection& reflection = *message->GetReflection();
          Fill(field.is_repeated() ? reflection.AddMessage(message, &field)
                                   : reflection.MutableMessage(message, &field),
               depth - 1);
        } else {
          FillScalar(field, message);
        }
      }
    }
  }

 private:
  uint64_t Next() {  // SplitMix64, public domain algorithm by Sebastiano Vigna
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  int Below(int bound) { return static_cast<int>(Next() % static_cast<uint64_t>(bound)); }

  double Number() {
    while (true) {
      const auto value = std::bit_cast<double>(Next());
      if (std::isfinite(value)) return value;
    }
  }

  float ShortNumber() {
    while (true) {
      const auto value = std::bit_cast<float>(static_cast<uint32_t>(Next()));
      if (std::isfinite(value)) return value;
    }
  }

  std::string Text() {
    static const auto* const pieces = new TextRows<1>(TestRows<1>("Pieces"));
    const auto count = static_cast<int>(pieces->size());
    std::string text;
    for (int length = Below(6); length > 0; --length)
      text += (*pieces)[static_cast<size_t>(Below(count))][0];
    return text;
  }

  void FillScalar(const FieldDescriptor& field, Message* message) {
    const Reflection& to = *message->GetReflection();
    const bool add = field.is_repeated();
    const uint64_t bits = Next() >> static_cast<unsigned>(Below(64));
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        add ? to.AddBool(message, &field, bits % 2 == 0)
            : to.SetBool(message, &field, bits % 2 == 0);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        add ? to.AddInt32(message, &field, static_cast<int32_t>(bits))
            : to.SetInt32(message, &field, static_cast<int32_t>(bits));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        to.SetInt64(message, &field, static_cast<int64_t>(bits));
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        to.SetUInt32(message, &field, static_cast<uint32_t>(bits));
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        to.SetUInt64(message, &field, bits);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        add ? to.AddDouble(message, &field, Number()) : to.SetDouble(message, &field, Number());
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        to.SetFloat(message, &field, ShortNumber());
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        add ? to.AddEnumValue(message, &field, Below(3))
            : to.SetEnumValue(message, &field, Below(3));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        add ? to.AddString(message, &field, Text()) : to.SetString(message, &field, Text());
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        break;
    }
  }

  // An entry whose key the map already has is dropped again.
  void SetMapEntry(const FieldDescriptor& field, Message* message, int depth) {
    const Reflection& reflection = *message->GetReflection();
    const FieldDescriptor& key = *field.message_type()->map_key();
    const FieldDescriptor& value = *field.message_type()->map_value();
    if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && depth == 0) return;
    Message* entry = reflection.AddMessage(message, &field);
    FillScalar(key, entry);
    const int last = reflection.FieldSize(*message, &field) - 1;
    for (int i = 0; i < last; ++i) {
      const Message& other = reflection.GetRepeatedMessage(*message, &field, i);
      if (KeyText(other, key) != KeyText(*entry, key)) continue;
      reflection.RemoveLast(message, &field);
      return;
    }
    if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Fill(entry->GetReflection()->MutableMessage(entry, &value), depth - 1);
    } else {
      FillScalar(value, entry);
    }
  }

  static std::string KeyText(const Message& entry, const FieldDescriptor& key) {
    const Reflection& from = *entry.GetReflection();
    switch (key.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return from.GetBool(entry, &key) ? "t" : "f";
      case FieldDescriptor::CPPTYPE_INT32:
        return absl::StrCat(from.GetInt32(entry, &key));
      default:
        return from.GetString(entry, &key);
    }
  }

  uint64_t state_;
};

TEST(ToYamlTest, RandomMessagesReadBackEqual) {
  AnySchema schema;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::unique_ptr<Message> m = schema.New();
    RandomFiller(seed).Fill(m.get(), 2);
    const std::string text = ToYaml(*m);
    const std::unique_ptr<Message> read = schema.New();
    const absl::Status status = MergeYaml(text, "m.yaml", read.get());
    ASSERT_TRUE(status.ok()) << seed << ": " << status.message() << "\n" << text;
    ASSERT_TRUE(MessageDifferencer::Equals(*m, *read)) << seed << "\n" << text;
    ASSERT_EQ(ToYaml(*read), text) << seed;
  }
}

}  // namespace yaml_writer_test
}  // namespace drasim
