#include "sim/explain/cluster_dump.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/kube/admission.h"
#include "model/kube/api_defaults.h"
#include "model/kube/list_pieces.h"
#include "model/kube/positions.h"
#include "model/kube/requests.h"
#include "model/kube/resource_lift.h"
#include "model/kube/validate.h"
#include "model/status_macros.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr size_t kMaxDumpBytes = size_t{1} << 30;
// Warnings about fields that the API server would refuse.
constexpr size_t kMaxOddities = 20;

// The object that is set in the wrapper.
const google::protobuf::Message& ObjectIn(const kube::Object& object) {
  const google::protobuf::FieldDescriptor* field = object.GetReflection()->GetOneofFieldDescriptor(
      object, kube::Object::descriptor()->FindOneofByName("object"));
  DRASIM_CHECK(field != nullptr);  // the reader leaves none out
  return object.GetReflection()->GetMessage(object, field);
}

const google::protobuf::FieldDescriptor& FieldOf(const google::protobuf::Message& message,
                                                 const char* name) {
  const google::protobuf::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  DRASIM_CHECK(field != nullptr);  // every kind has them
  return *field;
}

std::string KindIn(const google::protobuf::Message& message) {
  return message.GetReflection()->GetString(message, &FieldOf(message, "kind"));
}

const kube::ObjectMeta& MetadataIn(const google::protobuf::Message& message) {
  return static_cast<const kube::ObjectMeta&>(
      message.GetReflection()->GetMessage(message, &FieldOf(message, "metadata")));
}

// Groups of Kubernetes whose objects kube-scheduler's filters do not read, or (storage.k8s.io)
// whose absence is said of the pods that it matters to.
constexpr absl::string_view kPassedOverGroups[] = {"admissionregistration.k8s.io",
                                                   "apiextensions.k8s.io",
                                                   "apiregistration.k8s.io",
                                                   "authentication.k8s.io",
                                                   "authorization.k8s.io",
                                                   "autoscaling",
                                                   "certificates.k8s.io",
                                                   "coordination.k8s.io",
                                                   "discovery.k8s.io",
                                                   "events.k8s.io",
                                                   "flowcontrol.apiserver.k8s.io",
                                                   "internal.apiserver.k8s.io",
                                                   "metrics.k8s.io",
                                                   "networking.k8s.io",
                                                   "node.k8s.io",
                                                   "policy",
                                                   "rbac.authorization.k8s.io",
                                                   "storage.k8s.io",
                                                   "storagemigration.k8s.io"};
// The same of the group without a name.
constexpr absl::string_view kPassedOverKinds[] = {"ComponentStatus",
                                                  "Endpoints",
                                                  "Event",
                                                  "LimitRange",
                                                  "PersistentVolume",
                                                  "PersistentVolumeClaim",
                                                  "PodTemplate",
                                                  "ReplicationController",
                                                  "ResourceQuota",
                                                  "Secret",
                                                  "Service",
                                                  "ServiceAccount"};

absl::string_view ApiGroupOf(const KubeSkipped& skipped) {
  const absl::string_view version = skipped.api_version;
  const size_t slash = version.find('/');
  return slash == absl::string_view::npos ? absl::string_view() : version.substr(0, slash);
}

bool MayMatterToFilters(const KubeSkipped& skipped) {
  const absl::string_view group = ApiGroupOf(skipped);
  if (group == "resource.k8s.io") return false;  // said of the pods that have claims
  if (group == "apps" && skipped.kind == "ControllerRevision") return false;
  if (group == "batch" && skipped.kind == "CronJob") return false;
  const auto is = [](absl::string_view name) {
    return [name](absl::string_view known) { return known == name; };
  };
  if (group.empty()) {
    return std::none_of(std::begin(kPassedOverKinds), std::end(kPassedOverKinds), is(skipped.kind));
  }
  return std::none_of(std::begin(kPassedOverGroups), std::end(kPassedOverGroups), is(group));
}

// Null when it is not there.
template <typename Map>
typename Map::mapped_type FindOrNull(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

std::string KubeKey(absl::string_view ns, absl::string_view name) {
  return absl::StrCat(ns.empty() ? absl::string_view("default") : ns, "/", name);
}

std::string KubeKey(const kube::ObjectMeta& meta) {
  return KubeKey(meta.namespace_(), meta.name());
}

std::string StateOfPod(const DumpPod& pod) {
  const std::string& phase = pod.status().phase();
  return absl::StrCat(phase.empty() ? "Pending" : phase,
                      pod.is_deleting() ? ", being deleted" : "");
}

absl::StatusOr<ClusterDump> ClusterDump::Read(const std::vector<std::string>& paths,
                                              std::vector<std::string>* warnings) {
  if (paths.empty()) return absl::InvalidArgumentError("no file with the objects of a cluster");
  ClusterDump dump;
  for (const std::string& path : paths) {
    RETURN_IF_ERROR(dump.ReadFile(path, warnings));
  }
  if (dump.nodes_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(absl::StrJoin(paths, ", "), ": no Node among the ", dump.objects_.size(),
                     " objects, expected what `kubectl get nodes,pods -A -o yaml` prints"));
  }
  dump.AdmitPods();
  dump.JoinPodsToNodes(warnings);
  return dump;
}

