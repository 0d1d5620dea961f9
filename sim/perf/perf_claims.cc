#include "sim/perf/perf_claims.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/kube/api_defaults.h"
#include "model/kube/kube_time.h"
#include "model/status_macros.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/dra/binding_conditions.h"
#include "policies/dra/claim_hints.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/structured_gates.h"
#include "sim/core/event.h"

namespace drasim::perf {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kClaimOfPod[] = "resource.kubernetes.io/pod-claim-name";

std::string ObjectKey(absl::string_view ns, absl::string_view name) {
  return absl::StrCat(ns, "/", name);
}

std::string UidOfPod(PodId id) { return absl::StrCat("pod-", id.value()); }

// Invalid for the UID of another object.
PodId PodOfUid(absl::string_view uid) {
  uint32_t number = 0;
  if (!absl::ConsumePrefix(&uid, "pod-") || !absl::SimpleAtoi(uid, &number)) return PodId();
  return PodId(number);
}

bool HasLists(const kube::DeviceClaim& claim) {
  return absl::c_any_of(claim.requests(), [](const kube::DeviceRequest& request) {
    return !request.first_available().empty();
  });
}

// Whether claims come and go with the pod.
bool MadeFor(const kube::ResourceClaimV1& claim, const ClaimingPod& pod) {
  return absl::c_any_of(claim.metadata().owner_references(),
                        [&pod](const kube::OwnerReference& owner) {
                          return owner.controller() && owner.uid() == pod.uid;
                        });
}

// The devices that scheduler_perf's driver publishes.
void AddDevices(int64_t count, bool conditions, kube::ResourceSliceSpec* spec) {
  for (int64_t i = 0; i < count; ++i) {
    kube::Device& device = *spec->add_devices();
    device.set_name(absl::StrCat("instance-", i));
    auto& attributes = *device.mutable_attributes();
    attributes["model"].set_string_value("A100");
    attributes["family"].set_string_value("GPU");
    attributes["driverVersion"].set_version_value("1.2.3");
    attributes["dra.example.com/numa"].set_int_value(i);
    (*device.mutable_capacity())["memory"].set_value("1Gi");
    if (!conditions) continue;
    device.set_binds_to_node(true);
    device.add_binding_conditions("DeviceAttached");
    device.add_binding_failure_conditions("AttachmentFailed");
  }
}

}  // namespace

absl::StatusOr<PerfClaimOptions> ClaimOptionsOf(const DraGates& gates, uint64_t seed) {
  PerfClaimOptions options;
  RETURN_IF_ERROR(SetDraGates(gates, &options.allocator, &options.plugin, &options.taint_rules));
  options.plugin.seed = seed;
  // The harness is of a release in which the gate is off by default; the API server then drops the
  // conditions of its devices, for which nobody but one case waits.
  const auto conditions = gates.find("DRADeviceBindingConditions");
  options.publishes_conditions = conditions != gates.end() && options.plugin.binding_conditions;
  return options;
}

class PerfClaims::Store : public ClaimStore {
 public:
  Store(ClusterState* cluster, PerfClaims* claims) : ClaimStore(cluster), claims_(claims) {}

 private:
  void OnChange(const ClaimRef& before, const ClaimRef& after) override {
    claims_->changes_.emplace_back(before, after);
  }
  absl::Status PatchPod(const ClaimCall& call) override {
    for (const kube::OwnerReference& owner : call.claim->metadata().owner_references()) {
      // Nothing reads the status that is patched.
      if (claims_->Find(PodOfUid(owner.uid())) != nullptr) return absl::OkStatus();
    }
    return absl::NotFoundError("the pod of the claim is not there");
  }

  PerfClaims* claims_;
};

