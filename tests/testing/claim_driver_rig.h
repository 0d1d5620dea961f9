// Nodes with GPUs, claims with parameters, and drivers of classic DRA over them, for tests.
#ifndef DRASIM_TESTS_TESTING_CLAIM_DRIVER_RIG_H_
#define DRASIM_TESTS_TESTING_CLAIM_DRIVER_RIG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/node_spec.h"
#include "model/shape_table.h"
#include "policies/devices/claim_drivers.h"
#include "policies/devices/node_device_driver.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/mig_products.h"

namespace drasim {

using TestFields = std::vector<std::pair<std::string, std::string>>;

// A cluster whose models "A100-80GB" and "A30" can be partitioned ("A30": with all its profiles).
class GpuCluster {
 public:
  // Profiles of the A100; empty: all.
  explicit GpuCluster(std::vector<std::string> profiles = A100Base())
      : a100_(TestTable(TestA100(), OnlyProfiles(std::move(profiles)))),
        a30_(TestTable(TestA30())),
        shapes_(&models_),
        cluster_(&models_, &shapes_) {
    models_.SetMig(*models_.Intern("A100-80GB"), &a100_);
    models_.SetMig(*models_.Intern("A30"), &a30_);
  }
  GpuCluster(const GpuCluster&) = delete;
  GpuCluster& operator=(const GpuCluster&) = delete;

  // "node-0", "node-1", ...
  NodeId Add(absl::string_view model, int32_t gpus, TestFields labels = {}, bool absent = false) {
    NodeSpec spec;
    spec.name = absl::StrCat("node-", cluster_.node_count());
    spec.gpu_count = gpus;
    if (gpus > 0) spec.gpu_model = std::string(model);
    spec.labels = std::move(labels);
    spec.absent = absent;
    const absl::StatusOr<NodeId> id = cluster_.AddNode(spec);
    DRASIM_CHECK(id.ok());
    nodes_.push_back(*id);
    return *id;
  }
  // A node whose GPUs are of these models.
  NodeId AddMixed(std::vector<std::string> models) {
    NodeSpec spec;
    spec.name = absl::StrCat("node-", cluster_.node_count());
    spec.gpu_count = static_cast<int32_t>(models.size());
    spec.gpu_models = std::move(models);
    const absl::StatusOr<NodeId> id = cluster_.AddNode(spec);
    DRASIM_CHECK(id.ok());
    nodes_.push_back(*id);
    return *id;
  }
  ClusterState& cluster() { return cluster_; }
  const ClusterState& cluster() const { return cluster_; }
  const MigTable& a100() const { return a100_; }
  const MigTable& a30() const { return a30_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }

  ClaimDriverOptions Options(absl::string_view kind) const {
    ClaimDriverOptions options;
    options.kind = std::string(kind);
    options.cluster = &cluster_;
    options.nodes = nodes_;
    return options;
  }
  static std::unique_ptr<NodeDeviceDriver> Make(ClaimDriverOptions options) {
    absl::StatusOr<std::unique_ptr<ClaimDriver>> made = MakeClaimDriver(std::move(options));
    DRASIM_CHECK(made.ok());
    auto* driver = dynamic_cast<NodeDeviceDriver*>(made->get());
    DRASIM_CHECK(driver != nullptr);
    std::move(*made).release();
    return std::unique_ptr<NodeDeviceDriver>(driver);
  }
  std::unique_ptr<NodeDeviceDriver> Make(absl::string_view kind) const {
    return Make(Options(kind));
  }

 private:
  MigTable a100_;
  MigTable a30_;
  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  std::vector<NodeId> nodes_;
};

// Claims with what they refer to; they live as long as this.
class TestClaims {
 public:
  explicit TestClaims(absl::string_view kind) {
    const ClaimDriverInfo* info = FindClaimDriver(kind);
    DRASIM_CHECK(info != nullptr);
    class_.meta.name = names_.Intern(info->class_name);
    class_.driver = names_.Intern(info->driver);
  }

  const ParametersObject* Parameters(absl::string_view kind, TestFields fields,
                                     absl::string_view group = "") {
    auto object = std::make_shared<ParametersObject>();
    object->meta.name = names_.Intern("mine");
    object->meta.uid = ++objects_;
    object->meta.version = objects_;
    object->kind = names_.Intern(kind);
    object->api_group = names_.Intern(group);
    object->fields = std::move(fields);
    parameters_.push_back(object);
    return object.get();
  }
  // Claim "claim-<uid>" of the pod with uid `owner`; null: no parameters.
  ClaimToAllocate Make(Uid uid, const ParametersObject* parameters,
                       const ParametersObject* of_class = nullptr, absl::string_view entry = "",
                       Uid owner = 0) {
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.ns = names_.Intern("default");
    claim->meta.name = names_.Intern(absl::StrCat("claim-", uid));
    claim->meta.uid = uid;
    claim->meta.owner = owner;
    claim->pod_claim_name = names_.Intern(entry);
    claims_.push_back(claim);
    ClaimToAllocate made;
    made.claim = claim.get();
    made.resource_class = &class_;
    made.claim_parameters = parameters;
    made.class_parameters = of_class;
    made.entry = claim->pod_claim_name;
    return made;
  }
  // As the server has it when the driver's controller has written the status.
  Ref<ResourceClaim> Allocated(const ClaimToAllocate& made, Ref<Allocation> allocation) {
    auto claim = std::make_shared<ResourceClaim>(*made.claim);
    claim->status.driver = class_.driver;
    claim->status.allocation = std::move(allocation);
    return claim;
  }
  Name Intern(absl::string_view text) { return names_.Intern(text); }
  Name driver() const { return class_.driver; }

 private:
  NamePool names_;
  ResourceClass class_;
  uint64_t objects_ = 1000;
  std::vector<Ref<ResourceClaim>> claims_;
  std::vector<Ref<ParametersObject>> parameters_;
};

// The data of its handle, with " shareable" where it is; or the message of the error.
inline std::string ResultText(const ClaimAllocation& result) {
  if (!result.status.ok()) return std::string(result.status.message());
  const Allocation& allocation = *result.allocation;
  std::string text;
  for (const ResourceHandle& handle : allocation.handles) absl::StrAppend(&text, handle.data);
  return absl::StrCat(text, allocation.shareable ? " shareable" : "");
}
inline std::vector<std::string> ResultTexts(const std::vector<ClaimAllocation>& results) {
  std::vector<std::string> texts;
  for (const ClaimAllocation& result : results) texts.push_back(ResultText(result));
  return texts;
}
// The data of such an allocation.
inline std::string HandleText(uint32_t node, const std::vector<std::string>& devices,
                              absl::string_view rest = "") {
  const std::string list =
      devices.empty() ? "" : absl::StrCat("\"", absl::StrJoin(devices, "\",\""), "\"");
  return absl::StrCat("{\"node\":\"node-", node, "\",\"devices\":[", list, "]", rest, "}");
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_CLAIM_DRIVER_RIG_H_
