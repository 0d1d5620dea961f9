// Metrics by arrived load: the discretised tables of the FGD experiments.
//
// Row N averages over the events after which the GPU demand that has arrived, as a percentage of
// the cluster's GPUs, rounds to N.
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
  // O(1). Loads above 100,000 % are ignored.
  void Add(const Sample& sample);
  // Rows 0, 1, ... up to the largest load. A row without events averages over those of its
  // neighbours; it is left out if they have none either.
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
