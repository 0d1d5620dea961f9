#include "sim/run/cluster_manifests.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/kube/cluster_objects_of.h"
#include "model/kube/gpu_annotations.h"
#include "model/kube/list_pieces.h"
#include "model/kube/positions.h"
#include "model/kube/reader.h"
#include "model/kube/resource_lift.h"
#include "model/kube/rules.h"
#include "model/kube/selectors_of.h"
#include "model/kube/validate.h"
#include "model/pod_constraints.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "sim/run/manifest_objects.h"
#include "sim/run/manifest_pods.h"
#include "sim/run/node_objects.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;
namespace kube = ::drasim::proto::kube;

constexpr size_t kMaxSnapshotBytes = size_t{1} << 30;
// Warnings of one sort that are written out; the others are counted.
constexpr int64_t kMostAlike = 20;
constexpr char kOddFields[] = "odd fields";

// Taints that every pod of a DaemonSet tolerates (kubernetes/kubernetes
// pkg/controller/daemon/util/daemonset_util.go, release 1.34).
struct CommonTaint {
  const char* key;
  const char* effect;
};
constexpr CommonTaint kDaemonTaints[] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
};
constexpr CommonTaint kHostNetworkTaint = {"node.kubernetes.io/network-unavailable", "NoSchedule"};

// The files behind a path: itself, or those of the folder.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().string();
    std::error_code ignored;
    if (HoldsNodeObjects(file) && it->is_regular_file(ignored)) files.push_back(file);
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": found no file that ends in .yaml, .yml or .json (perhaps .gz)"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsFinished(const kube::Pod& pod) {
  return pod.status().phase() == "Succeeded" || pod.status().phase() == "Failed";
}

const kube::OwnerReference* ControllerOf(const kube::ObjectMeta& meta) {
  for (const kube::OwnerReference& owner : meta.owner_references()) {
    if (owner.controller()) return &owner;
  }
  return nullptr;
}

kube::Toleration TolerationOf(const CommonTaint& taint) {
  kube::Toleration toleration;
  toleration.set_key(taint.key);
  toleration.set_operator_("Exists");
  toleration.set_effect(taint.effect);
  return toleration;
}

// The specification of a DaemonSet's pod, without its node.
kube::PodSpec DaemonSpec(const kube::DaemonSet& set) {
  kube::PodSpec spec = set.spec().template_().spec();
  for (const CommonTaint& taint : kDaemonTaints) *spec.add_tolerations() = TolerationOf(taint);
  if (spec.host_network()) *spec.add_tolerations() = TolerationOf(kHostNetworkTaint);
  return spec;
}

// Whether the controller makes a pod for the node.
bool RunsDaemon(const kube::PodSpec& spec, const NodeSpec& node) {
  if (UnmetLabel(SortedTexts(spec.node_selector()), node) != nullptr) return false;
  const kube::NodeAffinity& affinity = spec.affinity().node_affinity();
  if (affinity.has_required_during_scheduling_ignored_during_execution() &&
      !MeetsNodeTerms(node, RequiredNodeTermsOf(
                                affinity.required_during_scheduling_ignored_during_execution()))) {
    return false;
  }
  const std::vector<Toleration> tolerations = TolerationsOf(spec);
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" || Tolerates(tolerations, taint);
  });
}

// The parts of the status that say which amounts the pod has while it is resized.
kube::PodStatus SizesOf(const kube::PodStatus& status) {
  kube::PodStatus sizes;
  sizes.set_resize(status.resize());
  *sizes.mutable_container_statuses() = status.container_statuses();
  *sizes.mutable_init_container_statuses() = status.init_container_statuses();
  for (const kube::Condition& condition : status.conditions()) {
    if (condition.type() == "PodResizePending") *sizes.add_conditions() = condition;
  }
  return sizes;
}

// The pod may run on that node alone.
void PinToNode(const std::string& node, kube::PodSpec* spec) {
  kube::NodeSelector* const required =
      spec->mutable_affinity()
          ->mutable_node_affinity()
          ->mutable_required_during_scheduling_ignored_during_execution();
  // As the controller does, in place of what the template requires: the node meets it.
  required->Clear();
  kube::SelectorRequirement* const name = required->add_node_selector_terms()->add_match_fields();
  name->set_key("metadata.name");
  name->set_operator_("In");
  name->add_values(node);
}

class SnapshotReader {
 public:
  SnapshotReader(bool full_shapes, bool keep_objects) {
    classes_.full_shapes = full_shapes;
    if (keep_objects) given_ = std::make_shared<GivenObjects>();
  }

