#include "sim/run/dra_plan.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/key_error.h"
#include "model/kube/claim_devices_of.h"
#include "model/kube/resource_lift.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "policies/choice/choice_policies.h"
#include "policies/devices/claim_drivers.h"
#include "policies/devices/counting_driver.h"
#include "policies/dra/extended_resources.h"
#include "policies/drivers/driver_classes.h"
#include "sim/dra/structured/structured_rules.h"
#include "sim/run/claim_entries.h"
#include "sim/run/device_parts.h"
#include "sim/run/manifest_objects.h"
#include "sim/run/manifests.h"
#include "sim/run/resource_lowering.h"
#include "sim/scenario/name_pattern.h"

namespace drasim {
namespace {

// The namespace of pods whose names have none.
constexpr absl::string_view kPodNamespace = "default";

std::vector<NodeId> NodesOfDriver(const DriverSpec& driver, const ClusterState& cluster) {
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId node(n);
    if (driver.nodes.empty() || MatchesPattern(driver.nodes, cluster.node_spec(node).name)) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

std::unique_ptr<ClaimDriver> MakeCountingDriver(const DriverSpec& driver,
                                                const std::vector<NodeId>& nodes) {
  CountingDriverOptions options;
  options.name = driver.name;
  options.node_local = !driver.network_units.has_value();
  options.network_units = driver.network_units.value_or(0);
  options.shareable = driver.shareable;
  options.prepare = driver.initialise;
  options.unprepare = driver.clean_up;
  for (NodeId node : nodes) options.units.emplace_back(node, driver.units);
  return std::make_unique<CountingDriver>(std::move(options));
}

bool HasPrioritizedList(const proto::kube::Object& object) {
  const proto::kube::DeviceClaim& claim =
      object.has_resource_claim_v1() ? object.resource_claim_v1().spec().devices()
                                     : object.resource_claim_template_v1().spec().spec().devices();
  return absl::c_any_of(claim.requests(), [](const proto::kube::DeviceRequest& request) {
    return !request.first_available().empty();
  });
}

}  // namespace

DraPlan::DraPlan(const DraSpec* spec) : spec_(spec) {
  if (spec->structured.has_value()) lowering_.emplace(*spec->structured);
}

ClaimEntry DraPlan::EntryFor(const std::string& entry, const std::string& name,
                             const Wanted& wanted) {
  templates_.try_emplace(name, wanted);
  ClaimEntry claim;
  claim.name = entry;
  claim.from_template = name;
  return claim;
}

absl::StatusOr<PodShape> DraPlan::ToClaims(const PodShape& lowered) {
  if (lowering_.has_value()) return lowering_->ToClaims(lowered);
  const ResourceRequest& request = lowered.request;
  PodShape shape = lowered;
  const DriverSpec& driver = spec_->drivers[0];
  const bool parts = HandsOutParts(driver.kind);
  const bool intel = driver.kind == DriverKind::kIntel;
  for (const auto& [profile, count] : request.mig) {
    if (driver.kind != DriverKind::kNvidia) {
      return absl::InvalidArgumentError(absl::StrCat("a pod wants MIG instances (", profile,
                                                     "), which the driver kind ", driver.kind_name,
                                                     " does not make"));
    }
    for (int32_t i = 0; i < count; ++i) {
      const std::string name = absl::StrCat("mig-", AsObjectName(profile));
      const std::string entry =
          count == 1 && request.mig.size() == 1 ? "mig" : absl::StrCat(name, "-", i);
      Wanted wanted = {"MigDeviceClaimParameters", {{"spec.profile", profile}}};
      shape.claims.push_back(EntryFor(FreeEntryName(shape.claims, entry), name, wanted));
      shape.claims.back().mig_profile = profile;
    }
  }
  shape.request.mig.clear();
  if (request.gpu_count == 0) return shape;
  const bool share = request.gpu_milli < kDeviceMilli;
  if (share && !parts) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pod wants ", request.gpu_milli,
                     " thousandths of a GPU, which the driver "
                     "kind ",
                     driver.kind_name,
                     " does not hand out; choose whole-gpu or mig-smallest in "
                     "front_end.lowering.rule"));
  }
  std::string name = absl::StrCat("gpus-", request.gpu_count);
  Wanted wanted = {"GpuClaimParameters", {{"spec.count", absl::StrCat(request.gpu_count)}}};
  if (driver.kind == DriverKind::kCounting)
    wanted = {"ConfigMap", {{"count", absl::StrCat(request.gpu_count)}}};
  if (share) {
    absl::StrAppend(&name, "-", request.gpu_milli, "m");
    const char* const field = intel ? "spec.millicores" : "spec.computeShare";
    wanted.fields.emplace_back(field, absl::StrCat(request.gpu_milli, intel ? "" : "m"));
  }
  if (driver.kind == DriverKind::kConstraints) wanted.kind = "DeviceConstraints";
  if (intel) wanted.fields.emplace_back("spec.type", "gpu");
  const int64_t memory = lowered.demand.memory_mib / std::max(1, request.gpu_count);
  if (parts && memory > 0) {
    absl::StrAppend(&name, "-", memory, "mi");
    wanted.fields.emplace_back("spec.memory", absl::StrCat(memory, intel ? "" : "Mi"));
  }
  std::sort(wanted.fields.begin(), wanted.fields.end());
  shape.claims.push_back(EntryFor(FreeEntryName(shape.claims, "gpu"), name, wanted));
  shape.claims.back().gpus = request.gpu_count;
  MoveGpusToClaims(&shape);
  return shape;
}

