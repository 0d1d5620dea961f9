// The key reference: its pages are those of the schemas' comments, and the defaults that it names
// are those that a run has.
#include "tests/docs/key_reference.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace key_reference_test {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::testing::HasSubstr;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

TEST(KeyReferenceTest, PagesAreThoseOfTheComments) {
  const std::string schemas = ContentOf(DRASIM_SCHEMAS);
  for (const ReferencePage& page : ReferencePages()) {
    const absl::StatusOr<KeyReference> reference = ReadKeyReference(schemas, page.message);
    ASSERT_TRUE(reference.ok()) << reference.status();
    const std::vector<std::string> written =
        absl::StrSplit(ReferencePageText(*reference, page), '\n');
    const std::vector<std::string> committed =
        absl::StrSplit(ContentOf(absl::StrCat(DRASIM_SOURCE_DIR, "/docs/", page.file)), '\n');
    for (size_t i = 0; i < std::max(written.size(), committed.size()); ++i) {
      ASSERT_EQ(i < committed.size() ? committed[i] : "(the end)",
                i < written.size() ? written[i] : "(the end)")
          << "docs/" << page.file << " differs from the comments of " << page.schema
          << ". `make docs` writes it again.";
    }
  }
}

// --- Defaults ---

// The scalars that `resolved` has and `given` lacks, by the path of their keys.
void AddFilled(const Message& given, const Message& resolved, const std::string& prefix,
               std::vector<std::pair<std::string, std::string>>* filled) {
  const google::protobuf::Reflection& reflection = *resolved.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(resolved, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string path = absl::StrCat(prefix, field->name());
    if (field->is_map()) continue;
    if (field->is_repeated()) {
      if (field->message_type() == nullptr) continue;
      const int both =
          std::min(reflection.FieldSize(given, field), reflection.FieldSize(resolved, field));
      for (int i = 0; i < both; ++i) {
        AddFilled(reflection.GetRepeatedMessage(given, field, i),
                  reflection.GetRepeatedMessage(resolved, field, i), path + "[].", filled);
      }
    } else if (field->message_type() != nullptr) {
      AddFilled(reflection.GetMessage(given, field), reflection.GetMessage(resolved, field),
                path + ".", filled);
    } else if (!reflection.HasField(given, field)) {
      std::string value;
      google::protobuf::TextFormat::PrintFieldValueToString(resolved, field, -1, &value);
      filled->emplace_back(path,
                           std::string(absl::StripSuffix(absl::StripPrefix(value, "\""), "\"")));
    }
  }
}

// The texts in backticks.
std::set<std::string> LiteralsOf(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '`');
  std::set<std::string> literals;
  for (size_t i = 1; i < parts.size(); i += 2) literals.insert(parts[i]);
  return literals;
}

// Scenarios that together make ResolveScenario fill in each default that it knows.
constexpr const char* kScenarios[] = {
    "",
    "cluster: {path: n.csv}\nworkload: {trace: {path: p.csv}}\n",
    "mode: replay\n",
    "mode: replay\nworkload: {stream_interval: 1s}\n",
    "mode: replay\nscheduler: {queue: fifo}\n",
    "mode: replay\nscheduler: {queue: srtf}\n",
    "mode: replay\nscheduler: {queue: srtf, backfill: conservative}\n",
    "mode: replay\nscheduler: {queue: loss}\n",
    "scheduler: {policy: kube-scheduler}\n",
    "mode: replay\nfront_end: {kind: dra-classic, dra: {drivers: [{kind: nvidia}]}}\n",
    "mode: replay\nfront_end: {kind: dra-structured, structured: {slices: [s.yaml]}}\n",
};

