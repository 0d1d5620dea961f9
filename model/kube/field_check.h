// Checks of single fields that the validation of all kinds shares (validate.cc, validate_pod.cc).
#ifndef DRASIM_MODEL_KUBE_FIELD_CHECK_H_
#define DRASIM_MODEL_KUBE_FIELD_CHECK_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/kube_problem.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// "PATH.FIELD" and "PATH.FIELD[INDEX]"; without the dot when the path is empty.
inline std::string KubeField(absl::string_view path, absl::string_view field) {
  return absl::StrCat(path, path.empty() ? "" : ".", field);
}
inline std::string KubeItem(absl::string_view path, absl::string_view field, int index) {
  return absl::StrCat(KubeField(path, field), "[", index, "]");
}

// Collects the problems of one object. Every check but Fail adds one only when the value is wrong.
class KubeCheck {
 public:
  explicit KubeCheck(std::vector<KubeProblem>* problems) : problems_(problems) {}

  void Fail(std::string path, absl::string_view what) {
    problems_->push_back({std::move(path), std::string(what)});
  }

  // The value must not be empty.
  void Required(const std::string& path, const std::string& value);
  // The value must be a name as of RFC 1123: lower-case letters, digits, '-' and, in a subdomain,
  // '.', with letters or digits at the ends of its parts.
  void Subdomain(const std::string& path, const std::string& value);
  void DnsLabel(const std::string& path, const std::string& value);
  // The value must be one of the words of `choices`, which blanks separate. It may be empty when
  // `optional`.
  void OneOf(const std::string& path, const std::string& value, absl::string_view choices,
             bool optional);
  // The value must not be in `seen`, which it joins. Empty values are not compared.
  void Unique(const std::string& path, const std::string& value, std::set<std::string>* seen);
  void AtLeast(const std::string& path, int64_t value, int64_t least);
  // Every amount must be a quantity that is not negative.
  void Amounts(const std::string& path,
               const google::protobuf::Map<std::string, std::string>& amounts);

  // With `named`, a name is required. A namespace is accepted on cluster-scoped objects, too.
  void Metadata(const proto::kube::ObjectMeta& meta, bool named);
  void Selector(const std::string& path, const proto::kube::LabelSelector& selector);
  void Nodes(const std::string& path, const proto::kube::NodeSelector& selector);
  void NodeTerm(const std::string& path, const proto::kube::NodeSelectorTerm& term);

 private:
  void Requirement(const std::string& path, const proto::kube::SelectorRequirement& requirement,
                   bool of_nodes);

  std::vector<KubeProblem>* problems_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_FIELD_CHECK_H_
