// Validation of Kubernetes objects, one at a time, as the API server does it: names, references
// between fields of one object, amounts, operators and modes, as far as a simulation depends on
// them. References to other objects are not followed.
//
// Problems come in the order of the schema. Cost: linear in the object, except for lists whose
// entries are compared with each other.
#ifndef DRASIM_MODEL_KUBE_VALIDATE_H_
#define DRASIM_MODEL_KUBE_VALIDATE_H_

#include <string>
#include <vector>

#include "model/proto/kube.pb.h"

namespace drasim {

// A reason for which the API server would refuse the object.
struct KubeProblem {
  std::string path;  // "spec.containers[0].resources.claims[1]"; empty: the object as a whole
  std::string what;  // "names the entry 'gpu', which spec.resourceClaims does not list"
  bool operator==(const KubeProblem&) const = default;
};

std::vector<KubeProblem> ValidateKubeObject(const proto::kube::Object& object);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VALIDATE_H_