PerfClaims::PerfClaims(const PerfClaimOptions& options, uint64_t seed, ClusterState* cluster)
    : cluster_(*cluster),
      options_(options),
      store_(std::make_unique<Store>(cluster, this)),
      in_flight_(cluster),
      inventory_(options.allocator, MakeCelVerdicts, cluster),
      plugin_(
          store_.get(), &classes_, &in_flight_, [this] { return inventory_.NewSearch(); },
          options.plugin),
      writes_(store_.get(), &in_flight_, options.plugin),
      draws_(seed, "allocResourceClaims") {
  plugin_.set_offered_anywhere(
      [cluster](const std::string& resource) { return cluster->AnyNodeReports(resource); });
  cluster->LeavePartsToPods();
  cluster->set_served_resources(this);
}

PerfClaims::~PerfClaims() { cluster_.set_served_resources(nullptr); }

void PerfClaims::Start(RunContext* run, PodControl* control, bool hints) {
  run_ = run;
  control_ = control;
  hints_ = hints;
}

int64_t PerfClaims::NowNs() const { return RunTimeNs(run_->now()); }

const ClaimStore& PerfClaims::store() const { return *store_; }

PerfClaims::PodEntry* PerfClaims::Find(PodId id) {
  const auto found = pods_.find(id);
  return found == pods_.end() ? nullptr : &found->second;
}

// --- Objects ---

void PerfClaims::PutNode(NodeId id, const kube::Node& node) {
  if (nodes_.size() <= id.value()) nodes_.resize(id.value() + size_t{1});
  nodes_[id.value()] = node;
  inventory_.SetNodes(nodes_);
  // The inventory looks at the nodes again when a slice has been put.
  if (!slices_.empty()) inventory_.Put(slices_.front());
}

// Newer releases want counters in slices of their own; the harness has them beside devices.
void PerfClaims::PutSlice(const kube::ResourceSlice& given) {
  kube::ResourceSlice slice = given;
  if (!given.spec().devices().empty() && !given.spec().shared_counters().empty()) {
    kube::ResourceSlice counters = given;
    counters.mutable_metadata()->set_name(absl::StrCat(given.metadata().name(), "-counters"));
    counters.mutable_spec()->clear_devices();
    slice.mutable_spec()->clear_shared_counters();
    for (kube::ResourceSlice* half : {&counters, &slice}) {
      kube::ResourcePool& pool = *half->mutable_spec()->mutable_pool();
      pool.set_resource_slice_count(2 * pool.resource_slice_count());
    }
    PutSlice(counters);
  }
  slices_.push_back(std::make_shared<const kube::ResourceSlice>(slice));
  inventory_.Put(slices_.back());
  context_changed_ = true;
}

bool PerfClaims::IsKind(const kube::Object& object) {
  return object.has_device_class() || object.has_resource_slice() ||
         object.has_resource_claim_v1() || object.has_resource_claim_template_v1() ||
         object.has_device_taint_rule();
}

absl::Status PerfClaims::Add(const kube::Object& object) {
  if (object.has_device_class()) {
    TakeClass(object.device_class());
  } else if (object.has_resource_slice()) {
    PutSlice(object.resource_slice());
  } else if (object.has_device_taint_rule()) {
    TakeRule(object.device_taint_rule());
  } else if (object.has_resource_claim_template_v1()) {
    kube::ResourceClaimTemplateV1 made = object.resource_claim_template_v1();
    SetDeviceClaimDefaults(made.mutable_spec()->mutable_spec()->mutable_devices());
    lists_ |= HasLists(made.spec().spec().devices());
    templates_[ObjectKey(made.metadata().namespace_(), made.metadata().name())] = std::move(made);
  } else {
    kube::ResourceClaimV1 claim = object.resource_claim_v1();
    const kube::ObjectMeta& meta = claim.metadata();
    if (store_->FindClaim(meta.namespace_(), meta.name()) != nullptr) {
      return absl::AlreadyExistsError(absl::StrCat(
          "there is a ResourceClaim '", ObjectKey(meta.namespace_(), meta.name()), "' already"));
    }
    claim.mutable_metadata()->set_uid(absl::StrCat("claim-", claims_made_++));
    SetDeviceClaimDefaults(claim.mutable_spec()->mutable_devices());
    lists_ |= HasLists(claim.spec().devices());
    store_->AddClaim(std::move(claim));
  }
  return absl::OkStatus();
}

