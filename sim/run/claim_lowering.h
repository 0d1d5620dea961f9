// Claims of structured DRA for the requests of a workload, as a user would write them: a template
// for each kind of request, with selectors in CEL.
//
//   2 GPUs                  class gpu.nvidia.com, count 2
//   2 GPUs of model A10     and device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A10'
//   with 20 GiB each        and device.capacity['gpu.nvidia.com'].memory.compareTo(
//                           quantity('20480Mi')) >= 0
//   3 instances of 1g.5gb   class mig.nvidia.com, count 3, and
//                           device.attributes['gpu.nvidia.com'].profile == '1g.5gb'
//   500 milli of a GPU      class gpu.nvidia.com, capacity shares: 2 (with consumable_shares: 4)
#ifndef DRASIM_SIM_RUN_CLAIM_LOWERING_H_
#define DRASIM_SIM_RUN_CLAIM_LOWERING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "model/pod_shape.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "sim/scenario/structured_dra_spec.h"

namespace drasim {

namespace proto::kube {
class Object;
}

// The driver that serves the requests of a workload: the first one, without any gpu.nvidia.com.
proto::SliceDriver ServingDriver(const StructuredDraSpec& spec);
// Whether the driver publishes MIG instances.
bool PublishesInstances(const proto::SliceDriver& driver);
// Shares of each device, where they are a number; else 0.
int64_t SharesOfDevice(const proto::SliceDriver& driver);

class ClaimLowering {
 public:
  // Requests are served by ServingDriver.
  explicit ClaimLowering(const StructuredDraSpec& spec);

  // Turns whole GPUs, MIG instances and shares into claims from templates. A request without
  // devices is returned unchanged. InvalidArgument for a request that the driver does not publish
  // devices for.
  absl::StatusOr<PodShape> ToClaims(const PodShape& lowered);

  // ResourceClaimTemplates for all claims so far, in order of their names.
  std::vector<std::shared_ptr<const proto::kube::Object>> TemplatesIn(const std::string& ns) const;

 private:
  // Asks for the whole device where devices are shared by number.
  void AskForAll(proto::kube::ExactDeviceRequest* request) const;
  absl::Status AskForShare(const PodShape& shape, int64_t memory_mib,
                           proto::kube::ExactDeviceRequest* request) const;
  absl::Status AddInstances(const std::string& profile, int32_t count, PodShape* shape);
  absl::Status AddGpus(PodShape* shape);
  std::string AttributeOf(absl::string_view name) const;
  // Selects models of the request, by product.
  void SelectModels(const std::string& models, proto::kube::ExactDeviceRequest* request) const;
  // The name of the template with that request.
  std::string TemplateFor(const std::string& name, const std::string& request_name,
                          proto::kube::ExactDeviceRequest request);

  proto::SliceDriver driver_;
  std::string driver_name_;
  std::string gpu_class_;
  std::string mig_class_;  // empty: the driver has none
  int64_t shares_ = 0;     // of each device; 0: its devices have no such capacity
  absl::btree_map<std::string, proto::kube::DeviceClaim> templates_;  // by name
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_CLAIM_LOWERING_H_