absl::Status ClusterDump::ReadFile(const std::string& path, std::vector<std::string>* warnings) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(path);
  if (!source.ok()) return absl::InvalidArgumentError(source.status().message());
  absl::StatusOr<std::string> text = ReadAll(**source, kMaxDumpBytes);
  if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
  const std::string name = (*source)->name();
  // A real cluster may have objects that a newer or older API server took; they are of use anyway.
  KubeWarnings found;
  KubeReadOptions options;
  options.validate = false;
  options.of_cluster = true;
  options.warnings = &found;
  std::vector<KubeSkipped> skipped;
  std::vector<std::string> odd;
  size_t problems = 0;
  KubeListPieces pieces(*text);
  for (std::string piece; pieces.Next(&piece);) {
    ASSIGN_OR_RETURN(KubeManifest manifest, ReadKubeObjects(piece, name, options));
    std::move(manifest.skipped.begin(), manifest.skipped.end(), std::back_inserter(skipped));
    KubePositions positions(std::move(piece), name, manifest.objects);
    for (size_t i = 0; i < manifest.objects.size(); ++i) {
      kube::Object& object = manifest.objects[i].object;
      if (IsStructuredDra(object)) {
        KeepStructured(std::move(object));
        continue;
      }
      const bool named = !MetadataIn(ObjectIn(object)).name().empty();
      for (const KubeProblem& problem :
           named ? ValidateKubeObject(object) : std::vector<KubeProblem>()) {
        if (++problems > kMaxOddities) continue;
        odd.push_back(absl::StrCat(positions.Locate(i, problem.path), ": ", problem.path, ": ",
                                   problem.what));
      }
      const std::string place = absl::StrCat(name, ":", manifest.objects[i].line);
      KeepNamed(std::move(object), place, &odd, &problems);
    }
  }
  std::vector<std::string> told = found.Texts();
  KeepSkipped(skipped, name, &told);
  std::move(odd.begin(), odd.end(), std::back_inserter(told));
  if (problems > kMaxOddities) {
    told.push_back(absl::StrCat(name, ": ", problems - kMaxOddities, " more of such fields"));
  }
  if (warnings != nullptr) warnings->insert(warnings->end(), told.begin(), told.end());
  return absl::OkStatus();
}

void ClusterDump::KeepNamed(kube::Object object, const std::string& place,
                            std::vector<std::string>* odd, size_t* problems) {
  const google::protobuf::Message& message = ObjectIn(object);
  const kube::ObjectMeta& meta = MetadataIn(message);
  if (meta.name().empty()) {
    if (++*problems > kMaxOddities) return;
    odd->push_back(absl::StrCat(place, ": ", KindIn(message), " without a name; left out"));
    return;
  }
  const std::string known = absl::StrCat(object.object_case(), " ", KubeKey(meta));
  const auto [first, is_new] = seen_.emplace(known, place);
  if (!is_new) {
    odd->push_back(absl::StrCat(place, ": ", KindIn(message), " ", meta.namespace_(),
                                meta.namespace_().empty() ? "" : "/", meta.name(), " stands at ",
                                first->second, ", too; this one is left out"));
    return;
  }
  objects_.push_back(std::move(object));
  if (objects_.back().has_pod()) SetPodDefaults(objects_.back().mutable_pod()->mutable_spec());
  Keep(objects_.back(), place);
}

void ClusterDump::KeepSkipped(const std::vector<KubeSkipped>& skipped, const std::string& file,
                              std::vector<std::string>* odd) {
  struct Kind {
    const KubeSkipped* first = nullptr;
    size_t objects = 0;
  };
  std::map<std::pair<std::string, std::string>, Kind> kinds;
  for (const KubeSkipped& object : skipped) {
    // Objects of a version that is not read.
    if (ApiGroupOf(object) == "resource.k8s.io") {
      const std::string key = KubeKey(object.ns, object.name);
      if (object.kind == "ResourceClaim") structured_claims_.insert(key);
      if (object.kind == "ResourceClaimTemplate") structured_templates_.insert(key);
    }
    if (!MayMatterToFilters(object)) continue;
    Kind& kind = kinds[{object.api_version, object.kind}];
    if (kind.first == nullptr) kind.first = &object;
    ++kind.objects;
  }
  for (const auto& [name, kind] : kinds) {
    odd->push_back(absl::StrCat(file, ":", kind.first->line, ": ", kind.objects,
                                kind.objects == 1 ? " object" : " objects", " of the kind ",
                                name.second, " of ", name.first,
                                kind.objects == 1 ? " is not read" : " are not read"));
  }
}

