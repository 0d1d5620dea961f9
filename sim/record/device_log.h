// Events below the scheduler, in order: the text of device_events.csv.
//
// One row for each change of a node or of its devices, and for each step of a pod that gets devices
// from its node, or MIG instances: bound, admitted or rejected, and gone. Pods that use only CPU,
// memory and GPUs chosen by the scheduler have no rows.
#ifndef DRASIM_SIM_RECORD_DEVICE_LOG_H_
#define DRASIM_SIM_RECORD_DEVICE_LOG_H_

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/device_grant.h"
#include "model/record.h"
#include "model/state_io.h"

namespace drasim {

class DeviceLog : public RecordSink {
 public:
  // Only the header.
  DeviceLog();

  void OnRecord(const Record& record, const ClusterState& cluster) override;

  // The file so far: a header, then one line per row, in the order of the records. Times in
  // seconds; devices as written by AppendGrants (pod_log.h); fields without a value are empty.
  const std::string& csv() const { return csv_; }

  void Save(StateWriter& out) const override;
  // After an error the state is unspecified.
  absl::Status Load(StateReader& in) override;

 private:
  DeviceGrants PartsOf(const Record& record, const ClusterState& cluster);
  void AddRow(const Record& record, const ClusterState& cluster, const DeviceGrants& parts,
              absl::string_view reason, absl::string_view message);

  std::string csv_;
  // Grants of running pods, by pod: the record of a pod's end comes after the cluster has dropped
  // them.
  absl::btree_map<uint32_t, DeviceGrants> held_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_DEVICE_LOG_H_
