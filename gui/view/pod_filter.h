// The filter language of the table of pods:
//
//   wants:7g.80gb waits:>1h tenant:a -node:node-000017 verdict:~driver state:waiting,starting
//   train "two words"
//
// Terms are separated by blanks, and a pod must satisfy all of them. A '-' before a term negates
// it. Letter case does not matter.
//
//   term          is true when
//   key:value     the field is the value; for wants, also when one of its words is
//   key:~value    the field contains the value
//   key:a,b       one of the alternatives holds
//   key:>value    for waits (a duration: 90s, 1h30m) and tries (a number); also >=, <, <= and =
//   word          the name, the request, the tenant, the node or the verdict contains it
//
// Keys: name, wants, tenant, node, state, verdict, waits, tries. A value or word in double quotes
// may hold blanks, commas and any sign; \" and \\ stand for a quote and a backslash.
#ifndef DRASIM_GUI_VIEW_POD_FILTER_H_
#define DRASIM_GUI_VIEW_POD_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/time.h"

namespace drasim::view {

// "waiting", "starting", "running", "succeeded", "dropped", "failed", "deleted".
absl::string_view PodStateName(PodPhase phase);

// The fields of a pod that a filter can see.
struct PodFacts {
  absl::string_view name;
  absl::string_view wants;
  absl::string_view tenant;
  absl::string_view node;
  absl::string_view verdict;
  PodPhase phase = PodPhase::kPending;
  SimDuration waits;
  int64_t tries = 0;
};

class PodFilter {
 public:
  // Keeps every pod.
  PodFilter() = default;

  // InvalidArgument: "column 7: unknown key 'want' (did you mean 'wants'?), expected one of ...".
  // Columns are bytes, from 1. Any text leads to a filter or an error: the parser is one loop
  // without recursion, linear in the text. Empty text keeps every pod.
  static absl::StatusOr<PodFilter> Parse(absl::string_view text);

  bool Matches(const PodFacts& pod) const;
  bool empty() const { return terms_.empty(); }
  // Whether some term is about the state.
  bool asks_for_state() const;

 private:
  friend class PodFilterParser;

  enum class Key : uint8_t {
    kAny,
    kName,
    kWants,
    kTenant,
    kNode,
    kState,
    kVerdict,
    kWaits,
    kTries
  };
  enum class Test : uint8_t { kIs, kContains, kBelow, kAtMost, kAbove, kAtLeast };
  struct Alternative {
    Test test = Test::kIs;
    std::string text;    // in lower case
    int64_t number = 0;  // waits: nanoseconds; state: the phase
  };
  struct Term {
    Key key = Key::kAny;
    bool negated = false;
    std::vector<Alternative> alternatives;
  };
  static bool Holds(const Term& term, const Alternative& alternative, const PodFacts& pod);

  std::vector<Term> terms_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_POD_FILTER_H_