void PerfClaims::TakeClass(const kube::DeviceClass& device_class) {
  inventory_.AddClass(device_class);
  classes_.Add(device_class);
  store_->AddClass(device_class);
  context_changed_ = true;
  if (!options_.plugin.extended_resources) return;
  served_.insert(absl::StrCat(kDeviceClassResourcePrefix, device_class.metadata().name()));
  const std::string& resource = device_class.spec().extended_resource_name();
  if (!resource.empty()) served_.insert(resource);
}

void PerfClaims::ServeResources() {
  const std::vector<std::string>& names = cluster_.extended_names();
  for (size_t column = 0; column < names.size(); ++column) {
    const bool served =
        options_.plugin.extended_resources && !classes_.ClassOf(names[column]).empty();
    if (served != cluster_.served_by_claims(column)) cluster_.ServeByClaims(column, served);
  }
}

ServedDevices PerfClaims::DevicesOn(NodeId node, size_t column) const {
  const kube::DeviceClass* const device_class =
      store_->FindClass(classes_.ClassOf(cluster_.extended_names()[column]));
  if (device_class == nullptr) return {};
  return inventory_.CountDevices(*device_class, nodes_[node.value()]);
}

void PerfClaims::TakeRule(const kube::DeviceTaintRule& rule) {
  if (!options_.taint_rules) return;
  inventory_.PutRule(rule);
  // Slices take the taints of the rules that are there when they are put.
  for (const auto& slice : slices_) inventory_.Put(slice);
  context_changed_ = true;
}

void PerfClaims::PublishDevices(const std::string& driver, NodeId node, int64_t devices) {
  kube::ResourceSlice slice;
  const std::string& name = NameOf(node);
  slice.mutable_metadata()->set_name(name);
  kube::ResourceSliceSpec& spec = *slice.mutable_spec();
  spec.set_driver(driver);
  spec.set_node_name(name);
  spec.mutable_pool()->set_name(name);
  spec.mutable_pool()->set_resource_slice_count(1);
  AddDevices(devices, options_.publishes_conditions, &spec);
  PutSlice(slice);
}

// --- The harness ---

absl::Status PerfClaims::Allocate(const std::string& ns) {
  std::vector<ClaimRef> claims;
  store_->ForEachClaim([&](const ClaimRef& claim) {
    const bool wanted = ns.empty() || claim->metadata().namespace_() == ns;
    if (wanted && !IsAllocatedClaim(*claim)) claims.push_back(claim);
  });
  for (const ClaimRef& claim : claims) RETURN_IF_ERROR(AllocateOne(claim));
  return absl::OkStatus();
}

absl::Status PerfClaims::AllocateOne(const ClaimRef& claim) {
  ASSIGN_OR_RETURN(const std::unique_ptr<DeviceSearch> search, inventory_.NewSearch());
  const NodeOutcomes* const outcomes = search->DecideNodes({&claim, 1});
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const bool hopeless = outcomes != nullptr && n < outcomes->size() &&
                          outcomes->Of(NodeId(n)) != AllocationOutcome::kAllocated;
    if (cluster_.node(NodeId(n)).available && !hopeless) nodes.push_back(NodeId(n));
  }
  // The first that fits in a random order is any of those that fit.
  while (!nodes.empty()) {
    const size_t drawn = draws_.Below(nodes.size());
    SearchResult found = search->Allocate(nodes_[nodes[drawn].value()], {&claim, 1});
    if (found.outcome == SearchOutcome::kFound) {
      kube::ResourceClaimV1 allocated = *claim;
      *allocated.mutable_status()->mutable_allocation() = std::move(found.allocations.front());
      store_->AddClaim(std::move(allocated));
      return absl::OkStatus();
    }
    if (found.outcome == SearchOutcome::kError) return absl::InvalidArgumentError(found.message);
    nodes[drawn] = nodes.back();
    nodes.pop_back();
  }
  return absl::DeadlineExceededError(
      absl::StrCat("cannot be met: no node has devices for the claim ", ClaimKey(claim)));
}

