// PlaneComponent: a client of the API server that only some control planes have, such as a
// controller of structured DRA.
//
// ControlPlane connects components after its own clients, in the order in which they were given.
// They fail like all others (PlaneFaults), by the name of their client.
#ifndef DRASIM_SIM_DRA_API_PLANE_COMPONENT_H_
#define DRASIM_SIM_DRA_API_PLANE_COMPONENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/kube/objects.h"
#include "sim/dra/api/api_network.h"

namespace drasim {

class PlaneReader;
class PlaneWriter;

// What components may do to the run.
struct PlaneHost {
  // The pod's deletion is committed: it leaves its node after the grace period of evictions, and
  // its owner replaces it. No effect if the run has another object for the pod already.
  std::function<void(const Pod& pod)> evicted;
};

class PlaneComponent : public Actor {
 public:
  virtual std::string name() const = 0;  // of its client, and for faults
  virtual uint32_t watches() const = 0;  // WatchBits
  // Call once, before anything else. Both outlive it.
  virtual void Start(ApiClient* client, const PlaneHost* host) = 0;
  // Work is pending that the run must wait for, besides periodic rechecks.
  virtual bool IsBusy() const { return false; }

  // Counts for the results of the run.
  struct Figure {
    const char* key;   // in summary.json
    const char* text;  // in the printed table, which shows what is not 0
    uint64_t count;
  };
  virtual std::vector<Figure> Figures() const { return {}; }

  // For checkpoints (plane_archive.h).
  virtual void Save(PlaneWriter& out) const = 0;
  virtual void Load(PlaneReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_PLANE_COMPONENT_H_
