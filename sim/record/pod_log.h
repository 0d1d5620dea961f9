// Place and time of each pod's run, for pods.csv.
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
    SimTime start;
    SimTime end;
  };
  // Kept apart from the rows: nearly all records of a busy run are failed attempts, and the little
  // that they touch stays in the processor's cache.
  struct Failures {
    int32_t attempts = 0;
    uint32_t last = kNoFailure;  // SummaryId of the last failed attempt
  };
  // `with_grants`: adds a column, for runs in which pods get parts of devices, or get them from
  // their nodes. Save and Load must agree on it. `summaries`: why attempts failed; outlives the
  // log. Without it the log has no reasons of pods that wait or were given up.
  explicit PodLog(bool with_grants = false, const VerdictSummaryTable* summaries = nullptr)
      : with_grants_(with_grants), summaries_(summaries) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override;
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Failures>& failures() const { return failures_; }  // beside rows()

  // The header, and one line for each of the pods `first` to `last` (exclusive), in arrival order.
  // Times in seconds; empty if there is none. Devices are indices joined by '-'; the column of
  // grants has their parts, as written by AppendGrants. The last column is the AdmissionReason of
  // the pod's last rejection by a node, or else, for a pod that waits or was given up, the reasons
  // of its last failed attempt.
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
  // SummaryId of the previous record if it is a failed attempt: a gang that is given up is dropped
  // right after one of its pods has failed.
  uint32_t failure_before_ = kNoFailure;
  std::vector<Row> rows_;
  std::vector<Failures> failures_;
  std::vector<Part> parts_;  // beside rows_; empty without grants
};

// A CSV field (RFC 4180): quoted when it holds a comma, a quote or a line break.
void AppendCsvField(absl::string_view text, std::string* out);

// Virtual time as decimal seconds, exact: "0", "1.5", "0.000000001".
void AppendSeconds(SimTime time, std::string* out);

// Parts of a node's devices, joined by ';': "2" for the whole of GPU 2, "1 (250m)" for 250
// thousandths of GPU 1, "0:3g.40gb@4" for a MIG instance with its first unit,
// "0:3g.40gb@4 (250m)" for 250 thousandths of the GPU in that instance. CHECKs that the node's GPUs
// have the placements.
void AppendGrants(const ClusterState& cluster, NodeId node, absl::Span<const DeviceGrant> grants,
                  std::string* out);

void SaveGrants(absl::Span<const DeviceGrant> grants, StateWriter& out);
// Fails the reader if a device or an amount is out of range. Placements stay unchecked, because the
// table is not available.
DeviceGrants LoadGrants(StateReader& in);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_POD_LOG_H_
