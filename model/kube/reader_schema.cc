#include "model/kube/reader_schema.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/proto/kube.pb.h"

namespace drasim {

absl::string_view KubeGroup(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == absl::string_view::npos ? absl::string_view() : api_version.substr(0, slash);
}

std::vector<KubeApi> KubeApisOf(const google::protobuf::FieldDescriptor& member) {
  const google::protobuf::Descriptor& type = *member.message_type();
  std::vector<KubeApi> apis;
  const int count = type.options().ExtensionSize(proto::kube::api);
  for (int i = 0; i < count; ++i) {
    const proto::kube::Api& option = type.options().GetExtension(proto::kube::api, i);
    KubeApi api;
    api.version = option.version();
    api.kind = option.kind().empty() ? type.name() : option.kind();
    api.member = &member;
    apis.push_back(api);
  }
  return apis;
}

KubeKinds::KubeKinds() {
  const google::protobuf::Descriptor& object = *proto::kube::Object::descriptor();
  for (int i = 0; i < object.field_count(); ++i) {
    for (const KubeApi& api : KubeApisOf(*object.field(i))) by_kind_[api.kind].push_back(api);
  }
}

const std::vector<KubeApi>& KubeKinds::Find(absl::string_view kind) const {
  const auto found = by_kind_.find(kind);
  return found == by_kind_.end() ? none_ : found->second;
}

KubeFields::KubeFields(const google::protobuf::Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *type.field(i);
    if (field.options().GetExtension(proto::kube::derived)) continue;
    by_name.emplace(field.json_name(), &field);
    names.push_back(field.json_name());
  }
  const std::string& words = type.options().GetExtension(proto::kube::ignored);
  for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    ignored.emplace(word);
    names.emplace_back(word);
  }
}

const google::protobuf::FieldDescriptor* GivenFieldOf(
    const google::protobuf::FieldDescriptor& field) {
  if (!field.is_repeated()) return nullptr;
  return field.containing_type()->FindFieldByName(absl::StrCat("given_", field.name()));
}

bool IsInVersion(const google::protobuf::FieldDescriptor& field, absl::string_view api_version) {
  const std::string& only_in = field.options().GetExtension(proto::kube::only_in);
  if (only_in.empty()) return true;
  const std::vector<absl::string_view> versions = absl::StrSplit(only_in, ' ');
  return std::find(versions.begin(), versions.end(), api_version) != versions.end();
}

const KubeFields& KubeFieldTable::Of(const google::protobuf::Descriptor& type) {
  std::unique_ptr<KubeFields>& fields = known_[&type];
  if (fields == nullptr) fields = std::make_unique<KubeFields>(type);
  return *fields;
}

}  // namespace drasim