bool PerfClaims::SetCondition(const std::string& ns, const std::string& type,
                              const std::string& status) {
  std::vector<ClaimRef> claims;
  store_->ForEachClaim([&](const ClaimRef& claim) {
    if (claim->metadata().namespace_() == ns) claims.push_back(claim);
  });
  const bool ready = !claims.empty() && absl::c_all_of(claims, [](const ClaimRef& claim) {
    return IsAllocatedClaim(*claim) && HasBindingConditions(claim->status().allocation());
  });
  if (!ready) return false;
  kube::Condition condition;
  condition.set_type(type);
  condition.set_status(status);
  condition.set_reason("Test");
  condition.set_message("Test");
  condition.set_last_transition_time(KubeTimeText(NowNs()));
  for (const ClaimRef& claim : claims) {
    store_->SetConditions(ns, claim->metadata().name(), /*device=*/"", {&condition, 1});
  }
  return true;
}

// --- The claim controller ---

absl::Status PerfClaims::MakeClaims(kube::Pod* pod, std::vector<std::string>* keys) {
  const std::string& ns = pod->metadata().namespace_();
  for (const kube::PodResourceClaim& entry : pod->spec().resource_claims()) {
    if (!entry.resource_claim_name().empty()) {
      keys->push_back(ObjectKey(ns, entry.resource_claim_name()));
      continue;
    }
    const auto found = templates_.find(ObjectKey(ns, entry.resource_claim_template_name()));
    if (found == templates_.end()) {
      return absl::NotFoundError(absl::StrCat("there is no ResourceClaimTemplate '",
                                              ObjectKey(ns, entry.resource_claim_template_name()),
                                              "'"));
    }
    const kube::ResourceClaimTemplateSpecV1& spec = found->second.spec();
    auto claim = std::make_shared<kube::ResourceClaimV1>();
    kube::ObjectMeta& meta = *claim->mutable_metadata();
    meta = spec.metadata();
    meta.set_namespace_(ns);
    meta.set_generate_name(absl::StrCat(pod->metadata().name(), "-", entry.name(), "-"));
    (*meta.mutable_annotations())[kClaimOfPod] = entry.name();
    kube::OwnerReference& owner = *meta.add_owner_references();
    owner.set_api_version("v1");
    owner.set_kind("Pod");
    owner.set_name(pod->metadata().name());
    owner.set_uid(pod->metadata().uid());
    owner.set_controller(true);
    *claim->mutable_spec() = spec.spec();
    ClaimCall create;
    create.verb = ClaimVerb::kCreate;
    create.claim = std::move(claim);
    const ClaimReply made = store_->Do(create);
    RETURN_IF_ERROR(made.status);
    kube::PodResourceClaimStatus& status = *pod->mutable_status()->add_resource_claim_statuses();
    status.set_name(entry.name());
    status.set_resource_claim_name(made.claim->metadata().name());
    keys->push_back(ObjectKey(ns, status.resource_claim_name()));
  }
  return absl::OkStatus();
}

absl::Status PerfClaims::AddPod(PodId id, kube::Pod pod) {
  pod.mutable_metadata()->set_uid(UidOfPod(id));
  PodEntry entry;
  RETURN_IF_ERROR(MakeClaims(&pod, &entry.claims));
  for (const std::string& key : entry.claims) waiting_[key].insert(id);
  entry.pod = ClaimingPodOf(std::make_shared<const kube::Pod>(std::move(pod)));
  pods_.emplace(id, std::move(entry));
  return absl::OkStatus();
}

