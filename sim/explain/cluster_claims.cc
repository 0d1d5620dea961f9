#include "sim/explain/cluster_claims.h"

#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/kube/pod_claims.h"
#include "model/kube/reader.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ClaimReason = DynamicResources::Reason;

constexpr char kClaimController[] = "the claim controller (kube-controller-manager)";
constexpr char kScheduler[] = "kube-scheduler";
constexpr char kDriverFinalizer[] = "/deletion-protection";

// Bounds where a driver refuses every node: nodes whose holders of devices are listed, and claims
// of each.
constexpr size_t kMostHoldingNodes = 3;
constexpr size_t kMostHoldingClaims = 5;

std::string ReasonText(ClaimReason reason, const std::string& object) {
  NamePool names;
  return StatusText({DynamicResources::Code::kUnresolvable, reason, names.Intern(object)});
}

// Whether a node may be used for an allocated claim.
bool IsAvailableOn(const kube::AllocationResult& allocation, const DumpNode& node) {
  return !allocation.has_available_on_nodes() ||
         SelectsNode(allocation.available_on_nodes(), *node.object);
}

std::string AvailabilityText(const kube::AllocationResult& allocation) {
  return allocation.has_available_on_nodes() ? NodeSelectorText(allocation.available_on_nodes())
                                             : std::string("every node");
}

bool ListsNode(const google::protobuf::RepeatedPtrField<std::string>& nodes,
               const std::string& name) {
  return std::find(nodes.begin(), nodes.end(), name) != nodes.end();
}

}  // namespace

bool DumpClaims::Claim::from_template() const { return KubeClaimName(*entry).empty(); }

DumpClaims::DumpClaims(const ClusterDump& dump, const DumpPod& pod) : dump_(dump), pod_(pod) {
  const kube::PodSchedulingContext* context = dump.FindContext(pod.key);
  if (context != nullptr) {
    foreign_context_ = !IsOwnedByPod(context->metadata());
    if (!foreign_context_) context_ = context;
  }
  for (const kube::PodResourceClaim& entry : pod.spec().resource_claims()) {
    Claim claim = Find(entry);
    if (claim.object == nullptr && IsStructured(claim)) {
      structured_.push_back(claim.key.empty() ? absl::StrCat("entry ", entry.name()) : claim.key);
    } else {
      claims_.push_back(std::move(claim));
    }
  }
  FindAll();
  if (reason_ == ClaimReason::kNone) CheckAll();
}

bool DumpClaims::IsOwnedByPod(const kube::ObjectMeta& meta) const {
  const kube::ObjectMeta& pod = pod_.object->metadata();
  const auto& owners = meta.owner_references();
  // Objects written by hand have no UIDs.
  return std::any_of(owners.begin(), owners.end(), [&pod](const kube::OwnerReference& owner) {
    if (!owner.controller() || owner.kind() != "Pod") return false;
    return pod.uid().empty() ? owner.name() == pod.name() : owner.uid() == pod.uid();
  });
}

const kube::ResourceClaim* DumpClaims::OwnedClaim(const std::string& entry) const {
  for (const kube::ResourceClaim* claim : dump_.claims()) {
    const kube::ObjectMeta& meta = claim->metadata();
    const auto made_for = meta.annotations().find("resource.kubernetes.io/pod-claim-name");
    if (made_for == meta.annotations().end() || made_for->second != entry) continue;
    if (NamespaceOf(meta) == NamespaceOf(pod_.object->metadata()) && IsOwnedByPod(meta)) {
      return claim;
    }
  }
  return nullptr;
}

bool DumpClaims::IsStructured(const Claim& claim) const {
  if (!claim.key.empty() && dump_.HasStructuredClaim(claim.key)) return true;
  // A dump without any claim does not say that this one is missing. Entries have had the flat form
  // since the release that brought structured claims to an API version of their own.
  return !dump_.has_claims() && !dump_.has_classic_objects() && !claim.entry->has_source();
}

