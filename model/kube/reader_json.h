// JSON text as a tree of yaml_tree.h, for reader_source.cc: dumps of clusters are larger than
// YamlTree takes, and JSON has escapes that YAML lacks.
#ifndef DRASIM_MODEL_KUBE_READER_JSON_H_
#define DRASIM_MODEL_KUBE_READER_JSON_H_

#include <cstddef>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "model/text/yaml_tree.h"

namespace drasim {

struct JsonTree {
  const YamlNode* root = nullptr;  // null when there is a problem
  size_t end = 0;                  // of the value
  std::string problem;             // "expected ',' or '}'"
  size_t problem_position = 0;
};

// Parses the value (RFC 8259) that begins at text[begin], after blanks. Nodes are added to `nodes`;
// positions count from text[0]. Numbers, true and false are scalars with their text. At most 64
// levels. Linear.
JsonTree ParseJsonTree(absl::string_view text, size_t begin, std::deque<YamlNode>* nodes);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_READER_JSON_H_
