// Decisions of the API server about a pod that is created: its namespace, scheduler, priority, and
// the label keys of its affinity (kubernetes/kubernetes plugin/pkg/admission/priority,
// pkg/registry/core/pod/strategy.go, release 1.34).
#ifndef DRASIM_MODEL_KUBE_ADMISSION_H_
#define DRASIM_MODEL_KUBE_ADMISSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// The priorities of a cluster. Kubernetes' two built-in classes are there unless they are given.
class PriorityClasses {
 public:
  struct Class {
    int32_t value = 0;
    std::string preemption_policy;  // empty: PreemptLowerPriority
  };

  PriorityClasses();

  void Add(const proto::kube::PriorityClass& given);

  // Null for an unknown name.
  const Class* Find(const std::string& name) const;
  // The class of pods that name none: the one with globalDefault, of several the lowest. Null when
  // there is none.
  const Class* global_default() const {
    return global_default_.has_value() ? &*global_default_ : nullptr;
  }

 private:
  std::map<std::string, Class> classes_;
  std::optional<Class> global_default_;
};

class ApiAdmission {
 public:
  explicit ApiAdmission(absl::Span<const proto::kube::PriorityClass* const> classes);

  // Sets what is not set: the namespace `default`, the scheduler `default-scheduler`, priority and
  // preemptionPolicy by the pod's PriorityClass (an unknown one counts as 0). Terms of pod affinity
  // with a selector get "key In (value)" for their matchLabelKeys and "key NotIn (value)" for their
  // mismatchLabelKeys, of the keys that the pod has. Idempotent.
  void Admit(proto::kube::Pod* pod) const;

 private:
  PriorityClasses classes_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_ADMISSION_H_
