// The cells of a suite: one run for each combination of an entry's queues, policies and seeds, and
// one for each entry with cases.
#ifndef DRASIM_SIM_BENCH_BENCH_CELLS_H_
#define DRASIM_SIM_BENCH_BENCH_CELLS_H_

#include <regex.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/bench/suite.h"
#include "sim/scenario/run_spec.h"

namespace drasim::bench {

struct CellId {
  std::string entry;
  std::string queue;  // empty in a fill
  std::string policy;
  uint64_t seed = 0;

  auto operator<=>(const CellId&) const = default;
  // "ENTRY/QUEUE/POLICY/SEED", with "-" for the queue of a fill.
  std::string Name() const;
  // The same without the seed.
  std::string GroupName() const;
};

// Cells whose name holds a match of a POSIX extended regular expression. A value type.
class Filter {
 public:
  // Matches everything.
  Filter() = default;
  // Empty text: matches everything. InvalidArgument for a malformed expression.
  static absl::StatusOr<Filter> Make(const std::string& text);
  bool Matches(const CellId& cell) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const regex_t> compiled_;  // null: matches everything
};

struct BenchCell {
  CellId id;
  Tier tier = Tier::kSmoke;
  Primary primary;
  RunSpec spec;
  std::optional<SuiteCases> cases;  // in place of `spec`, which is then empty
  bool random = false;              // the outcome depends on the seed
  // Identifies the inputs: the scenario as written, with the settings, the queue, the policy, the
  // seed and the bytes of all files that it reads. Defaults of keys and the place of files are no
  // part of it, so that results compare across versions and machines.
  std::string inputs;
  // Why the cell cannot run: a file that is not there. Empty: it can.
  std::string missing;
  bool cost = false;  // of an entry marked `cost`
  // The scenario without defaults, as YAML. Paths are absolute, so that any version of the
  // program can read it from standard input in any working directory. With cases: the suite for
  // `drasim bench cases`.
  std::string scenario;
};

// The cells in scope, sorted by id. `last`: entries of later tiers are left out. A file that an
// entry needs and that is not there makes its cells missing. InvalidArgument, placed in the suite's
// file, for a scenario that cannot run and for an input with other bytes than the pinned ones.
// Reads every input file once.
absl::StatusOr<std::vector<BenchCell>> MakeBenchCells(const Suite& suite, std::optional<Tier> last,
                                                      const Filter& filter);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_CELLS_H_
