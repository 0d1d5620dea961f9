// The table of the fields of Kubernetes' pods and nodes (model/data/kubernetes_fields.inc), and the
// page of docs/ that is written from it.
#ifndef DRASIM_TESTS_DOCS_KUBERNETES_FIELDS_H_
#define DRASIM_TESTS_DOCS_KUBERNETES_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drasim {

enum class KubeFieldVerdict : uint8_t { kHonoured, kElsewhere, kNoEffect, kWarned };

struct KubeFieldRow {
  std::vector<std::string> names;
  KubeFieldVerdict verdict = KubeFieldVerdict::kNoEffect;
  std::string reason;
  std::string without;  // with kHonoured
  std::string with;     // with kHonoured: what differs; with kElsewhere: the file that shows it
};

struct KubeTypeRows {
  std::string name;     // upstream's, without group and version: "PodSpec"
  std::string message;  // of model/proto/kube.proto
  std::string place;    // "spec.tolerations[]"
  std::string frame;    // an object without apiVersion, kind and metadata; @ stands for the fields
  std::vector<KubeFieldRow> fields;
  // Read or passed over although upstream's type lacks them; only names and reason are set.
  std::vector<KubeFieldRow> others;
};

// In the table's order.
const std::vector<KubeTypeRows>& KubernetesFields();

// The text of docs/kubernetes_fields.md.
std::string KubeFieldsPage(const std::vector<KubeTypeRows>& table);

}  // namespace drasim

#endif  // DRASIM_TESTS_DOCS_KUBERNETES_FIELDS_H_
