// A problem that validation finds in a Kubernetes object.
#ifndef DRASIM_MODEL_KUBE_KUBE_PROBLEM_H_
#define DRASIM_MODEL_KUBE_KUBE_PROBLEM_H_

#include <string>

namespace drasim {

// A reason for which the API server would refuse the object.
struct KubeProblem {
  std::string path;  // "spec.containers[0].resources.claims[1]"; empty: the object as a whole
  std::string what;  // "names the entry 'gpu', which spec.resourceClaims does not list"
  bool operator==(const KubeProblem&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_KUBE_PROBLEM_H_