void DraPlan::ServeNamespaceOf(absl::string_view pod) {
  const size_t slash = pod.find('/');
  if (slash == absl::string_view::npos) return;
  const std::string ns(pod.substr(0, slash));
  if (ns != kPodNamespace) namespaces_.insert(ns);
}

void DraPlan::AddObjects(const std::vector<std::shared_ptr<const proto::kube::Object>>& objects) {
  objects_.insert(objects_.end(), objects.begin(), objects.end());
}

absl::StatusOr<std::unique_ptr<ClaimDriver>> DraPlan::MakeDriver(
    const DriverSpec& driver, const std::string& key, const ClusterState& cluster,
    const std::vector<std::pair<std::string, int64_t>>& mix) const {
  std::vector<NodeId> nodes = NodesOfDriver(driver, cluster);
  if (nodes.empty()) {
    return KeyError(
        absl::StrCat(key, ".nodes"),
        absl::StrCat("found '", driver.nodes, "', which matches no node of the cluster"));
  }
  if (driver.kind == DriverKind::kCounting) return MakeCountingDriver(driver, nodes);
  ClaimDriverOptions options;
  options.kind = driver.kind_name;
  options.name = driver.name;
  options.cluster = &cluster;
  options.nodes = std::move(nodes);
  options.placement = driver.placement;
  options.mix = mix;
  options.packed = driver.packed;
  options.shareable = driver.shareable;
  // Otherwise a gang that fails as a whole would hold its proposed devices for ever.
  options.keeps_node_objects =
      driver.node_objects.value_or(driver.kind == DriverKind::kNvidia && !has_gangs_);
  options.initialise = driver.initialise;
  options.clean_up = driver.clean_up;
  options.create_instance = driver.create_instance;
  options.destroy_instance = driver.destroy_instance;
  absl::StatusOr<std::unique_ptr<ClaimDriver>> made = MakeClaimDriver(std::move(options));
  if (made.ok()) return made;
  return KeyError(key, made.status().message());
}

std::vector<PodClaim> DraPlan::ClaimsOf(const PodShape& shape) {
  std::vector<PodClaim> claims;
  claims.reserve(shape.claims.size());
  NamePool& names = plane_->names();
  for (const ClaimEntry& entry : shape.claims) {
    PodClaim claim;
    claim.entry = names.Intern(entry.name);
    if (!entry.claim.empty()) claim.claim = names.Intern(entry.claim);
    if (!entry.from_template.empty()) claim.from_template = names.Intern(entry.from_template);
    claims.push_back(claim);
  }
  return claims;
}

absl::Status DraPlan::MakePlane(ClusterState* cluster,
                                const std::vector<std::pair<std::string, int64_t>>& mix,
                                uint64_t seed) {
  ControlPlaneOptions options = spec_->plane;
  options.seed = seed;
  RETURN_IF_ERROR(FindFaultNodes(*cluster, &options.faults));
  RETURN_IF_ERROR(ReadObjects());
  if (spec_->structured.has_value()) {
    RETURN_IF_ERROR(MakeStructuredPlane(cluster, mix, options));
  } else {
    RETURN_IF_ERROR(MakeClassicPlane(cluster, mix, options));
  }
  WarnOfDeadEnds(*cluster);
  return absl::OkStatus();
}

