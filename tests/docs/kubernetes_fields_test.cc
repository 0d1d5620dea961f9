#include "tests/docs/kubernetes_fields.h"

#include <google/protobuf/descriptor.h>

#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/admission.h"
#include "model/kube/api_defaults.h"
#include "model/kube/reader.h"
#include "model/kube/shape_of_pod.h"
#include "model/kube/spec_of_node.h"
#include "model/proto/kube.pb.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace kubernetes_fields_test {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdict = KubeFieldVerdict;

const Descriptor* MessageOf(const KubeTypeRows& type) {
  // Messages of the package are in several files.
  const auto* const file = proto::kube::Object::descriptor()->file();
  return file->pool()->FindMessageTypeByName(absl::StrCat(file->package(), ".", type.message));
}

// By Kubernetes' names.
std::map<std::string, const FieldDescriptor*> ReadFieldsOf(const Descriptor& message) {
  std::map<std::string, const FieldDescriptor*> fields;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (field.options().GetExtension(proto::kube::derived)) continue;
    fields[field.json_name()] = &field;
  }
  return fields;
}

std::set<std::string> PassedOverIn(const Descriptor& message) {
  const std::string& words = message.options().GetExtension(proto::kube::ignored);
  const std::vector<std::string> names = absl::StrSplit(words, ' ', absl::SkipEmpty());
  return {names.begin(), names.end()};
}

bool IsNode(const KubeTypeRows& type) { return absl::StrContains(type.place, "of nodes"); }

struct Outcome {
  PodShape shape;
  int32_t priority = 0;
  NodeSpec node;
  std::vector<std::string> warnings;

  bool operator==(const Outcome& other) const {
    const auto key = [](const NodeSpec& spec) {
      return std::tie(spec.name, spec.cpu_milli, spec.memory_bytes, spec.pods, spec.labels,
                      spec.taints, spec.extended, spec.images, spec.unschedulable);
    };
    return shape == other.shape && priority == other.priority && key(node) == key(other.node);
  }
};

// The rules' results for the type's frame with `content` in it.
Outcome OutcomeOf(const KubeTypeRows& type, absl::string_view content) {
  const bool whole = absl::StartsWith(content, "spec:");
  std::string body =
      whole ? std::string(content) : absl::StrReplaceAll(type.frame, {{"@", content}});
  body = absl::StrReplaceAll(body, {{", }", "}"}});
  KubeReadOptions options;
  options.validate = false;
  const bool node = IsNode(type);
  const std::string text =
      absl::StrCat("{apiVersion: v1, kind: ", node ? "Node" : "Pod",
                   ", metadata: {name: p, namespace: ml, labels: {app: a}}, ", body, "}\n");
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "f.yaml", options);
  Outcome outcome;
  if (!read.ok() || read->objects.size() != 1) {
    ADD_FAILURE() << text << read.status();
    return outcome;
  }
  outcome.warnings = read->warnings;
  proto::kube::Object object = read->objects[0].object;
  if (node) {
    outcome.node = SpecOfNode(object.node());
    return outcome;
  }
  proto::kube::Pod& pod = *object.mutable_pod();
  SetPodDefaults(pod.mutable_spec());
  ApiAdmission({}).Admit(&pod);
  outcome.shape = ShapeOfPod(pod);
  outcome.priority = pod.spec().priority();
  return outcome;
}

// A value that the field may have.
std::string ValueFor(const FieldDescriptor& field) {
  if (field.is_map()) return "{}";
  std::string value;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      value = field.options().GetExtension(proto::kube::format) == proto::kube::FORMAT_TIME
                  ? "\"2026-01-02T03:04:05Z\""
                  : "x";
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      value = "true";
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      value = "{}";
      break;
    default:
      value = "7";
      break;
  }
  return field.is_repeated() ? absl::StrCat("[", value, "]") : value;
}

std::string ContentOf(const std::string& path) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/", path), std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

TEST(KubernetesFieldsTest, PageIsThatOfTheTable) {
  EXPECT_EQ(ContentOf("docs/kubernetes_fields.md"), KubeFieldsPage(KubernetesFields()))
      << "`make docs` writes it again.";
}

