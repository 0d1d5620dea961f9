// Writes the ledger of a run as it happens: DIR/ledger.partial while it grows, DIR/ledger once
// complete.
#ifndef DRASIM_SIM_RECORD_LEDGER_WRITER_H_
#define DRASIM_SIM_RECORD_LEDGER_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "sim/record/atomic_file.h"
#include "sim/record/ledger_reader.h"

namespace drasim {

// Where a writer stood when it had written a checkpoint, as its ledger tells.
struct LedgerPosition {
  std::vector<LedgerReader::Checkpoint> checkpoints;  // so far; the last is this one
  uint64_t bytes = 0;                                 // of the file, this checkpoint included
  int64_t last_time_ns = 0;                           // of the records so far, as is last_pod
  int64_t last_pod = 0;
  size_t shapes = 0;  // defined so far, as are summaries
  size_t summaries = 0;
  std::string header;  // serialised
};

// The position behind the last checkpoint that is whole; without checkpoints when there is none.
// `reader` has just been opened on a file; it is read up to there, so that what is damaged before
// that place comes out as the reader's DataLoss. O(records).
absl::StatusOr<LedgerPosition> FindLastCheckpoint(LedgerReader& reader);

// A frame is written whole, so that a killed run leaves a file that is readable up to its last
// complete frame.
class LedgerWriter : public RecordSink {
 public:
  static constexpr size_t kRecordsPerBlock = 4096;

  // Creates `path`.partial and writes the header. `cluster` and `summaries` must outlive the
  // writer.
  static absl::StatusOr<std::unique_ptr<LedgerWriter>> Create(const std::string& path,
                                                              absl::string_view scenario_yaml,
                                                              const ClusterState& cluster,
                                                              absl::Span<const uint32_t> ranks,
                                                              const VerdictSummaryTable& summaries);

  // A writer that stands at `position` of a ledger that was cut short, and goes on from there as if
  // it had written all before: the same records give the same bytes. Until Reopen it must get none.
  // FailedPrecondition when the ledger began with another header than Create would write.
  static absl::StatusOr<std::unique_ptr<LedgerWriter>> Continue(
      const LedgerPosition& position, absl::string_view scenario_yaml, const ClusterState& cluster,
      absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries);
  // Cuts `path`.partial at the position. Unavailable when it is missing or shorter; it then stays
  // as it is.
  absl::Status Reopen(const std::string& path);

  // A frame that would make the ledger larger is not written: the writer fails with
  // ResourceExhausted, and what is there stays readable. Without a call there is no bound.
  void set_max_bytes(uint64_t bytes) { max_bytes_ = bytes; }

  void OnRecord(const Record& record, const ClusterState& cluster) override;
  absl::Status status() const override { return status_; }

  // The state after all records so far.
  absl::Status AddCheckpoint(const std::string& state);
  // Ends the ledger, which keeps its temporary name until Commit.
  absl::Status Seal(uint64_t fingerprint);
  // Gives a sealed ledger its final name.
  absl::Status Commit() { return file_.Commit(); }
  // Seal and Commit.
  absl::Status Finish(uint64_t fingerprint);
  // Writes what is buffered and leaves the file as `path`.partial.
  absl::Status Abandon();

 private:
  LedgerWriter(const ClusterState* cluster, const VerdictSummaryTable* summaries)
      : cluster_(cluster), summaries_(summaries) {
    file_.KeepTemporary();
  }
  void WriteFrame(int type, absl::string_view payload);
  void FlushBlock();
  void AppendDefinitions();
  void AddGrants(absl::Span<const DeviceGrant> grants);

  const ClusterState* cluster_;
  const VerdictSummaryTable* summaries_;
  AtomicFile file_;
  uint64_t offset_ = 0;
  uint64_t max_bytes_ = ~uint64_t{0};
  absl::Status status_;
  proto::LedgerBlock block_;
  proto::LedgerEnd end_;
  uint64_t records_ = 0;
  int64_t last_time_ns_ = 0;
  int64_t last_pod_ = 0;
  bool any_time_ = false;
  bool any_priority_ = false;
  bool any_grants_ = false;
  size_t shapes_written_ = 0;
  size_t summaries_written_ = 0;
  std::string buffer_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_WRITER_H_
