#include "policies/dra/structured_resources.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/kube/requests.h"
#include "model/kube/rules.h"
#include "policies/dra/allocated_devices.h"
#include "policies/dra/binding_conditions.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/claim_score.h"
#include "policies/dra/claim_version.h"
#include "policies/dra/drawn_values.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

ClaimStatus Unresolvable(std::string reason) {
  return {StepCode::kUnresolvable, std::move(reason)};
}

ClaimStatus Error(std::string reason) { return {StepCode::kError, std::move(reason)}; }

// A claim without requests, which no API server knows. Its UID is unique among all claims.
ClaimRef UnmadeClaim(const ClaimingPod& pod) {
  auto claim = std::make_shared<kube::ResourceClaimV1>();
  kube::ObjectMeta* const metadata = claim->mutable_metadata();
  metadata->set_namespace_(pod.ns);
  metadata->set_name(kUnmadeClaimName);
  metadata->set_uid(absl::StrCat(kUnmadeClaimName, pod.uid));
  metadata->set_generate_name(absl::StrCat(pod.name, "-extended-resources-"));
  (*metadata->mutable_annotations())[kExtendedResourceClaimAnnotation] = "true";
  kube::OwnerReference* const owner = metadata->add_owner_references();
  owner->set_api_version("v1");
  owner->set_kind("Pod");
  owner->set_name(pod.name);
  owner->set_uid(pod.uid);
  owner->set_controller(true);
  return claim;
}

bool HasShares(const kube::AllocationResultV1& allocation) {
  const auto& results = allocation.devices().results();
  return std::any_of(results.begin(), results.end(),
                     [](const auto& result) { return result.has_share_id(); });
}

}  // namespace

StructuredResources::StructuredResources(const ClaimCache* cache, const ResourceClasses* classes,
                                         InFlightClaims* in_flight, DeviceSearchMaker make_search,
                                         const StructuredOptions& options)
    : cache_(cache),
      classes_(classes),
      in_flight_(in_flight),
      make_search_(std::move(make_search)),
      options_(options) {}

ClaimStatus StructuredResources::PreEnqueue(const ClaimingPod& pod) const {
  const absl::Status found = ForEachPodClaim(pod, *cache_, [](const ClaimRef&) {});
  return found.ok() ? ClaimStatus() : Unresolvable(std::string(found.message()));
}

// --- PreFilter ---

ClaimRef StructuredResources::FindSyntheticClaim(const ClaimingPod& pod,
                                                 StructuredCycle* cycle) const {
  if (!options_.extended_resources || pod.containers == nullptr) return nullptr;
  bool is_served = false;
  for (const auto& [resource, amount] : CountedAmounts(QuantitiesOfPod(*pod.containers))) {
    if (amount == 0 || !IsDraResourceName(resource)) continue;
    cycle->resources.push_back(resource);
    if (!classes_->ClassOf(resource).empty()) is_served = true;
  }
  if (!is_served) return nullptr;
  ClaimRef left = cache_->FindExtendedClaim(pod);
  return left != nullptr ? left : UnmadeClaim(pod);
}

ClaimStatus StructuredResources::CheckClass(const std::string& class_name,
                                            const std::string& request) const {
  if (class_name.empty()) {
    return Error(absl::StrCat("request ", request, ": unsupported request type"));
  }
  if (cache_->FindClass(class_name) != nullptr) return {};
  return Unresolvable(
      absl::StrCat("request ", request, ": device class ", class_name, " does not exist"));
}

ClaimStatus StructuredResources::CheckRequests(const ClaimRef& claim) const {
  const DevicesRef devices = claim.devices();
  if (devices == nullptr) return {};
  for (const kube::DeviceRequest& request : devices->requests()) {
    const auto refuse = [&](absl::string_view why) {
      return Unresolvable(absl::StrCat("resource claim ", ClaimKey(claim), ", request ",
                                       request.name(), ": ", why));
    };
    if (request.has_exactly()) {
      const ClaimStatus status = CheckClass(request.exactly().device_class_name(), request.name());
      if (!status.ok()) return status;
      continue;
    }
    if (request.first_available().empty()) return refuse("unknown request type");
    if (!options_.prioritized_list) {
      return refuse("has subrequests, but the DRAPrioritizedList feature is disabled");
    }
    for (const kube::DeviceSubRequest& subrequest : request.first_available()) {
      const ClaimStatus status = CheckClass(subrequest.device_class_name(),
                                            absl::StrCat(request.name(), "/", subrequest.name()));
      if (!status.ok()) return status;
    }
  }
  return {};
}

