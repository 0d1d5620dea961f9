// Reads parts of a scenario's text for the interface, without parsing long ones between two frames.
#ifndef DRASIM_GUI_VIEW_SCENARIO_TEXT_H_
#define DRASIM_GUI_VIEW_SCENARIO_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace drasim::view {

// Texts up to this length are parsed in a few milliseconds.
inline constexpr size_t kLongScenario = size_t{1} << 16;

// A resolved scenario, as drasim writes it, without its inline jobs (`workload.jobs`) if it is
// longer than kLongScenario: these may be a million, and everything else is short. Linear in the
// text, which is not parsed.
std::string ScenarioOutline(absl::string_view scenario_yaml);

// Whether an outline lacks that key, such as "workload.jobs.7.gpus", for its length.
bool IsOutsideOutline(absl::string_view outline, absl::string_view scenario_yaml,
                      absl::string_view key);

// A policy, behind a front end that is not direct: "fgd", "dra-classic:first-fit".
std::string PolicyText(absl::string_view policy, absl::string_view front_end);
// The policy of a scenario; empty if it names none. Parses the text.
std::string PolicyText(absl::string_view scenario_yaml);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_SCENARIO_TEXT_H_