absl::Status DraPlan::MakeClassicPlane(const ClusterState* cluster,
                                       const std::vector<std::pair<std::string, int64_t>>& mix,
                                       const ControlPlaneOptions& options) {
  std::vector<ClaimDriver*> drivers;
  for (size_t i = 0; i < spec_->drivers.size(); ++i) {
    if (spec_->drivers[i].absent) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<ClaimDriver> driver,
                     MakeDriver(spec_->drivers[i], absl::StrCat("front_end.dra.drivers[", i, "]"),
                                *cluster, mix));
    drivers.push_back(driver.get());
    drivers_.push_back(std::move(driver));
  }
  plane_ = std::make_unique<ControlPlane>(
      cluster, std::move(drivers), [this](const PodShape& shape, PodId) { return ClaimsOf(shape); },
      options);
  RETURN_IF_ERROR(CheckFaults(options.faults));
  RETURN_IF_ERROR(CreateObjects(*cluster));
  RETURN_IF_ERROR(CreateClasses());
  return CreateTemplates();
}

std::vector<proto::SliceDriver> DraPlan::Drivers(bool any_gpus) const {
  std::vector<proto::SliceDriver> drivers = spec_->structured->drivers;
  const bool any_slices =
      absl::c_any_of(objects_, [](const auto& object) { return object->has_resource_slice(); });
  if (drivers.empty() && !any_slices && any_gpus) {
    drivers.emplace_back().set_kind("gpu.nvidia.com");
  }
  return drivers;
}

absl::StatusOr<std::set<std::string>> DraPlan::ServedResources(absl::Span<const NodeSpec> nodes) {
  if (!serves_resources()) return served_;
  RETURN_IF_ERROR(ReadObjects());
  const auto add = [this](const proto::kube::DeviceClass& device_class) {
    served_.insert(absl::StrCat(kDeviceClassResourcePrefix, device_class.metadata().name()));
    if (!device_class.spec().extended_resource_name().empty()) {
      served_.insert(device_class.spec().extended_resource_name());
    }
  };
  for (const std::shared_ptr<const proto::kube::Object>& object : objects_) {
    if (object->has_device_class()) add(object->device_class());
  }
  const bool any_gpus =
      absl::c_any_of(nodes, [](const NodeSpec& node) { return node.gpu_count > 0; });
  for (const proto::SliceDriver& driver : Drivers(any_gpus)) {
    for (const proto::kube::DeviceClass& made : ClassesOfDriver(driver)) add(made);
  }
  return served_;
}

absl::Status DraPlan::ServeProfiles(const std::vector<std::string>& profiles) {
  RETURN_IF_ERROR(ReadObjects());
  std::set<std::string> known;
  for (const std::shared_ptr<const proto::kube::Object>& object : objects_) {
    if (!object->has_device_class()) continue;
    known.insert(object->device_class().metadata().name());
    known.insert(object->device_class().spec().extended_resource_name());
  }
  for (proto::kube::DeviceClass& made : ResourceLowering(*spec_->structured).ClassesOf(profiles)) {
    if (known.count(made.spec().extended_resource_name()) > 0) continue;
    if (!known.insert(made.metadata().name()).second) continue;
    auto object = std::make_shared<proto::kube::Object>();
    *object->mutable_device_class() = std::move(made);
    objects_.push_back(std::move(object));
  }
  return absl::OkStatus();
}

absl::StatusOr<PodShape> DraPlan::ToResources(const PodShape& lowered) const {
  return ResourceLowering(*spec_->structured).ToResources(lowered, served_);
}

std::string DraPlan::FaultKey(size_t fault) const {
  const char* const front_end = spec_->structured.has_value() ? "structured" : "dra";
  return absl::StrCat("front_end.", front_end, ".faults[", fault, "]");
}

