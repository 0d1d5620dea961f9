// Objects of resource.k8s.io in its older versions, lifted to v1: all code behind the reader sees
// v1 only.
//
// Differences from v1, by the version that still has them (k8s.io/api/resource):
//   v1alpha3 (1.31)  capacities are plain quantities; requests and devices as in v1beta1; a
//                    DeviceTaintRule may select by class and CEL
//   v1beta1 (1.32)   a device's fields are below `basic`; the fields of a request's `exactly` are
//                    the request's own
//   v1beta2 (1.33)   as v1
#ifndef DRASIM_MODEL_KUBE_RESOURCE_LIFT_H_
#define DRASIM_MODEL_KUBE_RESOURCE_LIFT_H_

#include <vector>

#include "model/kube/kube_problem.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// The API version of lifted objects.
inline constexpr char kResourceV1[] = "resource.k8s.io/v1";

// Whether the object is one of structured DRA: of resource.k8s.io/v1 or a version that is lifted to
// it. Classic DRA's objects of that group are not.
bool IsStructuredDra(const proto::kube::Object& object);

// Moves the fields of older versions to where v1 has them; the object's apiVersion becomes
// kResourceV1. Objects of other groups, and of classic DRA, stay as they are. The plain quantities
// of v1alpha3 are in DeviceCapacity.value already (reader.h).
//
// Returns problems, with v1's paths, where v1 cannot say the same: a taint rule that selects by
// class or CEL, which without these would taint other devices. Idempotent. O(object).
std::vector<KubeProblem> LiftResourceObject(proto::kube::Object* object);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_RESOURCE_LIFT_H_