TEST(KubernetesFieldsTest, ListsEveryFieldOnceAndNoOther) {
  std::set<std::string> types;
  for (const KubeTypeRows& type : KubernetesFields()) {
    EXPECT_TRUE(types.insert(type.name).second) << type.name << " is listed twice";
    const Descriptor* const message = MessageOf(type);
    ASSERT_NE(message, nullptr) << type.name << ": no message " << type.message;
    std::set<std::string> names;
    for (const auto* rows : {&type.fields, &type.others}) {
      for (const KubeFieldRow& row : *rows) {
        EXPECT_FALSE(row.reason.empty()) << type.name << "." << row.names.front();
        for (const std::string& name : row.names) {
          EXPECT_TRUE(names.insert(name).second) << type.name << "." << name << " is listed twice";
        }
      }
    }
    const auto read = ReadFieldsOf(*message);
    const std::set<std::string> passed_over = PassedOverIn(*message);
    for (const auto& field : read) {
      EXPECT_TRUE(names.contains(field.first)) << type.name << "." << field.first;
    }
    for (const std::string& name : passed_over) {
      EXPECT_TRUE(names.contains(name)) << type.name << "." << name;
    }
    for (const KubeFieldRow& row : type.fields) {
      for (const std::string& name : row.names) {
        const std::string at = absl::StrCat(type.name, ".", name);
        if (row.verdict == Verdict::kNoEffect) {
          EXPECT_TRUE(read.contains(name) || passed_over.contains(name)) << at;
        } else if (row.verdict == Verdict::kWarned) {
          EXPECT_FALSE(read.contains(name) || passed_over.contains(name)) << at;
        } else {
          EXPECT_TRUE(read.contains(name)) << at;
        }
      }
    }
  }
}

// A field of upstream's type, and the type of the field where it is an object's.
struct OpenApiField {
  std::string type;
  std::string name;
  std::string below;
};

