// Where and when each pod ran, for pods.csv.
#ifndef DRASIM_SIM_RECORD_POD_LOG_H_
#define DRASIM_SIM_RECORD_POD_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/record.h"

namespace drasim {

class PodLog : public RecordSink {
 public:
  struct Row {
    NodeId node;
    uint32_t devices = 0;
    int32_t attempts_failed = 0;
    SimTime start;
    SimTime end;
  };
  void OnRecord(const Record& record, const ClusterState& cluster) override;
  const std::vector<Row>& rows() const { return rows_; }

  // Appends the header, then one line per pod in arrival order, in pieces: `first` to `last`
  // (exclusive). Times in seconds; empty where there is none. Devices are indices joined by '-'.
  static std::string CsvHeader();
  void AppendCsv(const ClusterState& cluster, size_t first, size_t last, std::string* out) const;

  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  std::vector<Row> rows_;
};

// A CSV field (RFC 4180): quoted when it holds a comma, a quote or a line break.
void AppendCsvField(absl::string_view text, std::string* out);

// Virtual time as decimal seconds, exact: "0", "1.5", "0.000000001".
void AppendSeconds(SimTime time, std::string* out);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_POD_LOG_H_
