// The first divergence of two worlds: the earliest decision about a pod in which they differ.
//
// A world's decisions about a pod are its first verdict (bound to a node, no node found, or turned
// away by the node) and, if the pod waited first, the node to which it is bound in the end. Waiting
// for a driver's answer is no verdict, and another time alone is no difference.
#ifndef DRASIM_SIM_COMPARE_DIVERGENCE_H_
#define DRASIM_SIM_COMPARE_DIVERGENCE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"
#include "model/time.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

struct CandidateNode {
  std::string node;
  std::optional<int64_t> score;  // none where a score means nothing without the others
  bool operator==(const CandidateNode&) const = default;
};

// The decision of one world.
struct WorldDecision {
  enum class Kind : uint8_t {
    kBound,
    kTurnedAway,  // bound, but the node did not let it in
    kRejected,    // no node was found
    kWaiting,     // undecided at that time, or for ever
  };
  Kind kind = Kind::kWaiting;
  SimTime time;                 // for kWaiting that of the other world's decision
  std::string node;             // for kBound and kTurnedAway
  std::string first_choice;     // the node of an earlier attempt, if it was another one
  int64_t failed_attempts = 0;  // up to then, including that of kRejected
  std::string why;  // message of the last failed attempt, or the node's (kTurnedAway); may be empty
  // Except for kWaiting: the number of nodes that passed the filters at the attempt (drivers may
  // still have refused them), and the best three of them.
  int64_t feasible = 0;
  std::vector<CandidateNode> candidates;

  bool operator==(const WorldDecision&) const = default;
};

struct Divergence {
  std::string pod;
  SimTime time;  // of the earlier decision
  std::array<WorldDecision, 2> decisions;

  bool operator==(const Divergence&) const = default;
};

// Runs both resolved scenarios side by side until the first divergence is certain, then each again
// up to it. Empty if there is none. InvalidArgument if the scenarios have different pods; other
// errors are those of runs. Cost: at most two runs of each, and 24 bytes per pod.
absl::StatusOr<std::optional<Divergence>> FindDivergence(const RunSpec& a, const RunSpec& b);

// Lines for people: the pod and the time, then the decision of each world and its reason.
std::string DivergenceText(const Divergence& divergence, absl::string_view a, absl::string_view b);

// An object: pod, time_seconds, decisions[].
void WriteDivergence(const Divergence& divergence, absl::string_view a, absl::string_view b,
                     JsonWriter* json);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_DIVERGENCE_H_