DumpClaims::Claim DumpClaims::Find(const kube::PodResourceClaim& entry) const {
  Claim claim;
  claim.entry = &entry;
  const std::string ns = NamespaceOf(pod_.object->metadata());
  if (!KubeClaimName(entry).empty()) {
    claim.key = KubeKey(ns, KubeClaimName(entry));
  } else {
    for (const kube::PodResourceClaimStatus& status : pod_.status().resource_claim_statuses()) {
      if (status.name() == entry.name()) claim.key = KubeKey(ns, status.resource_claim_name());
    }
    // Up to 1.27 the name follows from the pod's.
    const std::string fixed =
        KubeKey(ns, absl::StrCat(pod_.object->metadata().name(), "-", entry.name()));
    if (claim.key.empty() && dump_.FindClaim(fixed) != nullptr) claim.key = fixed;
  }
  claim.object = dump_.FindClaim(claim.key);
  if (claim.object != nullptr) {
    claim.resource_class = dump_.FindClass(claim.object->spec().resource_class_name());
  }
  for (int i = 0; context_ != nullptr && i < context_->status().resource_claims_size(); ++i) {
    const auto& status = context_->status().resource_claims(i);
    if (status.name() == entry.name()) claim.in_context = &status;
  }
  return claim;
}

void DumpClaims::Reject(ClaimReason reason, const std::string& object, const Claim& claim) {
  reason_ = reason;
  obstacle_ = ReasonText(reason, object);
  obstructing_ = claim;
}

// PreEnqueue, and the first part of PreFilter.
void DumpClaims::FindAll() {
  before_queue_ = true;
  for (const Claim& claim : claims_) {
    if (claim.object == nullptr) {
      const size_t slash = claim.key.find('/');
      return Reject(ClaimReason::kClaimMissing,
                    slash == std::string::npos ? std::string() : claim.key.substr(slash + 1),
                    claim);
    }
    const kube::ObjectMeta& meta = claim.object->metadata();
    if (IsBeingDeleted(meta)) return Reject(ClaimReason::kClaimBeingDeleted, meta.name(), claim);
    if (claim.from_template() && !IsOwnedByPod(meta)) {
      return Reject(ClaimReason::kClaimOfAnotherPod, meta.name(), claim);
    }
  }
  before_queue_ = false;
}

void DumpClaims::CheckAll() {
  for (const Claim& claim : claims_) {
    const kube::ResourceClaimStatus& status = claim.object->status();
    const std::string& name = claim.object->metadata().name();
    if (!claim.allocated() && claim.immediate()) {
      return Reject(ClaimReason::kUnallocatedImmediate, name, claim);
    }
    if (status.deallocation_requested()) {
      return Reject(ClaimReason::kMustBeReallocated, name, claim);
    }
    const bool reservable = status.reserved_for().empty() || status.allocation().shareable();
    if (claim.allocated() && !reservable && !IsReservedForPod(claim)) {
      return Reject(ClaimReason::kClaimInUse, name, claim);
    }
    if (!claim.allocated() && claim.resource_class == nullptr) {
      return Reject(ClaimReason::kClassMissing, claim.object->spec().resource_class_name(), claim);
    }
  }
}

bool DumpClaims::IsPod(const kube::ConsumerReference& consumer, const DumpPod& pod) const {
  const kube::ObjectMeta& meta = pod.object->metadata();
  if (consumer.resource() != "pods") return false;
  return meta.uid().empty() ? consumer.name() == meta.name() : consumer.uid() == meta.uid();
}

bool DumpClaims::IsReservedForPod(const Claim& claim) const {
  const auto& consumers = claim.object->status().reserved_for();
  return std::any_of(consumers.begin(), consumers.end(),
                     [this](const auto& consumer) { return IsPod(consumer, pod_); });
}

std::string DumpClaims::DriverOf(const Claim& claim) const {
  const std::string& of_status = claim.object->status().driver_name();
  if (!of_status.empty()) return absl::StrCat("driver ", of_status);
  if (claim.resource_class != nullptr) {
    return absl::StrCat("driver ", claim.resource_class->driver_name());
  }
  return absl::StrCat("the driver of class ", claim.object->spec().resource_class_name());
}

// --- Nodes ---

