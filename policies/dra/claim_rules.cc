#include "policies/dra/claim_rules.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/kube/objects.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

struct ClaimName {
  std::string text;  // empty: no claim was needed
  bool generated = false;
};

absl::StatusOr<ClaimName> NameOfPodClaim(const kube::Pod& pod,
                                         const kube::PodResourceClaim& entry) {
  if (!entry.resource_claim_name().empty()) {
    return ClaimName{entry.resource_claim_name(), /*generated=*/false};
  }
  const std::string who =
      absl::StrCat("pod \"", pod.metadata().namespace_(), "/", pod.metadata().name(), "\"");
  if (entry.resource_claim_template_name().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(who, ", spec.resourceClaim \"", entry.name(),
                                                   "\": none of the supported fields are set"));
  }
  for (const kube::PodResourceClaimStatus& status : pod.status().resource_claim_statuses()) {
    if (status.name() == entry.name()) {
      return ClaimName{status.resource_claim_name(), /*generated=*/true};
    }
  }
  return absl::NotFoundError(absl::StrCat(who, ": ResourceClaim not created yet"));
}

}  // namespace

bool IsReservedFor(const kube::ResourceClaimV1& claim, absl::string_view consumer_uid) {
  const auto& consumers = claim.status().reserved_for();
  return std::any_of(consumers.begin(), consumers.end(), [&](const kube::ConsumerReference& each) {
    return each.uid() == consumer_uid;
  });
}

bool CanBeReserved(const kube::ResourceClaimV1& claim) {
  return claim.status().reserved_for_size() < kMaxClaimConsumers;
}

bool HasClaimFinalizer(const kube::ResourceClaimV1& claim) {
  const auto& finalizers = claim.metadata().finalizers();
  return std::find(finalizers.begin(), finalizers.end(), kStructuredClaimFinalizer) !=
         finalizers.end();
}

std::string ClaimKey(const kube::ResourceClaimV1& claim) {
  const kube::ObjectMeta& metadata = claim.metadata();
  if (metadata.namespace_().empty()) return metadata.name();
  return absl::StrCat(metadata.namespace_(), "/", metadata.name());
}

std::string HolderOf(const ClaimRef& claim) {
  std::string uid = claim.uid();
  return uid.empty() ? ClaimKey(*claim) : uid;
}

absl::Status ForEachPodClaim(const kube::Pod& pod, const ClaimCache& cache,
                             absl::FunctionRef<void(const ClaimRef&)> visit) {
  const std::string& ns = pod.metadata().namespace_();
  for (const kube::PodResourceClaim& entry : pod.spec().resource_claims()) {
    ASSIGN_OR_RETURN(const ClaimName name, NameOfPodClaim(pod, entry));
    if (name.text.empty()) continue;
    const ClaimRef claim = cache.FindClaim(ns, name.text);
    if (claim == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("could not find ResourceClaim \"", ns, "/", name.text, "\""));
    }
    if (claim.deleting()) {
      return absl::FailedPreconditionError(
          absl::StrCat("resourceclaim \"", name.text, "\" is being deleted"));
    }
    if (name.generated && !claim.IsControlledBy(pod.metadata().uid())) {
      return absl::FailedPreconditionError(
          absl::StrCat("ResourceClaim ", ClaimKey(*claim), " was not created for pod ", ns, "/",
                       pod.metadata().name(), " (pod is not owner)"));
    }
    visit(claim);
  }
  return absl::OkStatus();
}

}  // namespace drasim
