// Versions of a claim that share their parts. A write changes little of a claim, and a claim has a
// version for every write: its specification, its allocation and unchanged metadata are not copied
// from one to the next.
#ifndef DRASIM_POLICIES_DRA_CLAIM_VERSION_H_
#define DRASIM_POLICIES_DRA_CLAIM_VERSION_H_

#include <google/protobuf/arena.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_ref.h"

namespace drasim {

// A pod as an entry of status.reservedFor.
struct PodConsumer {
  std::string name;
  std::string uid;

  // For checkpoints (sim/dra/api/plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.name, s.uid);
  }
};
inline constexpr char kPodConsumers[] = "pods";  // the resource of such an entry

// A write of the scheduler to a claim, made to bind a pod.
struct ClaimEdit {
  bool guards = false;                  // adds kStructuredClaimFinalizer
  AllocationRef allocation;             // of the status; null: stays as it is
  std::optional<PodConsumer> consumer;  // is added to status.reservedFor
};

// The version of a claim that follows an edit.
class EditedClaim : public ClaimSource {
 public:
  EditedClaim(ClaimRef from, ClaimEdit edit) : from_(std::move(from)), edit_(std::move(edit)) {}
  const ClaimRef& from() const { return from_; }
  const ClaimEdit& edit() const { return edit_; }
  absl::string_view ns() const override { return from_.ns(); }
  absl::string_view name() const override { return from_.name(); }
  std::string uid() const override { return from_.uid(); }
  bool deleting() const override { return from_.deleting(); }
  bool guarded() const override { return edit_.guards || from_.guarded(); }
  DevicesRef devices() const override { return from_.devices(); }
  AllocationRef allocation() const override {
    return edit_.allocation != nullptr ? edit_.allocation : from_.allocation();
  }
  bool IsControlledBy(absl::string_view owner) const override {
    return from_.IsControlledBy(owner);
  }
  bool IsReservedFor(absl::string_view consumer) const override {
    const bool joins = edit_.consumer.has_value() && edit_.consumer->uid == consumer;
    return joins || from_.IsReservedFor(consumer);
  }

 protected:
  Message Make() const override;

 private:
  ClaimRef from_;
  ClaimEdit edit_;
};
ClaimRef EditClaim(ClaimRef from, ClaimEdit edit);

// The allocation with allocationTimestamp; both share their devices.
AllocationRef WithTimestamp(AllocationRef allocation, const std::string& timestamp);

// Builds the next version of a claim; for changes that are no ClaimEdit.
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
