// Two runs on one clock: their figures side by side, the pods about which they decided differently,
// and the keys in which their scenarios differ.
//
// Usage:
//
//   const CompareModel compare(&pods_a, figures_a, &pods_b, figures_b, {});
//   for (const FigureDelta& delta : compare.deltas()) ...
//   for (const PodDivergence& divergence : compare.divergences()) ...
#ifndef DRASIM_GUI_VIEW_COMPARE_MODEL_H_
#define DRASIM_GUI_VIEW_COMPARE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/pod_table.h"
#include "gui/view/run_figures.h"
#include "model/time.h"

namespace drasim::view {

// --- Figures ---

struct FigureDelta {
  enum class Verdict : uint8_t {
    kNone,  // equal, or a figure without a better side
    kBetter,
    kWorse,
  };
  std::string metric;
  std::string a;  // with its unit; "-" where the run has no such figure
  std::string b;
  std::string difference;  // B - A, signed; "=" when equal as shown, empty if one is missing
  Verdict verdict = Verdict::kNone;
};
absl::string_view DeltaVerdictName(FigureDelta::Verdict verdict);  // "", "better", "worse"

std::vector<FigureDelta> CompareFigures(const RunFigures& a, const RunFigures& b);

// RFC 4180 with a header: metric, A, B, B - A, verdict.
std::string FiguresCsv(absl::Span<const FigureDelta> deltas);

// --- Divergences ---

struct CompareOptions {
  bool answers = true;  // the first answer differs: bound, no node, turned away
  bool nodes = true;    // both started it, on nodes of different names
  bool starts = true;   // the first starts are further apart, or only one of the runs started it
  SimDuration tolerance = SimDuration::Seconds(60);  // of starts
};

struct PodDivergence {
  enum class Kind : uint8_t { kAnswer, kNode, kStart };
  Kind kind = Kind::kAnswer;  // the first of these that applies
  SimTime time;               // of the earlier decision
  size_t a = 0;               // row of the pod in either table
  size_t b = 0;
  std::string text;  // "started 8s after its arrival in A, 4m34s in B"
};
absl::string_view DivergenceKindName(PodDivergence::Kind kind);

// All pods by their first starts: B against A.
struct StartCounts {
  int64_t later = 0;  // by more than the tolerance; also started in A only
  int64_t alike = 0;
  int64_t earlier = 0;  // also started in B only
};

class CompareModel {
 public:
  // Pods are the same when their names are; of several with one name the first counts. Both tables
  // must outlive the model. O(pods log pods).
  CompareModel(const PodTable* a, const RunFigures& figures_a, const PodTable* b,
               const RunFigures& figures_b, const CompareOptions& options);

  const std::vector<FigureDelta>& deltas() const { return deltas_; }
  // By time; ties in A's order of arrival.
  const std::vector<PodDivergence>& divergences() const { return divergences_; }
  const StartCounts& starts() const { return starts_; }
  // Pods that only one of the runs has; not divergences.
  int64_t only_in_a() const { return only_in_a_; }
  int64_t only_in_b() const { return only_in_b_; }

 private:
  void ComparePod(size_t a, size_t b, const CompareOptions& options);

  const PodTable* a_;
  const PodTable* b_;
  std::vector<FigureDelta> deltas_;
  std::vector<PodDivergence> divergences_;
  StartCounts starts_;
  int64_t only_in_a_ = 0;
  int64_t only_in_b_ = 0;
};

// --- Scenarios ---

// A key whose value differs; an absent value is empty.
struct KeyDifference {
  std::string key;  // "workload.generated.mig.0.weight"
  std::string a;
  std::string b;
  bool operator==(const KeyDifference&) const = default;
};

// The keys of two resolved scenarios that differ, A's first, in the order of the text.
// InvalidArgument if one is no YAML.
absl::StatusOr<std::vector<KeyDifference>> CompareScenarios(absl::string_view a,
                                                            absl::string_view b);

// One line about the common and the differing parts of two scenarios: "same cluster, jobs, seed;
// other: front_end, dra.driver_controllers.qps and 3 more". `keys`: all that differ.
std::string ScenariosLine(absl::Span<const KeyDifference> keys);

// The scalar under a key of a scenario, such as "seed"; empty without one.
std::string ScenarioValue(absl::string_view scenario_yaml, absl::string_view key);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_COMPARE_MODEL_H_
