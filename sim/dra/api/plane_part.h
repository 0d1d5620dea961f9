// PlanePart: a component of the control plane that not every run has, such as the kubelet plugins
// of a driver that publishes ResourceSlices. ControlPlane connects it to the API server and tells
// it what happens to nodes.
#ifndef DRASIM_SIM_DRA_API_PLANE_PART_H_
#define DRASIM_SIM_DRA_API_PLANE_PART_H_

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_network.h"

namespace drasim {

class PlaneReader;
class PlaneWriter;

class PlanePart : public Actor {
 public:
  // Its connection, with its name.
  virtual ClientOptions connection() const = 0;
  // Whether it is a component that scenarios and tests may break by its name.
  virtual bool can_fail() const { return true; }
  // Call once, before anything else.
  virtual void Start(ApiClient* client) = 0;

  virtual void OnTransition(const DeviceTransition&) {}
  virtual void OnNode(NodeId, NodePresence) {}
  // Work other than periodic rechecks is pending.
  virtual bool IsBusy() const { return false; }

  // Counts for the results of the run.
  struct Figure {
    const char* key;   // in summary.json
    const char* text;  // in the printed table, which shows what is not 0
    uint64_t count;
  };
  virtual std::vector<Figure> Figures() const { return {}; }

  virtual void Save(PlaneWriter& archive) const = 0;
  // Errors are the archive's.
  virtual void Load(PlaneReader& archive) = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_PLANE_PART_H_
