#include "sim/run/manifest_objects.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/kube/api_defaults.h"
#include "model/kube/reader.h"
#include "model/kube/reader_schema.h"
#include "model/kube/resource_lift.h"
#include "model/kube/validate.h"
#include "model/proto/kube.pb.h"
#include "sim/dra/structured/structured_objects.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kPodClaimNameAnnotation[] = "resource.kubernetes.io/pod-claim-name";
constexpr char kDefaultNamespace[] = "default";

const FieldDescriptor& ManifestMember(const kube::Object& object) {
  const auto* oneof = kube::Object::descriptor()->FindOneofByName("object");
  const FieldDescriptor* member = object.GetReflection()->GetOneofFieldDescriptor(object, oneof);
  DRASIM_CHECK(member != nullptr);
  return *member;
}

const Message& ManifestMessage(const kube::Object& object) {
  return object.GetReflection()->GetMessage(object, &ManifestMember(object));
}

std::string ManifestText(const Message& message, const char* field) {
  return message.GetReflection()->GetString(message,
                                            message.GetDescriptor()->FindFieldByName(field));
}

// --- Parts ---

// Metadata as given by a user: the server sets uid, version and owners.
ObjectMeta MetaForServer(const kube::Object& object, NamePool& names) {
  const kube::ObjectMeta& given = ManifestMeta(object);
  ObjectMeta meta;
  meta.ns = names.Intern(ManifestNamespace(object));
  meta.name = names.Intern(given.name());
  for (const std::string& finalizer : given.finalizers()) {
    meta.finalizers.push_back(names.Intern(finalizer));
  }
  return meta;
}

ParametersRef RefOfClaim(const kube::ParametersReference& given, NamePool& names) {
  ParametersRef ref;
  ref.api_group = names.Intern(given.api_group());
  ref.kind = names.Intern(given.kind());
  ref.name = names.Intern(given.name());
  return ref;
}

// Drivers look up cluster-scoped objects by name alone.
ParametersRef RefOfClass(const kube::ParametersReference& given, NamePool& names) {
  ParametersRef ref = RefOfClaim(given, names);
  if (!IsClusterParametersKind(given.api_group(), given.kind())) {
    ref.ns = names.Intern(given.namespace_());
  }
  return ref;
}

ClaimSpec SpecOfClaim(const kube::ResourceClaimSpec& given, NamePool& names) {
  ClaimSpec spec;
  spec.class_name = names.Intern(given.resource_class_name());
  spec.parameters = RefOfClaim(given.parameters_ref(), names);
  spec.mode = given.allocation_mode() == "Immediate" ? AllocationMode::kImmediate
                                                     : AllocationMode::kWaitForFirstConsumer;
  return spec;
}

Ref<ResourceClass> ToClass(const kube::Object& object, const ClusterState& cluster,
                           NamePool& names) {
  const kube::ResourceClass& given = object.resource_class();
  auto made = std::make_shared<ResourceClass>();
  made->meta = MetaForServer(object, names);
  made->driver = names.Intern(given.driver_name());
  made->parameters = RefOfClass(given.parameters_ref(), names);
  if (given.has_suitable_nodes()) {
    made->suitable_nodes = NodesOfSelector(given.suitable_nodes(), cluster);
  }
  return made;
}

// Without status, which the server drops from new objects.
Ref<ResourceClaim> ToClaim(const kube::Object& object, NamePool& names) {
  const kube::ResourceClaim& given = object.resource_claim();
  auto made = std::make_shared<ResourceClaim>();
  made->meta = MetaForServer(object, names);
  made->labels.assign(given.metadata().labels().begin(), given.metadata().labels().end());
  std::sort(made->labels.begin(), made->labels.end());
  const auto entry = given.metadata().annotations().find(kPodClaimNameAnnotation);
  if (entry != given.metadata().annotations().end()) {
    made->pod_claim_name = names.Intern(entry->second);
  }
  made->spec = SpecOfClaim(given.spec(), names);
  return made;
}

Ref<ResourceClaimTemplate> ToClaimTemplate(const kube::Object& object, NamePool& names) {
  auto made = std::make_shared<ResourceClaimTemplate>();
  made->meta = MetaForServer(object, names);
  made->spec = SpecOfClaim(object.resource_claim_template().spec().spec(), names);
  return made;
}

// --- Structured DRA ---

// With the API server's defaults.
SharedMessage<kube::DeviceClaim> DeviceClaimOf(kube::DeviceClaim claim) {
  SetDeviceClaimDefaults(&claim);
  return SharedMessage<kube::DeviceClaim>(std::move(claim));
}

