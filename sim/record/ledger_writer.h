// Writes the ledger of a run: DIR/ledger.partial during the run, DIR/ledger when it is complete.
#ifndef DRASIM_SIM_RECORD_LEDGER_WRITER_H_
#define DRASIM_SIM_RECORD_LEDGER_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/claim_change.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "sim/record/atomic_file.h"
#include "sim/record/gpu_layouts.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/pod_owners.h"
#include "sim/record/wire_message.h"

namespace drasim {

// A writer's state right after a checkpoint, as read from its ledger.
struct LedgerPosition {
  std::vector<LedgerReader::Checkpoint> checkpoints;  // so far, this one last
  uint64_t bytes = 0;                                 // of the file, including this checkpoint
  int64_t last_time_ns = 0;                           // of the records so far
  int64_t last_pod = 0;                               // likewise
  size_t shapes = 0;                                  // defined so far
  size_t summaries = 0;                               // likewise
  std::string header;                                 // serialised
  LedgerIndex index;                                  // of the frames so far
  LedgerDigest digest;                                // of the records so far
  ClaimLog claims;                                    // of the claim changes so far
};

// The position after the last complete checkpoint; without checkpoints if there is none. `reader`
// is freshly opened. It is read up to that position, so damage before it is reported as DataLoss.
// `pace` is that of the writer. O(records).
absl::StatusOr<LedgerPosition> FindLastCheckpoint(LedgerReader& reader,
                                                  const LedgerPace& pace = LedgerPace());

// Frames are written whole, so the file of a killed run is readable up to its last complete frame.
class LedgerWriter : public RecordSink {
 public:
  // Creates `path`.partial and writes the header. `cluster` and `summaries` must outlive the
  // writer. `layouts`: none in a run without static MIG layouts.
  static absl::StatusOr<std::unique_ptr<LedgerWriter>> Create(
      const std::string& path, absl::string_view scenario_yaml, const ClusterState& cluster,
      absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries,
      const LedgerPace& pace = LedgerPace(), LayoutLookup layouts = nullptr);

  // A writer that continues a partial ledger from `position`, as if it had written all bytes
  // before: the same records give the same bytes. No records may be added before Reopen.
  // FailedPrecondition if the ledger's header is not the one that Create would write.
  static absl::StatusOr<std::unique_ptr<LedgerWriter>> Continue(
      const LedgerPosition& position, absl::string_view scenario_yaml, const ClusterState& cluster,
      absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries,
      LayoutLookup layouts = nullptr);
  // Cuts `path`.partial at the position. Unavailable if it is missing or shorter; it is then left
  // unchanged.
  absl::Status Reopen(const std::string& path);

  // Bounds the file's size (default: none). The writer fails with ResourceExhausted instead of
  // writing the frame that would exceed it; the file stays readable.
  void set_max_bytes(uint64_t bytes) { max_bytes_ = bytes; }
  // The jobs of the pods (default: unknown), each there before its pods arrive. They outlive the
  // writer.
  void set_jobs(const JobTable* jobs) { jobs_ = jobs; }

  // Gives the calls by client of the API server so far (default: none are known). Called at most
  // once a block.
  void set_calls(std::function<std::vector<ClientCalls>()> calls) { calls_ = std::move(calls); }

  // A line of what extenders answered, with its line break (ledger_extender_calls.h). It is in the
  // file before the next checkpoint and the end.
  void AddExtenderCall(absl::string_view line) { absl::StrAppend(&extender_calls_, line); }

  void OnRecord(const Record& record, const ClusterState& cluster) override;
  bool wants_claim_changes() const override { return true; }
  void OnClaimChange(const ClaimChange& change) override { claims_.Add(records_, change); }
  absl::Status status() const override { return status_; }

  // Adds a checkpoint: the state after all records so far, which builds on those added before.
  absl::Status AddCheckpoint(const SavedState& state);
  // Ends the ledger, which keeps its temporary name until Commit.
  absl::Status Seal(uint64_t fingerprint);
  // Gives a sealed ledger its final name.
  absl::Status Commit() { return file_.Commit(); }
  // Seal and Commit.
  absl::Status Finish(uint64_t fingerprint);
  // Writes buffered records and leaves the file as `path`.partial.
  absl::Status Abandon();

 private:
  LedgerWriter(const ClusterState* cluster, const VerdictSummaryTable* summaries,
               LayoutLookup layouts)
      : cluster_(cluster), summaries_(summaries), layouts_(std::move(layouts)) {
    file_.KeepTemporary();
  }
  void WriteFrame(FrameType type, absl::string_view payload);
  // The same, with an entry in the index: the frame stands after `records` records.
  void WriteIndexed(FrameType type, uint64_t records, SimTime time, absl::string_view payload);
  void FlushBlock();
  // Before a record at that time, which would make it too long.
  bool EndsBlock(SimTime time) const;
  // The frames that are due after a block; `all`: also what would wait for more.
  void WriteDigest(bool all);
  void WriteKeyframe();
  void WriteClaims();
  void WriteExtenderCalls();
  void AppendDefinitions();
  void AddOwner(PodId pod);
  std::optional<uint64_t> StaticInstances(NodeId node, size_t gpu) const;
  void AddDeviceChange(const Record& record, const ClusterState& cluster);
  void AddGrants(absl::Span<const DeviceGrant> grants);

  const ClusterState* cluster_;
  const VerdictSummaryTable* summaries_;
  LayoutLookup layouts_;  // or none
  AtomicFile file_;
  uint64_t offset_ = 0;
  uint64_t max_bytes_ = ~uint64_t{0};
  absl::Status status_;
  // The block in progress: the columns of most records, and the rest.
  size_t block_records_ = 0;
  WireMessage columns_;
  proto::LedgerBlock block_;
  WireMessage scratch_;  // for other frames
  LedgerIndex index_;
  LedgerDigest digest_;
  ClaimLog claims_;
  std::string extender_calls_;  // not written yet
  std::function<std::vector<ClientCalls>()> calls_;
  const JobTable* jobs_ = nullptr;
  uint64_t records_ = 0;
  int64_t last_time_ns_ = 0;
  int64_t last_pod_ = 0;
  int64_t last_job_ = 0;       // of the arrivals in the block in progress
  TenantRows tenant_rows_;     // likewise
  SimTime time_before_block_;  // of the last record before the block in progress
  SimTime block_begin_;        // of its first record
  bool any_time_ = false;
  bool any_priority_ = false;
  bool any_grants_ = false;
  bool any_preemptor_ = false;
  size_t shapes_written_ = 0;
  size_t summaries_written_ = 0;
  std::string buffer_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_WRITER_H_
