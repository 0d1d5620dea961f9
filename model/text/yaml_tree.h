// One YAML document as a tree with the position of each value. For adapters of YAML; others read
// messages (yaml_proto.h).
#ifndef DRASIM_MODEL_TEXT_YAML_TREE_H_
#define DRASIM_MODEL_TEXT_YAML_TREE_H_

#include <cstddef>
#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/text/yaml_node.h"

namespace drasim {

// Owns the nodes; they live, at the same addresses, as long as the tree or a tree moved from it.
class YamlTree {
 public:
  // Parses `text`, which holds at most one document. `file` is used in errors only.
  // Accepts UTF-8 with or without a byte order mark, and both line endings. A value is null when
  // nothing is written or a plain ~ or null. Errors (InvalidArgument, "FILE:LINE:COLUMN: ..."):
  // syntax; a second document; a tag; an alias inside the value it refers to; bytes that are not
  // UTF-8; control characters other than tab and line breaks; more than 64 MiB of text; mappings
  // and sequences nested more than 64 deep; more than 1,000,000 values, where an alias counts as
  // many as it stands for. Hence a walk over the tree that follows aliases is bounded. Cost: linear
  // in the text.
  static absl::StatusOr<YamlTree> Parse(absl::string_view text, absl::string_view file);

  YamlTree(const YamlTree&) = delete;
  YamlTree& operator=(const YamlTree&) = delete;
  YamlTree(YamlTree&&) = default;
  YamlTree& operator=(YamlTree&&) = default;

  // Null when the text has no document.
  const YamlNode* root() const { return root_; }

  // "FILE:LINE:COLUMN", 1-based; columns count code points. Linear in the text: made for errors.
  std::string Locate(size_t position) const;

  // The 1-based line of a position. Linear in the text.
  size_t LineOf(size_t position) const;

 private:
  YamlTree() = default;

  std::string file_;
  std::string text_;
  std::deque<YamlNode> nodes_;  // a deque keeps addresses when it grows
  const YamlNode* root_ = nullptr;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_YAML_TREE_H_
