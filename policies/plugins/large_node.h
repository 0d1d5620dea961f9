// The large node (128 cores, 8 GPUs) by which scores of the FGD experiments scale resources, for
// any cluster.
#ifndef DRASIM_POLICIES_PLUGINS_LARGE_NODE_H_
#define DRASIM_POLICIES_PLUGINS_LARGE_NODE_H_

namespace drasim {

inline constexpr double kLargeNodeCpuMilli = 128000;
inline constexpr double kLargeNodeGpuMilli = 8000;

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_LARGE_NODE_H_
