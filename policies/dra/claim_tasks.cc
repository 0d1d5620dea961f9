#include "policies/dra/claim_tasks.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "model/kube/objects.h"
#include "policies/dra/claim_rules.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// retry.DefaultRetry of client-go.
constexpr int kMostAttempts = 5;

ClaimCall CallOf(ClaimVerb verb, ClaimRef claim) {
  ClaimCall call;
  call.verb = verb;
  call.claim = std::move(claim);
  return call;
}

absl::Status Wrap(const absl::Status& status, const std::string& doing) {
  return absl::Status(status.code(), absl::StrCat(doing, ": ", status.message()));
}

}  // namespace

std::optional<ClaimCall> SingleCallTask::Next(const ClaimReply* reply) {
  if (reply == nullptr) return call_;
  if (reply->status.ok()) claim_ = reply->claim;
  return Fail(reply->status);
}

std::optional<ClaimCall> DeleteClaimTask::Update() {
  stage_ = Stage::kUpdate;
  ++attempts_;
  ClaimDraft unprotected(claim_);
  auto* finalizers = unprotected.metadata()->mutable_finalizers();
  for (int i = 0; i < finalizers->size(); ++i) {
    if (finalizers->Get(i) != kStructuredClaimFinalizer) continue;
    finalizers->DeleteSubrange(i, 1);
    break;
  }
  return CallOf(ClaimVerb::kUpdate, std::move(unprotected).Finish());
}

std::optional<ClaimCall> DeleteClaimTask::Next(const ClaimReply* reply) {
  pauses_ = false;
  if (stage_ == Stage::kBegin) return Update();
  const std::string key = ClaimKey(claim_);
  if (!reply->status.ok()) {
    if (stage_ == Stage::kRefresh) {
      return Fail(Wrap(reply->status, absl::StrCat("get resourceclaim ", key)));
    }
    if (stage_ == Stage::kDelete) {
      return Fail(absl::IsNotFound(reply->status) ? absl::OkStatus() : reply->status);
    }
    if (absl::IsAborted(reply->status) && attempts_ < kMostAttempts) {
      pauses_ = true;
      stage_ = Stage::kRefresh;
      return CallOf(ClaimVerb::kGet, claim_);
    }
    return Fail(Wrap(reply->status, absl::StrCat("update resourceclaim ", key)));
  }
  if (stage_ == Stage::kDelete) {
    claim_ = nullptr;
    return std::nullopt;
  }
  claim_ = reply->claim;
  if (stage_ == Stage::kRefresh) return Update();
  stage_ = Stage::kDelete;
  return CallOf(ClaimVerb::kDelete, claim_);
}

std::optional<ClaimCall> BindClaimTask::AddFinalizer() {
  ++attempts_;
  if (claim_.deleting()) {
    return Fail(absl::FailedPreconditionError(
        absl::StrCat("claim ", ClaimKey(claim_), " got deleted in the meantime")));
  }
  if (reservation_.allocation == nullptr) return WriteStatus();
  if (claim_.is_allocated() && reservation_.may_be_written) {
    reservation_.allocation = nullptr;
    return WriteStatus();
  }
  if (claim_.is_allocated()) {
    return Fail(absl::FailedPreconditionError(
        absl::StrCat("claim ", ClaimKey(claim_), " got allocated elsewhere in the meantime")));
  }
  if (claim_.guarded()) return WriteStatus();
  stage_ = Stage::kFinalizer;
  ClaimEdit edit;
  edit.guards = true;
  return CallOf(ClaimVerb::kUpdate, EditClaim(claim_, std::move(edit)));
}

std::optional<ClaimCall> BindClaimTask::WriteStatus() {
  stage_ = Stage::kStatus;
  ClaimEdit edit;
  edit.allocation =
      reservation_.allocation != nullptr ? reservation_.allocation : claim_.allocation();
  // Without binding conditions it is left to the API server to refuse the reservation.
  if (!reservation_.timestamp.empty() && edit.allocation == nullptr) {
    return Fail(absl::FailedPreconditionError(
        absl::StrCat("claim ", ClaimKey(claim_), " got deallocated elsewhere in the meantime")));
  }
  edit.consumer = reservation_.consumer;
  if (!reservation_.timestamp.empty() && edit.allocation->allocation_timestamp().empty()) {
    edit.allocation = WithTimestamp(std::move(edit.allocation), reservation_.timestamp);
  }
  return CallOf(ClaimVerb::kUpdateStatus, EditClaim(claim_, std::move(edit)));
}

std::optional<ClaimCall> BindClaimTask::TellPod() {
  if (!reservation_.is_synthetic) return std::nullopt;
  if (reservation_.mappings.empty()) {
    return Fail(absl::FailedPreconditionError(
        absl::StrCat("nil or empty request mappings, no update of pod ", reservation_.pod_key,
                     " ExtendedResourceClaimStatus")));
  }
  stage_ = Stage::kPodStatus;
  ClaimCall call = CallOf(ClaimVerb::kPatchPodStatus, claim_);
  auto pod_status = std::make_shared<kube::ExtendedResourceClaimStatus>();
  pod_status->set_resource_claim_name(std::string(claim_.name()));
  pod_status->mutable_request_mappings()->Assign(reservation_.mappings.begin(),
                                                 reservation_.mappings.end());
  call.pod_status = std::move(pod_status);
  return call;
}

std::optional<ClaimCall> BindClaimTask::AfterFailure(const absl::Status& status) {
  const std::string key = ClaimKey(claim_);
  const bool updates = stage_ == Stage::kFinalizer || stage_ == Stage::kStatus;
  if (updates && absl::IsAborted(status) && attempts_ < kMostAttempts) {
    pauses_ = true;
    stage_ = Stage::kRefresh;
    return CallOf(ClaimVerb::kGet, claim_);
  }
  switch (stage_) {
    case Stage::kCreate:
      return Fail(Wrap(status, absl::StrCat("create claim for extended resources ", key)));
    case Stage::kRefresh:
      return Fail(Wrap(status, absl::StrCat("get updated claim ", key, " after conflict")));
    case Stage::kFinalizer:
      return Fail(Wrap(status, absl::StrCat("add finalizer to claim ", key)));
    case Stage::kPodStatus:
      return Fail(Wrap(status, absl::StrCat("update pod ", reservation_.pod_key,
                                            " ExtendedResourceClaimStatus")));
    case Stage::kBegin:
    case Stage::kStatus:
      break;
  }
  const char* const what =
      reservation_.allocation != nullptr ? "add allocation and reservation" : "add reservation";
  return Fail(Wrap(status, absl::StrCat(what, " to claim ", key)));
}

std::optional<ClaimCall> BindClaimTask::Next(const ClaimReply* reply) {
  pauses_ = false;
  if (reply != nullptr && !reply->status.ok()) return AfterFailure(reply->status);
  if (reply != nullptr && reply->claim != nullptr) claim_ = reply->claim;
  switch (stage_) {
    case Stage::kBegin:
      if (reservation_.is_stale) {
        stage_ = Stage::kRefresh;
        return CallOf(ClaimVerb::kGet, claim_);
      }
      if (!reservation_.is_synthetic || !claim_.uid().empty()) return AddFinalizer();
      stage_ = Stage::kCreate;
      return CallOf(ClaimVerb::kCreate, claim_);
    case Stage::kCreate:
    case Stage::kRefresh:
      return AddFinalizer();
    case Stage::kFinalizer:
      return WriteStatus();
    case Stage::kStatus:
      return TellPod();
    case Stage::kPodStatus:
      break;
  }
  return std::nullopt;
}

}  // namespace drasim
