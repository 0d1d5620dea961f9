// Expressions of new objects of resource.k8s.io/v1, as the API server admits them.
#ifndef DRASIM_POLICIES_CEL_ADMISSION_H_
#define DRASIM_POLICIES_CEL_ADMISSION_H_

#include <vector>

#include "model/kube/kube_problem.h"
#include "model/proto/kube.pb.h"

namespace drasim::cel {

// Problems of the expressions of a DeviceClass, ResourceClaim or ResourceClaimTemplate, by
// their paths: they do not compile, or their worst-case cost exceeds the limit, or they need what
// drasim's CEL lacks. The environment is that of stored expressions, for the gates of the API
// server that the object is for are not known. None for other objects. O(expressions).
std::vector<KubeProblem> ExpressionProblems(const proto::kube::Object& object);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_ADMISSION_H_