std::optional<DumpRejection> DumpClaims::Check(const DumpNode& node) const {
  DumpRejection rejection;
  rejection.plugin = kClaimPlugin;
  rejection.place = DumpRejection::kLastPlace;
  const Claim* away = nullptr;
  for (const Claim& claim : claims_) {
    if (claim.allocated()) {
      const bool here = IsAvailableOn(claim.object->status().allocation(), node);
      if (!here && away == nullptr) away = &claim;
      continue;
    }
    const kube::ResourceClass& of_class = *claim.resource_class;
    if (of_class.has_suitable_nodes() && !SelectsNode(of_class.suitable_nodes(), *node.object)) {
      rejection.reasons = {ReasonText(ClaimReason::kClassExcludesNode, of_class.metadata().name())};
      rejection.detail = absl::StrCat("class ", of_class.metadata().name(), " wants ",
                                      NodeSelectorText(of_class.suitable_nodes()));
      rejection.alike = rejection.detail;
      rejection.hopeless = true;
      return rejection;
    }
    if (claim.in_context != nullptr &&
        ListsNode(claim.in_context->unsuitable_nodes(), node.name())) {
      rejection.reasons = {ReasonText(ClaimReason::kNodeUnsuitable, claim.key)};
      rejection.detail = absl::StrCat(DriverOf(claim), " says so for claim ", claim.key);
      rejection.alike = claim.key;
      rejection.hopeless = true;
      return rejection;
    }
  }
  if (away == nullptr) return std::nullopt;
  rejection.reasons = {ReasonText(ClaimReason::kNotAvailableOnNode, away->key)};
  rejection.detail = absl::StrCat("claim ", away->key, " is allocated for ",
                                  AvailabilityText(away->object->status().allocation()));
  rejection.alike = away->key;
  rejection.hopeless = true;
  rejection.pinned = true;
  return rejection;
}

// --- The component that has to act next ---

AwaitedAct DumpClaims::AwaitDriver(const Claim& claim, absl::string_view what) const {
  return {DriverOf(claim), absl::StrCat("to ", what)};
}

std::string DumpClaims::ConsumerState(const kube::ConsumerReference& consumer,
                                      const std::string& ns) const {
  if (consumer.resource() != "pods") return consumer.resource();
  const DumpPod* pod = dump_.FindPod(KubeKey(ns, consumer.name()));
  if (pod == nullptr) return "not in the dump";
  if (!IsPod(consumer, *pod)) return "gone, another pod has its name";
  return StateOfPod(*pod);
}

HolderList DumpClaims::ConsumersOf(const Claim& claim) const {
  const kube::ResourceClaimStatus& status = claim.object->status();
  const std::string ns = NamespaceOf(claim.object->metadata());
  HolderList list;
  list.subject = absl::StrCat("claim ", claim.key);
  list.summary = absl::StrCat("allocated for ", AvailabilityText(status.allocation()),
                              status.allocation().shareable() ? "" : ", not shareable");
  for (const kube::ConsumerReference& consumer : status.reserved_for()) {
    list.holders.push_back({KubeKey(ns, consumer.name()), "", ConsumerState(consumer, ns)});
  }
  return list;
}

AwaitedAct DumpClaims::AwaitConsumers(const Claim& claim, absl::string_view what) const {
  const std::string ns = NamespaceOf(claim.object->metadata());
  std::vector<std::string> there;
  std::vector<std::string> gone;
  for (const kube::ConsumerReference& consumer : claim.object->status().reserved_for()) {
    const std::string key = KubeKey(ns, consumer.name());
    const DumpPod* pod = dump_.FindPod(key);
    const bool holds = consumer.resource() != "pods" ||
                       (pod != nullptr && IsPod(consumer, *pod) && !pod->is_finished());
    (holds ? there : gone).push_back(key);
  }
  if (there.empty()) {
    return {
        kClaimController,
        absl::StrCat("to take ", ShortList(gone), gone.size() == 1 ? ", which has" : ", which have",
                     " ended, off the list of those that claim ", claim.key, " is reserved for")};
  }
  return {ShortList(there), absl::StrCat("to end: claim ", claim.key, " is reserved for ",
                                         there.size() == 1 ? "it" : "them", what)};
}

