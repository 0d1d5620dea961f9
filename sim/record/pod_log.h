// Where and when each pod ran, for pods.csv.
#ifndef DRASIM_SIM_RECORD_POD_LOG_H_
#define DRASIM_SIM_RECORD_POD_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/record.h"
#include "model/state_io.h"

namespace drasim {

class PodLog : public RecordSink {
 public:
  static constexpr uint32_t kNoFailure = ~uint32_t{0};

  struct Row {
    NodeId node;
    DeviceSet devices;
    int32_t attempts_failed = 0;
    SimTime start;
    SimTime end;
    uint32_t failure = kNoFailure;  // a SummaryId: of the last attempt that failed
  };
  // `with_grants`: one more column, for runs in which pods get parts of devices, or get them from
  // their nodes. It is part of what a checkpoint expects. `summaries`: of why attempts failed;
  // outlives the log. Without them nothing is said of pods that wait or were given up.
  explicit PodLog(bool with_grants = false, const VerdictSummaryTable* summaries = nullptr)
      : with_grants_(with_grants), summaries_(summaries) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override;
  const std::vector<Row>& rows() const { return rows_; }

  // Appends the header, then one line per pod in arrival order, in pieces: `first` to `last`
  // (exclusive). Times in seconds; empty where there is none. Devices are indices joined by '-'.
  // With grants: what of them, as AppendGrants has it. The last column is why the pod was last
  // turned away by a node, as AdmissionReason has it; else, of a pod that waits or was given up,
  // why no node took it.
  std::string CsvHeader() const;
  void AppendCsv(const ClusterState& cluster, size_t first, size_t last, std::string* out) const;

  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  struct Part {
    DeviceGrants grants;
    AdmissionFailure failure = AdmissionFailure::kNone;
  };
  void NoteDevices(const Record& record, const ClusterState& cluster);
  void AppendReason(const PodShape& shape, size_t pod, PodPhase phase, std::string* out) const;

  bool with_grants_;
  const VerdictSummaryTable* summaries_;
  // Reason of the attempt in the record before: a gang that is given up is dropped right after
  // one of its pods has failed.
  uint32_t failure_before_ = kNoFailure;
  std::vector<Row> rows_;
  std::vector<Part> parts_;  // beside rows_; empty without grants
};

// A CSV field (RFC 4180): quoted when it holds a comma, a quote or a line break.
void AppendCsvField(absl::string_view text, std::string* out);

// Virtual time as decimal seconds, exact: "0", "1.5", "0.000000001".
void AppendSeconds(SimTime time, std::string* out);

// Parts of a node's devices, joined by ';': "2" for the whole of GPU 2, "1 (250m)" for 250
// thousandths of GPU 1, "0:3g.40gb@4" for a MIG instance with its first unit,
// "0:3g.40gb@4 (250m)" for a part of one that is 250 thousandths of the GPU. `table`: of the node's
// GPUs; null when no part is of an instance. CHECKs that the placements are the table's.
void AppendGrants(const MigTable* table, absl::Span<const DeviceGrant> grants, std::string* out);

void SaveGrants(absl::Span<const DeviceGrant> grants, StateWriter& out);
// Fails the reader when a device or an amount is out of range; whether a placement is one of the
// table's remains to be seen.
DeviceGrants LoadGrants(StateReader& in);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_POD_LOG_H_
