// Every built-in plugin, device chooser and policy, one registration line each.
#ifndef DRASIM_POLICIES_BUILTINS_H_
#define DRASIM_POLICIES_BUILTINS_H_

#include "policies/framework/registry.h"

namespace drasim {

// Adds all of them to an empty registry.
void RegisterBuiltins(Registry& registry);

}  // namespace drasim

#endif  // DRASIM_POLICIES_BUILTINS_H_
