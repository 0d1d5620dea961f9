// ClaimPlan: claims to allocate, prepared for the search on any node.
#ifndef DRASIM_POLICIES_ALLOCATOR_CLAIM_PLAN_H_
#define DRASIM_POLICIES_ALLOCATOR_CLAIM_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/asked_claim.h"
#include "policies/allocator/capacity_policy.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_taints.h"
#include "policies/allocator/selector_verdicts.h"

namespace drasim {

// Upstream's limit on devices of one claim.
inline constexpr int64_t kMaxClaimResults = 32;

using DeviceClassIndex = absl::flat_hash_map<std::string, const proto::kube::DeviceClass*>;

// A request's verdict on devices of one kind, in upstream's order of tests.
enum class KindVerdict : uint8_t {
  kUnknown,
  kNo,             // not selectable, or too small
  kCandidate,      // may be taken
  kRefused,        // selectable, but tainted or behind a gate: counts for mode All
  kSelectorError,  // looking at the device is an error
  kCapacityError,  // the same, if the node may use the device
};

// A request, or one alternative of a prioritised list.
struct RequestPlan {
  uint32_t claim = 0;
  uint32_t group = 0;       // number of the request in its claim
  std::string name;         // of the request or subrequest
  std::string result_name;  // "request" or "request/subrequest"
  std::string parent;       // of a subrequest
  std::string error;        // upstream's words: the request is not valid
  const proto::kube::DeviceClass* device_class = nullptr;
  std::vector<int> class_selectors;
  std::vector<int> selectors;
  bool all = false;  // allocationMode All
  int64_t count = 0;
  bool admin = false;
  CapacityRequest capacity;
  const DeviceTolerations* tolerations = nullptr;
  absl::Span<const proto::kube::DerivedAttribute* const> derived() const { return derived_list; }
  std::vector<const proto::kube::DerivedAttribute*> derived_list;

  // Filled while searching, by kind of device.
  std::vector<KindVerdict> verdicts;
  std::vector<uint32_t> demand_of_capacities;  // by DeviceKind::capacities; 0: not yet known
};

// A request of a claim with its alternatives.
struct RequestGroup {
  std::string name;
  std::string error;  // upstream's words, before those of the alternatives
  bool prioritized = false;
  std::vector<uint32_t> options;  // request plans; one unless prioritised
};

struct ConstraintPlan {
  bool distinct = false;
  std::string attribute;
  std::vector<bool> applies;  // by request plan
};

struct PlannedClaim {
  AskedClaim claim;
  std::string text() const { return claim.text(); }
  std::vector<RequestGroup> groups;
  std::string error;  // of the constraints
  std::vector<ConstraintPlan> constraints;
};

class ClaimPlan {
 public:
  // The claims and the classes outlive the plan; the index need not.
  ClaimPlan(const AllocatorOptions& options, const DeviceCatalog& catalog,
            const DeviceClassIndex& classes, SelectorVerdicts* verdicts, AskedClaims claims);

  const std::vector<PlannedClaim>& claims() const { return claims_; }
  const RequestPlan& request(uint32_t index) const { return requests_[index]; }
  size_t request_count() const { return requests_.size(); }

  // All that decides about the claims, apart from names: plans of equal content, made with the same
  // options, catalog and verdicts, get the same answers, but for the words of errors. Made when
  // first asked for.
  const std::string& Content() const;

  // Whether a request or constraint is invalid. The errors contain the claims' names.
  bool has_errors() const;
  // Makes this the plan of other claims.
  // REQUIRES: !has_errors(); the claims have the same specifications in the same order.
  void Rename(AskedClaims claims);

  // O(1) once known.
  KindVerdict VerdictOf(uint32_t request, uint32_t kind) {
    const KindVerdict known = requests_[request].verdicts[kind];
    return known != KindVerdict::kUnknown ? known : FindVerdict(request, kind);
  }
  // The amounts that the request takes of a device with those capacities.
  const CapacityDemand& DemandOf(uint32_t request, uint32_t capacities);

  // Upstream's words for kSelectorError and kCapacityError. `device_text` names the device:
  // "driver/pool/device", but for the second error in mode All only "device".
  std::string SelectorError(uint32_t request, uint32_t kind, const std::string& device_text);
  std::string CapacityError(uint32_t request, uint32_t kind, const std::string& device_text);

 private:
  void AddClaim(const AskedClaim& claim, const DeviceClassIndex& classes);
  void AddGroup(const proto::kube::DeviceRequest& request, const DeviceClassIndex& classes,
                PlannedClaim* claim);
  template <typename Request>
  uint32_t AddRequest(const Request& request, const DeviceClassIndex& classes,
                      const std::string& name, const std::string& parent, bool admin_given,
                      bool admin);
  template <typename Request>
  std::string FillRequest(const Request& request, const DeviceClassIndex& classes, bool admin_given,
                          RequestPlan* plan);
  void AddConstraints(PlannedClaim* claim);
  KindVerdict FindVerdict(uint32_t request, uint32_t kind);
  // The first selector that is not met, or none; -1 - index for those of the class.
  struct Unmet {
    bool error = false;
    bool of_class = false;
    size_t index = 0;
    int selector = 0;
  };
  bool Selects(const RequestPlan& request, DeviceRow row, Unmet* unmet);

  const AllocatorOptions& options_;
  const DeviceCatalog& catalog_;
  SelectorVerdicts* verdicts_;
  std::vector<PlannedClaim> claims_;
  std::vector<RequestPlan> requests_;
  std::vector<CapacityDemand> demands_;
  mutable std::string content_;  // empty: not yet known
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CLAIM_PLAN_H_
