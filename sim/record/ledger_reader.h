// Reads a ledger, complete or partial, and rebuilds the cluster by re-applying its records.
#ifndef DRASIM_SIM_RECORD_LEDGER_READER_H_
#define DRASIM_SIM_RECORD_LEDGER_READER_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/cluster_state.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "model/text/mig_table_set.h"

namespace drasim {

// Input is untrusted: any bytes lead to records or an error, never to a crash. Errors: NotFound,
// InvalidArgument (not a ledger, or of an unknown version), DataLoss (damage, with the offset). A
// torn last frame is not an error: the ledger is partial, and ends before that frame.
class LedgerReader {
 public:
  // A directory stands for the `ledger` (or `ledger.partial`) inside it.
  static absl::StatusOr<std::unique_ptr<LedgerReader>> Open(const std::string& path);
  // `bytes` must outlive the reader.
  static absl::StatusOr<std::unique_ptr<LedgerReader>> FromMemory(absl::string_view bytes);
  ~LedgerReader();

  const proto::LedgerHeader& header() const { return header_; }
  const std::string& path() const { return path_; }

  // The next record, already applied to cluster(); false at the end.
  absl::StatusOr<bool> Next(Record* record);
  const ClusterState& cluster() const { return *cluster_; }
  const VerdictSummaryTable& summaries() const { return summaries_; }

  // After Next returned false: whether the run was complete, and its fingerprint.
  bool complete() const { return complete_; }
  uint64_t fingerprint() const { return end_.fingerprint(); }
  uint64_t records() const { return records_; }

  // Checkpoints of the file. Records are not read: the list comes from the index of a complete
  // ledger, else (partial or damaged) from a walk over the frames.
  struct Checkpoint {
    uint64_t records = 0;
    uint64_t offset = 0;
  };
  absl::StatusOr<std::vector<Checkpoint>> ListCheckpoints();
  // The state as the engine saved it.
  absl::StatusOr<std::string> ReadCheckpoint(const Checkpoint& checkpoint);

 private:
  LedgerReader(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  static absl::StatusOr<std::unique_ptr<LedgerReader>> Start(std::FILE* file, std::string path);
  // False at the end or at a torn frame.
  absl::StatusOr<bool> ReadFrame(int* type, std::string* payload);
  bool ReadIndex(std::vector<Checkpoint>* found);
  absl::Status LoadHeader();
  absl::StatusOr<bool> LoadBlock();
  absl::Status AddDefinitions();
  absl::Status DecodeRecord(Record* record);
  absl::Status Apply(Record* record);
  absl::Status ChangeNode(const Record& record);
  absl::Status DecodeGrants();
  absl::Status ChangeDevices(const Record& record);
  absl::Status ApplyPlacement(const Record& record);
  absl::Status ApplyAdmission(const Record& record);
  absl::Status Damaged(absl::string_view what) const;

  std::FILE* file_;
  std::string path_;
  uint64_t size_ = 0;
  uint64_t frame_offset_ = 0;
  proto::LedgerHeader header_;
  proto::LedgerEnd end_;
  bool complete_ = false;

  MigTableSet mig_;
  GpuModelTable models_;
  std::unique_ptr<ShapeTable> shapes_ = std::make_unique<ShapeTable>(&models_);
  std::unique_ptr<ClusterState> cluster_ = std::make_unique<ClusterState>(&models_, shapes_.get());
  VerdictSummaryTable summaries_;

  proto::LedgerBlock block_;
  size_t in_block_ = 0;  // next record of the block, and cursors of its sparse columns
  int next_node_ = 0;
  int next_detail_ = 0;
  int next_arrival_ = 0;
  int next_grants_ = 0;
  int next_grant_ = 0;
  int next_allocatable_ = 0;
  DeviceGrants grants_;  // of the present record
  uint64_t records_ = 0;
  int64_t time_ns_ = 0;
  int64_t pod_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_READER_H_
