#include "policies/plugins/volume_binding.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "model/cluster_objects.h"
#include "model/label_selector.h"
#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "model/pod_volumes.h"
#include "policies/framework/registry.h"
#include "policies/plugins/volume_texts.h"

namespace drasim {
namespace {

constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";

// Up to two things may be wrong with a node: one about bound claims, one about the others.
enum BoundProblem : uint8_t { kBoundFits, kNodeConflict, kVolumeMissing };
enum UnboundProblem : uint8_t { kUnboundFits, kNothingToBind, kNoSpace };

constexpr absl::string_view kBoundTexts[] = {
    "", "node(s) didn't match PersistentVolume's node affinity",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"};
constexpr absl::string_view kUnboundTexts[] = {
    "", "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage"};

// 0: no problem; 1..8 are those combinations; further reasons follow.
constexpr ReasonIndex VerdictOf(BoundProblem bound, UnboundProblem unbound) {
  return static_cast<ReasonIndex>(bound * 3 + unbound);
}
constexpr ReasonIndex kLastVerdict = VerdictOf(kVolumeMissing, kNoSpace);
constexpr ReasonIndex kImmediateUnbound = kLastVerdict + 1;
constexpr ReasonIndex kUnusableClaims = kLastVerdict + 2;

// Whether the node can reach the volume.
bool Reaches(const NodeSpec& node, const PersistentVolumeObject& volume) {
  return !volume.has_node_terms || MeetsNodeTerms(node, volume.node_terms);
}

bool IsBoundTo(const ClaimReference& reference, const VolumeClaimObject& claim) {
  return !reference.name.empty() && reference.name == claim.name && reference.ns == claim.ns &&
         (reference.uid.empty() || reference.uid == claim.uid);
}

bool HasModes(const PersistentVolumeObject& volume, const VolumeClaimObject& claim) {
  return std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](AccessMode mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) !=
           volume.access_modes.end();
  });
}

bool MeetsTopology(const NodeSpec& node, const StorageClassObject& storage_class) {
  const auto& terms = storage_class.allowed_topologies;
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&node](const auto& term) {
           return !term.empty() &&
                  std::all_of(term.begin(), term.end(), [&node](const auto& requirement) {
                    const std::string* label = LabelOf(node.labels, requirement.first);
                    return label != nullptr &&
                           std::find(requirement.second.begin(), requirement.second.end(),
                                     *label) != requirement.second.end();
                  });
         });
}

// Whether the class's driver says that it can provide the claim's volume on the node. Drivers that
// report no capacities can everywhere.
bool HasCapacity(const VolumeObjects& objects, const StorageClassObject& storage_class,
                 const VolumeClaimObject& claim, const NodeSpec& node) {
  if (!claim.request.has_value()) return true;
  const CsiDriverObject* driver = objects.FindCsiDriver(storage_class.provisioner);
  if (driver == nullptr || !driver->storage_capacity) return true;
  return std::any_of(objects.capacities.begin(), objects.capacities.end(),
                     [&](const StorageCapacityObject& capacity) {
                       return capacity.storage_class == storage_class.name &&
                              capacity.limit.has_value() && *capacity.limit >= *claim.request &&
                              Selects(capacity.node_topology, node.labels);
                     });
}

StepResult Refusal(ReasonIndex reason, std::string message) {
  StepResult result;
  result.code = StepCode::kUnresolvable;
  result.reason = reason;
  result.message = std::move(message);
  return result;
}

StepResult Failure(std::string message) {
  StepResult result = Refusal(kUnusableClaims, std::move(message));
  result.code = StepCode::kError;
  return result;
}

// Why the claim keeps the pod from every node, whatever the nodes; empty: it does not.
std::string ProblemOfClaim(const PodVolume& used, absl::string_view ns,
                           const VolumeClaimObject* claim) {
  if (claim == nullptr) {
    if (!used.ephemeral) return ClaimNotFound(used.claim);
    return absl::StrCat(
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"",
        used.claim, "\"");
  }
  if (claim->lost) {
    return absl::StrCat("persistentvolumeclaim \"", claim->name,
                        "\" bound to non-existent persistentvolume \"", claim->volume_name, "\"");
  }
  if (claim->deleting) {
    return absl::StrCat("persistentvolumeclaim \"", claim->name, "\" is being deleted");
  }
  if (used.ephemeral && (claim->controller_uid.empty() || claim->controller_uid != used.pod_uid)) {
    return absl::StrCat("PVC ", ns, "/", claim->name, " was not created for pod ", ns, "/",
                        used.pod_name, " (pod is not owner)");
  }
  return {};
}

}  // namespace

