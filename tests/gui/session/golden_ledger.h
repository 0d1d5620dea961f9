// Ledgers of the golden scenarios with many frames of each kind, for tests of what reads them.
#ifndef DRASIM_TESTS_GUI_SESSION_GOLDEN_LEDGER_H_
#define DRASIM_TESTS_GUI_SESSION_GOLDEN_LEDGER_H_

#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "sim/record/ledger_writer.h"
#include "sim/run/simulation.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {

class GoldenLedger {
 public:
  // Small enough that these runs have many frames of each kind.
  static constexpr LedgerPace kPace = {/*records_per_block=*/32, /*records_per_keyframe=*/90,
                                       /*records_per_live_object=*/0, /*blocks_per_series=*/4,
                                       /*pods_per_frame=*/16};

  explicit GoldenLedger(absl::string_view scenario) {
    std::ifstream file(
        absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", scenario, ".yaml"),
        std::ios::binary);
    yaml_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    DRASIM_CHECK(!yaml_.empty());
    absl::StatusOr<std::unique_ptr<Simulation>> sim =
        Simulation::Build(RunSpecOf(ScenarioOf(yaml_)));
    DRASIM_CHECK(sim.ok());
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
        LedgerWriter::Create(dir_.PathOf("ledger"), yaml_, (*sim)->cluster(), (*sim)->ranks(),
                             (*sim)->summaries(), kPace, (*sim)->Layouts());
    DRASIM_CHECK(writer.ok());
    (*writer)->set_jobs(&(*sim)->jobs());
    (*sim)->AddSink(writer->get());
    DRASIM_CHECK((*sim)->Start().ok() && (*sim)->Run().ok());
    DRASIM_CHECK((*writer)->Finish((*sim)->fingerprint()).ok());
    fingerprint_ = (*sim)->fingerprint();
  }

  const std::string& folder() const { return dir_.path(); }
  std::string path() const { return dir_.PathOf("ledger"); }
  const std::string& yaml() const { return yaml_; }
  uint64_t fingerprint() const { return fingerprint_; }
  std::string Bytes() const { return dir_.Read("ledger"); }

 private:
  TempDir dir_;
  std::string yaml_;
  uint64_t fingerprint_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_SESSION_GOLDEN_LEDGER_H_
