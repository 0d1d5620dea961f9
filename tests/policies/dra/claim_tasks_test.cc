#include "policies/dra/claim_tasks.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "model/kube/objects.h"
#include "policies/dra/claim_rules.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;
using dra_rig::FromText;

ClaimReservation ReservationForPod() {
  ClaimReservation reservation;
  reservation.allocation = std::make_shared<proto::kube::AllocationResultV1>(
      FromText<proto::kube::AllocationResultV1>("devices { results { request: \"r\" } }"));
  reservation.consumer.uid = "uid-pod";
  reservation.timestamp = "2000-01-01T00:00:00Z";
  reservation.pod_key = "default/pod";
  return reservation;
}

ClaimReply Stored(ClaimRef claim) { return {absl::OkStatus(), std::move(claim)}; }

ClaimReply Refused(absl::Status status) { return {std::move(status), nullptr}; }

TEST(BindClaimTaskTest, GuardsThenWritesAllocationAndReservation) {
  BindClaimTask task(ClaimOf("c"), ReservationForPod());
  std::optional<ClaimCall> call = task.Next(nullptr);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kUpdate);
  EXPECT_TRUE(call->claim.guarded());
  EXPECT_FALSE(IsAllocatedClaim(*call->claim));
  ClaimReply reply = Stored(call->claim);
  call = task.Next(&reply);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kUpdateStatus);
  EXPECT_TRUE(IsReservedFor(*call->claim, "uid-pod"));
  EXPECT_EQ(call->claim->status().allocation().devices().results(0).request(), "r");
  EXPECT_EQ(call->claim->status().allocation().allocation_timestamp(), "2000-01-01T00:00:00Z");
  reply = Stored(call->claim);
  EXPECT_FALSE(task.Next(&reply).has_value());
  EXPECT_TRUE(task.status().ok());
  EXPECT_EQ(task.claim(), reply.claim);
}

TEST(BindClaimTaskTest, ReservesAnAllocatedClaimWithOneCall) {
  ClaimReservation reservation = ReservationForPod();
  reservation.allocation.reset();
  BindClaimTask task(ClaimOf("c", R"(status { allocation {
                                       allocation_timestamp: "1999-01-01T00:00:00Z" } })"),
                     std::move(reservation));
  const std::optional<ClaimCall> call = task.Next(nullptr);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kUpdateStatus);
  EXPECT_EQ(call->claim->status().allocation().allocation_timestamp(), "1999-01-01T00:00:00Z");
}

TEST(BindClaimTaskTest, GoesOnWithTheStoredClaimAfterAConflict) {
  BindClaimTask task(ClaimOf("c"), ReservationForPod());
  task.Next(nullptr);
  ClaimReply reply = Refused(absl::AbortedError("changed"));
  std::optional<ClaimCall> call = task.Next(&reply);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kGet);
  reply = Stored(ClaimOf("c", "metadata { resource_version: \"7\" }"));
  call = task.Next(&reply);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kUpdate);
  EXPECT_EQ(call->claim->metadata().resource_version(), "7");
}

TEST(BindClaimTaskTest, FailsWhenTheClaimWasAllocatedElsewhere) {
  BindClaimTask task(ClaimOf("c"), ReservationForPod());
  task.Next(nullptr);
  ClaimReply reply = Refused(absl::AbortedError("changed"));
  task.Next(&reply);
  reply = Stored(ClaimOf("c", "status { allocation { } }"));
  EXPECT_FALSE(task.Next(&reply).has_value());
  EXPECT_EQ(task.status().message(), "claim default/c got allocated elsewhere in the meantime");
}

TEST(BindClaimTaskTest, FailsWhenTheClaimWasDeallocatedElsewhere) {
  for (const bool binding_conditions : {true, false}) {
    ClaimReservation reservation = ReservationForPod();
    reservation.allocation.reset();
    if (!binding_conditions) reservation.timestamp.clear();
    BindClaimTask task(ClaimOf("c", "status { allocation { } }"), std::move(reservation));
    task.Next(nullptr);
    ClaimReply reply = Refused(absl::AbortedError("changed"));
    EXPECT_TRUE(task.Next(&reply).has_value());
    EXPECT_TRUE(task.pauses());
    reply = Stored(ClaimOf("c"));
    EXPECT_EQ(task.Next(&reply).has_value(), !binding_conditions);
    EXPECT_FALSE(task.pauses());
    if (!binding_conditions) continue;
    EXPECT_EQ(task.status().message(), "claim default/c got deallocated elsewhere in the meantime");
  }
}

TEST(BindClaimTaskTest, NamesTheFailedWrite) {
  BindClaimTask finalizer(ClaimOf("c"), ReservationForPod());
  finalizer.Next(nullptr);
  const ClaimReply reply = Refused(absl::InvalidArgumentError("no"));
  EXPECT_FALSE(finalizer.Next(&reply).has_value());
  EXPECT_EQ(finalizer.status().message(), "add finalizer to claim default/c: no");
  BindClaimTask status(
      ClaimOf("c", std::string("metadata { finalizers: \"") + kStructuredClaimFinalizer + "\" }"),
      ReservationForPod());
  status.Next(nullptr);
  EXPECT_FALSE(status.Next(&reply).has_value());
  EXPECT_EQ(status.status().message(), "add allocation and reservation to claim default/c: no");
}

TEST(BindClaimTaskTest, MakesASyntheticClaimAndTellsThePod) {
  proto::kube::ResourceClaimV1 unmade;
  unmade.mutable_metadata()->set_namespace_("default");
  ClaimReservation reservation = ReservationForPod();
  reservation.is_synthetic = true;
  reservation.mappings.emplace_back().set_container_name("c0");
  BindClaimTask task(std::make_shared<const proto::kube::ResourceClaimV1>(unmade),
                     std::move(reservation));
  std::optional<ClaimCall> call = task.Next(nullptr);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kCreate);
  ClaimReply reply = Stored(ClaimOf("made"));
  for (const ClaimVerb expected : {ClaimVerb::kUpdate, ClaimVerb::kUpdateStatus}) {
    call = task.Next(&reply);
    ASSERT_TRUE(call.has_value());
    EXPECT_EQ(call->verb, expected);
    reply = Stored(call->claim);
  }
  call = task.Next(&reply);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kPatchPodStatus);
  EXPECT_EQ(call->pod_status->resource_claim_name(), "made");
}

TEST(DeleteClaimTaskTest, TakesTheFinalizerAwayFirst) {
  DeleteClaimTask task(ClaimOf("c", std::string("metadata { finalizers: \"own\" finalizers: \"") +
                                        kStructuredClaimFinalizer + "\" }"));
  std::optional<ClaimCall> call = task.Next(nullptr);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->verb, ClaimVerb::kUpdate);
  EXPECT_EQ(call->claim->metadata().finalizers_size(), 1);
  EXPECT_EQ(call->claim->metadata().finalizers(0), "own");
  ClaimReply reply = Refused(absl::AbortedError("changed"));
  EXPECT_EQ(task.Next(&reply)->verb, ClaimVerb::kGet);
  reply = Stored(ClaimOf("c"));
  EXPECT_EQ(task.Next(&reply)->verb, ClaimVerb::kUpdate);
  EXPECT_EQ(task.Next(&reply)->verb, ClaimVerb::kDelete);
  reply = Refused(absl::NotFoundError("gone"));
  EXPECT_FALSE(task.Next(&reply).has_value());
  EXPECT_TRUE(task.status().ok());
}

}  // namespace
}  // namespace drasim
