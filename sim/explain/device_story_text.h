// A DeviceStory for people and for programs: how many devices each test left for a request, what
// kept the others out, and what each node lacks.
#ifndef DRASIM_SIM_EXPLAIN_DEVICE_STORY_TEXT_H_
#define DRASIM_SIM_EXPLAIN_DEVICE_STORY_TEXT_H_

#include <string>
#include <vector>

#include "model/text/json_writer.h"
#include "policies/allocator/device_story.h"

namespace drasim {

// Lines without line breaks; their indentation begins at the first column. A request that every
// node could serve takes one line, and what does not fit on a screen is only counted.
std::vector<std::string> DeviceStoryLines(const DeviceStory& story);

// The same without the lines about nodes.
std::vector<std::string> DeviceRequestLines(const DeviceStory& story);

// An object with everything: claims, requests, stages, losses, nodes, error.
void WriteDeviceStory(const DeviceStory& story, JsonWriter* j);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_DEVICE_STORY_TEXT_H_
