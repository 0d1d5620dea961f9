// Changes of a scenario beside an inspector: all its keys with their values, the check of a typed
// value, and suggestions for a pod that waits.
//
//   std::vector<ScenarioKey> keys = ScenarioKeys(overview.scenario_yaml);
//   for (const size_t i : SearchKeys(keys, "driver qps")) Draw(keys[i]);
//   RETURN_IF_ERROR(CheckValue(overview.scenario_yaml, keys[i].key, typed));
#ifndef DRASIM_GUI_VIEW_WHAT_IF_H_
#define DRASIM_GUI_VIEW_WHAT_IF_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/inspect_pod.h"

namespace drasim::view {

// A key with a value, as docs/scenario_keys.md describes it; texts without Markdown.
struct ScenarioKey {
  std::string key;       // as in `--set`: "workload.generated.mig.0.weight"
  std::string type;      // "duration", "choice", "list of texts"
  std::string fallback;  // its default in words
  std::string meaning;   // lines; values of a choice begin with "- "
  std::string value;     // in the scenario, lists with commas; empty where it is not given
  bool operator==(const ScenarioKey&) const = default;
};

// Items of lists whose keys are listed: the first ones, and the one behind the last.
inline constexpr size_t kListedItems = 100;

// The keys of a resolved scenario, in the order of the reference. Keys of a list stand once per
// item; the item behind the last one is new. Empty if the text is no YAML.
std::vector<ScenarioKey> ScenarioKeys(absl::string_view scenario_yaml);

// Indices of the keys that match, the best first: FindScore (find_model.h) of the key, where blanks
// in the query separate words. An empty query matches all.
std::vector<size_t> SearchKeys(absl::Span<const ScenarioKey> keys, absl::string_view query);

// Whether the key takes the value, as `--set KEY=VALUE` reads it: InvalidArgument for unknown keys
// and for values of another type, with what was found and expected. gui/session (CheckRun) checks
// the rules about the whole scenario.
absl::Status CheckValue(absl::string_view scenario_yaml, absl::string_view key,
                        absl::string_view value);

// A change worth trying.
struct WhatIfSuggestion {
  std::string key;
  std::string old;    // in the scenario, or the default
  std::string value;  // the new one
  std::string why;    // "It waits for drivers, which are limited to 5 calls a second."
  bool operator==(const WhatIfSuggestion&) const = default;
};

inline constexpr size_t kMostSuggestions = 3;

// By rules over the pod's life: what it waits for, and which keys bear on that. The likeliest
// first; none for a pod that never waited.
std::vector<WhatIfSuggestion> SuggestChanges(const PodInspection& pod,
                                             absl::string_view scenario_yaml);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_WHAT_IF_H_