void ClusterDump::KeepStructured(kube::Object object) {
  const std::string key = KubeKey(MetadataIn(ObjectIn(object)));
  structured_.push_back(std::move(object));
  if (structured_.back().has_resource_claim_v1()) {
    SetDeviceClaimDefaults(
        structured_.back().mutable_resource_claim_v1()->mutable_spec()->mutable_devices());
  }
  const kube::Object& kept = structured_.back();
  if (kept.has_resource_claim_v1()) {
    structured_claims_.insert(key);
    structured_by_key_[key] = &kept.resource_claim_v1();
  }
  if (kept.has_resource_claim_template_v1()) structured_templates_.insert(key);
}

void ClusterDump::Keep(const kube::Object& object, const std::string& place) {
  const kube::ObjectMeta& meta = MetadataIn(ObjectIn(object));
  switch (object.object_case()) {
    case kube::Object::kNode: {
      DumpNode& node = nodes_.emplace_back();
      node.object = &object.node();
      nodes_by_name_[meta.name()] = &node;
      return;
    }
    case kube::Object::kPod: {
      DumpPod& pod = pods_.emplace_back();
      pod.object = &object.pod();
      pod.key = KubeKey(meta);
      pod.place = place;
      pod.request = CountedAmounts(QuantitiesOfPod(object.pod()));
      pods_by_key_[pod.key] = &pod;
      return;
    }
    case kube::Object::kNamespace:
      read_namespaces_.insert(meta.name());
      return;
    case kube::Object::kResourceClass:
      classes_[meta.name()] = &object.resource_class();
      return;
    case kube::Object::kResourceClaim:
      claims_.push_back(&object.resource_claim());
      claims_by_key_[KubeKey(meta)] = &object.resource_claim();
      return;
    case kube::Object::kResourceClaimTemplate:
      templates_[KubeKey(meta)] = &object.resource_claim_template();
      return;
    case kube::Object::kPodSchedulingContext:
      contexts_[KubeKey(meta)] = &object.pod_scheduling_context();
      return;
    default:
      parameters_[KindIn(ObjectIn(object))].insert(KubeKey(meta));
  }
}

// The dump may have been written by hand.
void ClusterDump::AdmitPods() {
  std::vector<const kube::PriorityClass*> classes;
  for (const kube::Object& object : objects_) {
    if (object.has_priority_class()) classes.push_back(&object.priority_class());
  }
  const ApiAdmission admission(classes);
  for (kube::Object& object : objects_) {
    if (object.has_pod()) admission.Admit(object.mutable_pod());
  }
}

void ClusterDump::JoinPodsToNodes(std::vector<std::string>* warnings) {
  const DumpPod* first = nullptr;  // of those on nodes that are not there
  size_t others = 0;
  for (const DumpPod& pod : pods_) {
    const std::string& name = pod.spec().node_name();
    if (pod.is_finished() || name.empty()) continue;
    DumpNode* node = FindOrNull(nodes_by_name_, name);
    if (node != nullptr) {
      node->pods.push_back(&pod);
    } else if (first == nullptr) {
      first = &pod;
    } else {
      ++others;
    }
  }
  if (first == nullptr || warnings == nullptr) return;
  warnings->push_back(
      absl::StrCat(first->place, ": spec.nodeName: found '", first->spec().node_name(),
                   "' in the pod ", first->key, ", expected a node that is there; it takes no room",
                   others == 0 ? "" : absl::StrCat(" (and ", others, " more like it)")));
}

const DumpNode* ClusterDump::FindNode(const std::string& name) const {
  return FindOrNull(nodes_by_name_, name);
}
const DumpPod* ClusterDump::FindPod(const std::string& key) const {
  return FindOrNull(pods_by_key_, key);
}
const kube::ResourceClass* ClusterDump::FindClass(const std::string& name) const {
  return FindOrNull(classes_, name);
}
const kube::ResourceClaim* ClusterDump::FindClaim(const std::string& key) const {
  return FindOrNull(claims_by_key_, key);
}
const kube::ResourceClaimV1* ClusterDump::FindStructuredClaim(const std::string& key) const {
  return FindOrNull(structured_by_key_, key);
}
const kube::ResourceClaimTemplate* ClusterDump::FindTemplate(const std::string& key) const {
  return FindOrNull(templates_, key);
}
const kube::PodSchedulingContext* ClusterDump::FindContext(const std::string& key) const {
  return FindOrNull(contexts_, key);
}

bool ClusterDump::HasParameters(const std::string& kind, const std::string& key,
                                bool* kind_known) const {
  const auto of_kind = parameters_.find(kind);
  *kind_known = of_kind != parameters_.end();
  return *kind_known && of_kind->second.count(key) > 0;
}

}  // namespace drasim
