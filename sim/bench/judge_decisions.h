// Readers of what a scheduler decided, for `drasim bench judge`: a table, pods as kubectl prints
// them, or a run's ledger.
//
//   DecisionFileOptions options;
//   options.replay = spec.is_replay();
//   ASSIGN_OR_RETURN(spec.decisions, ReadDecisions("decisions.csv", options));
#ifndef DRASIM_SIM_BENCH_JUDGE_DECISIONS_H_
#define DRASIM_SIM_BENCH_JUDGE_DECISIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"
#include "sim/core/decision_list.h"

namespace drasim::bench {

struct DecisionFileOptions {
  bool replay = false;  // times matter
  // The moment of kubectl's times that is time zero of the run, in nanoseconds since 1970; nothing:
  // the creation of the oldest pod.
  std::optional<int64_t> zero_ns;
  // The scenario's grace period: a ledger tells when pods leave, not when their eviction was
  // decided.
  SimDuration grace_period;
};

// Reads the file, or the ledger of a run's folder. What kind it is follows from its content.
// InvalidArgument with file, line and column for anything malformed; errors of OpenByteSource and
// LedgerReader.
//
// A table has a header with the columns `pod` and `node`, and perhaps `time` (or `start_seconds`,
// as in pods.csv), `devices` and `grants` in any order; others are ignored. Times are seconds of
// the run. Devices are indices with dashes between them (0-3: the GPUs 0 and 3), grants MIG
// instances as in pods.csv (0:1g.5gb@4;1:2g.10gb@0). A row without node and time is a pod that was
// never placed; one with a time and no node says that the pod was evicted for another.
absl::StatusOr<std::shared_ptr<const DecisionList>> ReadDecisions(
    const std::string& path, const DecisionFileOptions& options);

// The formats one by one. `name` is used in messages.
absl::StatusOr<DecisionList> DecisionsOfCsv(absl::string_view name, absl::string_view text,
                                            const DecisionFileOptions& options);
absl::StatusOr<DecisionList> DecisionsOfPods(absl::string_view name, absl::string_view text,
                                             const DecisionFileOptions& options);
absl::StatusOr<DecisionList> DecisionsOfLedger(const std::string& path,
                                               const DecisionFileOptions& options);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_JUDGE_DECISIONS_H_
