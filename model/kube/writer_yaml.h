// YAML as goyaml.v2 prints it for kubectl, from a value without a schema.
#ifndef DRASIM_MODEL_KUBE_WRITER_YAML_H_
#define DRASIM_MODEL_KUBE_WRITER_YAML_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

struct KubeMember;

struct KubeValue {
  enum class Kind : uint8_t { kText, kLiteral, kList, kMap };

  Kind kind = Kind::kMap;
  std::string text;              // of a text; of a literal (a number, true, false) as it is written
  std::vector<KubeValue> items;  // of a list
  std::vector<KubeMember> members;  // of a map, in any order
};

struct KubeMember {
  std::string key;
  KubeValue value;
};

// With a line break at the end. Keys of one map differ.
std::string KubeYamlText(const KubeValue& value);

// Whether kubectl's YAML has the key `left` before `right`. Not transitive where digits and letters
// follow the same digits.
bool KubeKeyLess(absl::string_view left, absl::string_view right);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_WRITER_YAML_H_
