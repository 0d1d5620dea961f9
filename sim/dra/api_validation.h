// Admission to the API server's table: the rules of resource.k8s.io/v1alpha2 and of metadata,
// for one change of one object.
//
// In all of these `before` is the stored state, null for a new object. Errors are InvalidArgument;
// the message names every field that is wrong, "status.reservedFor: why; status.driverName: why".
// The letters of names (DNS labels) are not checked: nothing here depends on them. O(size of
// the object); an allowed change of a claim allocates nothing.
#ifndef DRASIM_SIM_DRA_API_VALIDATION_H_
#define DRASIM_SIM_DRA_API_VALIDATION_H_

#include "absl/status/status.h"
#include "model/kube/objects.h"

namespace drasim {

// An object has a name, and gets no finalizer any more once it is being deleted.
absl::Status ValidateMeta(const ObjectMeta* before, const ObjectMeta& after);

// Claim entries have names, each its own, and one source each. Entries and node never change by an
// update (binding is a verb of its own).
absl::Status ValidatePod(const Pod* before, const Pod& after);

// The rules of api_server.h for one change of a claim or a PodSchedulingContext.
absl::Status ValidateClaim(const ResourceClaim* before, const ResourceClaim& after);
absl::Status ValidateContext(const PodSchedulingContext* before, const PodSchedulingContext& after);

// A driver name, and complete parameters if any.
absl::Status ValidateClass(const ResourceClass& after);

// A class name, and complete parameters if any; never changed.
absl::Status ValidateTemplate(const ResourceClaimTemplate* before,
                              const ResourceClaimTemplate& after);

// Its kind and group are part of its address, and never change.
absl::Status ValidateParameters(const ParametersObject* before, const ParametersObject& after);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_VALIDATION_H_