ClaimStatus StructuredResources::CheckClaim(const StructuredCycle& cycle, size_t index) const {
  const ClaimRef& claim = cycle.claims[index].claim;
  if (claim.is_allocated()) {
    const bool usable = CanBeReserved(*claim) || claim.IsReservedFor(cycle.pod.uid);
    return usable ? ClaimStatus() : Unresolvable("resourceclaim in use");
  }
  if (in_flight_->Has(claim.uid())) {
    return Unresolvable(
        absl::StrCat("resource claim ", ClaimKey(claim), " is in the process of being allocated"));
  }
  return cycle.IsSynthetic(index) ? ClaimStatus() : CheckRequests(claim);
}

ClaimStatus StructuredResources::PreFilter(const ClaimingPod& pod, int64_t now_ns,
                                           StructuredCycle* cycle) const {
  cycle->pod = pod;
  cycle->started_ns = now_ns;
  std::vector<StructuredCycle::Claim> claims;
  const absl::Status found = ForEachPodClaim(pod, *cache_, [&](const ClaimRef& claim) {
    const ClaimRef shared =
        options_.pod_groups ? in_flight_->FindShared(claim.uid(), cycle->pod_group) : nullptr;
    claims.push_back({shared != nullptr ? shared : claim, nullptr, shared != nullptr});
  });
  if (!found.ok()) return Unresolvable(std::string(found.message()));
  if (ClaimRef synthetic = FindSyntheticClaim(pod, cycle); synthetic != nullptr) {
    cycle->has_synthetic = true;
    cycle->synthetic_uid = synthetic.uid();
    claims.push_back({std::move(synthetic), nullptr, /*is_shared=*/false});
  }
  if (claims.empty()) return {StepCode::kSkip, ""};
  cycle->claims = std::move(claims);

  bool searches = false;
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    ClaimStatus status = CheckClaim(*cycle, i);
    if (!status.ok()) {
      // PostFilter finds nothing to free then.
      cycle->claims.clear();
      cycle->has_synthetic = false;
      return status;
    }
    if (!cycle->claims[i].claim.is_allocated()) searches = true;
  }
  if (!searches) return {};
  const absl::Status& use = cache_->allocated().status();
  if (!use.ok()) return Error(std::string(use.message()));
  absl::StatusOr<std::unique_ptr<DeviceSearch>> search = make_search_();
  if (!search.ok()) return Error(std::string(search.status().message()));
  cycle->search = *std::move(search);
  if (AllNodesAlike(*cycle)) cycle->synthetic_on_all = ClaimFor(cycle->resources, cycle).claim;
  return {};
}

bool StructuredResources::AllNodesAlike(const StructuredCycle& cycle) const {
  if (!cycle.has_synthetic || !offered_anywhere_) return false;
  const bool is_new = cycle.claims.back().claim->spec().devices().requests().empty();
  return is_new && absl::c_all_of(cycle.resources, [this](const std::string& resource) {
           return !classes_->ClassOf(resource).empty() && !offered_anywhere_(resource);
         });
}

const StructuredCycle::SyntheticClaim& StructuredResources::ClaimFor(
    const std::vector<std::string>& resources, StructuredCycle* cycle) const {
  const auto [known, is_new] = cycle->synthetic_claims.try_emplace(resources);
  if (!is_new) return known->second;
  ResourceRequests requests = RequestsOfResources(*cycle->pod.containers, resources, *classes_);
  auto synthetic = std::make_shared<kube::ResourceClaimV1>(*cycle->claims.back().claim);
  for (const kube::DeviceRequest& request : requests.requests) {
    *synthetic->mutable_spec()->mutable_devices()->add_requests() = request;
  }
  known->second.claim = std::move(synthetic);
  known->second.mappings = std::move(requests.mappings);
  return known->second;
}

// --- Filter ---

