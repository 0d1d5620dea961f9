#include "policies/dra/claim_rules.h"

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

struct ClaimName {
  absl::string_view text;  // empty: no claim was needed
  bool generated = false;
};

absl::StatusOr<ClaimName> NameOfPodClaim(const ClaimingPod& pod, const ClaimingPod::Entry& entry) {
  if (!entry.claim.empty()) return ClaimName{entry.claim, /*generated=*/false};
  if (!entry.from_template.empty()) {
    const auto generated = absl::c_find_if(
        pod.generated, [&entry](const auto& one) { return one.entry == entry.name; });
    if (generated != pod.generated.end()) return ClaimName{generated->claim, /*generated=*/true};
  }
  const std::string who = absl::StrCat("pod \"", pod.ns, "/", pod.name, "\"");
  if (entry.from_template.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(who, ", spec.resourceClaim \"", entry.name,
                                                   "\": none of the supported fields are set"));
  }
  return absl::NotFoundError(absl::StrCat(who, ": ResourceClaim not created yet"));
}

}  // namespace

bool CanBeReserved(const kube::ResourceClaimV1& claim) {
  return claim.status().reserved_for_size() < kMaxClaimConsumers;
}

std::string ClaimKey(const ClaimRef& claim) {
  if (claim.ns().empty()) return std::string(claim.name());
  return absl::StrCat(claim.ns(), "/", claim.name());
}

std::string HolderOf(const ClaimRef& claim) {
  std::string uid = claim.uid();
  return uid.empty() ? ClaimKey(claim) : uid;
}

absl::Status ForEachPodClaim(const ClaimingPod& pod, const ClaimCache& cache,
                             absl::FunctionRef<void(const ClaimRef&)> visit) {
  for (const ClaimingPod::Entry& entry : pod.claims) {
    ASSIGN_OR_RETURN(const ClaimName name, NameOfPodClaim(pod, entry));
    if (name.text.empty()) continue;
    const ClaimRef claim = cache.FindClaim(pod.ns, name.text);
    if (claim == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("could not find ResourceClaim \"", pod.ns, "/", name.text, "\""));
    }
    if (claim.deleting()) {
      return absl::FailedPreconditionError(
          absl::StrCat("resourceclaim \"", name.text, "\" is being deleted"));
    }
    if (name.generated && !claim.IsControlledBy(pod.uid)) {
      return absl::FailedPreconditionError(absl::StrCat("ResourceClaim ", ClaimKey(claim),
                                                        " was not created for pod ", pod.ns, "/",
                                                        pod.name, " (pod is not owner)"));
    }
    visit(claim);
  }
  return absl::OkStatus();
}

}  // namespace drasim