// Without status, too.
Ref<ResourceClaim> ToClaimV1(const kube::Object& object, NamePool& names) {
  const kube::ResourceClaimV1& given = object.resource_claim_v1();
  auto made = std::make_shared<ResourceClaim>();
  made->meta = MetaForServer(object, names);
  made->labels.assign(given.metadata().labels().begin(), given.metadata().labels().end());
  std::sort(made->labels.begin(), made->labels.end());
  made->spec.devices = DeviceClaimOf(given.spec().devices());
  return made;
}

Ref<ResourceClaimTemplate> ToClaimTemplateV1(const kube::Object& object, NamePool& names) {
  auto made = std::make_shared<ResourceClaimTemplate>();
  made->meta = MetaForServer(object, names);
  made->spec.devices = DeviceClaimOf(object.resource_claim_template_v1().spec().spec().devices());
  return made;
}

absl::StatusOr<ObjectRef> ToStructured(const kube::Object& object, NamePool& names) {
  if (object.has_resource_claim_v1()) return ObjectRef(ToClaimV1(object, names));
  if (object.has_resource_claim_template_v1()) return ObjectRef(ToClaimTemplateV1(object, names));
  if (object.has_device_class()) {
    auto made = std::make_shared<DeviceClassObject>();
    made->meta = MetaForServer(object, names);
    made->object = SharedMessage<kube::DeviceClass>(object.device_class());
    return ObjectRef(Ref<DeviceClassObject>(std::move(made)));
  }
  if (object.has_resource_slice()) {
    auto made = std::make_shared<ResourceSliceObject>();
    made->meta = MetaForServer(object, names);
    made->object = SharedMessage<kube::ResourceSlice>(object.resource_slice());
    return ObjectRef(Ref<ResourceSliceObject>(std::move(made)));
  }
  if (object.has_device_taint_rule()) {
    auto made = std::make_shared<DeviceTaintRuleObject>();
    made->meta = MetaForServer(object, names);
    kube::DeviceTaintRule rule = object.device_taint_rule();
    rule.clear_status();
    made->object = SharedMessage<kube::DeviceTaintRule>(std::move(rule));
    return ObjectRef(Ref<DeviceTaintRuleObject>(std::move(made)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kind: found ", ManifestKind(object),
                   ", expected ResourceSlice, DeviceClass, DeviceTaintRule, ResourceClaim or "
                   "ResourceClaimTemplate"));
}

// --- Parameters ---

using FlatFields = std::vector<std::pair<std::string, std::string>>;

// `index` is -1 unless the field is a list.
std::string FlatScalarText(const Message& message, const FieldDescriptor& field, int index) {
  const auto& reflection = *message.GetReflection();
  const bool list = index >= 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return list ? reflection.GetRepeatedString(message, &field, index)
                  : reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL: {
      const bool value = list ? reflection.GetRepeatedBool(message, &field, index)
                              : reflection.GetBool(message, &field);
      return value ? "true" : "false";
    }
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(list ? reflection.GetRepeatedInt32(message, &field, index)
                               : reflection.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(list ? reflection.GetRepeatedInt64(message, &field, index)
                               : reflection.GetInt64(message, &field));
    default:
      DRASIM_UNREACHABLE("a field of kube.proto has a type that no field of Kubernetes has");
  }
}

void FlattenMessage(const Message& message, const std::string& prefix, FlatFields* out);

// Adds one value, or all values below it.
void FlattenValue(const Message& message, const FieldDescriptor& field, int index,
                  const std::string& path, FlatFields* out) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    out->emplace_back(path, FlatScalarText(message, field, index));
    return;
  }
  const auto& reflection = *message.GetReflection();
  FlattenMessage(index >= 0 ? reflection.GetRepeatedMessage(message, &field, index)
                            : reflection.GetMessage(message, &field),
                 path + ".", out);
}

void FlattenMap(const Message& message, const FieldDescriptor& field, const std::string& prefix,
                FlatFields* out) {
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const std::string key = FlatScalarText(entry, *field.message_type()->map_key(), -1);
    FlattenValue(entry, *field.message_type()->map_value(), -1, prefix + key, out);
  }
}

void FlattenMessage(const Message& message, const std::string& prefix, FlatFields* out) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string path = prefix + field->json_name();
    if (field->is_map()) {
      FlattenMap(message, *field, path + ".", out);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        FlattenValue(message, *field, i, absl::StrCat(path, ".", i), out);
      }
    } else {
      FlattenValue(message, *field, -1, path, out);
    }
  }
}