void PerfClaims::OnBound(PodId id) {
  PodEntry* const entry = Find(id);
  if (entry == nullptr || std::exchange(entry->bound, true)) return;
  entry->cycle = nullptr;
  for (const std::string& key : entry->claims) {
    const auto users = waiting_.find(key);
    users->second.erase(id);
    if (users->second.empty()) waiting_.erase(users);
  }
}

void PerfClaims::RemovePod(PodId id) {
  PodEntry* const entry = Find(id);
  if (entry == nullptr) return;
  DRASIM_CHECK(entry->cycle == nullptr);  // its start was undone
  OnBound(id);
  const ClaimingPod& pod = entry->pod;
  std::vector<std::string> keys = entry->claims;
  if (const ClaimRef extended = store_->FindExtendedClaim(pod); extended != nullptr) {
    keys.push_back(ObjectKey(extended->metadata().namespace_(), extended->metadata().name()));
  }
  for (const std::string& key : keys) {
    store_->Release(key, pod.uid);
    const auto claim = store_->claims().find(key);
    if (claim != store_->claims().end() && MadeFor(*claim->second, pod)) DeleteClaim(key);
  }
  pods_.erase(id);
}

void PerfClaims::DeleteClaim(const std::string& key) {
  ClaimCall remove;
  remove.verb = ClaimVerb::kDelete;
  remove.claim = store_->claims().find(key)->second;
  DRASIM_CHECK(store_->Do(remove).status.ok());
}

// --- Towards the queue ---

void PerfClaims::Deliver() {
  bool helps_all = std::exchange(context_changed_, false);
  std::vector<std::pair<ClaimRef, ClaimRef>> changes;
  changes.swap(changes_);
  for (const auto& [before, after] : changes) {
    const kube::ResourceClaimV1& latest = after != nullptr ? *after : *before;
    const ClaimTransition change = TransitionOf(before.get(), after.get());
    helps_all |= (change.was_allocated && !change.is_allocated) || !hints_;
    const auto users =
        waiting_.find(ObjectKey(latest.metadata().namespace_(), latest.metadata().name()));
    if (users == waiting_.end()) continue;
    for (const PodId id : users->second) {
      if (change.added) control_->RecheckPod(id);
      if (!hints_ || !change.MayHelp()) continue;
      if (ClaimChangeHelps(Find(id)->pod, change, *store_)) {
        control_->WakePod(id, /*at_once=*/false);
      }
    }
  }
  if (helps_all) control_->ClaimsChanged();
}

// --- The plugin's calls ---

bool PerfClaims::Drive(PodId id, PodEntry* entry, ClaimProgress progress) {
  while (!progress.done()) {
    if (!progress.call.has_value()) {
      entry->timer = ++timers_;
      const SimDuration after(std::max<int64_t>(0, *progress.wake_ns - NowNs()));
      run_->events().Push(run_->After(after), EventRank::kTimer, EventKind::kTimer, id.value(),
                          kNodeAgentTimer, entry->timer);
      return true;
    }
    const ClaimReply reply = store_->Do(*progress.call);
    progress = writes_.Resume(entry->cycle.get(), &reply, NowNs());
  }
  entry->ended = true;
  entry->result = std::move(progress.status);
  return false;
}

void PerfClaims::OnTimer(PodId id, uint64_t serial) {
  PodEntry* const entry = Find(id);
  if (entry == nullptr || entry->timer != serial) return;
  entry->timer = 0;
  if (Drive(id, entry, writes_.Resume(entry->cycle.get(), nullptr, NowNs()))) return;
  control_->ResumeStep(id);
}

ClaimStatus PerfClaims::Finish(StructuredCycle* cycle, ClaimProgress progress) {
  while (!progress.done()) {
    // Writes of the latest versions meet no conflict, after which a call would pause.
    DRASIM_CHECK(progress.call.has_value());
    const ClaimReply reply = store_->Do(*progress.call);
    progress = writes_.Resume(cycle, &reply, NowNs());
  }
  return progress.status;
}

}  // namespace drasim::perf
