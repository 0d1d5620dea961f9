#include "policies/plugins/default_binder.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

void RegisterDefaultBinder(Registry& registry) {
  registry.AddPlugin("DefaultBinder", [](const PolicyContext& c) {
    return std::make_unique<DefaultBinder>(c.bind_latency);
  });
}

}  // namespace drasim