std::vector<OpenApiField> OpenApiFields() {
  std::vector<OpenApiField> fields;
  for (const absl::string_view line :
       absl::StrSplit(TestText("OpenApiOf134"), '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    const std::pair<std::string, std::string> place =
        absl::StrSplit(parts.first, absl::MaxSplits('.', 1));
    fields.push_back({place.first, place.second, std::string(parts.second)});
  }
  return fields;
}

// The rows are the fields of upstream's types: none is missing, none is invented, and where a field
// is honoured, its type has rows as well.
TEST(KubernetesFieldsTest, RowsAreThoseOfThePublishedSpecification) {
  std::set<std::string> published;
  std::map<std::string, std::string> below;
  for (const OpenApiField& field : OpenApiFields()) {
    const std::string at = absl::StrCat(field.type, ".", field.name);
    published.insert(at);
    if (!field.below.empty()) below[at] = field.below;
  }
  ASSERT_GT(published.size(), 200u);
  std::set<std::string> types;
  for (const KubeTypeRows& type : KubernetesFields()) types.insert(type.name);
  EXPECT_TRUE(types.contains("PodSpec") && types.contains("NodeSpec") &&
              types.contains("NodeStatus"));
  std::set<std::string> listed;
  for (const KubeTypeRows& type : KubernetesFields()) {
    for (const KubeFieldRow& row : type.fields) {
      for (const std::string& name : row.names) {
        const std::string at = absl::StrCat(type.name, ".", name);
        listed.insert(at);
        const bool honoured =
            row.verdict == Verdict::kHonoured || row.verdict == Verdict::kElsewhere;
        if (honoured && below.contains(at)) {
          EXPECT_TRUE(types.contains(below[at])) << at << " leads to " << below[at];
        }
      }
    }
    for (const KubeFieldRow& row : type.others) {
      for (const std::string& name : row.names) {
        EXPECT_FALSE(published.contains(absl::StrCat(type.name, ".", name)))
            << type.name << "." << name << " is in 1.34";
      }
    }
  }
  EXPECT_EQ(listed, published);
}

// The walk from the three roots over everything that is honoured meets every type of the table, and
// none beside it.
TEST(KubernetesFieldsTest, HonouredFieldsLeadToListedTypes) {
  std::multimap<std::string, const KubeTypeRows*> by_message;
  for (const KubeTypeRows& type : KubernetesFields()) by_message.emplace(type.message, &type);
  std::set<std::string> seen;
  std::vector<std::string> todo = {"PodSpec", "NodeSpec", "NodeStatus"};
  while (!todo.empty()) {
    const std::string message = todo.back();
    todo.pop_back();
    if (!seen.insert(message).second) continue;
    const auto [begin, end] = by_message.equal_range(message);
    EXPECT_NE(begin, end) << message << " is honoured, and not listed";
    for (auto type = begin; type != end; ++type) {
      const auto fields = ReadFieldsOf(*MessageOf(*type->second));
      for (const KubeFieldRow& row : type->second->fields) {
        if (row.verdict == Verdict::kNoEffect) continue;
        for (const std::string& name : row.names) {
          const auto field = fields.find(name);
          if (field == fields.end() || field->second->is_map()) continue;
          const Descriptor* const below = field->second->message_type();
          if (below != nullptr) todo.push_back(below->name());
        }
      }
    }
  }
  for (const auto& type : by_message) {
    EXPECT_TRUE(seen.contains(type.first)) << type.second->name << ": nothing leads to it";
  }
}

TEST(KubernetesFieldsTest, HonouredFieldsMakeADifference) {
  for (const KubeTypeRows& type : KubernetesFields()) {
    for (const KubeFieldRow& row : type.fields) {
      const std::string at = absl::StrCat(type.name, ".", absl::StrJoin(row.names, " "));
      if (row.verdict == Verdict::kElsewhere) {
        const std::string test = ContentOf(row.with);
        for (const std::string& name : row.names) {
          EXPECT_TRUE(absl::StrContains(test, name)) << at << ": not in " << row.with;
        }
      }
      if (row.verdict != Verdict::kHonoured) continue;
      ASSERT_EQ(row.names.size(), 1u) << at;
      EXPECT_TRUE(absl::StrContains(row.with, row.names.front())) << at;
      const Outcome without = OutcomeOf(type, row.without);
      const Outcome with = OutcomeOf(type, row.with);
      EXPECT_THAT(without.warnings, IsEmpty()) << at;
      EXPECT_THAT(with.warnings, IsEmpty()) << at;
      EXPECT_FALSE(without == with) << at << " has no effect";
    }
  }
}

TEST(KubernetesFieldsTest, OtherFieldsMakeNone) {
  for (const KubeTypeRows& type : KubernetesFields()) {
    const auto fields = ReadFieldsOf(*MessageOf(type));
    for (const KubeFieldRow& row : type.fields) {
      if (row.verdict != Verdict::kNoEffect && row.verdict != Verdict::kWarned) continue;
      for (const std::string& name : row.names) {
        const std::string at = absl::StrCat(type.name, ".", name);
        const auto field = fields.find(name);
        const std::string content =
            !row.with.empty()
                ? row.with
                : absl::StrCat(name, ": ",
                               field == fields.end() ? "{a: [b, 1]}" : ValueFor(*field->second));
        const Outcome with = OutcomeOf(type, content);
        EXPECT_EQ(with.warnings.empty(), row.verdict == Verdict::kNoEffect) << at;
        EXPECT_TRUE(OutcomeOf(type, row.without) == with) << at << " has an effect";
      }
    }
  }
}

TEST(KubernetesFieldsTest, UnknownFieldsAreWarnedAbout) {
  const KubeTypeRows& pod = KubernetesFields().front();
  ASSERT_EQ(pod.name, "PodSpec");
  EXPECT_THAT(OutcomeOf(pod, "nodeSelektor: {a: b}").warnings,
              ElementsAre(::testing::HasSubstr("did you mean 'nodeSelector'?")));
}

}  // namespace kubernetes_fields_test
}  // namespace drasim
