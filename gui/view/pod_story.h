// The life of a pod told in lines, for the stories of both runs side by side:
//
//   4h10m13.452s  placed on node-000018
//   4h10m13.471s  taken back: waiting for resource driver to provide information
//   4h10m13.538s  32 of 32 nodes: resourceclaim cannot be allocated for the node (unsuitable)
//   4h14m47s      bound: node-000002, GPU 1
#ifndef DRASIM_GUI_VIEW_POD_STORY_H_
#define DRASIM_GUI_VIEW_POD_STORY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gui/view/inspect_pod.h"
#include "model/time.h"

namespace drasim::view {

struct StoryLine {
  SimTime time;  // of the first event of the line
  std::string text;
  bool operator==(const StoryLine&) const = default;
};

// The lines of the pod's whole life, in order. Equal neighbours become one line, "the same, 12
// times". The last line of a pod that still waits says so. O(marks).
std::vector<StoryLine> TellStory(const PodInspection& pod);

// A summary of a failed attempt in fewer words: "0/3 nodes are available: 1 Too many pods, 2
// Insufficient cpu." becomes "1 Too many pods, 2 Insufficient cpu". Other texts stay as they are,
// without a full stop at the end.
std::string ShortVerdict(absl::string_view text);

// Devices as PodInspection names them, for a sentence: "0;1" becomes "GPU 0, GPU 1",
// "0:3g.40gb@4" becomes "GPU 0 3g.40gb@4".
std::string DeviceWords(absl::string_view devices);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_POD_STORY_H_