std::vector<Reason> VolumeBinding::reasons() const {
  static const auto* const kTexts = [] {
    auto* const texts = new std::vector<std::string>;
    for (ReasonIndex verdict = 1; verdict <= kLastVerdict; ++verdict) {
      const absl::string_view bound = kBoundTexts[verdict / 3];
      const absl::string_view unbound = kUnboundTexts[verdict % 3];
      const bool both = !bound.empty() && !unbound.empty();
      texts->push_back(absl::StrCat(bound, both ? " and " : "", unbound));
    }
    return texts;
  }();
  std::vector<Reason> reasons;
  for (const std::string& text : *kTexts) reasons.push_back({ReasonKind::kVolume, text});
  reasons.push_back({ReasonKind::kVolume, "pod has unbound immediate PersistentVolumeClaims"});
  reasons.push_back({ReasonKind::kVolume, "a persistentvolumeclaim of the pod cannot be used"});
  return reasons;
}

std::vector<std::string> VolumeBinding::ReasonTexts(const PodContext& pod,
                                                    const ClusterState& cluster, NodeId node,
                                                    ReasonIndex local) const {
  if (local > kLastVerdict) return FilterPlugin::ReasonTexts(pod, cluster, node, local);
  std::vector<std::string> texts;
  for (const absl::string_view text : {kBoundTexts[local / 3], kUnboundTexts[local % 3]}) {
    if (!text.empty()) texts.emplace_back(text);
  }
  return texts;
}

const ClaimReference& VolumeBinding::ClaimOf(const PersistentVolumeObject& volume) const {
  if (!volume.claim.name.empty() || assumed_volumes_.empty()) return volume.claim;
  const auto assumed = assumed_volumes_.find(volume.name);
  return assumed == assumed_volumes_.end() ? volume.claim : assumed->second.claim;
}

const std::string* VolumeBinding::SelectedNode(const VolumeClaimObject& claim) const {
  if (claim.has_selected_node) return &claim.selected_node;
  const auto assumed = assumed_claims_.find(ClaimKey(claim.ns, claim.name));
  return assumed == assumed_claims_.end() ? nullptr : &assumed->second.node;
}

StepResult VolumeBinding::Collect(const PodContext& pod, const ClusterState& cluster,
                                  Claims* claims) const {
  *claims = Claims();
  StepResult result;
  const VolumeObjects& objects = cluster.objects().volumes;
  const std::string& ns = pod.shape->identity.ns;
  std::vector<const VolumeClaimObject*> used;
  for (const PodVolume& volume : pod.shape->volumes.volumes) {
    if (!volume.has_claim) continue;
    const VolumeClaimObject* claim = objects.FindClaim(ns, volume.claim);
    std::string problem = ProblemOfClaim(volume, ns, claim);
    if (!problem.empty()) return Refusal(kUnusableClaims, std::move(problem));
    used.push_back(claim);
  }
  if (used.empty()) {
    result.code = StepCode::kSkip;
    return result;
  }
  bool immediate = false;
  for (const VolumeClaimObject* claim : used) {
    if (claim->is_bound()) {
      claims->bound.push_back(objects.FindVolume(claim->volume_name));
      continue;
    }
    const StorageClassObject* storage_class =
        claim->storage_class.empty() ? nullptr : objects.FindClass(claim->storage_class);
    using BindingMode = StorageClassObject::BindingMode;
    const BindingMode mode =
        storage_class == nullptr ? BindingMode::kImmediate : storage_class->binding_mode;
    if (mode == BindingMode::kUnset) {
      return Failure(absl::StrCat("VolumeBindingMode not set for StorageClass \"",
                                  claim->storage_class, "\""));
    }
    if (mode == BindingMode::kImmediate || !claim->volume_name.empty()) {
      immediate = true;
    } else {
      claims->unbound.push_back(claim);
    }
  }
  if (immediate) {
    return Refusal(kImmediateUnbound, "pod has unbound immediate PersistentVolumeClaims");
  }
  // The smallest claims first, so that each gets the smallest volume that fits.
  std::stable_sort(claims->unbound.begin(), claims->unbound.end(),
                   [](const VolumeClaimObject* a, const VolumeClaimObject* b) {
                     return a->request.value_or(0) < b->request.value_or(0);
                   });
  for (const VolumeClaimObject* claim : claims->unbound) {
    std::vector<const PersistentVolumeObject*>& candidates = claims->candidates.emplace_back();
    if (SelectedNode(*claim) != nullptr) continue;
    if (!claim->selector.error.empty()) {
      return Failure(absl::StrCat("error creating internal label selector for claim: ", claim->ns,
                                  "/", claim->name, ": ", claim->selector.error));
    }
    for (const PersistentVolumeObject& volume : objects.volumes) {
      if (volume.storage_class != claim->storage_class) continue;
      const ClaimReference& reference = ClaimOf(volume);
      if (reference.name.empty() || IsBoundTo(reference, *claim)) candidates.push_back(&volume);
    }
  }
  return result;
}

