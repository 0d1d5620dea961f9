// Random changes of claims, as a sink may be told them, and what they come to by definition.
#ifndef DRASIM_TESTS_SIM_RECORD_CLAIM_SCRIPT_H_
#define DRASIM_TESTS_SIM_RECORD_CLAIM_SCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/claim_change.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/live_claims.h"

namespace drasim {

// A function of the seed. Kinds come in any order, which a fold must not mind; only creations and
// deletions alternate.
class ClaimScript {
 public:
  explicit ClaimScript(uint64_t seed) : random_(seed, "claim script") {}

  ClaimChange Next(SimTime time) {
    ClaimChange change;
    change.time = time;
    if (live_.size() < 2 || (live_.size() < 12 && random_.Bernoulli(1, 6))) {
      last_ += 1 + random_.Below(3);
      change.kind = ClaimChangeKind::kCreated;
      change.claim = last_;
      change.identity.name = absl::StrCat("default/claim-", last_);
      if (random_.Bernoulli(3, 4)) change.identity.pod = absl::StrCat("pod-", last_ / 2);
      change.identity.class_name = random_.Bernoulli(1, 2) ? "gpu" : "mig";
      change.identity.mode = static_cast<ClaimMode>(random_.Below(kClaimModes));
      live_.push_back(last_);
      return change;
    }
    const size_t row = random_.Below(live_.size());
    change.claim = live_[row];
    change.kind = static_cast<ClaimChangeKind>(1 + random_.Below(kClaimChangeKinds - 1));
    switch (change.kind) {
      case ClaimChangeKind::kDriverAsked:
        change.asked = static_cast<uint32_t>(random_.Below(3));
        break;
      case ClaimChangeKind::kNodeSelected:
        change.node = SomeNode();
        change.asked = static_cast<uint32_t>(random_.Below(3));
        break;
      case ClaimChangeKind::kDriverAnswered:
        change.asked = 2;
        change.refused = static_cast<uint32_t>(random_.Below(3));
        change.text = SomeWords();
        break;
      case ClaimChangeKind::kAllocated:
        change.node = SomeNode();
        for (uint64_t i = random_.Below(3); i > 0; --i) {
          change.grants.push_back({static_cast<uint8_t>(i), kNoPlacement, 1000});
        }
        for (uint64_t i = random_.Below(3); i > 0; --i) change.devices.push_back(SomeDevice());
        break;
      case ClaimChangeKind::kReserved:
      case ClaimChangeKind::kUnreserved:
        change.text = absl::StrCat("pod-", random_.Below(4));
        break;
      case ClaimChangeKind::kPrepared:
      case ClaimChangeKind::kUnprepared:
        change.node = NodeId(random_.Below(2));
        break;
      case ClaimChangeKind::kPrepareFailed:
        change.node = NodeId(random_.Below(2));
        change.text = SomeWords();
        break;
      case ClaimChangeKind::kAllocationFailed:
        change.text = SomeWords();
        break;
      case ClaimChangeKind::kDeleted:
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(row));
        break;
      default:
        break;
    }
    return change;
  }

 private:
  NodeId SomeNode() {
    const uint64_t node = random_.Below(3);
    return node == 2 ? NodeId() : NodeId(node);
  }
  ClaimDevice SomeDevice() {
    ClaimDevice device;
    device.request = random_.Bernoulli(1, 2) ? "gpu" : "gpu/large";
    device.driver = "gpu.example.com";
    device.pool = absl::StrCat("node-", random_.Below(2));
    device.device = absl::StrCat("gpu-", random_.Below(4));
    if (random_.Bernoulli(3, 4)) device.slice = absl::StrCat("slice-", random_.Below(2));
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      const auto kind = static_cast<DeviceFactKind>(random_.Below(kDeviceFactKinds));
      device.facts.push_back({kind, absl::StrCat("name-", random_.Below(3)),
                              absl::StrCat("value-", random_.Below(3))});
    }
    return device;
  }
  std::string SomeWords() {
    const uint64_t words = random_.Below(4);
    return words == 0 ? std::string() : absl::StrCat(words, " GPUs wanted, none free");
  }

  Random random_;
  std::vector<uint64_t> live_;
  uint64_t last_ = 0;
};

// The claims after the changes before record number `records`, and with `until` those behind it
// that are not later.
inline LiveClaims ClaimsAfter(const std::vector<LoggedClaimChange>& changes, uint64_t records,
                              std::optional<SimTime> until = std::nullopt) {
  LiveClaims claims;
  for (const LoggedClaimChange& logged : changes) {
    const bool behind =
        logged.records == records && until.has_value() && logged.change.time <= *until;
    if (logged.records < records || behind) claims.Apply(logged.change);
  }
  return claims;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_RECORD_CLAIM_SCRIPT_H_
