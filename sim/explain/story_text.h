// The story of a job in words, for the people who operate the cluster.
#ifndef DRASIM_SIM_EXPLAIN_STORY_TEXT_H_
#define DRASIM_SIM_EXPLAIN_STORY_TEXT_H_

#include <string>

#include "sim/explain/attempt.h"
#include "sim/explain/story.h"

namespace drasim {

// Ends with a line break.
std::string StoryText(const Story& story);

// One failed attempt: the refusing plugins, the shortfall, its holders, the pod's claims. Lines
// that end with a line break; indented ones belong to the line above.
std::string AttemptText(const AttemptExplanation& why);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STORY_TEXT_H_
