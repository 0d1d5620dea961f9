#include "policies/builtins.h"

// Each file pair's Register function, in its own .cc, says what it adds.
namespace drasim {

#define REGISTER(name) void Register##name(Registry& registry);
#include "policies/builtins.inc"
#undef REGISTER

void RegisterBuiltins(Registry& registry) {
#define REGISTER(name) Register##name(registry);
#include "policies/builtins.inc"
#undef REGISTER
}

}  // namespace drasim
