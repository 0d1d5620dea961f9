// The fingerprint of a run: one hash over its records in order, the same with the ledger on or off.
#ifndef DRASIM_SIM_RECORD_FINGERPRINT_H_
#define DRASIM_SIM_RECORD_FINGERPRINT_H_

#include <cstdint>

#include "model/record.h"

namespace drasim {

// Covers each record's time, kind, pod (by name and shape on arrival, by row later), node, devices,
// and the content of failure summaries. O(1) a record.
class FingerprintSink : public RecordSink {
 public:
  // `summaries` must outlive the sink.
  explicit FingerprintSink(const VerdictSummaryTable* summaries);
  void OnRecord(const Record& record, const ClusterState& cluster) override;
  uint64_t value() const { return hash_; }
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  const VerdictSummaryTable* summaries_;
  uint64_t hash_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_FINGERPRINT_H_
