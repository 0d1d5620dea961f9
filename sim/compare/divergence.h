// Where two worlds part: the first decision about a pod that one of them made otherwise.
//
// What a world decides about a pod is its first verdict (bound to a node, or no node found, or
// turned away by the node) and, when it waited first, the node to which it is bound in the end.
// That a driver is still negotiating is no verdict, and a later time alone is no other decision. Of
// all pods about which the worlds differ, the one is told that either of them decided first.
#ifndef DRASIM_SIM_COMPARE_DIVERGENCE_H_
#define DRASIM_SIM_COMPARE_DIVERGENCE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "model/text/json_writer.h"
#include "model/time.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

struct CandidateNode {
  std::string node;
  absl::optional<int64_t> score;  // none where a score means nothing without the others
  bool operator==(const CandidateNode&) const = default;
};

// What one world made of the pod.
struct WorldDecision {
  enum class Kind : uint8_t {
    kBound,
    kTurnedAway,  // bound, but the node did not let it in
    kRejected,    // no node was found
    kWaiting,     // nothing was decided, then or ever
  };
  Kind kind = Kind::kWaiting;
  SimTime time;                 // of kWaiting: that of the other world's decision
  std::string node;             // of kBound and kTurnedAway
  std::string first_choice;     // the node of an earlier attempt, if that was another one
  int64_t failed_attempts = 0;  // up to then, that of kRejected among them
  std::string why;  // the last of them; of kTurnedAway what the node says. Empty: there is none
  // Of kBound, kTurnedAway and kRejected: nodes that the filters let pass at the attempt (drivers
  // may still have refused them), and the best of these, three at most.
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

// Runs both resolved scenarios side by side until the first divergence is sure, then each again up
// to it. Nothing when there is none. InvalidArgument when they are not about the same pods; else
// errors are those of runs. Cost: at most two runs of each; 24 bytes a pod beside the runs.
absl::StatusOr<absl::optional<Divergence>> FindDivergence(const RunSpec& a, const RunSpec& b);

// Lines for people: the pod and when, then what either world did, and why.
std::string DivergenceText(const Divergence& divergence, absl::string_view a, absl::string_view b);

// An object: pod, time_seconds, decisions[].
void WriteDivergence(const Divergence& divergence, absl::string_view a, absl::string_view b,
                     JsonWriter* json);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_DIVERGENCE_H_
