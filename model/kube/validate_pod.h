// Validation of pods and of the pod templates of other objects. See validate.h.
#ifndef DRASIM_MODEL_KUBE_VALIDATE_POD_H_
#define DRASIM_MODEL_KUBE_VALIDATE_POD_H_

#include <string>
#include <vector>

#include "model/kube/field_check.h"
#include "model/kube/kube_problem.h"
#include "model/proto/kube.pb.h"

namespace drasim {

std::vector<KubeProblem> ValidateKubePod(const proto::kube::Pod& pod);

// The specification of a pod or, below `path`, of a pod template.
void CheckKubePodSpec(const std::string& path, const proto::kube::PodSpec& spec, KubeCheck* check);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VALIDATE_POD_H_
