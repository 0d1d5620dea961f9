// compare.json of an earlier `drasim compare`, read again: its figures by row, metric and seed.
// The output of `drasim bench judge --format json` is one row, "decisions", of the seed 0.
#ifndef DRASIM_SIM_COMPARE_KEPT_COMPARISON_H_
#define DRASIM_SIM_COMPARE_KEPT_COMPARISON_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

// A row of a comparison: a policy with a queue in a world.
struct ComparedRow {
  // Values of the axes, the queue of a replay and the policy, as one text: "a=1/fifo/fgd". Unique
  // within a comparison.
  std::string name;
  // The parts of the name: axes, "queue" and "policy" with their values.
  std::vector<std::pair<std::string, std::string>> labels;
  // By metric, beside the seeds; NaN: the run has no such figure.
  std::map<std::string, std::vector<double>> figures;
};

struct KeptComparison {
  std::string version;  // of drasim
  std::vector<uint64_t> seeds;
  std::vector<std::string> inputs;  // SHA-256 of all files that were read, ascending
  std::vector<ComparedRow> rows;

  // Null if there is none.
  const ComparedRow* Find(absl::string_view name) const;
};

// `file` is used in errors only. InvalidArgument ("FILE:LINE:COLUMN: ...") for a text that is
// neither of them or lacks figures by seed, for rows that are there twice and for lists that do not
// have as many figures as there are seeds. Linear in the text.
absl::StatusOr<KeptComparison> ParseComparison(absl::string_view text, absl::string_view file);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_KEPT_COMPARISON_H_
