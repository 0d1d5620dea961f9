// The text of a manifest as trees, one per document, with the position of each value and whether it
// was quoted. For reader.cc and positions.cc.
#ifndef DRASIM_MODEL_KUBE_READER_SOURCE_H_
#define DRASIM_MODEL_KUBE_READER_SOURCE_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/text/yaml_tree.h"

namespace drasim {

// A tree as yaml_tree.h has it; positions count from `begin`.
struct KubeDocument {
  const YamlNode* root = nullptr;
  size_t begin = 0;
};

class KubeSource {
 public:
  // Splits the text at lines that begin with `---` and parses each part. A part that begins with
  // '{' is read as JSON, of which several values may follow each other, and as YAML when it is not.
  // Documents without a value are left out. Errors (InvalidArgument, "FILE:LINE:COLUMN: ..."): what
  // YamlTree::Parse refuses, whose limits hold for each YAML document; JSON may have any number of
  // values. Linear in the text.
  static absl::StatusOr<KubeSource> Parse(absl::string_view text, absl::string_view file);

  KubeSource(const KubeSource&) = delete;
  KubeSource& operator=(const KubeSource&) = delete;
  KubeSource(KubeSource&&) = default;
  KubeSource& operator=(KubeSource&&) = default;

  const std::vector<KubeDocument>& documents() const { return documents_; }

  // "FILE:LINE:COLUMN", 1-based, of a position from the beginning of the text; columns count code
  // points. Asking in ascending order costs time linear in the text for all questions together.
  std::string Locate(size_t position) const;

  // The 1-based line. Logarithmic.
  size_t LineOf(size_t position) const;

  // Whether the scalar at that position is written without quotes.
  bool IsPlain(size_t position) const;

 private:
  KubeSource() = default;

  absl::Status ParsePart(size_t begin, size_t end);
  absl::Status ParseYaml(size_t begin, size_t end);
  absl::Status ParseJson(size_t begin, size_t end);
  absl::Status Relocated(absl::string_view message, size_t begin) const;

  std::string file_;
  std::string text_;  // without byte order mark and carriage returns
  std::vector<size_t> line_begins_;
  std::vector<YamlTree> trees_;
  std::deque<YamlNode> json_nodes_;
  std::vector<KubeDocument> documents_;
  // The last position that Locate was asked for, and its column: lines of JSON can be very long.
  mutable size_t last_position_ = 0;
  mutable size_t last_column_ = 1;
};

// The value of a key of a mapping; null when there is none.
const YamlNode* KubeMemberOf(const YamlNode& node, absl::string_view key);

// The value that a path of KubeProblem leads to, or as near to it as the document goes. Paths are
// those of v1: the fields of a device are also looked for below "basic", where older versions of
// resource.k8s.io have them.
const YamlNode* KubeNodeAt(const YamlNode* node, absl::string_view path);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_READER_SOURCE_H_
