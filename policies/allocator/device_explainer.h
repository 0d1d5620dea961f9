// DeviceExplainer: why claims get no devices on some nodes. For each request it counts the devices
// that each stage leaves, from those that are published down to those that could be taken, with
// the values that kept the others out; and it says of each node what is missing there.
//
//   DeviceExplainer explainer(options, catalog, classes);
//   ASSIGN_OR_RETURN(const DeviceStory story, explainer.Explain(question));
//   story.claims[0].requests[0].options[0].stages   // published 8, class 8, selectors 2, free 0
//
// A stage asks about one device at a time, in the words of the allocator's rules; the stages are in
// an order that suits a reader, and a device is lost at the first one that it does not pass.
// Whether a node has devices for all claims together is the allocator's own answer.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_EXPLAINER_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_EXPLAINER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/asked_claim.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_checks.h"
#include "policies/allocator/device_story.h"
#include "policies/allocator/device_use.h"

namespace drasim {

struct DeviceQuestion {
  std::vector<AskedClaim> claims;  // none is allocated
  DeviceUse use;
  DeviceHolderTexts holders;  // of devices of `use`
  std::vector<const proto::kube::Node*> nodes;
  bool list_devices = false;  // RequestStory::devices
};

class DeviceExplainer {
 public:
  // The catalog must be the explainer's own: texts of selectors are interned there. The classes and
  // the objects of the catalog must outlive it.
  DeviceExplainer(const AllocatorOptions& options, std::shared_ptr<DeviceCatalog> catalog,
                  absl::Span<const proto::kube::DeviceClass* const> classes);
  ~DeviceExplainer();

  // OutOfRange for consumed capacities beyond 10^24. What follows from the slices alone is kept.
  // O(devices of the nodes x requests), and searches of the allocator: one for each state of nodes,
  // and some more for nodes where every request alone would do.
  absl::StatusOr<DeviceStory> Explain(const DeviceQuestion& question);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_EXPLAINER_H_
