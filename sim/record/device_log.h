// What happened below the scheduler, as it happened: the text of device_events.csv.
//
// A row for each change of a node or of its devices, and for each step of a pod that asks its node
// for devices (or is given MIG instances): bound, let in or turned away, and gone again. Pods that
// ask for nothing but CPU, memory and GPUs that the scheduler chooses leave no rows.
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
  // seconds; devices as AppendGrants has them (pod_log.h); empty where there is nothing to say.
  const std::string& csv() const { return csv_; }

  void Save(StateWriter& out) const override;
  // After an error the state is unspecified.
  absl::Status Load(StateReader& in) override;

 private:
  DeviceGrants PartsOf(const Record& record, const ClusterState& cluster);
  void AddRow(const Record& record, const ClusterState& cluster, const DeviceGrants& parts,
              absl::string_view reason, absl::string_view message);

  std::string csv_;
  // By pod, what nodes (or the scheduler, of MIG) have given to those that run: when a record tells
  // that a pod has left, the cluster no longer knows it.
  absl::btree_map<uint32_t, DeviceGrants> held_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_DEVICE_LOG_H_
