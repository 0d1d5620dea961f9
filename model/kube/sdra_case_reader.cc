#include "model/kube/sdra_case_reader.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/kube/go_json.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// A member of an object; null if there is none, or null is written.
const YamlNode* SdraMember(const YamlNode& map, absl::string_view name) {
  const YamlNode* value = KubeMemberOf(map, name);
  return value == nullptr || value->kind == YamlNode::Kind::kNull ? nullptr : value;
}

// The step's conditions in the form that `during` has.
absl::Status ReadConditionsNow(kube::SdraStep* step) {
  std::string text = step->conditions();
  if (text[0] != '{') {
    text = "{\"claim\":";
    AppendGoQuoted(step->claim(), &text);
    absl::StrAppend(&text, ",\"device\":");
    AppendGoQuoted(step->device(), &text);
    absl::StrAppend(&text, ",\"conditions\":", step->conditions(), "}");
  }
  ASSIGN_OR_RETURN(const KubeSource source, KubeSource::Parse(text, "conditions"));
  const KubeDocument& document = source.documents()[0];
  return ReadKubeNode(source, document, *document.root, {}, step->mutable_conditions_now());
}

}  // namespace

absl::StatusOr<SdraLine> SdraLine::Parse(absl::string_view text, absl::string_view file,
                                         KubeWarnings* warnings) {
  ASSIGN_OR_RETURN(KubeSource source, KubeSource::Parse(text, file));
  if (source.documents().size() != 1 ||
      source.documents()[0].root->kind != YamlNode::Kind::kMapping) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": expected one JSON object"));
  }
  return SdraLine(std::move(source), warnings);
}

const YamlNode* SdraLine::Member(absl::string_view name) const {
  return SdraMember(*source_.documents()[0].root, name);
}

absl::Status SdraLine::Read(const YamlNode& node, google::protobuf::Message* message) const {
  KubeReadOptions options;
  options.any_case = true;
  options.warnings = warnings_;
  return ReadKubeNode(source_, source_.documents()[0], node, options, message);
}

absl::StatusOr<kube::SdraCase> SdraLine::Case() const {
  const YamlNode* node = Member("case");
  if (node == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(source_.Locate(0), ": expected a member \"case\""));
  }
  kube::SdraCase read;
  RETURN_IF_ERROR(Read(*node, &read));
  for (kube::SdraStep& step : *read.mutable_steps()) {
    if (step.conditions().empty()) continue;
    RETURN_IF_ERROR(ReadConditionsNow(&step));
  }
  return read;
}

absl::StatusOr<kube::SdraAllocatorWant> SdraLine::AllocatorWant() const {
  kube::SdraAllocatorWant want;
  const YamlNode* node = Member("want");
  if (node == nullptr) return want;
  if (node->kind == YamlNode::Kind::kSequence) {
    for (const YamlNode* item : node->children) {
      RETURN_IF_ERROR(Read(*item, want.add_answers()));
    }
    return want;
  }
  const bool by_variant = SdraMember(*node, "stable") != nullptr ||
                          SdraMember(*node, "incubating") != nullptr ||
                          SdraMember(*node, "experimental") != nullptr;
  if (by_variant) {
    RETURN_IF_ERROR(Read(*node, &want));
  } else {
    RETURN_IF_ERROR(Read(*node, want.add_answers()));
  }
  return want;
}

absl::StatusOr<std::vector<kube::SdraStepAnswer>> SdraLine::PluginWant() const {
  std::vector<kube::SdraStepAnswer> answers;
  const YamlNode* node = Member("want");
  if (node == nullptr) return answers;
  for (const YamlNode* item : node->children) {
    answers.emplace_back();
    RETURN_IF_ERROR(Read(*item, &answers.back()));
  }
  return answers;
}

}  // namespace drasim