// All fields except apiVersion, kind and metadata; of a ConfigMap, its data, which drivers read.
FlatFields FieldsOfParameters(const kube::Object& object) {
  FlatFields fields;
  if (object.has_config_map()) {
    fields.assign(object.config_map().data().begin(), object.config_map().data().end());
  } else {
    const Message& message = ManifestMessage(object);
    std::unique_ptr<Message> rest(message.New());
    rest->CopyFrom(message);
    for (const char* common : {"api_version", "kind", "metadata"}) {
      rest->GetReflection()->ClearField(rest.get(), rest->GetDescriptor()->FindFieldByName(common));
    }
    FlattenMessage(*rest, "", &fields);
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

Ref<ParametersObject> ToParameters(const kube::Object& object, NamePool& names) {
  auto made = std::make_shared<ParametersObject>();
  made->meta = MetaForServer(object, names);
  made->api_group = names.Intern(ManifestGroup(object));
  made->kind = names.Intern(ManifestKind(object));
  made->fields = FieldsOfParameters(object);
  return made;
}

}  // namespace

std::string ManifestKind(const kube::Object& object) {
  const std::string kind = ManifestText(ManifestMessage(object), "kind");
  return kind.empty() ? KubeApisOf(ManifestMember(object)).front().kind : kind;
}

std::string ManifestGroup(const kube::Object& object) {
  const std::string version = ManifestText(ManifestMessage(object), "api_version");
  return std::string(
      KubeGroup(version.empty() ? KubeApisOf(ManifestMember(object)).front().version : version));
}

const kube::ObjectMeta& ManifestMeta(const kube::Object& object) {
  const Message& message = ManifestMessage(object);
  return static_cast<const kube::ObjectMeta&>(message.GetReflection()->GetMessage(
      message, message.GetDescriptor()->FindFieldByName("metadata")));
}

kube::ObjectMeta* MutableManifestMeta(kube::Object* object) {
  Message* message = object->GetReflection()->MutableMessage(object, &ManifestMember(*object));
  return static_cast<kube::ObjectMeta*>(message->GetReflection()->MutableMessage(
      message, message->GetDescriptor()->FindFieldByName("metadata")));
}

std::string ManifestJobName(absl::string_view ns, absl::string_view name) {
  return ns == kDefaultNamespace ? std::string(name) : absl::StrCat(ns, "/", name);
}

std::string ManifestNamespace(const kube::Object& object) {
  switch (object.object_case()) {
    case kube::Object::kNode:
    case kube::Object::kPriorityClass:
    case kube::Object::kRuntimeClass:
    case kube::Object::kNamespace:
    case kube::Object::kPersistentVolume:
    case kube::Object::kStorageClass:
    case kube::Object::kCsiNode:
    case kube::Object::kCsiDriver:
    case kube::Object::kVolumeAttachment:
    case kube::Object::kResourceClass:
    case kube::Object::kDeviceClassParameters:
    case kube::Object::kExampleDeviceClassParameters:
    case kube::Object::kResourceSlice:
    case kube::Object::kDeviceClass:
    case kube::Object::kDeviceTaintRule:
      return "";
    default: {
      const std::string& ns = ManifestMeta(object).namespace_();
      return ns.empty() ? kDefaultNamespace : ns;
    }
  }
}

bool IsManifestParameters(const kube::Object& object) {
  switch (object.object_case()) {
    case kube::Object::kConfigMap:
    case kube::Object::kGpuClaimParameters:
    case kube::Object::kMigDeviceClaimParameters:
    case kube::Object::kComputeInstanceClaimParameters:
    case kube::Object::kDeviceClassParameters:
    case kube::Object::kGpuConfig:
    case kube::Object::kMigDeviceConfig:
    case kube::Object::kExampleGpuClaimParameters:
    case kube::Object::kExampleDeviceClassParameters:
      return true;
    default:
      return false;
  }
}

bool IsClusterParametersKind(absl::string_view group, absl::string_view kind) {
  return kind == "DeviceClassParameters" &&
         (group == "gpu.resource.nvidia.com" || group == "gpu.resource.example.com");
}

absl::StatusOr<ObjectRef> ToControlPlane(const kube::Object& object, const ClusterState& cluster,
                                         NamePool& names) {
  if (object.object_case() == kube::Object::OBJECT_NOT_SET) {
    return absl::InvalidArgumentError("kind: not given");
  }
  for (const KubeProblem& problem : ValidateKubeObject(object)) {
    return absl::InvalidArgumentError(
        absl::StrCat(problem.path, problem.path.empty() ? "" : ": ", problem.what));
  }
  if (ManifestMeta(object).name().empty()) {
    return absl::InvalidArgumentError("metadata.name: not given, expected a name");
  }
  if (IsStructuredDra(object)) return ToStructured(object, names);
  if (object.has_resource_class()) return ObjectRef(ToClass(object, cluster, names));
  if (object.has_resource_claim()) return ObjectRef(ToClaim(object, names));
  if (object.has_resource_claim_template()) return ObjectRef(ToClaimTemplate(object, names));
  if (IsManifestParameters(object)) return ObjectRef(ToParameters(object, names));
  return absl::InvalidArgumentError(
      absl::StrCat("kind: found ", ManifestKind(object),
                   ", expected ResourceClass, ResourceClaim, ResourceClaimTemplate or an object "
                   "with parameters"));
}

}  // namespace drasim
