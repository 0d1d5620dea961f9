// Validation of one change of one object: the rules of resource.k8s.io/v1alpha2 and of metadata.
//
// `before` is the stored state, null for a new object. Errors are InvalidArgument; the message
// lists every wrong field, "status.reservedFor: why; status.driverName: why". The letters of names
// (DNS labels) are not checked, because nothing here depends on them. O(size of the object); a
// valid change of a claim allocates nothing.
#ifndef DRASIM_SIM_DRA_API_API_VALIDATION_H_
#define DRASIM_SIM_DRA_API_API_VALIDATION_H_

#include "absl/status/status.h"
#include "model/kube/objects.h"

namespace drasim {

// An object has a name, and gets no further finalizer once its deletion has begun.
absl::Status ValidateMeta(const ObjectMeta* before, const ObjectMeta& after);

// Claim entries have unique names and one source each. An update never changes entries or node
// (binding is a verb of its own).
absl::Status ValidatePod(const Pod* before, const Pod& after);

// The rules of api_server.h for one change of a claim or a PodSchedulingContext.
absl::Status ValidateClaim(const ResourceClaim* before, const ResourceClaim& after);
absl::Status ValidateContext(const PodSchedulingContext* before, const PodSchedulingContext& after);

// Requires a driver name, and complete parameters if any.
absl::Status ValidateClass(const ResourceClass& after);

// Requires a class name, and complete parameters if any; both immutable.
absl::Status ValidateTemplate(const ResourceClaimTemplate* before,
                              const ResourceClaimTemplate& after);

// Kind and group are part of its address, hence immutable.
absl::Status ValidateParameters(const ParametersObject* before, const ParametersObject& after);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_API_VALIDATION_H_
