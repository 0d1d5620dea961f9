// Validation of Kubernetes objects, one at a time, as the API server does it: names, references
// between fields of one object, amounts, operators and modes, as far as a simulation depends on
// them. References to other objects are not followed.
//
// Problems come in the order of the schema. Cost: linear in the object, except for lists whose
// entries are compared with each other.
#ifndef DRASIM_MODEL_KUBE_VALIDATE_H_
#define DRASIM_MODEL_KUBE_VALIDATE_H_

#include <vector>

#include "model/kube/kube_problem.h"
#include "model/proto/kube.pb.h"

namespace drasim {

std::vector<KubeProblem> ValidateKubeObject(const proto::kube::Object& object);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VALIDATE_H_
