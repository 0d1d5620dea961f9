// Differences between slices, field by field, for tests that compare published slices with stored
// ones.
#ifndef DRASIM_TESTS_POLICIES_DRIVERS_SLICE_DIFFERENCES_H_
#define DRASIM_TESTS_POLICIES_DRIVERS_SLICE_DIFFERENCES_H_

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/kube/reader_json.h"
#include "model/proto/resource.pb.h"
#include "model/text/json_writer.h"
#include "sim/sdra/json_message.h"

namespace drasim {

using SliceFields = std::map<std::string, std::string>;  // by path: "spec.devices[3].name"

inline void AddSliceFields(const YamlNode& node, const std::string& path, SliceFields* fields) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
    case YamlNode::Kind::kScalar:
      (*fields)[path] = node.text;
      return;
    case YamlNode::Kind::kSequence:
      for (size_t i = 0; i < node.children.size(); ++i) {
        AddSliceFields(*node.children[i], absl::StrCat(path, "[", i, "]"), fields);
      }
      return;
    case YamlNode::Kind::kMapping:
      for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
        const std::string& key = node.children[i]->text;
        AddSliceFields(*node.children[i + 1], path.empty() ? key : absl::StrCat(path, ".", key),
                       fields);
      }
      return;
  }
}

// Every field that is set; amounts as numbers.
inline SliceFields FieldsOfSlice(const proto::kube::ResourceSlice& slice) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  WriteJson(slice, QuantityForm::kNumber, &json);
  const std::string text = json.text();
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(text, 0, &nodes);
  DRASIM_CHECK(tree.root != nullptr);
  SliceFields fields;
  AddSliceFields(*tree.root, "", &fields);
  return fields;
}

// "spec.devices[3].name" without the index.
inline std::string WithoutIndices(const std::string& path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '[')
      i = path.find(']', i);
    else
      text.push_back(path[i]);
  }
  return text;
}

// Counts, by path without indices, the fields that differ or that only one of the slices has.
inline void CountDifferences(const proto::kube::ResourceSlice& left,
                             const proto::kube::ResourceSlice& right,
                             std::map<std::string, int>* counts) {
  SliceFields rest = FieldsOfSlice(right);
  for (const auto& [path, value] : FieldsOfSlice(left)) {
    const auto other = rest.find(path);
    if (other == rest.end() || other->second != value) ++(*counts)[WithoutIndices(path)];
    if (other != rest.end()) rest.erase(other);
  }
  for (const auto& [path, value] : rest) ++(*counts)[WithoutIndices(path)];
}

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_DRIVERS_SLICE_DIFFERENCES_H_
