// Claim changes of DRA in the ledger: the frames that hold them, and a writer's state.
//
// A change lies between two records; `records` is the number of records before it. Frames of
// changes follow blocks, and hold the changes since the frame of changes before. Beside each
// keyframe stands a frame with the claims that are live there, if there are any.
#ifndef DRASIM_SIM_RECORD_LEDGER_CLAIMS_H_
#define DRASIM_SIM_RECORD_LEDGER_CLAIMS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/claim_change.h"
#include "model/time.h"
#include "sim/record/live_claims.h"

namespace drasim {

struct LoggedClaimChange {
  uint64_t records = 0;  // before it
  ClaimChange change;
  bool operator==(const LoggedClaimChange&) const = default;
};

// Calls of one client of the API server since the start of the run.
struct ClientCalls {
  std::string client;
  uint64_t calls = 0;
  bool operator==(const ClientCalls&) const = default;
};

// Calls at the place of a frame.
struct CallsSample {
  SimTime time;  // of the last record before it
  std::vector<ClientCalls> clients;
};

// The payload of a frame that stands after `records` records, the last of them at `time`. The
// numbers of records before the changes ascend.
std::string PackClaims(uint64_t records, SimTime time, absl::Span<const LoggedClaimChange> changes,
                       absl::Span<const ClientCalls> calls = {});
// Adds the changes of a frame. False if the payload is unreadable, names a node beyond `nodes`, has
// changes behind its own place, times before the start of the run, or a gigabyte of texts.
bool UnpackClaims(const std::string& payload, size_t nodes,
                  std::vector<LoggedClaimChange>* changes);

// The calls of such a frame. False if the payload is unreadable.
bool UnpackCalls(const std::string& payload, CallsSample* sample);

// The same for the live claims.
std::string PackLiveClaims(uint64_t records, SimTime time, const LiveClaims& claims);
bool UnpackLiveClaims(const std::string& payload, size_t nodes, LiveClaims* claims);

// The changes that a writer has still to write, and the live claims for its keyframes.
class ClaimLog {
 public:
  void Add(uint64_t records, const ClaimChange& change);
  // A further record: the live claims are now those before it.
  void OnRecord() {
    if (!unfolded_.empty()) Fold();
  }

  bool has_unwritten() const { return !unwritten_.empty(); }
  std::string Pack(uint64_t records, SimTime time, absl::Span<const ClientCalls> calls) const {
    return PackClaims(records, time, unwritten_, calls);
  }
  void PassWritten() { unwritten_.clear(); }
  // After all changes before the last record.
  const LiveClaims& live() const { return live_; }

 private:
  void Fold();

  std::vector<LoggedClaimChange> unwritten_;
  std::vector<ClaimChange> unfolded_;  // since the last record
  LiveClaims live_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_CLAIMS_H_