  absl::Status ReadFile(const std::string& path) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
    ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxSnapshotBytes));
    const std::string name = source->name();
    KubeListPieces pieces(text);
    KubeWarnings warnings;
    size_t before = 0;  // objects of earlier pieces
    for (std::string piece; pieces.Next(&piece);) {
      ASSIGN_OR_RETURN(KubeManifest manifest, ReadPiece(piece, name, &warnings));
      const size_t objects = manifest.objects.size();
      RETURN_IF_ERROR(KeepAll(std::move(manifest), std::move(piece), {path, name, before}));
      before += objects;
    }
    for (std::string& warning : warnings.Texts()) result_.warnings.push_back(std::move(warning));
    return absl::OkStatus();
  }

  absl::StatusOr<ClusterSnapshot> Finish(const std::vector<std::string>& paths) {
    if (result_.nodes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(absl::StrJoin(paths, ", "), ": found no Node among ", seen_.size(),
                       " object(s), expected what `kubectl get nodes,pods -A -o yaml` prints",
                       result_.warnings.empty() ? "" : "; the first warning: ",
                       result_.warnings.empty() ? "" : result_.warnings[0]));
    }
    // Each object goes once it is read: there may be many.
    for (; !bound_.empty(); bound_.pop_front()) {
      RETURN_IF_ERROR(AddPod(bound_.front(), bound_.front().object.spec().node_name()));
    }
    for (const Given<kube::Pod>& pod : waiting_) NoteDaemon(pod.object);
    for (const Given<kube::DaemonSet>& set : daemons_) RETURN_IF_ERROR(AddDaemons(set));
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const auto& a, const auto& b) {
      return a.object.metadata().creation_timestamp() < b.object.metadata().creation_timestamp();
    });
    for (const Given<kube::Pod>& pod : waiting_) RETURN_IF_ERROR(AddPod(pod, ""));
    TellCounted();
    result_.given = std::move(given_);
    return std::move(result_);
  }

 private:
  // The place from which an object was read.
  struct Place {
    std::string path;
    std::string name;   // of the file in messages
    size_t object = 0;  // of the file, from 0
    size_t line = 0;

    std::string Text() const { return absl::StrCat(name, ":", line); }
  };
  template <typename Object>
  struct Given {
    Object object;
    Place place;
  };

  // The API server of a cluster of another release has taken the objects.
  static absl::StatusOr<KubeManifest> ReadPiece(const std::string& piece, const std::string& name,
                                                KubeWarnings* warnings) {
    KubeReadOptions options;
    options.validate = false;
    options.of_cluster = true;
    options.warnings = warnings;
    return ReadKubeObjects(piece, name, options);
  }

  // "FILE:LINE:COLUMN" of a field. Reads the file again; FILE:LINE if that fails.
  static std::string Locate(const Place& place, absl::string_view field) {
    const absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(place.path);
    if (!source.ok()) return place.Text();
    const absl::StatusOr<std::string> text = ReadAll(**source, kMaxSnapshotBytes);
    if (!text.ok()) return place.Text();
    KubeListPieces pieces(*text);
    KubeWarnings ignored;
    size_t before = 0;
    for (std::string piece; pieces.Next(&piece);) {
      const absl::StatusOr<KubeManifest> manifest = ReadPiece(piece, place.name, &ignored);
      if (!manifest.ok()) return place.Text();
      const size_t objects = manifest->objects.size();
      if (place.object < before + objects) {
        KubePositions positions(std::move(piece), place.name, manifest->objects);
        return positions.Locate(place.object - before, field);
      }
      before += objects;
    }
    return place.Text();
  }

  void Warn(const std::string& sort, const std::string& text) {
    if (++alike_[sort] <= kMostAlike) result_.warnings.push_back(text);
  }

  void TellCounted() {
    for (const auto& [sort, count] : alike_) {
      if (count <= kMostAlike) continue;
      result_.warnings.push_back(absl::StrCat(count - kMostAlike, " more ", sort));
    }
    if (unused_.empty()) return;
    result_.warnings.push_back(
        absl::StrCat("objects without a meaning for the run: ",
                     absl::StrJoin(unused_, ", ", [](std::string* out, const auto& kind) {
                       absl::StrAppend(out, kind.second, " ", kind.first);
                     })));
  }

  // `place` is that of the first object.
  absl::Status KeepAll(KubeManifest manifest, std::string text, Place place) {
    KubePositions positions(std::move(text), place.name, manifest.objects);
    for (const KubeSkipped& skipped : manifest.skipped) {
      ++unused_[absl::StrCat(skipped.kind, " (", skipped.api_version, ")")];
    }
    for (size_t i = 0; i < manifest.objects.size(); ++i, ++place.object) {
      KubeObject& read = manifest.objects[i];
      place.line = read.line;
      const bool named = !MutableManifestMeta(&read.object)->name().empty();
      for (const KubeProblem& problem :
           named ? ValidateKubeObject(read.object) : std::vector<KubeProblem>()) {
        if (++alike_[kOddFields] > kMostAlike) continue;
        result_.warnings.push_back(absl::StrCat(positions.Locate(i, problem.path), ": ",
                                                problem.path, ": ", problem.what));
      }
      const absl::Status kept = Keep(std::move(read.object), place);
      read.object.Clear();
      if (kept.ok()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(positions.Locate(i, KeyOfError(kept)), ": ", kept.message()));
    }
    return absl::OkStatus();
  }

  // Errors have the path of a field (KeyOfError).
  absl::Status Keep(kube::Object object, const Place& place) {
    kube::ObjectMeta* const meta = MutableManifestMeta(&object);
    const std::string kind = ManifestKind(object);
    if (meta->name().empty()) {
      Warn("objects without a name",
           absl::StrCat(place.Text(), ": ", kind, " without a name: left out"));
      return absl::OkStatus();
    }
    const std::string ns = ManifestNamespace(object);
    const std::string shown = absl::StrCat(kind, " ", ns, ns.empty() ? "" : "/", meta->name());
    const auto [first, is_new] =
        seen_.emplace(absl::StrCat(ManifestGroup(object), " ", shown), place.Text());
    if (!is_new) {
      Warn("objects of a name that another has",
           absl::StrCat(place.Text(), ": found a second ", shown, ", the first is in ",
                        first->second, ": left out"));
      return absl::OkStatus();
    }
    if (!ns.empty()) meta->set_namespace_(ns);
    return KeepByKind(std::move(object), place);
  }

  absl::Status KeepByKind(kube::Object object, const Place& place) {
    if (IsStructuredDra(object)) {
      ++unused_[absl::StrCat(ManifestKind(object), " (", kResourceV1, ")")];
      return absl::OkStatus();
    }
    if (given_ != nullptr && !object.has_node() && !object.has_pod()) {
      given_->others.push_back(std::make_shared<const kube::Object>(object));
    }
    switch (object.object_case()) {
      case kube::Object::kNode:
        return KeepNode(object.node());
      case kube::Object::kPod:
        KeepPod(std::move(*object.mutable_pod()), place);
        return absl::OkStatus();
      case kube::Object::kDaemonSet:
        daemons_.push_back({std::move(*object.mutable_daemon_set()), place});
        return absl::OkStatus();
      case kube::Object::kPriorityClass:
        classes_.priorities.Add(object.priority_class());
        return absl::OkStatus();
      case kube::Object::kRuntimeClass:
        classes_.runtimes[object.runtime_class().metadata().name()] =
            std::make_shared<const kube::RuntimeClass>(object.runtime_class());
        return absl::OkStatus();
      case kube::Object::kNamespace:
      case kube::Object::kReplicaSet:
      case kube::Object::kStatefulSet:
      case kube::Object::kReplicationController:
      case kube::Object::kService:
      case kube::Object::kPodDisruptionBudget:
      case kube::Object::kPersistentVolume:
      case kube::Object::kPersistentVolumeClaim:
      case kube::Object::kStorageClass:
      case kube::Object::kCsiNode:
      case kube::Object::kCsiDriver:
      case kube::Object::kCsiStorageCapacity:
      case kube::Object::kVolumeAttachment:
        result_.context.push_back(std::make_shared<const kube::Object>(std::move(object)));
        return absl::OkStatus();
      case kube::Object::kDeployment:
        return absl::OkStatus();  // its pods are there
      case kube::Object::kJob:
        if (object.job().spec().has_active_deadline_seconds()) {
          deadlines_[absl::StrCat(object.job().metadata().namespace_(), "/",
                                  object.job().metadata().name())] =
              object.job().spec().active_deadline_seconds();
        }
        return absl::OkStatus();
      default:
        ++unused_[ManifestKind(object)];
        return absl::OkStatus();
    }
  }

  absl::Status KeepNode(const kube::Node& object) {
    ASSIGN_OR_RETURN(NodeSpec node, NodeOfObject(object, classes_.full_shapes));
    nodes_.insert(node.name);
    if (given_ != nullptr) given_->nodes[node.name] = std::make_shared<const kube::Node>(object);
    result_.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  void KeepPod(kube::Pod pod, const Place& place) {
    if (IsFinished(pod)) {
      if (given_ != nullptr) {
        given_->finished.push_back(std::make_shared<const kube::Pod>(std::move(pod)));
      }
      return;
    }
    const bool waits = pod.spec().node_name().empty();
    if (waits && !pod.metadata().deletion_timestamp().empty()) return;
    (waits ? waiting_ : bound_).push_back({std::move(pod), place});
  }

  // `node`: empty for a pod that waits.
  absl::Status AddPod(const Given<kube::Pod>& given, const std::string& node) {
    const kube::ObjectMeta& meta = given.object.metadata();
    const std::string name = ManifestJobName(meta.namespace_(), meta.name());
    if (!node.empty() && nodes_.count(node) == 0) {
      Warn("pods on nodes that are not there",
           absl::StrCat(given.place.Text(), ": spec.nodeName: found '", node, "' in the pod '",
                        name, "', expected a node that is there: left out"));
      return absl::OkStatus();
    }
    if (const kube::OwnerReference* owner = ControllerOf(meta);
        !node.empty() && owner != nullptr && owner->kind() == "DaemonSet") {
      daemon_nodes_[absl::StrCat(meta.namespace_(), "/", owner->name())].insert(node);
    }
    kube::PodSpec spec = given.object.spec();
    // Admission has resolved the names of classes.
    if (spec.has_priority()) spec.clear_priority_class_name();
    if (!node.empty()) {
      spec.clear_node_name();
      if (!spec.overhead().empty()) spec.clear_runtime_class_name();
    }
    const size_t before = result_.pods.size();
    const kube::PodStatus& status = given.object.status();
    if (node.empty() && !status.nominated_node_name().empty()) {
      Warn("pods with status.nominatedNodeName",
           absl::StrCat(given.place.Text(), ": pod '", name, "': status.nominatedNodeName: found '",
                        status.nominated_node_name(),
                        "', which has no effect here: the run begins without nominations"));
    }
    RETURN_IF_ERROR(Add(meta, spec, SizesOf(status), name, node, given.place));
    if (given_ != nullptr && result_.pods.size() > before) {
      given_->pods[name] = std::make_shared<const kube::Pod>(given.object);
    }
    return absl::OkStatus();
  }

  // A pod of a DaemonSet that waits for its node: it needs no other.
  void NoteDaemon(const kube::Pod& pod) {
    const kube::OwnerReference* const owner = ControllerOf(pod.metadata());
    if (owner == nullptr || owner->kind() != "DaemonSet") return;
    const std::string set = absl::StrCat(pod.metadata().namespace_(), "/", owner->name());
    const kube::NodeAffinity& affinity = pod.spec().affinity().node_affinity();
    for (const kube::NodeSelectorTerm& term :
         affinity.required_during_scheduling_ignored_during_execution().node_selector_terms()) {
      for (const kube::SelectorRequirement& field : term.match_fields()) {
        daemon_nodes_[set].insert(field.values().begin(), field.values().end());
      }
    }
  }

  absl::Status AddDaemons(const Given<kube::DaemonSet>& given) {
    const kube::ObjectMeta& meta = given.object.metadata();
    const std::set<std::string>& done =
        daemon_nodes_[absl::StrCat(meta.namespace_(), "/", meta.name())];
    const kube::PodSpec daemon = DaemonSpec(given.object);
    kube::ObjectMeta pod_meta = given.object.spec().template_().metadata();
    pod_meta.set_namespace_(meta.namespace_());
    kube::OwnerReference* const owner = pod_meta.add_owner_references();
    owner->set_api_version("apps/v1");
    owner->set_kind("DaemonSet");
    owner->set_name(meta.name());
    owner->set_controller(true);
    for (const NodeSpec& node : result_.nodes) {
      if (done.count(node.name) > 0 || !RunsDaemon(daemon, node)) continue;
      kube::PodSpec spec = daemon;
      PinToNode(node.name, &spec);
      pod_meta.set_name(absl::StrCat(meta.name(), "-", node.name));
      const std::string name = ManifestJobName(meta.namespace_(), pod_meta.name());
      RETURN_IF_ERROR(Add(pod_meta, spec, kube::PodStatus(), name, "", given.place));
      if (given_ == nullptr) continue;
      auto made = std::make_shared<kube::Pod>();
      *made->mutable_metadata() = pod_meta;
      *made->mutable_spec() = std::move(spec);
      given_->pods[name] = std::move(made);
    }
    return absl::OkStatus();
  }

  absl::Status Add(const kube::ObjectMeta& meta, const kube::PodSpec& spec,
                   const kube::PodStatus& status, const std::string& name, const std::string& node,
                   const Place& where) {
    const std::string place = where.Text();
    std::vector<ManifestNote> notes;
    kube::PodSpec without_deadline = spec;
    without_deadline.clear_active_deadline_seconds();
    InlineJob job =
        ManifestPodJob(meta, "metadata", without_deadline, "spec", classes_, &notes, &status);
    for (const ManifestNote& note : notes) {
      if (note.is_error) {
        return absl::InvalidArgumentError(absl::StrCat(Locate(where, note.path), ": pod '", name,
                                                       "': ", note.path, ": ", note.what));
      }
      // A pod on a node has been scheduled: notes about its requests no longer matter.
      if (!node.empty()) continue;
      const std::string what =
          note.hold == PodHold::kNone ? note.what : std::string(PodHoldReason(note.hold));
      Warn(absl::StrCat("pods with ", note.path),
           absl::StrCat(place, ": pod '", name, "': ", note.path, ": ", what));
    }
    if (!job.shape.claims.empty()) {
      if (node.empty()) {
        Warn("pods with resource claims",
             absl::StrCat(place, ": pod '", name,
                          "' waits with resource claims, which are not "
                          "simulated here: left out"));
        return absl::OkStatus();
      }
      Warn("pods with resource claims",
           absl::StrCat(place, ": pod '", name,
                        "' holds resource claims, which are not simulated "
                        "here: it holds CPU, memory and devices of device plugins alone"));
      job.shape.claims.clear();
    }
    if (!names_.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": found a second pod called '", name, "'"));
    }
    SnapshotPod pod;
    pod.job = std::move(job.arrival);
    pod.job.name = name;
    pod.job.time = SimTime();
    if (spec.has_active_deadline_seconds()) {
      EndAtDeadline(spec.active_deadline_seconds(), &pod.job);
    }
    const kube::OwnerReference* const owner = ControllerOf(meta);
    pod.job.recreated = owner != nullptr;
    if (owner != nullptr && owner->kind() == "Job") {
      const auto deadline = deadlines_.find(absl::StrCat(meta.namespace_(), "/", owner->name()));
      if (deadline != deadlines_.end()) EndAtDeadline(deadline->second, &pod.job);
    }
    pod.shape = std::move(job.shape);
    // If it has to move, it goes by the rules that are simulated.
    if (!node.empty()) pod.shape.constraints.hold = PodHold::kNone;
    pod.node = node;
    if (!node.empty()) {
      // Add has told of problems with the annotations.
      std::vector<KubeProblem> told;
      pod.devices = ReadGpuAnnotations(meta, &told).devices;
    }
    result_.pods.push_back(std::move(pod));
    return absl::OkStatus();
  }

  ManifestClasses classes_;
  std::shared_ptr<GivenObjects> given_;      // null: objects are not kept
  std::map<std::string, std::string> seen_;  // group, kind and name to the place
  std::set<std::string> nodes_;
  std::set<std::string> names_;  // of the pods
  std::deque<Given<kube::Pod>> bound_;
  std::deque<Given<kube::Pod>> waiting_;
  std::deque<Given<kube::DaemonSet>> daemons_;
  std::map<std::string, std::set<std::string>> daemon_nodes_;  // with a pod, by DaemonSet
  std::map<std::string, int64_t> deadlines_;                   // activeDeadlineSeconds, by Job
  std::map<std::string, int64_t> alike_;                       // warnings so far, by sort
  std::map<std::string, int64_t> unused_;                      // objects by kind
  ClusterSnapshot result_;
};

}  // namespace

absl::StatusOr<ClusterSnapshot> ReadClusterManifests(const std::vector<std::string>& paths,
                                                     bool full_shapes, bool keep_objects) {
  SnapshotReader reader(full_shapes, keep_objects);
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesOf(path));
    for (const std::string& file : files) RETURN_IF_ERROR(reader.ReadFile(file));
  }
  return reader.Finish(paths);
}

ClusterObjects ContextObjects(
    absl::Span<const std::shared_ptr<const proto::kube::Object>> context) {
  std::vector<const proto::kube::Object*> objects;
  for (const auto& object : context) objects.push_back(object.get());
  return ClusterObjectsOf(objects);
}

}  // namespace drasim