void DumpClaims::AwaitMissing(const Claim& claim, std::vector<AwaitedAct>* acts) const {
  if (!claim.from_template()) {
    acts->push_back({absl::StrCat("ResourceClaim ", claim.key),
                     "to be created: the pod names it, and nobody makes it for the pod"});
    return;
  }
  const std::string ns = NamespaceOf(pod_.object->metadata());
  const std::string from = KubeKey(ns, KubeClaimTemplateName(*claim.entry));
  if (const kube::ResourceClaim* made = OwnedClaim(claim.entry->name()); made != nullptr) {
    acts->push_back({kClaimController, absl::StrCat("to note claim ", KubeKey(made->metadata()),
                                                    ", which it has made, in the pod's status")});
    return;
  }
  if (dump_.FindTemplate(from) == nullptr && !dump_.HasStructuredTemplate(from)) {
    acts->push_back({absl::StrCat("ResourceClaimTemplate ", from),
                     absl::StrCat("to be created: without it there will be no claim for the entry ",
                                  claim.entry->name())});
  }
  acts->push_back({kClaimController, absl::StrCat("to create the claim for the entry ",
                                                  claim.entry->name(), " from template ", from)});
}

void DumpClaims::AwaitDeleted(const Claim& claim, std::vector<AwaitedAct>* acts) const {
  const kube::ObjectMeta& meta = claim.object->metadata();
  if (!claim.object->status().reserved_for().empty()) {
    acts->push_back(AwaitConsumers(claim, ", and until then no driver deallocates it"));
  }
  for (const std::string& finalizer : meta.finalizers()) {
    const std::string text =
        absl::StrCat("remove its finalizer ", finalizer, " from claim ", claim.key,
                     ", which is being deleted since ", meta.deletion_timestamp());
    if (absl::EndsWith(finalizer, kDriverFinalizer)) {
      acts->push_back(AwaitDriver(claim, absl::StrCat("deallocate and ", text)));
    } else {
      acts->push_back({"whoever set it", absl::StrCat("to ", text)});
    }
  }
  if (claim.from_template()) {
    acts->push_back({kClaimController, "to create a new claim in its place"});
  } else {
    acts->push_back({absl::StrCat("ResourceClaim ", claim.key),
                     "to be created anew: nobody does that for the pod"});
  }
}

std::vector<AwaitedAct> DumpClaims::Awaited(bool selectable, bool pinned) const {
  std::vector<AwaitedAct> acts;
  const Claim& claim = obstructing_;
  switch (reason_) {
    case ClaimReason::kNone:
      break;
    case ClaimReason::kClaimMissing:
      AwaitMissing(claim, &acts);
      return acts;
    case ClaimReason::kClaimBeingDeleted:
      AwaitDeleted(claim, &acts);
      return acts;
    case ClaimReason::kUnallocatedImmediate:
      if (claim.resource_class == nullptr) {
        const std::string& name = claim.object->spec().resource_class_name();
        acts.push_back({absl::StrCat("ResourceClass ", name),
                        "to be created: without it no driver knows that the claim is its own"});
      }
      acts.push_back(AwaitDriver(
          claim, absl::StrCat("allocate claim ", claim.key, " (mode Immediate: for a node of its ",
                              "own choice, before the pod is looked at)")));
      return acts;
    case ClaimReason::kMustBeReallocated:
      acts.push_back(AwaitDriver(
          claim, absl::StrCat("deallocate claim ", claim.key, ", as it has been asked to")));
      return acts;
    case ClaimReason::kClaimInUse:
      acts.push_back(AwaitConsumers(claim, " and cannot be shared"));
      return acts;
    case ClaimReason::kClassMissing:
      acts.push_back({absl::StrCat("ResourceClass ", claim.object->spec().resource_class_name()),
                      absl::StrCat("to be created: claim ", claim.key, " is of that class")});
      return acts;
    default:  // of another pod
      acts.push_back({absl::StrCat("claim ", claim.key),
                      "to be deleted: it has the name of the pod's claim, but another owner"});
      return acts;
  }
  if (!selectable && pinned) {
    for (const Claim& held : claims_) {
      if (!held.allocated() || held.immediate()) continue;
      const auto& consumers = held.object->status().reserved_for();
      if (consumers.size() > (IsReservedForPod(held) ? 1 : 0)) continue;
      acts.push_back({kScheduler, absl::StrCat("to have claim ", held.key, " deallocated, which ",
                                               "keeps the pod off every other node; its next ",
                                               "attempt asks for that")});
    }
  }
  AwaitAllocation(selectable, &acts);
  return acts;
}

