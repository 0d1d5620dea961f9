// Metrics by arrived load: the discretised tables of the FGD experiments.
//
// Row a averages the events after which the arrived GPU demand, as a percentage of the cluster's
// GPUs, rounds to a.
#ifndef DRASIM_SIM_RECORD_LOAD_TABLE_H_
#define DRASIM_SIM_RECORD_LOAD_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/state_io.h"
#include "sim/record/metrics.h"

namespace drasim {

struct LoadRow {
  int64_t arrived_percent = 0;
  double gpu_allocation_percent = 0;          // of all GPUs, 2 decimals
  double fragmentation_percent_of_total = 0;  // of all GPUs, 2 decimals
  double fragmentation_percent_of_idle = 0;   // of idle GPUs
};

class LoadTable {
 public:
  // O(1). Loads beyond 100,000 % are left out.
  void Add(const Sample& sample);
  // Rows 0, 1, ... up to the largest load seen. A load that no event rounds to takes the events of
  // its neighbours; where there are none either, the row is left out.
  std::vector<LoadRow> Rows() const;
  // Header and rows; doubles in the shortest form that reads back.
  std::string ToCsv() const;

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  struct Bin {
    int64_t events = 0;
    double allocation = 0;
    double amount = 0;
    double ratio = 0;
  };
  std::vector<Bin> bins_;
  int64_t gpus_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LOAD_TABLE_H_
