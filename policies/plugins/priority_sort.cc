#include "policies/plugins/priority_sort.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

void RegisterPrioritySort(Registry& registry) {
  registry.AddPlugin("PrioritySort",
                     [](const PolicyContext&) { return std::make_unique<PrioritySort>(); });
}

}  // namespace drasim