absl::Status DraPlan::FindFaultNodes(const ClusterState& cluster,
                                     std::vector<PlaneFault>* faults) const {
  for (size_t i = 0; i < faults->size(); ++i) {
    PlaneFault& fault = (*faults)[i];
    if (fault.nodes.empty()) continue;
    std::vector<NodeId> nodes;
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      if (MatchesPattern(fault.nodes, cluster.node_spec(NodeId(n)).name))
        nodes.push_back(NodeId(n));
    }
    if (nodes.empty()) {
      return KeyError(
          absl::StrCat(FaultKey(i), ".nodes"),
          absl::StrCat("found '", fault.nodes, "', which matches no node of the cluster"));
    }
    fault.plugin_nodes = NodeSet::Of(std::move(nodes));
  }
  return absl::OkStatus();
}

absl::Status DraPlan::CheckFaults(const std::vector<PlaneFault>& faults) const {
  for (size_t i = 0; i < faults.size(); ++i) {
    if (plane_->CanHappen(faults[i])) continue;
    const bool controllers = !spec_->structured.has_value();
    return KeyError(
        absl::StrCat(FaultKey(i), ".component"),
        absl::StrCat("found '", faults[i].component, "', expected ",
                     faults[i].of_plugin() ? "the name of a driver with plugins"
                     : controllers ? "scheduler, claim-controller, garbage-collector, kubelet or a "
                                     "driver's name"
                                   : "scheduler, claim-controller, garbage-collector, kubelet or a "
                                     "driver that publishes"));
  }
  return absl::OkStatus();
}

absl::Status DraPlan::AddDrivers(const ClusterState& cluster) {
  std::set<std::string> classes;
  for (const std::shared_ptr<const proto::kube::Object>& object : objects_) {
    if (object->has_device_class()) classes.insert(object->device_class().metadata().name());
  }
  bool any_gpus = false;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    any_gpus |= cluster.node_spec(NodeId(n)).gpu_count > 0;
  }
  ASSIGN_OR_RETURN(slice_drivers_, MakeSliceDrivers(Drivers(any_gpus), cluster,
                                                    spec_->structured->plugin_nodes, &warnings_));
  ASSIGN_OR_RETURN(published_, PublishSlices(slice_drivers_, cluster));
  AddObjects(ClassesOfDrivers(slice_drivers_, std::move(classes)));
  AddObjects(lowering_->TemplatesIn(std::string(kPodNamespace)));
  for (const std::string& ns : namespaces_) AddObjects(lowering_->TemplatesIn(ns));
  return absl::OkStatus();
}

absl::Status DraPlan::MakeStructuredPlane(ClusterState* cluster,
                                          const std::vector<std::pair<std::string, int64_t>>& mix,
                                          const ControlPlaneOptions& options) {
  RETURN_IF_ERROR(AddDrivers(*cluster));
  StructuredRulesOptions rules = spec_->structured->rules;
  ASSIGN_OR_RETURN(rules.allocator.policy, MakeChoicePolicy(spec_->structured->policy, {mix}));
  std::set<std::string> drivers;
  for (const PublishingDriver& driver : slice_drivers_) {
    if (!driver.name.empty()) drivers.insert(driver.name);
  }
  for (const SharedSlice& slice : published_) drivers.insert(slice->spec().driver());
  for (const std::shared_ptr<const proto::kube::Object>& object : objects_) {
    if (!IsStructuredDra(*object)) {
      return KeyError("workload.manifests",
                      absl::StrCat("found ", ManifestKind(*object), " ",
                                   ManifestMeta(*object).name(), ", expected objects of ",
                                   kResourceV1, " with front_end.kind: dra-structured"));
    }
    if (object->has_resource_slice()) drivers.insert(object->resource_slice().spec().driver());
    rules.scores |= HasPrioritizedList(*object);
  }
  OtherRules other;
  for (const std::string& driver : drivers) {
    node_plugins_.push_back(std::make_unique<SlicePlugin>(driver, spec_->structured->prepare,
                                                          spec_->structured->unprepare));
    other.plugins.push_back(node_plugins_.back().get());
  }
  ASSIGN_OR_RETURN(
      parts_, MakePublishingParts(slice_drivers_, events_, *spec_->structured, options, *cluster));
  RETURN_IF_ERROR(AddTaintParts(*spec_->structured, options, objects_, events_, &parts_));
  AddBinder(*spec_->structured, options, slice_drivers_, &parts_);
  for (const std::unique_ptr<PlanePart>& part : parts_) other.parts.push_back(part.get());
  other.rules = std::make_unique<StructuredRules>(rules, cluster);
  plane_ = std::make_unique<ControlPlane>(
      cluster, std::move(other), [this](const PodShape& shape, PodId) { return ClaimsOf(shape); },
      options);
  if (serves_resources()) {
    plane_->set_containers_of([this, cluster](const PodShape& shape, PodId pod) {
      return containers_.Of(cluster->pod_name(pod), cluster->pod_shape_id(pod), shape);
    });
  }
  RETURN_IF_ERROR(CheckFaults(options.faults));
  RETURN_IF_ERROR(CreateObjects(*cluster));
  return CreateSlices();
}

