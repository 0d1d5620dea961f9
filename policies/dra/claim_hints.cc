#include "policies/dra/claim_hints.h"

#include <google/protobuf/util/message_differencer.h>

#include "absl/status/status.h"
#include "policies/dra/claim_rules.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

bool ClaimChangeHelps(const kube::Pod& pod, const kube::ResourceClaimV1* before,
                      const kube::ResourceClaimV1* after, const ClaimCache& cache) {
  const kube::ResourceClaimV1& latest = after != nullptr ? *after : *before;
  bool uses_claim = false;
  const absl::Status found = ForEachPodClaim(pod, cache, [&](const ClaimRef& claim) {
    if (claim->metadata().uid() == latest.metadata().uid()) uses_claim = true;
  });
  if (!found.ok()) return false;
  const bool was_allocated = before != nullptr && IsAllocatedClaim(*before);
  const bool is_allocated = after != nullptr && IsAllocatedClaim(*after);
  if (was_allocated && !is_allocated) return true;
  if (after == nullptr || !uses_claim) return false;
  return before == nullptr ||
         !google::protobuf::util::MessageDifferencer::Equals(before->status(), after->status());
}

bool PodChangeHelps(const kube::Pod& pod, const kube::Pod& changed, const ClaimCache& cache) {
  return pod.metadata().uid() == changed.metadata().uid() &&
         ForEachPodClaim(changed, cache, [](const ClaimRef&) {}).ok();
}

}  // namespace drasim
