// The containers of a run's pods, as structured DRA reads their requests for extended resources.
#ifndef DRASIM_SIM_RUN_EXTENDED_CONTAINERS_H_
#define DRASIM_SIM_RUN_EXTENDED_CONTAINERS_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/kube/shared_message.h"
#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"
#include "sim/run/given_objects.h"

namespace drasim {

class ExtendedContainers {
 public:
  // The objects must outlive it. Later ones take precedence.
  void set_given(std::vector<const GivenObjects*> given) { given_ = std::move(given); }

  // Init containers and containers with their names, restart policies and requests: of the pod's
  // manifest, or made from its shape, where the container number i of several is "container-i" and
  // a single one "main". Resources of a class that the shape does not request are left out: they
  // have become claims. Those that the shape alone requests are the first container's. Not set for
  // a pod that requests no resource that a class may serve. O(containers); pods of one manifest and
  // shape share the result.
  SharedMessage<proto::kube::PodSpec> Of(absl::string_view pod, ShapeId id, const PodShape& shape);

 private:
  std::vector<const GivenObjects*> given_;
  // By manifest (null: none) and shape.
  absl::flat_hash_map<std::pair<const proto::kube::Pod*, ShapeId>,
                      SharedMessage<proto::kube::PodSpec>>
      made_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_EXTENDED_CONTAINERS_H_
