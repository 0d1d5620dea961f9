// The devices that a pod asks for, in few words.
#ifndef DRASIM_GUI_VIEW_WANTS_TEXT_H_
#define DRASIM_GUI_VIEW_WANTS_TEXT_H_

#include <string>

#include "model/pod_shape.h"

namespace drasim::view {

// "7g.80gb", "2 x 1g.10gb + 3g.40gb", "1 GPU", "0.46 GPU of T4", "2 nvidia.com/gpu.shared", "claim
// shared-gpu", "no GPU". The same for MIG instances of every front end: direct requests, device
// plugins' resources, and claims. Amounts of CPU and memory are left out.
std::string WantsText(const PodShape& shape);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_WANTS_TEXT_H_