StepResult VolumeBinding::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  return Collect(pod, cluster, &claims_);
}

// The volume that is kept for the claim, or the smallest one that fits it; null: none.
const PersistentVolumeObject* VolumeBinding::FindMatch(
    const VolumeClaimObject& claim, absl::Span<const PersistentVolumeObject* const> candidates,
    const NodeSpec& node, const Plan& plan) const {
  const PersistentVolumeObject* smallest = nullptr;
  for (const PersistentVolumeObject* volume : candidates) {
    const bool chosen =
        std::any_of(plan.bindings.begin(), plan.bindings.end(),
                    [volume](const auto& binding) { return binding.first == volume; });
    if (chosen || volume->capacity < claim.request.value_or(0) || volume->block != claim.block ||
        volume->attributes_class != claim.attributes_class || volume->deleting) {
      continue;
    }
    const bool reaches = Reaches(node, *volume);
    if (IsBoundTo(ClaimOf(*volume), claim)) return reaches ? volume : nullptr;
    if (!reaches || !volume->available || !HasModes(*volume, claim) ||
        (claim.selector.given && !Selects(claim.selector, volume->labels))) {
      continue;
    }
    if (smallest == nullptr || volume->capacity < smallest->capacity) smallest = volume;
  }
  return smallest;
}

VolumeBinding::Plan VolumeBinding::PlanFor(const Claims& claims, const ClusterState& cluster,
                                           NodeId id) const {
  const NodeSpec& node = cluster.node_spec(id);
  const VolumeObjects& objects = cluster.objects().volumes;
  Plan plan;
  BoundProblem bound = kBoundFits;
  for (const PersistentVolumeObject* volume : claims.bound) {
    if (volume != nullptr && Reaches(node, *volume)) continue;
    bound = volume == nullptr ? kVolumeMissing : kNodeConflict;
    break;
  }
  for (const VolumeClaimObject* claim : claims.unbound) {
    const std::string* selected = SelectedNode(*claim);
    if (selected == nullptr) continue;
    if (*selected != node.name) {
      plan.why_not = VerdictOf(bound, kNothingToBind);
      return plan;
    }
    plan.provisions.push_back(claim);
  }
  for (size_t i = 0; i < claims.unbound.size(); ++i) {
    const VolumeClaimObject* claim = claims.unbound[i];
    if (SelectedNode(*claim) != nullptr) continue;
    const PersistentVolumeObject* volume = FindMatch(*claim, claims.candidates[i], node, plan);
    if (volume != nullptr) {
      plan.bindings.emplace_back(volume, claim);
    } else {
      plan.provisions.push_back(claim);
    }
  }
  UnboundProblem unbound = kUnboundFits;
  for (const VolumeClaimObject* claim : plan.provisions) {
    const StorageClassObject* storage_class = objects.FindClass(claim->storage_class);
    if (storage_class == nullptr || storage_class->provisioner.empty() ||
        storage_class->provisioner == kNoProvisioner || !MeetsTopology(node, *storage_class)) {
      unbound = kNothingToBind;
    } else if (!HasCapacity(objects, *storage_class, *claim, node)) {
      unbound = kNoSpace;
    }
    if (unbound != kUnboundFits) break;
  }
  plan.why_not = VerdictOf(bound, unbound);
  return plan;
}

