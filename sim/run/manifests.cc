#include "sim/run/manifests.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "model/kube/positions.h"
#include "model/kube/reader.h"
#include "model/kube/reader_schema.h"
#include "model/kube/resource_lift.h"
#include "model/proto/kube.pb.h"
#include "model/time.h"
#include "policies/cel/admission.h"
#include "sim/run/manifest_objects.h"
#include "sim/run/manifest_pods.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr size_t kMaxManifestBytes = size_t{64} << 20;
constexpr size_t kMaxManifestErrors = 20;
constexpr SimDuration kJobRunTime = SimDuration::Seconds(60);

struct ManifestFile {
  ManifestFile(std::string text, const std::string& path, KubeManifest manifest)
      : read(std::move(manifest)), positions(std::move(text), path, read.objects) {}

  KubeManifest read;
  KubePositions positions;
};

// An object of one of the files.
struct ManifestPlace {
  size_t file = 0;
  size_t object = 0;
};

// A pod and the job that it becomes. The pod of an owner has no name.
struct ReadPodObject {
  kube::Pod pod;
  InlineJob job;
};

// Pods that are kept pending for one reason.
struct HeldPods {
  std::string where;  // the first: file, line and path
  int64_t pods = 0;
};

// "ResourceClaim default/x"; without the namespace for cluster-scoped objects.
std::string ShownName(absl::string_view kind, absl::string_view ns, absl::string_view name) {
  return absl::StrCat(kind, " ", ns, ns.empty() ? "" : "/", name);
}

// The path without indices: "spec.containers[].image" for "spec.containers[3].image".
std::string WithoutItems(absl::string_view path) {
  std::string text;
  bool item = false;
  for (const char c : path) {
    item = item && c >= '0' && c <= '9';
    if (!item) text.push_back(c);
    item = item || c == '[';
  }
  return text;
}

// Reads all files, then checks and translates their objects together.
class ManifestReader {
 public:
  ManifestReader(bool full_shapes, bool keep_objects, bool structured) : structured_(structured) {
    classes_.full_shapes = full_shapes;
    if (keep_objects) given_ = std::make_shared<GivenObjects>();
  }

