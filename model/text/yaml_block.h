// YAML in the form in which kubectl prints it, read many times faster than by a whole parser: block
// mappings and sequences, plain and quoted texts (also folded over several lines), literal texts
// (|, |-), {a: b} and [a, b] in one line, comments on lines of their own. For YamlTree.
#ifndef DRASIM_MODEL_TEXT_YAML_BLOCK_H_
#define DRASIM_MODEL_TEXT_YAML_BLOCK_H_

#include <cstdint>
#include <deque>

#include "absl/strings/string_view.h"
#include "model/text/yaml_tree.h"

namespace drasim {

struct YamlBlockLimits {
  int64_t values;
  int depth;
};

// The root of the one document in `text`, whose nodes are appended to *nodes: kinds, texts and
// positions are those of a whole parser. Null for anything that is not in that form or breaks a
// limit, be it valid YAML or not; the nodes are then of no use. `text` is UTF-8 without byte order
// mark, carriage returns and control characters. Linear in the text.
const YamlNode* ParseYamlBlocks(absl::string_view text, const YamlBlockLimits& limits,
                                std::deque<YamlNode>* nodes);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_YAML_BLOCK_H_
