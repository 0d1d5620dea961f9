// The API machinery's rules for labels and for requirements on them, with its texts
// (k8s.io/apimachinery pkg/labels, pkg/util/validation, release 1.34).
#ifndef DRASIM_MODEL_KUBE_LABEL_CHECK_H_
#define DRASIM_MODEL_KUBE_LABEL_CHECK_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim {

namespace proto::kube {
class SelectorRequirement;
}  // namespace proto::kube

// The problems of a name such as "example.com/gpu" or "app"; empty for a valid one. Keys of labels
// and names of extended resources have this form.
std::vector<std::string> QualifiedNameProblems(absl::string_view name);

// The same for the value of a label.
std::vector<std::string> LabelValueProblems(absl::string_view value);

// The problems of a requirement whose operator is In, NotIn, Exists, DoesNotExist, Gt or Lt, each
// as "PATH.values[0]: Invalid value: ...". `path` may be empty.
std::vector<std::string> RequirementProblems(absl::string_view path,
                                             const proto::kube::SelectorRequirement& requirement);

// "PATH: Invalid value: SHOWN: PROBLEM". `shown` is in the form of JSON.
std::string InvalidValue(absl::string_view path, absl::string_view shown,
                         absl::string_view problem);
// "PATH: Unsupported value: "x": supported values: "a", "b"".
std::string UnsupportedValue(absl::string_view path, absl::string_view value,
                             absl::Span<const absl::string_view> supported);

// Several errors as Go prints an aggregate: each text once, in brackets if there are two or more.
std::string AggregateText(absl::Span<const std::string> problems);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_LABEL_CHECK_H_
