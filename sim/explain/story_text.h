// The story of a job in words, for the people who operate the cluster.
#ifndef DRASIM_SIM_EXPLAIN_STORY_TEXT_H_
#define DRASIM_SIM_EXPLAIN_STORY_TEXT_H_

#include <string>

#include "sim/explain/story.h"

namespace drasim {

// Ends with a line break.
std::string StoryText(const Story& story);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STORY_TEXT_H_
