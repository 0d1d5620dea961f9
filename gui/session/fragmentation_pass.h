// FGD's fragmentation of a whole run, read piece by piece while a session has nothing else to do.
#ifndef DRASIM_GUI_SESSION_FRAGMENTATION_PASS_H_
#define DRASIM_GUI_SESSION_FRAGMENTATION_PASS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gui/session/overview_builder.h"
#include "gui/session/run_overview.h"
#include "gui/view/fragmentation_series.h"
#include "gui/view/pyramid.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"

namespace drasim::gui {

// Longer ledgers have no such series: their records would take too long.
inline constexpr uint64_t kMostFragmentationRecords = 5'000'000;

class FragmentationPass {
 public:
  // The metric's name in RunOverview::series: % of idle GPUs that typical pods cannot use.
  static constexpr const char* kName = "fragmentation_percent";

  // Null if the run is not to have the series: with MIG, without GPUs, or too long.
  static std::unique_ptr<FragmentationPass> Start(const std::string& path,
                                                  std::shared_ptr<const RunBasis> basis,
                                                  const RunOverview& overview);

  // Reads some milliseconds of records. True when all are read.
  absl::StatusOr<bool> Continue();
  double share() const;  // that was read, 0..1
  // REQUIRES: all are read.
  view::Pyramid Take() { return series_.Take(); }

 private:
  FragmentationPass(std::unique_ptr<LedgerReader> reader, std::shared_ptr<const RunBasis> basis,
                    const RunOverview& overview);

  std::unique_ptr<LedgerReader> reader_;
  std::shared_ptr<const RunBasis> basis_;  // has the model
  uint64_t records_;
  SimTime last_;
  view::FragmentationSeries series_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_FRAGMENTATION_PASS_H_
