#include "policies/builtins.h"

// One line per file pair. Its Register function, in its own .cc, says what it adds. The order is
// that of --help and of `compare`, baselines first.
#define DRASIM_BUILTINS(REGISTER) \
  REGISTER(NodeUnschedulable)     \
  REGISTER(TaintToleration)       \
  REGISTER(NodeAffinity)          \
  REGISTER(NodeResourcesFit)      \
  REGISTER(GpuShareFit)           \
  REGISTER(PrioritySort)          \
  REGISTER(DefaultBinder)         \
  REGISTER(DeviceChoosers)        \
  REGISTER(RandomScore)           \
  REGISTER(DotProduct)            \
  REGISTER(GpuClustering)         \
  REGISTER(GpuPacking)            \
  REGISTER(BestFit)               \
  REGISTER(Fgd)

namespace drasim {

#define DRASIM_DECLARE(name) void Register##name(Registry& registry);
DRASIM_BUILTINS(DRASIM_DECLARE)
#undef DRASIM_DECLARE

void RegisterBuiltins(Registry& registry) {
#define DRASIM_CALL(name) Register##name(registry);
  DRASIM_BUILTINS(DRASIM_CALL)
#undef DRASIM_CALL
}

}  // namespace drasim
