// Sequences of API calls that the scheduler plugin makes for one claim, as state machines: Next
// gives a call, takes the reply to it with the next call, and ends with none.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_CLAIM_TASKS_H_
#define DRASIM_POLICIES_DRA_CLAIM_TASKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/claim_version.h"

namespace drasim {

// Pause before a call that met a conflict is tried again: retry.DefaultRetry of client-go, which
// adds up to a tenth at random.
inline constexpr int64_t kRetryPauseNs = 10'000'000;

class ClaimTask {
 public:
  enum class Kind : uint8_t { kSingleCall, kDelete, kBind };
  virtual ~ClaimTask() = default;
  virtual Kind kind() const = 0;
  // The next call; none at the end. `reply` answers the previous one: null for the first.
  virtual std::optional<ClaimCall> Next(const ClaimReply* reply) = 0;
  // Whether the call that Next gave is due only after kRetryPauseNs.
  bool pauses() const { return pauses_; }
  // Valid at the end.
  const absl::Status& status() const { return status_; }
  // The claim's latest version that a call returned, or the one given; null once it is deleted.
  const ClaimRef& claim() const { return claim_; }

  // For checkpoints (sim/dra/api/plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.claim_, s.pauses_, s.status_);
  }

 protected:
  explicit ClaimTask(ClaimRef claim) : claim_(std::move(claim)) {}
  // Ends the task.
  std::optional<ClaimCall> Fail(absl::Status status) {
    status_ = std::move(status);
    return std::nullopt;
  }
  ClaimRef claim_;
  bool pauses_ = false;

 private:
  absl::Status status_;
};

// Makes a single call.
class SingleCallTask : public ClaimTask {
 public:
  explicit SingleCallTask(ClaimCall call) : ClaimTask(call.claim), call_(std::move(call)) {}
  Kind kind() const override { return Kind::kSingleCall; }
  std::optional<ClaimCall> Next(const ClaimReply* reply) override;

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    ClaimTask::Fields(a, s);
    a(s.call_);
  }

 private:
  ClaimCall call_;
};

// Takes the finalizer away and deletes the claim.
class DeleteClaimTask : public ClaimTask {
 public:
  explicit DeleteClaimTask(ClaimRef claim) : ClaimTask(std::move(claim)) {}
  Kind kind() const override { return Kind::kDelete; }
  std::optional<ClaimCall> Next(const ClaimReply* reply) override;

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    ClaimTask::Fields(a, s);
    a(s.stage_, s.attempts_);
  }

 private:
  enum class Stage : uint8_t { kBegin, kRefresh, kUpdate, kDelete };
  std::optional<ClaimCall> Update();

  Stage stage_ = Stage::kBegin;
  int attempts_ = 0;
};

// The writes that are due when a pod is bound.
struct ClaimReservation {
  // The devices found for the claim; null if it was allocated before.
  AllocationRef allocation;
  PodConsumer consumer;
  std::string timestamp;  // of the allocation, where it has none; empty: it gets none
  // Another pod of the group may have written the allocation; this pod only joins then.
  bool may_be_written = false;
  // The claim is not one that the API server returned: it is read first.
  bool is_stale = false;
  // The claim is the scheduler's own, for extended resources: it is made first, and the pod learns
  // of it last.
  bool is_synthetic = false;
  std::vector<proto::kube::ContainerExtendedResourceRequest> mappings;
  std::string pod_key;  // "default/pod-0", of a synthetic claim's pod

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.allocation, s.consumer, s.timestamp, s.may_be_written, s.is_stale, s.is_synthetic,
      s.mappings, s.pod_key);
  }
};

// Makes the claim if need be, adds the finalizer, and writes allocation and reservation. After a
// conflict it goes on with the claim as it is stored.
class BindClaimTask : public ClaimTask {
 public:
  BindClaimTask(ClaimRef claim, ClaimReservation reservation)
      : ClaimTask(std::move(claim)), reservation_(std::move(reservation)) {}
  Kind kind() const override { return Kind::kBind; }
  std::optional<ClaimCall> Next(const ClaimReply* reply) override;

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    ClaimTask::Fields(a, s);
    a(s.reservation_, s.stage_, s.attempts_);
  }

 private:
  enum class Stage : uint8_t { kBegin, kCreate, kRefresh, kFinalizer, kStatus, kPodStatus };
  std::optional<ClaimCall> AfterFailure(const absl::Status& status);
  std::optional<ClaimCall> AddFinalizer();
  std::optional<ClaimCall> WriteStatus();
  std::optional<ClaimCall> TellPod();

  ClaimReservation reservation_;
  Stage stage_ = Stage::kBegin;
  int attempts_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_TASKS_H_
