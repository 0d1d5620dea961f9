#include "policies/dra/claim_version.h"

#include <utility>

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// Room for the fields of most claims, which then take one allocation.
constexpr size_t kClaimBytes = 2048;

std::unique_ptr<google::protobuf::Arena> NewArena() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = kClaimBytes;
  return std::make_unique<google::protobuf::Arena>(options);
}

// The deleter of a claim: its arena has the claim, but not the parts, which belong to others.
class PartsKeeper {
 public:
  PartsKeeper(std::shared_ptr<google::protobuf::Arena> arena, ClaimParts parts)
      : arena_(std::move(arena)), parts_(std::move(parts)) {}
  const ClaimParts& parts() const { return parts_; }
  void operator()(kube::ResourceClaimV1* /*claim*/) { arena_.reset(); }

 private:
  std::shared_ptr<google::protobuf::Arena> arena_;
  ClaimParts parts_;
};

}  // namespace

ClaimDraft::ClaimDraft()
    : arena_(NewArena()),
      claim_(google::protobuf::Arena::CreateMessage<kube::ResourceClaimV1>(arena_.get())) {}

ClaimParts PartsOf(const ClaimRef& claim) {
  if (const auto* const keeper = std::get_deleter<PartsKeeper>(claim); keeper != nullptr) {
    ClaimParts parts = keeper->parts();
    if (parts.metadata == nullptr && claim->has_metadata()) {
      parts.metadata = {claim, &claim->metadata()};
    }
    return parts;
  }
  ClaimParts parts;
  if (claim->has_metadata()) parts.metadata = {claim, &claim->metadata()};
  if (claim->spec().has_devices()) parts.devices = {claim, &claim->spec().devices()};
  if (claim->status().has_allocation()) parts.allocation = {claim, &claim->status().allocation()};
  return parts;
}

ClaimDraft::ClaimDraft(const ClaimRef& from) : ClaimDraft() {
  claim_->set_api_version(from->api_version());
  claim_->set_kind(from->kind());
  if (from->has_spec()) claim_->mutable_spec();
  if (from->has_status()) {
    *status()->mutable_reserved_for() = from->status().reserved_for();
    *status()->mutable_devices() = from->status().devices();
  }
  parts_ = PartsOf(from);
}

kube::ObjectMeta* ClaimDraft::metadata() {
  if (parts_.metadata != nullptr) *claim_->mutable_metadata() = *parts_.metadata;
  parts_.metadata = nullptr;
  return claim_->mutable_metadata();
}

// The message refers to the parts, which nothing changes through it: a ClaimRef is constant.
ClaimRef ClaimDraft::Finish() && {
  if (parts_.metadata != nullptr) {
    claim_->unsafe_arena_set_allocated_metadata(
        const_cast<kube::ObjectMeta*>(parts_.metadata.get()));
  }
  if (parts_.devices != nullptr) {
    claim_->mutable_spec()->unsafe_arena_set_allocated_devices(
        const_cast<kube::DeviceClaim*>(parts_.devices.get()));
  }
  if (parts_.allocation != nullptr) {
    claim_->mutable_status()->unsafe_arena_set_allocated_allocation(
        const_cast<kube::AllocationResultV1*>(parts_.allocation.get()));
  }
  return std::shared_ptr<kube::ResourceClaimV1>(claim_,
                                                PartsKeeper(std::move(arena_), std::move(parts_)));
}

}  // namespace drasim