void DumpClaims::AwaitAllocation(bool selectable, std::vector<AwaitedAct>* acts) const {
  bool pending = false;
  for (const Claim& claim : claims_) {
    if (!claim.allocated()) pending = true;
    const size_t consumers = static_cast<size_t>(claim.object->status().reserved_for_size());
    if (consumers >= kMaxReservedFor && !IsReservedForPod(claim)) {
      acts->push_back({absl::StrCat("one of the ", consumers, " pods that share claim ", claim.key),
                       "to end: the API server lets no more than 32 reserve it"});
    }
  }
  if (pending) AwaitSelection(selectable, acts);
}

void DumpClaims::AwaitSelection(bool selectable, std::vector<AwaitedAct>* acts) const {
  const std::string selected = context_ == nullptr ? "" : context_->spec().selected_node();
  std::vector<const Claim*> pending;
  std::vector<const Claim*> unknown;
  const Claim* refused = nullptr;
  for (const Claim& claim : claims_) {
    if (claim.allocated()) continue;
    pending.push_back(&claim);
    if (claim.in_context == nullptr) {
      unknown.push_back(&claim);
    } else if (!selected.empty() && ListsNode(claim.in_context->unsuitable_nodes(), selected)) {
      refused = &claim;
    }
  }
  if (refused != nullptr) {
    acts->push_back({kScheduler, absl::StrCat("to select another node than ", selected, ", which ",
                                              DriverOf(*refused), " finds unsuitable for claim ",
                                              refused->key)});
  } else if (!selected.empty()) {
    for (const Claim* claim : pending) {
      acts->push_back(
          AwaitDriver(*claim, absl::StrCat("allocate claim ", claim->key, " on node ", selected)));
    }
  } else if (context_ == nullptr && selectable) {
    acts->push_back({kScheduler, absl::StrCat("to create PodSchedulingContext ", pod_.key,
                                              pending.size() == 1 ? ", selecting a node"
                                                                  : ", asking the drivers about "
                                                                    "nodes")});
  } else if (context_ != nullptr && pending.size() > 1 && !unknown.empty()) {
    for (const Claim* claim : unknown) {
      acts->push_back(AwaitDriver(
          *claim, absl::StrCat("say which of the ", context_->spec().potential_nodes_size(),
                               " potential nodes do not suit claim ", claim->key)));
    }
  } else if (selectable) {
    acts->push_back({kScheduler, "to select a node"});
  }
  if (selectable || !selected.empty()) return;
  std::set<std::string> drivers;
  for (const Claim* claim : pending) {
    const bool told =
        claim->in_context != nullptr && !claim->in_context->unsuitable_nodes().empty();
    if (told && drivers.insert(DriverOf(*claim)).second) {
      acts->push_back(AwaitDriver(*claim, "find a node suitable (it looks again every 30 s)"));
    }
  }
}

// --- Holders ---

std::vector<HolderList> DumpClaims::Consumers() const {
  std::vector<HolderList> lists;
  for (const Claim& claim : claims_) {
    if (claim.object == nullptr || claim.object->status().reserved_for().empty()) continue;
    const bool full =
        static_cast<size_t>(claim.object->status().reserved_for_size()) >= kMaxReservedFor;
    const bool obstructs = reason_ != ClaimReason::kNone && claim.key == obstructing_.key;
    if ((full && !IsReservedForPod(claim)) || obstructs) lists.push_back(ConsumersOf(claim));
  }
  return lists;
}