ClaimStatus StructuredResources::FilterResources(StructuredCycle* cycle, const kube::Node& node,
                                                 StructuredCycle::NodeFind* find) const {
  if (!cycle->has_synthetic) return {};
  const ClaimRef& claim = cycle->claims.back().claim;
  if (!claim->spec().devices().requests().empty()) {
    // Left from an earlier attempt: PostFilter deletes it.
    return Unresolvable("cannot schedule extended resource claim");
  }
  KubeAmounts allocatable;
  if (!node_amounts_) allocatable = CountedAmounts(ReadQuantities(node.status().allocatable()));
  const auto amount_of = [&](const std::string& resource) -> std::optional<int64_t> {
    if (node_amounts_) return node_amounts_(node, resource);
    const auto known = allocatable.find(resource);
    return known == allocatable.end() ? std::nullopt : std::optional<int64_t>(known->second);
  };
  std::vector<std::string> resources;
  for (const std::string& resource : cycle->resources) {
    const std::optional<int64_t> offered = amount_of(resource);
    if (offered.value_or(0) <= 0 && !classes_->ClassOf(resource).empty()) {
      resources.push_back(resource);
    } else if (!offered.has_value()) {
      return Unresolvable("cannot fit resource");
    }
  }
  if (resources.empty() && !cycle->HasUserClaims()) return {};
  if (claim.is_allocated()) return {};
  const StructuredCycle::SyntheticClaim& synthetic = ClaimFor(resources, cycle);
  find->synthetic = synthetic.claim;
  find->mappings = synthetic.mappings;
  return {};
}

bool StructuredResources::IsAvailable(const StructuredCycle& cycle, const ClaimRef& claim,
                                      const kube::Node& node) const {
  const AllocationRef allocation = claim.allocation();
  if (allocation == nullptr) return true;
  if (allocation->has_node_selector() && !SelectsNode(allocation->node_selector(), node)) {
    return false;
  }
  if (!options_.binding_conditions) return true;
  switch (ReadinessOf(*claim).state) {
    case BindingReadiness::kReady:
      return true;
    case BindingReadiness::kPending:
      return !BindingTimedOut(*claim, options_.binding_timeout_ns, cycle.started_ns);
    case BindingReadiness::kFailed:
      break;
  }
  return false;
}

ClaimStatus StructuredResources::Search(StructuredCycle* cycle, const kube::Node& node,
                                        StructuredCycle::NodeFind* find) const {
  std::vector<ClaimRef> claims;
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    const ClaimRef& claim = cycle->claims[i].claim;
    if (claim.is_allocated()) continue;
    const bool replaced = cycle->IsSynthetic(i) && find->synthetic != nullptr;
    claims.push_back(replaced ? find->synthetic : claim);
  }
  SearchResult result = cycle->search->Allocate(node, claims);
  if (options_.search_step_ns > 0 && options_.filter_timeout_ns > 0 &&
      result.steps > options_.filter_timeout_ns / options_.search_step_ns) {
    const std::string reason = "timed out trying to allocate devices";
    if (options_.release < StructuredRelease::k1_36) return Unresolvable(reason);
    return Error(absl::StrCat("node ", node.metadata().name(), ": ", reason));
  }
  switch (result.outcome) {
    case SearchOutcome::kFound:
      for (kube::AllocationResultV1& allocation : result.allocations) {
        find->allocations.push_back(
            std::make_shared<kube::AllocationResultV1>(std::move(allocation)));
      }
      find->rank = result.rank;
      return {};
    case SearchOutcome::kDoesNotFit:
      return Unresolvable("cannot allocate all claims");
    case SearchOutcome::kNodeRejected:
      return Unresolvable(std::move(result.message));
    case SearchOutcome::kError:
      break;
  }
  return Error(std::move(result.message));
}

ClaimStatus StructuredResources::Filter(StructuredCycle* cycle, const kube::Node& node) const {
  StructuredCycle::NodeFind find;
  ClaimStatus status = FilterResources(cycle, node, &find);
  if (!status.ok()) return status;
  if (find.synthetic == nullptr && !cycle->HasUserClaims()) return {};

  std::vector<size_t> unavailable;
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    if (!IsAvailable(*cycle, cycle->claims[i].claim, node)) unavailable.push_back(i);
  }
  // A node without enough devices is rejected for that, whatever else is wrong with it.
  if (cycle->search != nullptr) {
    status = Search(cycle, node, &find);
    if (!status.ok()) return status;
  }
  if (!unavailable.empty()) {
    cycle->unavailable.insert(unavailable.begin(), unavailable.end());
    return Unresolvable("resourceclaim not available on the node");
  }
  if (cycle->search != nullptr) cycle->finds[node.metadata().name()] = std::move(find);
  return {};
}

