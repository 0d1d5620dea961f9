// Reads a ledger, complete or partial, and rebuilds the cluster by re-applying its records.
#ifndef DRASIM_SIM_RECORD_LEDGER_READER_H_
#define DRASIM_SIM_RECORD_LEDGER_READER_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cluster_state.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "model/text/mig_table_set.h"
#include "sim/record/gpu_layouts.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/live_state.h"
#include "sim/record/pod_owners.h"

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
  // The owners of a pod of cluster(); an invalid job and "" if the ledger does not tell.
  JobId JobOf(PodId pod) const { return owners_.job(pod); }
  absl::string_view TenantOf(PodId pod) const { return owners_.tenant(pod); }
  // The instances of a GPU with a static MIG layout, held or not: bit per placement of its table.
  // None in a run without such layouts, where pods make their instances. REQUIRES: the GPU exists.
  std::optional<uint64_t> LayoutOf(NodeId node, size_t gpu) const {
    return layouts_.Of(*cluster_, node, gpu);
  }

  // After Next returned false: whether the run was complete, and its fingerprint.
  bool complete() const { return complete_; }
  uint64_t fingerprint() const { return end_.fingerprint(); }
  // Records before the next one.
  uint64_t records() const { return records_; }
  // Whether the last record was the last of its block.
  bool at_block_end() const { return in_block_ >= block_.kind().size(); }

  // Checkpoints of the file. Records are not read: the list comes from the index of a complete
  // ledger, else (partial or damaged) from a walk over the frames.
  struct Checkpoint {
    uint64_t records = 0;
    uint64_t offset = 0;
  };
  absl::StatusOr<std::vector<Checkpoint>> ListCheckpoints();
  // The state as Engine::Save writes it. O(bytes of the checkpoints up to it).
  absl::StatusOr<std::string> ReadCheckpoint(const Checkpoint& checkpoint);
  // The same as a state that builds on no other.
  absl::StatusOr<SavedState> ReadSavedState(const Checkpoint& checkpoint);

  // --- random access; LedgerSeek (ledger_seek.h) builds on it ---

  // The places of all frames, found as for ListCheckpoints.
  absl::StatusOr<LedgerIndex> ReadIndex();
  // The payload of the frame of the type at `offset`. The position stays.
  absl::StatusOr<std::string> ReadPayload(FrameType type, uint64_t offset);
  // Adds the definitions of a frame. A reader that jumps has those of all frames before the
  // keyframe.
  absl::Status ReadDefinitions(uint64_t offset);
  // Makes the record after a keyframe the next one. From then on cluster() has only the pods that
  // were live there and those that arrived later, and records name its rows; a failed attempt of a
  // pod that had ended has no pod. `live` is set to the live state. Spans and references into
  // cluster() become invalid. After an error, Jump or Rewind must succeed before the next record.
  absl::Status Jump(const LedgerPlace& keyframe, LiveState* live);
  // Makes record 0 the next one, as in a freshly opened reader.
  absl::Status Rewind();
  // From now on frames beside the records are passed over unread, so damage in them goes unnoticed.
  void set_skips_frames() { skips_frames_ = true; }
  // The time of the next record; false at the end.
  absl::StatusOr<bool> NextTime(SimTime* time);
  // The place of a row of cluster() in the run's order of arrivals.
  uint64_t NumberOf(PodId pod) const;
  // The row of a pod; absent if it has not arrived, or had ended before the keyframe.
  std::optional<PodId> FindPod(uint64_t number) const;

 private:
  LedgerReader(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  static absl::StatusOr<std::unique_ptr<LedgerReader>> Start(std::FILE* file, std::string path);
  // False at the end or at a torn frame. `skip`: leaves out payloads of frames beside the records.
  absl::StatusOr<bool> ReadFrame(int* type, std::string* payload, bool skip = false);
  absl::Status BuildState(uint64_t offset, SavedState* state);
  bool ReadEnd(LedgerIndex* index);
  void WalkFrames(LedgerIndex* index);
  absl::Status CountLastBlock(LedgerIndex* index);
  absl::Status ResetCluster();
  absl::Status ResetLayouts();
  absl::Status LoadHeader();
  absl::StatusOr<bool> HasNext();
  absl::StatusOr<bool> LoadBlock();
  // `source` is a LedgerBlock or LedgerDefinitions.
  template <typename Source>
  absl::Status AddDefinitions(const Source& source);
  absl::Status DecodeRecord(Record* record);
  absl::Status Apply(Record* record);
  absl::Status AddArrival(const Record& record);
  absl::Status ChangeNode(const Record& record);
  absl::Status DecodeGrants();
  absl::Status DecodePreemptor(Record* record);
  // Pods that have arrived.
  uint64_t pods() const { return pods_before_ + (cluster_->pod_count() - number_of_row_.size()); }
  absl::Status ChangeDevices(const Record& record);
  absl::Status ChangeLayouts(const Record& record);
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
  PodOwners owners_;
  GpuLayouts layouts_;

  proto::LedgerBlock block_;
  size_t in_block_ = 0;  // next record of the block, and cursors of its sparse columns
  int next_node_ = 0;
  int next_detail_ = 0;
  int next_arrival_ = 0;
  int next_grants_ = 0;
  int next_grant_ = 0;
  int next_allocatable_ = 0;
  int next_preemptor_ = 0;
  int next_layout_ = 0;
  int64_t job_ = 0;      // of the last arrival in the block
  DeviceGrants grants_;  // of the present record
  uint64_t records_ = 0;
  int64_t time_ns_ = 0;
  int64_t pod_ = 0;  // number of the pod of the last record

  uint64_t first_frame_ = 0;  // offset behind the header
  bool skips_frames_ = false;
  size_t shapes_seen_ = 0;     // defined by the blocks so far; the table may have more
  size_t summaries_seen_ = 0;  // likewise
  // Pods before the keyframe: their number, the live ones by row, and rows by number (kNoRow: it
  // had ended). Empty without a keyframe, where rows are numbers.
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  uint64_t pods_before_ = 0;
  std::vector<uint32_t> number_of_row_;
  std::vector<uint32_t> row_of_number_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_READER_H_
