#include "policies/dra/claim_version.h"

#include <memory>
#include <utility>

#include "model/kube/objects.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// Room for the fields of most claims, which then take one allocation.
constexpr size_t kClaimBytes = 1024;

std::unique_ptr<google::protobuf::Arena> NewArena() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = kClaimBytes;
  return std::make_unique<google::protobuf::Arena>(options);
}

}  // namespace

ClaimDraft::ClaimDraft()
    : arena_(NewArena()),
      claim_(google::protobuf::Arena::CreateMessage<kube::ResourceClaimV1>(arena_.get())) {}

ClaimSource::Message EditedClaim::Make() const {
  ClaimDraft made(from_);
  if (edit_.guards) made.metadata()->add_finalizers(kStructuredClaimFinalizer);
  if (edit_.allocation != nullptr) made.parts().allocation = edit_.allocation;
  if (edit_.consumer.has_value()) {
    kube::ConsumerReference* const consumer = made.status()->add_reserved_for();
    consumer->set_resource(kPodConsumers);
    consumer->set_name(edit_.consumer->name);
    consumer->set_uid(edit_.consumer->uid);
  }
  return std::move(made).Finish().message();
}

ClaimRef EditClaim(ClaimRef from, ClaimEdit edit) {
  return ClaimRef(std::make_shared<const EditedClaim>(std::move(from), std::move(edit)));
}

// The copy refers to parts of the original, which nothing changes through it.
AllocationRef WithTimestamp(AllocationRef allocation, const std::string& timestamp) {
  auto stamped = std::make_unique<kube::AllocationResultV1>();
  const kube::AllocationResultV1& from = *allocation;
  if (from.has_devices()) {
    stamped->unsafe_arena_set_allocated_devices(
        const_cast<kube::DeviceAllocationResult*>(&from.devices()));
  }
  if (from.has_node_selector()) {
    stamped->unsafe_arena_set_allocated_node_selector(
        const_cast<kube::NodeSelector*>(&from.node_selector()));
  }
  stamped->set_allocation_timestamp(timestamp);
  const auto give_back = [from = std::move(allocation)](kube::AllocationResultV1* copy) {
    copy->unsafe_arena_release_devices();
    copy->unsafe_arena_release_node_selector();
    delete copy;
  };
  return AllocationRef(stamped.release(), give_back);
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
  return KeepParts(claim_, std::move(arena_), std::move(parts_));
}

}  // namespace drasim