// The other way round, a default that begins with a literal is one that a resolved scenario shows.
TEST(KeyReferenceTest, DefaultsAreThoseOfResolvedScenarios) {
  const absl::StatusOr<KeyReference> reference =
      ReadKeyReference(ContentOf(DRASIM_SCHEMAS), "drasim.proto.Scenario");
  ASSERT_TRUE(reference.ok()) << reference.status();
  std::map<std::string, std::string> fallbacks;
  for (const ReferenceSection& section : reference->sections) {
    for (const ReferenceKey& key : section.keys) fallbacks[key.path] = key.fallback;
  }

  std::set<std::string> checked;
  for (const char* yaml : kScenarios) {
    proto::Scenario given;
    ASSERT_EQ(MergeYaml(yaml, "s.yaml", &given), absl::OkStatus());
    const absl::StatusOr<RunSpec> spec = ResolveScenario(given);
    ASSERT_EQ(spec.status(), absl::OkStatus()) << yaml;
    std::vector<std::pair<std::string, std::string>> filled;
    AddFilled(given, *spec->written, "", &filled);
    for (const std::pair<std::string, std::string>& key : filled) {
      EXPECT_EQ(LiteralsOf(fallbacks[key.first]).count(key.second), 1u)
          << key.first << " becomes " << key.second << " in\n"
          << yaml << "but its default is documented as: " << fallbacks[key.first];
      checked.insert(key.first);
    }
  }
  for (const std::pair<const std::string, std::string>& key : fallbacks) {
    if (!absl::StartsWith(key.second, "`")) continue;
    EXPECT_EQ(checked.count(key.first), 1u)
        << key.first << " has the default " << key.second << ", but no resolved scenario shows it";
  }
  EXPECT_GE(checked.size(), 24u);
}

// --- The generator, on a schema of its own ---

// file: small.proto with two messages; the comments are given.
std::string SmallSchema(const std::string& field_comment, const std::string& list_comment) {
  google::protobuf::FileDescriptorSet set;
  google::protobuf::FileDescriptorProto& file = *set.add_file();
  file.set_name("small.proto");
  file.set_package("small");
  file.set_syntax("proto3");
  google::protobuf::DescriptorProto& root = *file.add_message_type();
  root.set_name("Root");
  google::protobuf::FieldDescriptorProto& size = *root.add_field();
  size.set_name("size");
  size.set_number(1);
  size.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
  size.set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
  google::protobuf::FieldDescriptorProto& items = *root.add_field();
  items.set_name("items");
  items.set_number(2);
  items.set_label(google::protobuf::FieldDescriptorProto::LABEL_REPEATED);
  items.set_type(google::protobuf::FieldDescriptorProto::TYPE_MESSAGE);
  items.set_type_name(".small.Item");
  google::protobuf::DescriptorProto& item = *file.add_message_type();
  item.set_name("Item");
  google::protobuf::FieldDescriptorProto& on = *item.add_field();
  on.set_name("on");
  on.set_number(1);
  on.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
  on.set_type(google::protobuf::FieldDescriptorProto::TYPE_BOOL);
  const auto comment = [&file](std::vector<int> path, const std::string& text) {
    google::protobuf::SourceCodeInfo::Location& location =
        *file.mutable_source_code_info()->add_location();
    for (const int step : path) location.add_path(step);
    for (int i = 0; i < 3; ++i) location.add_span(0);
    location.set_leading_comments(text);
  };
  comment({4, 0}, " All of it.\n");
  comment({4, 0, 2, 0}, field_comment);
  comment({4, 0, 2, 1}, list_comment);
  comment({4, 1}, " An item.\n");
  comment({4, 1, 2, 0}, " Whether a | b.\n Default: false.\n");
  return set.SerializeAsString();
}

constexpr ReferencePage kSmallPage = {"small.md", "small.Root", "Small", "small.proto", "Intro."};

TEST(KeyReferenceTest, WritesATableForEachMessage) {
  const absl::StatusOr<KeyReference> reference = ReadKeyReference(
      SmallSchema(" How large,\n in all.\n * `big`: very\n   large\n * `small`: not\n"
                  " Type: word. Default: `big`, e.g. 1.5.\n",
                  " The items.\n Required.\n"),
      "small.Root");
  ASSERT_TRUE(reference.ok()) << reference.status();
  EXPECT_EQ(ReferencePageText(*reference, kSmallPage), TestText("WritesATableForEachMessage"));
}

TEST(KeyReferenceTest, AsksForMeaningAndDefault) {
  const absl::StatusOr<KeyReference> reference =
      ReadKeyReference(SmallSchema(" How large.\n", " Default: none.\n"), "small.Root");
  ASSERT_FALSE(reference.ok());
  EXPECT_THAT(std::string(reference.status().message()),
              HasSubstr("small.Root.size: the comment lacks its default"));
  EXPECT_THAT(std::string(reference.status().message()),
              HasSubstr("small.Root.items: the comment lacks its meaning"));
  EXPECT_EQ(ReadKeyReference(SmallSchema(" A. Default: b.\n", " B.\n Required.\n"), "small.Other")
                .status(),
            absl::NotFoundError("small.Other: no such message"));
  EXPECT_EQ(ReadKeyReference("no set", "small.Root").status(),
            absl::InvalidArgumentError("not a FileDescriptorSet"));
}

}  // namespace key_reference_test
}  // namespace drasim
