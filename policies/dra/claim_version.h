// Versions of a claim that share their parts. A write changes little of a claim, and a claim has a
// version for every write: its specification, its allocation and unchanged metadata are not copied
// from one to the next.
#ifndef DRASIM_POLICIES_DRA_CLAIM_VERSION_H_
#define DRASIM_POLICIES_DRA_CLAIM_VERSION_H_

#include <google/protobuf/arena.h>

#include <memory>

#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_port.h"

namespace drasim {

struct ClaimParts {
  std::shared_ptr<const proto::kube::DeviceClaim> devices;  // spec.devices; null: not set
  AllocationRef allocation;                                 // status.allocation; null: not set
  std::shared_ptr<const proto::kube::ObjectMeta> metadata;  // null: not set
};

// The parts of a claim. Those of a claim that was not made by a ClaimDraft keep it alive. O(1).
ClaimParts PartsOf(const ClaimRef& claim);

// The next version of a claim.
class ClaimDraft {
 public:
  ClaimDraft();
  // Copies all fields but the parts, which it shares.
  explicit ClaimDraft(const ClaimRef& from);

  ClaimParts& parts() { return parts_; }
  // The draft's own; a copy of a shared one.
  proto::kube::ObjectMeta* metadata();
  // All of the status but its allocation.
  proto::kube::ResourceClaimStatusV1* status() { return claim_->mutable_status(); }

  // The version; the draft is used up.
  ClaimRef Finish() &&;

 private:
  std::unique_ptr<google::protobuf::Arena> arena_;
  proto::kube::ResourceClaimV1* claim_;  // of the arena; without its parts
  ClaimParts parts_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_VERSION_H_