void VolumeBinding::Filter(const PodContext&, const ClusterState& cluster,
                           absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits) verdicts[i] = PlanFor(claims_, cluster, nodes[i]).why_not;
  }
}

StepResult VolumeBinding::PreScore(const PodContext&, const ClusterState&,
                                   absl::Span<const NodeId>) {
  StepResult result;
  result.code = StepCode::kSkip;
  return result;
}

void VolumeBinding::Score(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
                          absl::Span<int64_t> scores) {
  std::fill(scores.begin(), scores.end(), 0);
}

StepResult VolumeBinding::Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) {
  // The claims of the attempt may belong to another pod by now.
  Claims claims;
  const StepResult collected = Collect(pod, cluster, &claims);
  if (collected.code != StepCode::kSuccess) return {};
  const Plan plan = PlanFor(claims, cluster, node);
  for (const auto& [volume, claim] : plan.bindings) {
    if (!volume->claim.name.empty()) continue;  // it is the claim's for good
    assumed_volumes_[volume->name] = {{claim->ns, claim->name, claim->uid}, pod.pod};
  }
  for (const VolumeClaimObject* claim : plan.provisions) {
    assumed_claims_[ClaimKey(claim->ns, claim->name)] = {cluster.node_spec(node).name, pod.pod};
  }
  return {};
}

void VolumeBinding::Unreserve(const PodContext& pod, const ClusterState&, NodeId) {
  std::erase_if(assumed_volumes_, [&](const auto& entry) { return entry.second.pod == pod.pod; });
  std::erase_if(assumed_claims_, [&](const auto& entry) { return entry.second.pod == pod.pod; });
}

void VolumeBinding::Save(StateWriter& out) const {
  out.Section("VolumeBinding");
  out.U64(assumed_volumes_.size());
  for (const auto& [volume, assumed] : assumed_volumes_) {
    out.Str(volume);
    out.Str(assumed.claim.ns);
    out.Str(assumed.claim.name);
    out.Str(assumed.claim.uid);
    out.U64(assumed.pod.value());
  }
  out.U64(assumed_claims_.size());
  for (const auto& [claim, assumed] : assumed_claims_) {
    out.Str(claim.first);
    out.Str(claim.second);
    out.Str(assumed.node);
    out.U64(assumed.pod.value());
  }
}

absl::Status VolumeBinding::Load(StateReader& in) {
  in.Section("VolumeBinding");
  assumed_volumes_.clear();
  for (size_t n = in.Count(); n > 0 && in.status().ok(); --n) {
    std::string volume = in.Str();
    AssumedVolume assumed;
    assumed.claim.ns = in.Str();
    assumed.claim.name = in.Str();
    assumed.claim.uid = in.Str();
    assumed.pod = PodId(static_cast<uint32_t>(in.U64()));
    assumed_volumes_.emplace(std::move(volume), std::move(assumed));
  }
  assumed_claims_.clear();
  for (size_t n = in.Count(); n > 0 && in.status().ok(); --n) {
    std::string ns = in.Str();
    std::string name = in.Str();
    AssumedClaim assumed;
    assumed.node = in.Str();
    assumed.pod = PodId(static_cast<uint32_t>(in.U64()));
    assumed_claims_.emplace(ClaimKey(std::move(ns), std::move(name)), std::move(assumed));
  }
  return in.status();
}

void RegisterVolumeBinding(Registry& registry) {
  registry.AddPlugin("VolumeBinding",
                     [](const PolicyContext&) { return std::make_unique<VolumeBinding>(); });
}

}  // namespace drasim
