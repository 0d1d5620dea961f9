#include "policies/dra/claim_ref.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "model/kube/objects.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

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

bool IsReservedFor(const kube::ResourceClaimV1& claim, absl::string_view consumer_uid) {
  return absl::c_any_of(claim.status().reserved_for(), [&](const kube::ConsumerReference& each) {
    return each.uid() == consumer_uid;
  });
}

absl::string_view ClaimRef::ns() const {
  return source_ == nullptr ? message_->metadata().namespace_() : source_->ns();
}

absl::string_view ClaimRef::name() const {
  return source_ == nullptr ? message_->metadata().name() : source_->name();
}

std::string ClaimRef::uid() const {
  return source_ == nullptr ? message_->metadata().uid() : source_->uid();
}

bool ClaimRef::deleting() const {
  return source_ == nullptr ? !message_->metadata().deletion_timestamp().empty()
                            : source_->deleting();
}

bool ClaimRef::guarded() const {
  if (source_ != nullptr) return source_->guarded();
  return absl::c_linear_search(message_->metadata().finalizers(), kStructuredClaimFinalizer);
}

bool ClaimRef::IsReservedFor(absl::string_view consumer) const {
  return source_ == nullptr ? drasim::IsReservedFor(*message_, consumer)
                            : source_->IsReservedFor(consumer);
}

bool ClaimRef::IsControlledBy(absl::string_view owner) const {
  if (source_ != nullptr) return source_->IsControlledBy(owner);
  return absl::c_any_of(message_->metadata().owner_references(),
                        [owner](const kube::OwnerReference& reference) {
                          return reference.controller() && reference.uid() == owner;
                        });
}

DevicesRef ClaimRef::devices() const {
  return source_ == nullptr ? PartsOf(*this).devices : source_->devices();
}

AllocationRef ClaimRef::allocation() const {
  return source_ == nullptr ? PartsOf(*this).allocation : source_->allocation();
}

ClaimParts PartsOf(const ClaimRef& ref) {
  const ClaimRef::Message& claim = ref.message();
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

ClaimRef::Message KeepParts(kube::ResourceClaimV1* claim,
                            std::shared_ptr<google::protobuf::Arena> arena, ClaimParts parts) {
  return std::shared_ptr<kube::ResourceClaimV1>(claim,
                                                PartsKeeper(std::move(arena), std::move(parts)));
}

}  // namespace drasim
