// The fingerprint of a run: a hash of its records in order, the same with the ledger on or off.
#ifndef DRASIM_SIM_RECORD_FINGERPRINT_H_
#define DRASIM_SIM_RECORD_FINGERPRINT_H_

#include <cstdint>

#include "model/record.h"

namespace drasim {

// Covers each record's time, kind, pod (name and shape on arrival, then the row), node, devices,
// and the content of failure summaries. O(1) per record.
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