const NodeOutcomes* StructuredResources::FilterAll(const StructuredCycle& cycle) const {
  if (cycle.search == nullptr || options_.search_step_ns > 0) return nullptr;
  if (cycle.has_synthetic && cycle.synthetic_on_all == nullptr) return nullptr;
  for (const StructuredCycle::Claim& entry : cycle.claims) {
    if (entry.claim.is_allocated()) return nullptr;
  }
  const NodeOutcomes* const outcomes = cycle.search->DecideNodes(ClaimsOnAll(cycle));
  return outcomes == nullptr || outcomes->errors() > 0 ? nullptr : outcomes;
}

std::vector<ClaimRef> StructuredResources::ClaimsOnAll(const StructuredCycle& cycle) {
  std::vector<ClaimRef> claims;
  for (const StructuredCycle::Claim& entry : cycle.claims) claims.push_back(entry.claim);
  if (cycle.has_synthetic) claims.back() = cycle.synthetic_on_all;
  return claims;
}

void StructuredResources::RankAll(const StructuredCycle& cycle, absl::Span<const NodeId> nodes,
                                  absl::Span<int64_t> ranks) const {
  cycle.search->RankNodes(ClaimsOnAll(cycle), nodes, ranks);
}

// --- Score, Reserve ---

int64_t StructuredResources::Score(const StructuredCycle& cycle, const std::string& node) const {
  if (!options_.prioritized_list || options_.release < StructuredRelease::k1_35) return 0;
  const auto find = cycle.finds.find(node);
  if (find == cycle.finds.end()) return 0;
  int64_t score = 0;
  size_t next = 0;
  for (const StructuredCycle::Claim& entry : cycle.claims) {
    // Claims that were allocated before add the same to every node, which counts when scores are
    // normalised.
    if (const AllocationRef allocation = entry.claim.allocation(); allocation != nullptr) {
      score += ClaimScore(*entry.claim, *allocation);
    } else {
      score += ClaimScore(*entry.claim, *find->second.allocations[next++]);
    }
  }
  return score;
}

int64_t StructuredResources::Rank(const StructuredCycle& cycle, const std::string& node) {
  const auto find = cycle.finds.find(node);
  return find == cycle.finds.end() ? 0 : find->second.rank;
}

ClaimStatus StructuredResources::Reserve(StructuredCycle* cycle, const std::string& node) {
  const std::string& pod_uid = cycle->pod.uid;
  for (const StructuredCycle::Claim& entry : cycle->claims) {
    if (entry.is_shared) in_flight_->Join(entry.claim.uid(), pod_uid);
  }
  if (cycle->search == nullptr) return {};
  const auto find = cycle->finds.find(node);
  if (find == cycle->finds.end()) {
    // The node's device plugins serve all that the pod requests.
    if (!cycle->HasUserClaims()) return {};
    return Error("claim allocation not found for node");
  }
  size_t next = 0;
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    StructuredCycle::Claim& entry = cycle->claims[i];
    if (entry.claim.is_allocated()) continue;
    entry.allocation = find->second.allocations[next];
    ++next;
    if (options_.seed.has_value() && HasShares(*entry.allocation)) {
      auto drawn = std::make_shared<kube::AllocationResultV1>(*entry.allocation);
      DrawShareIds(*options_.seed,
                   absl::StrCat(pod_uid, " ", entry.claim.uid(), " ", cycle->started_ns),
                   drawn.get());
      entry.allocation = std::move(drawn);
    }
    const ClaimRef& unreserved = cycle->IsSynthetic(i) ? find->second.synthetic : entry.claim;
    ClaimEdit edit;
    edit.guards = !unreserved.guarded();
    edit.allocation = entry.allocation;
    in_flight_->Add(EditClaim(unreserved, std::move(edit)), pod_uid, cycle->pod_group);
  }
  return {};
}

}  // namespace drasim
