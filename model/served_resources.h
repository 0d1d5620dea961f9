// ServedResources: how many devices stand behind an extended resource that claims of structured DRA
// serve, as scores count them (KEP 5004).
#ifndef DRASIM_MODEL_SERVED_RESOURCES_H_
#define DRASIM_MODEL_SERVED_RESOURCES_H_

#include <cstddef>
#include <cstdint>

#include "model/ids.h"

namespace drasim {

// Devices on one node.
struct ServedDevices {
  int64_t all = 0;
  int64_t held = 0;  // by claims
};

class ServedResources {
 public:
  virtual ~ServedResources() = default;
  // `column`: of ClusterState::extended_names().
  virtual ServedDevices DevicesOn(NodeId node, size_t column) const = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_SERVED_RESOURCES_H_