  void ReadFile(const std::string& path) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(path);
    if (!source.ok()) return Stop(source.status());
    absl::StatusOr<std::string> text = ReadAll(**source, kMaxManifestBytes);
    if (!text.ok()) return Stop(text.status());
    KubeReadOptions options;
    options.check = cel::ExpressionProblems;
    absl::StatusOr<KubeManifest> read = ReadKubeObjects(*text, (*source)->name(), options);
    if (!read.ok()) {
      ++errors_;
      absl::StrAppend(&error_text_, error_text_.empty() ? "" : "\n", read.status().message());
      return;
    }
    for (const std::string& warning : read->warnings) warnings_.emplace_back(warning, 0);
    files_.emplace_back(*std::move(text), (*source)->name(), *std::move(read));
  }

  absl::StatusOr<Manifests> Read() {
    if (!stopped_.ok()) return stopped_;
    if (errors_ == 0) {
      ForEach(&ManifestReader::Register);
      ForEach(&ManifestReader::ReadObject);
    }
    if (errors_ > kMaxManifestErrors) {
      absl::StrAppend(&error_text_, "\nand ", errors_ - kMaxManifestErrors, " more errors");
    }
    if (errors_ > 0) return absl::InvalidArgumentError(error_text_);
    for (const auto& [text, others] : warnings_) {
      result_.warnings.push_back(
          others == 0 ? text : absl::StrCat(text, " (and ", others, " more like it)"));
    }
    for (const auto& [hold, held] : holds_) {
      result_.warnings.push_back(absl::StrCat(held.where, ": ", PodHoldReason(hold), " (",
                                              held.pods, held.pods == 1 ? " pod)" : " pods)"));
    }
    result_.given = std::move(given_);
    return std::move(result_);
  }

 private:
  // --- Messages ---

  // The error of the first file that cannot be opened.
  void Stop(const absl::Status& status) {
    if (stopped_.ok()) stopped_ = status;
  }

  std::string Locate(ManifestPlace place, absl::string_view path) {
    return files_[place.file].positions.Locate(place.object, path);
  }

  void Fail(ManifestPlace place, absl::string_view path, absl::string_view what) {
    if (++errors_ > kMaxManifestErrors) return;
    absl::StrAppend(&error_text_, error_text_.empty() ? "" : "\n", Locate(place, path), ": ", path,
                    ": ", what);
  }

  // A warning about many objects, or many items of a list, is given once.
  void Warn(ManifestPlace place, absl::string_view path, absl::string_view what) {
    const std::string alike = absl::StrCat(WithoutItems(path), ": ", what);
    const auto [known, is_new] = alike_.emplace(alike, warnings_.size());
    if (is_new) {
      warnings_.emplace_back(absl::StrCat(Locate(place, path), ": ", path, ": ", what), 0);
    } else {
      ++warnings_[known->second].second;
    }
  }

  // Counts pods that stay pending; the warning gives the first place for each reason.
  void Hold(ManifestPlace place, absl::string_view path, PodHold hold, int64_t pods) {
    if (pods == 0) return;
    HeldPods& held = holds_[hold];
    if (held.pods == 0) held.where = absl::StrCat(Locate(place, path), ": ", path);
    held.pods += pods;
  }

  // `pods`: the number of equal pods.
  void Tell(ManifestPlace place, const std::vector<ManifestNote>& notes, int64_t pods) {
    for (const ManifestNote& note : notes) {
      if (note.hold != PodHold::kNone) {
        Hold(place, note.path, note.hold, pods);
      } else if (note.is_error) {
        Fail(place, note.path, note.what);
      } else {
        Warn(place, note.path, note.what);
      }
    }
  }

  // --- Names of objects ---

  void ForEach(void (ManifestReader::*look)(ManifestPlace, kube::Object*)) {
    for (size_t file = 0; file < files_.size(); ++file) {
      std::vector<KubeObject>& objects = files_[file].read.objects;
      for (size_t i = 0; i < objects.size(); ++i) (this->*look)({file, i}, &objects[i].object);
    }
  }

  // Registers the object, and names it if it has no name.
  void Register(ManifestPlace place, kube::Object* object) {
    kube::ObjectMeta* meta = MutableManifestMeta(object);
    const std::string kind = ManifestKind(*object);
    const std::string ns = ManifestNamespace(*object);
    const std::string type = absl::StrCat(ManifestGroup(*object), "/", kind);
    if (meta->name().empty() && !meta->generate_name().empty()) {
      // The API server would append random letters; a counter keeps runs repeatable.
      const std::string alike = absl::StrCat(type, " ", ns, "/", meta->generate_name());
      meta->set_name(absl::StrCat(meta->generate_name(), generated_[alike]++));
    }
    if (meta->name().empty()) return;
    const std::string own = absl::StrCat(" ", ns, "/", meta->name());
    const auto [first, is_new] = known_.emplace(absl::StrCat(type, own), place);
    if (!is_new) {
      seconds_.insert(object);
      return Fail(place, "metadata.name",
                  absl::StrCat("found a second ", ShownName(kind, ns, meta->name()),
                               ", the first is in ", Locate(first->second, "metadata.name")));
    }
    if (IsManifestParameters(*object)) RegisterParameters(place, kind, own);
    if (object->has_priority_class()) classes_.priorities.Add(object->priority_class());
    if (object->has_runtime_class()) {
      classes_.runtimes[meta->name()] =
          std::make_shared<const kube::RuntimeClass>(object->runtime_class());
    }
  }

  // The control plane looks up parameters by name, regardless of their kind.
  void RegisterParameters(ManifestPlace place, const std::string& kind, const std::string& own) {
    const auto [first, is_new] = parameters_.emplace(own, place);
    if (is_new) return;
    const kube::Object& other =
        files_[first->second.file].read.objects[first->second.object].object;
    Fail(place, "metadata.name",
         absl::StrCat("found a ", kind, " with the name of the ", ManifestKind(other), " in ",
                      Locate(first->second, "metadata.name"),
                      ", expected objects with parameters to have names of their own"));
  }

  // The reason to leave the object out; empty if there is none.
  std::string LeftOut(const kube::Object& object) const {
    const kube::ObjectMeta& meta = ManifestMeta(object);
    if (!meta.deletion_timestamp().empty()) return "is being deleted: left out";
    for (const kube::OwnerReference& owner : meta.owner_references()) {
      if (!owner.controller()) continue;
      const std::string type = absl::StrCat(KubeGroup(owner.api_version()), "/", owner.kind());
      if (known_.count(absl::StrCat(type, " ", ManifestNamespace(object), "/", owner.name())) > 0) {
        return absl::StrCat("made by ", owner.kind(), " ", owner.name(),
                            ", which is there: left out");
      }
    }
    if (!object.has_pod()) return "";
    const std::string& phase = object.pod().status().phase();
    return phase == "Succeeded" || phase == "Failed" ? "has ended: left out" : "";
  }

  // --- Objects ---

  void ReadObject(ManifestPlace place, kube::Object* object) {
    if (seconds_.contains(object)) return;
    if (IsStructuredDra(*object) && !structured_) {
      return Warn(
          place, "kind",
          absl::StrCat(ManifestKind(*object), " of ", kResourceV1,
                       " (structured DRA) has no effect without front_end.kind: dra-structured: "
                       "left out"));
    }
    if (const std::string why = LeftOut(*object); !why.empty()) return Warn(place, "metadata", why);
    KeepGiven(*object);
    switch (object->object_case()) {
      case kube::Object::kPod:
        return ReadPod(place, *object);
      case kube::Object::kJob:
        return ReadJob(place, *object);
      case kube::Object::kDeployment:
        if (object->deployment().spec().paused()) {
          return Warn(place, "spec.paused", "makes no pods: left out");
        }
        return ReadOwner(place, *object, object->deployment().spec());
      case kube::Object::kReplicaSet:
        KeepContext(*object);
        return ReadOwner(place, *object, object->replica_set().spec());
      case kube::Object::kStatefulSet:
        return ReadStatefulSet(place, *object);
      case kube::Object::kDaemonSet:
        return Warn(place, "kind",
                    "the pods of a DaemonSet, one on each node, are not simulated: left out, and "
                    "what they hold is free on every node");
      case kube::Object::kPriorityClass:
      case kube::Object::kRuntimeClass:
        return;
      case kube::Object::kNamespace:
        return KeepContext(*object);
      case kube::Object::kReplicationController:
        KeepContext(*object);
        return Warn(place, "kind", "its pods are not simulated: left out");
      case kube::Object::kPersistentVolume:
      case kube::Object::kPersistentVolumeClaim:
      case kube::Object::kStorageClass:
      case kube::Object::kCsiNode:
      case kube::Object::kCsiDriver:
      case kube::Object::kCsiStorageCapacity:
      case kube::Object::kVolumeAttachment:
      case kube::Object::kPodDisruptionBudget:
      case kube::Object::kService:
        if (classes_.full_shapes) return KeepContext(*object);
        return Warn(place, "kind", "not simulated: left out");
      case kube::Object::kNode:
        return Warn(place, "kind", "nodes are those of the scenario's cluster: left out");
      case kube::Object::kPodSchedulingContext:
        return Warn(place, "kind", "made by the scheduler of the run: left out");
      default:
        return ReadShown(place, *object);
    }
  }

  // Objects of the run that are neither nodes nor pods, for its end.
  void KeepGiven(const kube::Object& object) {
    const bool elsewhere = object.has_node() || object.has_pod() || object.has_daemon_set() ||
                           object.has_pod_scheduling_context();
    if (given_ == nullptr || elsewhere || ManifestMeta(object).name().empty()) return;
    auto given = std::make_shared<kube::Object>(object);
    // As the API server does, and as cluster.manifests reads it.
    if (const std::string ns = ManifestNamespace(object); !ns.empty()) {
      MutableManifestMeta(given.get())->set_namespace_(ns);
    }
    given_->others.push_back(std::move(given));
  }

  // Objects that plugins read.
  void KeepContext(const kube::Object& object) {
    if (!classes_.full_shapes) return;
    result_.context.push_back(std::make_shared<const kube::Object>(object));
  }

  // Initial objects of the control plane.
  void ReadShown(ManifestPlace place, const kube::Object& object) {
    if (ManifestMeta(object).name().empty()) {
      return Warn(place, "metadata.name", "not given, so that nothing can refer to it: left out");
    }
    if (object.resource_class().structured_parameters()) {
      Warn(place, "structuredParameters", "not simulated: its claims are its driver's business");
    }
    if (object.resource_claim().has_status() || object.resource_claim_v1().has_status()) {
      Warn(place, "status", "of no effect: a new claim is not allocated");
    }
    result_.objects.push_back(std::make_shared<const kube::Object>(object));
  }

  // --- Pods ---

  void ReadPod(ManifestPlace place, const kube::Object& object) {
    const kube::Pod& pod = object.pod();
    std::vector<ManifestNote> notes;
    ReadPodObject made = {pod, InlineJob()};
    made.pod.mutable_metadata()->set_namespace_(ManifestNamespace(object));
    made.job =
        ManifestPodJob(made.pod.metadata(), "metadata", pod.spec(), "spec", classes_, &notes);
    Tell(place, notes, 1);
    AddJob(place, object, std::move(made), std::nullopt, "metadata.name");
  }

  // The job of one pod from a template.
  ReadPodObject ReadTemplate(ManifestPlace place, const kube::Object& object,
                             const kube::PodTemplateSpec& pod, int64_t pods) {
    std::vector<ManifestNote> notes;
    CheckOwnerAnnotations(ManifestMeta(object), &notes);
    ReadPodObject made;
    kube::ObjectMeta& meta = *made.pod.mutable_metadata();
    meta = pod.metadata();
    meta.set_namespace_(ManifestNamespace(object));
    kube::OwnerReference* const owner = meta.add_owner_references();
    owner->set_api_version(object.has_job() ? "batch/v1" : "apps/v1");
    owner->set_kind(ManifestKind(object));
    owner->set_name(ManifestMeta(object).name());
    owner->set_controller(true);
    *made.pod.mutable_spec() = pod.spec();
    made.job = ManifestPodJob(meta, "spec.template.metadata", pod.spec(), "spec.template.spec",
                              classes_, &notes);
    Tell(place, notes, pods);
    return made;
  }

  // `own_volumes`: each pod has a volume claim of its own.
  template <typename Spec>
  void ReadOwner(ManifestPlace place, const kube::Object& object, const Spec& spec,
                 bool own_volumes = false) {
    const int32_t replicas = spec.has_replicas() ? spec.replicas() : 1;
    ReadPodObject made = ReadTemplate(place, object, spec.template_(), replicas);
    PodHold& hold = made.job.shape.constraints.hold;
    if (own_volumes && hold != PodHold::kVolumes) {
      Hold(place, "spec.volumeClaimTemplates", PodHold::kVolumes, replicas);
      if (hold == PodHold::kNone) hold = PodHold::kVolumes;
    }
    AddJob(place, object, std::move(made), replicas, "spec.replicas");
  }

  void ReadStatefulSet(ManifestPlace place, const kube::Object& object) {
    KeepContext(object);
    const kube::StatefulSetSpec& spec = object.stateful_set().spec();
    if (spec.replicas() > 1 && spec.pod_management_policy() != "Parallel") {
      Warn(place, "spec.podManagementPolicy",
           "pods one after the other are not simulated: all are there from the beginning");
    }
    ReadOwner(place, object, spec, spec.volume_claim_templates_size() > 0);
  }

  void ReadJob(ManifestPlace place, const kube::Object& object) {
    const kube::JobSpec& spec = object.job().spec();
    if (spec.suspend()) return Warn(place, "spec.suspend", "makes no pods: left out");
    const int32_t at_once = spec.has_parallelism() ? spec.parallelism() : 1;
    if (at_once == 0) return Warn(place, "spec.parallelism", "makes no pods: left out");
    const int32_t pods = spec.has_completions() ? spec.completions() : at_once;
    if (at_once < pods) {
      Warn(place, "spec.parallelism",
           "pods one after the other are not simulated: all are there from the beginning");
    }
    if (spec.has_active_deadline_seconds() && !classes_.full_shapes) {
      Warn(place, "spec.activeDeadlineSeconds", "not simulated");
    }
    ReadPodObject made = ReadTemplate(place, object, spec.template_(), pods);
    JobArrival& arrival = made.job.arrival;
    if (!arrival.has_run_time) {
      arrival.has_run_time = true;
      arrival.run_time = kJobRunTime;
    }
    if (classes_.full_shapes && spec.has_active_deadline_seconds()) {
      EndAtDeadline(spec.active_deadline_seconds(), &arrival);
    }
    AddJob(place, object, std::move(made), pods, "spec.completions");
  }

  // `replicas`: the number of jobs NAME-0, NAME-1, ...; none: the job NAME. `path`: its field.
  void AddJob(ManifestPlace place, const kube::Object& object, ReadPodObject made,
              std::optional<int32_t> replicas, absl::string_view path) {
    if (replicas == 0) return Warn(place, path, "makes no pods: left out");
    pods_ += replicas.value_or(1);
    if (pods_ > kMaxInlinePods) {
      return Fail(place, path,
                  absl::StrCat("found ", pods_, " pods with those of the objects before, expected ",
                               "at most ", kMaxInlinePods));
    }
    InlineJob& job = made.job;
    job.name = ManifestJobName(ManifestNamespace(object), ManifestMeta(object).name());
    if (!replicas.has_value()) {
      if (!TakeName(place, job.name)) return;
    } else {
      job.replicas = *replicas;
      for (int32_t i = 0; i < *replicas; ++i) {
        if (!TakeName(place, NameOfReplica(job, i))) return;
      }
    }
    if (given_ != nullptr) {
      const auto pod = std::make_shared<const kube::Pod>(std::move(made.pod));
      for (int32_t i = 0; i < replicas.value_or(1); ++i) given_->pods[NameOfReplica(job, i)] = pod;
    }
    result_.jobs.push_back(std::move(job));
  }

  bool TakeName(ManifestPlace place, const std::string& name) {
    const auto [first, is_new] = pod_names_.emplace(name, place);
    if (is_new) return true;
    const ManifestPlace& other = first->second;
    const kube::Object& owner = files_[other.file].read.objects[other.object].object;
    Fail(place, "metadata.name",
         absl::StrCat("found a pod called '", name, "', as the ", ManifestKind(owner), " in ",
                      Locate(other, "metadata.name"), " has one, expected names of their own"));
    return false;
  }

  std::deque<ManifestFile> files_;
  absl::Status stopped_;
  size_t errors_ = 0;
  std::string error_text_;
  std::vector<std::pair<std::string, size_t>> warnings_;  // and how many others are like it
  std::map<std::string, size_t> alike_;
  std::map<std::string, int64_t> generated_;                    // names so far, by prefix
  absl::flat_hash_map<std::string, ManifestPlace> known_;       // by type and name
  absl::flat_hash_map<std::string, ManifestPlace> parameters_;  // by name
  absl::flat_hash_map<std::string, ManifestPlace> pod_names_;
  absl::flat_hash_set<const kube::Object*> seconds_;  // of a name that another one has
  bool structured_;                                   // objects of structured DRA count
  std::shared_ptr<GivenObjects> given_;               // null: objects are not kept
  ManifestClasses classes_;
  std::map<PodHold, HeldPods> holds_;
  int64_t pods_ = 0;
  Manifests result_;
};

}  // namespace

absl::StatusOr<Manifests> ReadManifests(const std::vector<std::string>& paths, bool full_shapes,
                                        bool keep_objects, bool structured) {
  ManifestReader reader(full_shapes, keep_objects, structured);
  for (const std::string& path : paths) reader.ReadFile(path);
  return reader.Read();
}

}  // namespace drasim
