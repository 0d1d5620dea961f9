// The story of a job for programs: as JSON, "drasim.explain/v1", and its events as CSV. Times are
// in seconds; amounts in the units that stand beside them.
#ifndef DRASIM_SIM_EXPLAIN_STORY_JSON_H_
#define DRASIM_SIM_EXPLAIN_STORY_JSON_H_

#include <string>

#include "sim/explain/story.h"

namespace drasim {

// Both end with a line break.
std::string StoryJson(const Story& story);
// A line for each event: seconds, until_seconds, event, attempt, last_attempt, node (of the first
// of the job's pods), summary (of a failed attempt), text.
std::string StoryCsv(const Story& story);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STORY_JSON_H_
