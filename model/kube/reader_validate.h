// What the checks of kube_reader_validate*.cc share.
#ifndef DRASIM_MODEL_KUBE_READER_VALIDATE_H_
#define DRASIM_MODEL_KUBE_READER_VALIDATE_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/reader.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// "PATH.FIELD" and "PATH.FIELD[INDEX]"; without the dot when the path is empty.
inline std::string KubeField(absl::string_view path, absl::string_view field) {
  return absl::StrCat(path, path.empty() ? "" : ".", field);
}
inline std::string KubeItem(absl::string_view path, absl::string_view field, int index) {
  return absl::StrCat(KubeField(path, field), "[", index, "]");
}

// Texts and amounts that mean the same wherever they stand. Each notes what is wrong.
class KubeCheck {
 public:
  explicit KubeCheck(std::vector<KubeProblem>* problems) : problems_(problems) {}

  void Fail(std::string path, absl::string_view what) {
    problems_->push_back({std::move(path), std::string(what)});
  }

  // Not empty.
  void Required(const std::string& path, const std::string& value);
  // Lower-case letters, digits, '-' and, in a subdomain, '.'; letters or digits at the ends of the
  // parts (RFC 1123).
  void Subdomain(const std::string& path, const std::string& value);
  void DnsLabel(const std::string& path, const std::string& value);
  // One of the words of `choices`, which have blanks between them; empty will do, too, if
  // `optional` says so.
  void OneOf(const std::string& path, const std::string& value, absl::string_view choices,
             bool optional);
  // Notes a second use of `value`; empty ones do not count.
  void Unique(const std::string& path, const std::string& value, std::set<std::string>* seen);
  void AtLeast(const std::string& path, int64_t value, int64_t least);
  // Amounts of none below zero.
  void Amounts(const std::string& path,
               const google::protobuf::Map<std::string, std::string>& amounts);

  // `named`: without a name it is no object. Cluster-scoped objects have no namespace, but nobody
  // here minds one.
  void Metadata(const proto::kube::ObjectMeta& meta, bool named);
  void Selector(const std::string& path, const proto::kube::LabelSelector& selector);
  void Nodes(const std::string& path, const proto::kube::NodeSelector& selector);
  void NodeTerm(const std::string& path, const proto::kube::NodeSelectorTerm& term);

 private:
  void Requirement(const std::string& path, const proto::kube::SelectorRequirement& requirement,
                   bool of_nodes);

  std::vector<KubeProblem>* problems_;
};

// The specification of a pod or, below `path`, of a pod template.
void CheckKubePodSpec(const std::string& path, const proto::kube::PodSpec& spec, KubeCheck* check);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_READER_VALIDATE_H_
