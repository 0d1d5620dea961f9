#include "model/kube/positions.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/kube/reader_schema.h"
#include "model/text/yaml_tree.h"

namespace drasim {
namespace {

// The text field of that name of whichever object it is.
std::string KubeTextField(const proto::kube::Object& object, const char* name) {
  const auto* oneof = proto::kube::Object::descriptor()->FindOneofByName("object");
  const auto* member = object.GetReflection()->GetOneofFieldDescriptor(object, oneof);
  if (member == nullptr) return "";
  const google::protobuf::Message& message = object.GetReflection()->GetMessage(object, member);
  const auto* field = message.GetDescriptor()->FindFieldByName(name);
  return field == nullptr ? "" : message.GetReflection()->GetString(message, field);
}

}  // namespace

KubePositions::KubePositions(std::string text, std::string file,
                             const std::vector<KubeObject>& objects)
    : text_(std::move(text)), file_(std::move(file)) {
  wanted_.reserve(objects.size());
  for (const KubeObject& object : objects) {
    wanted_.push_back({object.line, KubeTextField(object.object, "api_version"),
                       KubeTextField(object.object, "kind")});
  }
}

void KubePositions::Parse() {
  absl::StatusOr<KubeSource> source = KubeSource::Parse(text_, file_);
  if (!source.ok()) return;
  source_.emplace(*std::move(source));
  for (const KubeDocument& document : source_->documents()) Visit(*document.root, document.begin);
}

// Meets objects in the order in which they were read; those that were left out differ from the next
// one that is looked for in what they are or where they begin.
void KubePositions::Visit(const YamlNode& node, size_t begin) {
  if (found_.size() == wanted_.size()) return;
  const Wanted& next = wanted_[found_.size()];
  const YamlNode* kind = KubeMemberOf(node, "kind");
  const YamlNode* version = KubeMemberOf(node, "apiVersion");
  // Items of a list of one kind need not say what they are.
  const bool same_kind = kind == nullptr || kind->text == next.kind;
  // The version may have been lifted since.
  const bool same_group =
      version == nullptr || KubeGroup(version->text) == KubeGroup(next.api_version);
  if (same_kind && same_group && source_->LineOf(begin + node.position) == next.line) {
    found_.push_back({&node, begin});
    return;
  }
  const YamlNode* items = KubeMemberOf(node, "items");
  if (items == nullptr || kind == nullptr || !absl::EndsWith(kind->text, "List")) return;
  for (const YamlNode* item : items->children) Visit(*item, begin);
}

std::string KubePositions::Locate(size_t object, absl::string_view path) {
  if (!source_.has_value()) Parse();
  if (object >= found_.size()) return absl::StrCat(file_, ":", wanted_[object].line, ":1");
  const YamlNode* node = KubeNodeAt(found_[object].node, path);
  return source_->Locate(found_[object].begin + node->position);
}

}  // namespace drasim
