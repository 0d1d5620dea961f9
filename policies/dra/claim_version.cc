#include "policies/dra/claim_version.h"

#include <utility>

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// The deleter of a claim whose parts belong to others: it takes them out of the message first.
class PartsKeeper {
 public:
  explicit PartsKeeper(ClaimParts parts) : parts_(std::move(parts)) {}
  const ClaimParts& parts() const { return parts_; }
  void operator()(kube::ResourceClaimV1* claim) const {
    if (parts_.devices != nullptr) claim->mutable_spec()->unsafe_arena_release_devices();
    if (parts_.allocation != nullptr) claim->mutable_status()->unsafe_arena_release_allocation();
    delete claim;
  }

 private:
  ClaimParts parts_;
};

}  // namespace

ClaimParts PartsOf(const ClaimRef& claim) {
  if (const auto* const keeper = std::get_deleter<PartsKeeper>(claim); keeper != nullptr) {
    return keeper->parts();
  }
  ClaimParts parts;
  if (claim->spec().has_devices()) parts.devices = {claim, &claim->spec().devices()};
  if (claim->status().has_allocation()) parts.allocation = {claim, &claim->status().allocation()};
  return parts;
}

ClaimDraft::ClaimDraft(const ClaimRef& from) : ClaimDraft() {
  claim_->set_api_version(from->api_version());
  claim_->set_kind(from->kind());
  if (from->has_metadata()) *claim_->mutable_metadata() = from->metadata();
  if (from->has_spec()) claim_->mutable_spec();
  if (from->has_status()) {
    *status()->mutable_reserved_for() = from->status().reserved_for();
    *status()->mutable_devices() = from->status().devices();
  }
  parts_ = PartsOf(from);
}

// The message refers to the parts, which nothing changes through it: a ClaimRef is constant.
ClaimRef ClaimDraft::Finish() && {
  if (parts_.devices != nullptr) {
    claim_->mutable_spec()->unsafe_arena_set_allocated_devices(
        const_cast<kube::DeviceClaim*>(parts_.devices.get()));
  }
  if (parts_.allocation != nullptr) {
    claim_->mutable_status()->unsafe_arena_set_allocated_allocation(
        const_cast<kube::AllocationResultV1*>(parts_.allocation.get()));
  }
  kube::ResourceClaimV1* const claim = claim_.release();
  return std::shared_ptr<kube::ResourceClaimV1>(claim, PartsKeeper(std::move(parts_)));
}

}  // namespace drasim
