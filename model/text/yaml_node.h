// A value of a YAML document.
#ifndef DRASIM_MODEL_TEXT_YAML_NODE_H_
#define DRASIM_MODEL_TEXT_YAML_NODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace drasim {

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  size_t position = 0;  // bytes into the text
  std::string text;     // of a scalar, without quotes and with escapes resolved
  // The items of a sequence, or key, value, key, value, ... of a mapping. Owned by the tree. A
  // value that aliases refer to is the child of several nodes, at its own position.
  std::vector<const YamlNode*> children;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_YAML_NODE_H_
