// Kinds and fields of kube.proto, for reader.cc and writer.cc.
#ifndef DRASIM_MODEL_KUBE_READER_SCHEMA_H_
#define DRASIM_MODEL_KUBE_READER_SCHEMA_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace drasim {

// A kind in one API version.
struct KubeApi {
  std::string version;  // "apps/v1"
  std::string kind;
  const google::protobuf::FieldDescriptor* member = nullptr;  // of proto::kube::Object
};

// "apps" of "apps/v1"; empty for "v1".
absl::string_view KubeGroup(absl::string_view api_version);

// The APIs of a member of proto::kube::Object, the newest version first.
std::vector<KubeApi> KubeApisOf(const google::protobuf::FieldDescriptor& member);

class KubeKinds {
 public:
  KubeKinds();

  // Everything of that kind, whatever its group; empty when there is none.
  const std::vector<KubeApi>& Find(absl::string_view kind) const;

 private:
  absl::flat_hash_map<std::string, std::vector<KubeApi>> by_kind_;
  std::vector<KubeApi> none_;
};

// The fields of a message by their JSON names.
struct KubeFields {
  explicit KubeFields(const google::protobuf::Descriptor& type);

  absl::flat_hash_map<std::string, const google::protobuf::FieldDescriptor*> by_name;
  absl::flat_hash_set<std::string> ignored;
  std::vector<std::string> names;  // of both, in the order of the schema
};

// The derived field that notes whether `field`, a repeated one, is written (kube_parts.proto); null
// if there is none.
const google::protobuf::FieldDescriptor* GivenFieldOf(
    const google::protobuf::FieldDescriptor& field);

// Whether objects of that API version have the field; an empty version is the newest.
bool IsInVersion(const google::protobuf::FieldDescriptor& field, absl::string_view api_version);

// Keeps what it has looked up.
class KubeFieldTable {
 public:
  const KubeFields& Of(const google::protobuf::Descriptor& type);

 private:
  absl::flat_hash_map<const google::protobuf::Descriptor*, std::unique_ptr<KubeFields>> known_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_READER_SCHEMA_H_