// Drivers make valid slices.
absl::Status DraPlan::CreateSlices() {
  for (SharedSlice& slice : published_) {
    auto object = std::make_shared<ResourceSliceObject>();
    object->meta.name = plane_->names().Intern(slice->metadata().name());
    object->object = SharedMessage<proto::kube::ResourceSlice>(std::move(slice));
    RETURN_IF_ERROR(plane_->Create(Ref<ResourceSliceObject>(std::move(object))));
  }
  published_.clear();
  return absl::OkStatus();
}

// Classes from manifests take precedence.
absl::Status DraPlan::CreateClasses() {
  NamePool& names = plane_->names();
  for (const DriverSpec& driver : spec_->drivers) {
    const Name name = names.Intern(driver.class_name);
    if (plane_->network().server().objects().of<ResourceClass>().Find(Name(), name) != nullptr) {
      continue;
    }
    auto object = std::make_shared<ResourceClass>();
    object->meta.name = name;
    object->driver = names.Intern(driver.name);
    const absl::Status s = plane_->Create(Ref<ResourceClass>(std::move(object)));
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status DraPlan::CreateTemplates() {
  RETURN_IF_ERROR(CreateTemplatesIn(std::string(kPodNamespace)));
  for (const std::string& ns : namespaces_) {
    RETURN_IF_ERROR(CreateTemplatesIn(ns));
  }
  return absl::OkStatus();
}

absl::Status DraPlan::CreateTemplatesIn(const std::string& ns) {
  NamePool& names = plane_->names();
  const DriverSpec& driver = spec_->drivers[0];
  const ClaimDriverInfo* info = FindClaimDriver(driver.kind_name);
  const Name group = names.Intern(info == nullptr ? "" : info->api_group);
  for (const auto& [name, wanted] : templates_) {
    auto parameters = std::make_shared<ParametersObject>();
    parameters->meta.ns = names.Intern(ns);
    parameters->meta.name = names.Intern(name);
    parameters->api_group = group;
    parameters->kind = names.Intern(wanted.kind);
    parameters->fields = wanted.fields;
    auto made = std::make_shared<ResourceClaimTemplate>();
    made->meta.ns = names.Intern(ns);
    made->meta.name = names.Intern(name);
    made->spec.class_name = names.Intern(driver.class_name);
    made->spec.mode =
        spec_->immediate ? AllocationMode::kImmediate : AllocationMode::kWaitForFirstConsumer;
    made->spec.parameters.api_group = group;
    made->spec.parameters.kind = parameters->kind;
    made->spec.parameters.name = parameters->meta.name;
    RETURN_IF_ERROR(plane_->Create(Ref<ParametersObject>(std::move(parameters))));
    RETURN_IF_ERROR(plane_->Create(Ref<ResourceClaimTemplate>(std::move(made))));
  }
  return absl::OkStatus();
}

// Compares names alone, because shapes lack the namespaces of their pods.
void DraPlan::WarnOfDeadEnds(const ClusterState& cluster) {
  constexpr size_t kMostWarnings = 5;
  const size_t before = warnings_.size();
  std::set<std::string> claims;
  std::set<std::string> templates;
  for (size_t s = 0; s < cluster.shapes().size(); ++s) {
    for (const ClaimEntry& entry : cluster.shapes().row(ShapeId(s)).claims) {
      if (!entry.claim.empty()) claims.insert(entry.claim);
      if (!entry.from_template.empty()) templates.insert(entry.from_template);
    }
  }
  WarnOfDeadEndsAmong<ResourceClaim>("ResourceClaim", claims);
  WarnOfDeadEndsAmong<ResourceClaimTemplate>("ResourceClaimTemplate", templates);
  if (warnings_.size() <= before + kMostWarnings) return;
  const size_t more = warnings_.size() - before - kMostWarnings;
  warnings_.resize(before + kMostWarnings);
  warnings_.push_back(absl::StrCat(more, " more claims or templates that nobody will serve"));
}

template <typename T>
void DraPlan::WarnOfDeadEndsAmong(absl::string_view kind, const std::set<std::string>& used) {
  std::set<std::string> missing = used;
  for (const Ref<T>& object : plane_->network().server().objects().of<T>().Sorted()) {
    const std::string name(object->meta.name.text());
    missing.erase(name);
    if (used.count(name) == 0) continue;
    const std::string why = DeadEndOf(object->spec, object->meta.ns);
    if (why.empty()) continue;
    warnings_.push_back(absl::StrCat(kind, " ", object->meta.ns.text(), "/", name, ": ", why,
                                     "; pods with it will wait"));
  }
  for (const std::string& name : missing) {
    warnings_.push_back(
        absl::StrCat(kind, " '", name, "' does not exist; pods that name it will wait"));
  }
}

std::string DraPlan::DeadEndOf(const ClaimSpec& spec, Name ns) const {
  const ObjectCache& objects = plane_->network().server().objects();
  if (spec.is_structured()) {
    for (const std::string& name : ClassesOfClaim(*spec.devices)) {
      const Name known = plane_->names().Intern(name);
      if (objects.of<DeviceClassObject>().Find(Name(), known) == nullptr) {
        return absl::StrCat("its class '", name, "' does not exist");
      }
    }
    return "";
  }
  const Ref<ResourceClass> found = objects.of<ResourceClass>().Find(Name(), spec.class_name);
  if (found == nullptr) {
    return absl::StrCat("its class '", spec.class_name.text(), "' does not exist");
  }
  const bool runs = absl::c_any_of(
      drivers_, [&](const auto& driver) { return driver->name() == found->driver.text(); });
  if (!runs) {
    return absl::StrCat("'", found->driver.text(), "', the driver of its class '",
                        spec.class_name.text(), "', is not among front_end.dra.drivers");
  }
  for (const DriverSpec& driver : spec_->drivers) {
    const ClaimDriverInfo* info = FindClaimDriver(driver.kind_name);
    if (spec.mode != AllocationMode::kImmediate || driver.name != found->driver.text() ||
        info == nullptr || info->immediate_refusal == nullptr) {
      continue;
    }
    return absl::StrCat("its allocationMode is Immediate, which the driver kind ", info->kind,
                        " refuses (", info->immediate_refusal, ")");
  }
  const ParametersRef& wanted = spec.parameters;
  if (wanted.kind.empty() || objects.of<ParametersObject>().Find(ns, wanted.name) != nullptr) {
    return "";
  }
  return absl::StrCat("its parameters ", wanted.kind.text(), " ", ns.text(), "/",
                      wanted.name.text(), " do not exist");
}

absl::Status DraPlan::ReadObjects() {
  const std::vector<std::string>& files = spec_->objects;
  if (std::exchange(objects_are_read_, true) || files.empty()) return absl::OkStatus();
  const bool structured = spec_->structured.has_value();
  ASSIGN_OR_RETURN(Manifests manifests, ReadManifests(files, /*full_shapes=*/false,
                                                      /*keep_objects=*/false, structured));
  for (std::string& line : manifests.warnings) warnings_.push_back(std::move(line));
  if (!manifests.jobs.empty()) {
    return KeyError(
        structured ? "front_end.structured.slices" : "front_end.dra.objects",
        absl::StrCat("found the pod or workload '", manifests.jobs.front().name,
                     "', expected no pods there: workload.manifests is the place for them"));
  }
  objects_.insert(objects_.begin(), manifests.objects.begin(), manifests.objects.end());
  return absl::OkStatus();
}

absl::Status DraPlan::CreateObjects(const ClusterState& cluster) {
  for (const std::shared_ptr<const proto::kube::Object>& object : objects_) {
    ASSIGN_OR_RETURN(ObjectRef made, ToControlPlane(*object, cluster, plane_->names()));
    RETURN_IF_ERROR(plane_->Create(std::move(made)));
  }
  return absl::OkStatus();
}

}  // namespace drasim