std::vector<HolderList> DumpClaims::HoldersOn(absl::Span<const DumpNode* const> nodes) const {
  std::vector<HolderList> lists;
  std::set<std::string> drivers;
  for (const Claim& claim : claims_) {
    if (claim.object == nullptr || claim.allocated() || claim.resource_class == nullptr) continue;
    const std::string& driver = claim.resource_class->driver_name();
    if (!drivers.insert(driver).second) continue;
    std::vector<const kube::ResourceClaim*> allocated;
    for (const kube::ResourceClaim* other : dump_.claims()) {
      if (other->status().has_allocation() && other->status().driver_name() == driver) {
        allocated.push_back(other);
      }
    }
    size_t shown = 0;
    for (size_t i = 0; i < nodes.size() && shown < kMostHoldingNodes && !allocated.empty(); ++i) {
      HolderList list;
      list.subject = absl::StrCat("what driver ", driver, " has allocated for ", nodes[i]->name());
      for (const kube::ResourceClaim* other : allocated) {
        if (!IsAvailableOn(other->status().allocation(), *nodes[i])) continue;
        if (list.holders.size() == kMostHoldingClaims) {
          ++list.others;
        } else {
          list.holders.push_back(HolderOf(*other));
        }
      }
      if (list.holders.empty()) continue;
      lists.push_back(std::move(list));
      ++shown;
    }
  }
  return lists;
}

HolderList::Holder DumpClaims::HolderOf(const kube::ResourceClaim& claim) const {
  const std::string ns = NamespaceOf(claim.metadata());
  std::vector<std::string> consumers;
  for (const kube::ConsumerReference& consumer : claim.status().reserved_for()) {
    consumers.push_back(
        absl::StrCat(KubeKey(ns, consumer.name()), " (", ConsumerState(consumer, ns), ")"));
  }
  return {absl::StrCat("claim ", KubeKey(claim.metadata())), "",
          consumers.empty() ? std::string("reserved for nobody")
                            : absl::StrCat("reserved for ", ShortList(consumers))};
}

std::vector<AwaitedAct> DumpClaims::AwaitedByKubelet() const {
  std::vector<AwaitedAct> acts;
  for (const Claim& claim : claims_) {
    if (claim.object == nullptr) {
      AwaitMissing(claim, &acts);
    } else if (!claim.allocated()) {
      acts.push_back(AwaitDriver(
          claim, absl::StrCat("allocate claim ", claim.key, " on node ", pod_.spec().node_name())));
    } else if (!IsReservedForPod(claim)) {
      acts.push_back(
          {kClaimController, absl::StrCat("to reserve claim ", claim.key,
                                          " for the pod: its kubelet prepares no other claim")});
    }
  }
  return acts;
}

std::vector<std::string> DumpClaims::Notes() const {
  std::vector<std::string> notes;
  if (!claims_.empty() && !dump_.has_claims()) {
    notes.push_back(
        "the dump has no ResourceClaim at all; was it made without resourceclaims, "
        "resourceclaimtemplates, resourceclasses and podschedulingcontexts?");
  }
  if (foreign_context_) {
    notes.push_back(absl::StrCat("PodSchedulingContext ", pod_.key,
                                 " is of a former pod of that name; the garbage collector has to "
                                 "delete it first"));
  }
  for (const Claim& claim : claims_) {
    if (claim.object == nullptr) continue;
    if (claim.resource_class != nullptr && claim.resource_class->structured_parameters()) {
      notes.push_back(absl::StrCat("class ", claim.resource_class->metadata().name(),
                                   " uses structured parameters: kube-scheduler allocates claim ",
                                   claim.key, " itself, which is not looked at here"));
    }
    if (claim.allocated()) {
      if (claim.immediate() && claim.object->status().allocation().has_available_on_nodes()) {
        notes.push_back(absl::StrCat("claim ", claim.key, " is allocated for ",
                                     AvailabilityText(claim.object->status().allocation()),
                                     " until it is deleted (mode Immediate)"));
      }
      continue;
    }
    const kube::ParametersReference& wanted = claim.object->spec().parameters_ref();
    const std::string parameters = KubeKey(NamespaceOf(claim.object->metadata()), wanted.name());
    bool kind_known = false;
    if (wanted.kind().empty() || dump_.HasParameters(wanted.kind(), parameters, &kind_known)) {
      continue;
    }
    notes.push_back(absl::StrCat("claim ", claim.key, " refers to ", wanted.kind(), " ", parameters,
                                 kind_known
                                     ? ", which does not exist: its driver cannot allocate it"
                                     : ", which is not in the dump; if it does not exist, "
                                       "its driver cannot allocate the claim"));
  }
  return notes;
}

}  // namespace drasim
