// MergeYaml and SetField. ToYaml is in yaml_writer.cc.
#include "model/text/yaml_proto.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/proto_scalar.h"
#include "model/text/yaml_tree.h"

namespace drasim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMaxPathKeys = 64;

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

std::string UnknownKey(absl::string_view key, const Descriptor& type) {
  const std::vector<std::string> names = FieldNames(type);
  const std::string suggestion = Suggest(key, names);
  if (!suggestion.empty() || names.empty()) return absl::StrCat("unknown key", suggestion);
  return absl::StrCat("unknown key, expected one of ", absl::StrJoin(names, ", "));
}

std::string ExpectedValue(const FieldDescriptor& field) {
  return IsMessage(field) ? "keys and values" : ExpectedScalar(field);
}

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return absl::StrCat("'", Shorten(node.text), "'");
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMapping:
      return "keys and values";
  }
  return std::string();
}

std::string JoinPath(absl::string_view path, absl::string_view key) {
  return path.empty() ? Shorten(key) : absl::StrCat(path, ".", Shorten(key));
}

// The entries of one map field, by the text of their keys. Reflection offers them as a list only.
class MapEntries {
 public:
  // Cost: the entries there are, times the logarithm of their number.
  MapEntries(const FieldDescriptor* field, Message* message)
      : field_(field), key_(field->message_type()->map_key()), message_(message) {
    const Reflection& reflection = *message_->GetReflection();
    const int size = reflection.FieldSize(*message_, field_);
    for (int i = 0; i < size; ++i) {
      indices_.emplace(
          ScalarText(reflection.GetRepeatedMessage(*message_, field_, i), *key_, kSingular), i);
    }
  }

  // The entry whose key `text` says, added when there is none; *key becomes the key as ScalarText
  // writes it. After an error the map may hold a spurious entry: the message is of no more use.
  absl::StatusOr<Message*> FindOrAdd(absl::string_view text, std::string* key) {
    const Reflection& reflection = *message_->GetReflection();
    Message* entry = reflection.AddMessage(message_, field_);
    RETURN_IF_ERROR(StoreScalar(text, *key_, entry));
    *key = ScalarText(*entry, *key_, kSingular);
    const auto known = indices_.find(*key);
    if (known == indices_.end()) {
      const int index = static_cast<int>(indices_.size());
      indices_.emplace(*key, index);
      return entry;
    }
    reflection.RemoveLast(message_, field_);
    return reflection.MutableRepeatedMessage(message_, field_, known->second);
  }

 private:
  const FieldDescriptor* field_;
  const FieldDescriptor* key_;
  Message* message_;
  std::map<std::string, int> indices_;
};

// Merges the tree of one document into a message. The tree's limits bound the recursion.
class Merger {
 public:
  explicit Merger(const YamlTree* tree) : tree_(tree) {}

  absl::Status MergeMessage(const YamlNode& node, const std::string& path, Message* message) const {
    if (node.kind != YamlNode::Kind::kMapping) return Mismatch(node, path, "keys and values");
    const Descriptor& type = *message->GetDescriptor();
    std::vector<const YamlNode*> given(static_cast<size_t>(type.field_count()), nullptr);
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      if (key.kind != YamlNode::Kind::kScalar) return Mismatch(key, path, "a key");
      const std::string key_path = JoinPath(path, key.text);
      const FieldDescriptor* field = type.FindFieldByName(key.text);
      if (field == nullptr) return Error(key, key_path, UnknownKey(key.text, type));
      const YamlNode*& first = given[static_cast<size_t>(field->index())];
      if (first != nullptr) return Duplicate(key, key_path, *first);
      first = &key;
      RETURN_IF_ERROR(MergeField(*node.children[i + 1], key_path, *field, message));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status MergeField(const YamlNode& node, const std::string& path,
                          const FieldDescriptor& field, Message* message) const {
    if (node.kind == YamlNode::Kind::kNull) return absl::OkStatus();
    if (field.is_map()) return MergeMap(node, path, field, message);
    if (field.is_repeated()) return ReplaceList(node, path, field, message);
    return MergeValue(node, path, field, message);
  }

  // One value: sets or merges into a singular field, appends to a repeated one.
  absl::Status MergeValue(const YamlNode& node, const std::string& path,
                          const FieldDescriptor& field, Message* message) const {
    if (IsMessage(field)) {
      const Reflection& reflection = *message->GetReflection();
      Message* child = field.is_repeated() ? reflection.AddMessage(message, &field)
                                           : reflection.MutableMessage(message, &field);
      return MergeMessage(node, path, child);
    }
    if (node.kind != YamlNode::Kind::kScalar) return Mismatch(node, path, ExpectedScalar(field));
    const absl::Status stored = StoreScalar(node.text, field, message);
    return stored.ok() ? stored : Error(node, path, stored.message());
  }

  absl::Status ReplaceList(const YamlNode& node, const std::string& path,
                           const FieldDescriptor& field, Message* message) const {
    if (node.kind != YamlNode::Kind::kSequence) {
      return Mismatch(node, path, absl::StrCat("a list, each item ", ExpectedValue(field)));
    }
    message->GetReflection()->ClearField(message, &field);
    for (size_t i = 0; i < node.children.size(); ++i) {
      RETURN_IF_ERROR(MergeValue(*node.children[i], absl::StrCat(path, ".", i), field, message));
    }
    return absl::OkStatus();
  }

  absl::Status MergeMap(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                        Message* message) const {
    if (node.kind != YamlNode::Kind::kMapping) return Mismatch(node, path, "keys and values");
    MapEntries entries(&field, message);
    std::map<std::string, const YamlNode*> given;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      if (key.kind != YamlNode::Kind::kScalar) return Mismatch(key, path, "a key");
      const std::string key_path = JoinPath(path, key.text);
      std::string canonical;
      const absl::StatusOr<Message*> entry = entries.FindOrAdd(key.text, &canonical);
      if (!entry.ok())
        return Error(key, key_path, absl::StrCat(entry.status().message(), " as the key"));
      const auto first = given.find(canonical);
      if (first != given.end()) return Duplicate(key, key_path, *first->second);
      given.emplace(canonical, &key);
      const FieldDescriptor& value_field = *field.message_type()->map_value();
      const YamlNode& value = *node.children[i + 1];
      RETURN_IF_ERROR(IsListOfWords(value, field)
                          ? MergeWords(value, key_path, value_field, *entry)
                          : MergeValue(value, key_path, value_field, *entry));
    }
    return absl::OkStatus();
  }

  static bool IsListOfWords(const YamlNode& node, const FieldDescriptor& field) {
    return node.kind == YamlNode::Kind::kSequence &&
           field.options().GetExtension(proto::kube::format) == proto::kube::FORMAT_WORDS;
  }

  // A list in place of words with commas between them.
  absl::Status MergeWords(const YamlNode& node, const std::string& path,
                          const FieldDescriptor& field, Message* message) const {
    std::vector<std::string> words;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const YamlNode& item = *node.children[i];
      const std::string item_path = absl::StrCat(path, ".", i);
      if (item.kind != YamlNode::Kind::kScalar) return Mismatch(item, item_path, "a text");
      if (absl::StrContains(item.text, ',')) {
        return Error(item, item_path,
                     absl::StrCat("found '", Shorten(item.text), "', expected no comma"));
      }
      words.push_back(item.text);
    }
    if (words.empty()) return Error(node, path, "found an empty list, expected a text or more");
    const absl::Status stored = StoreScalar(absl::StrJoin(words, ","), field, message);
    return stored.ok() ? stored : Error(node, path, stored.message());
  }

  absl::Status Error(const YamlNode& node, absl::string_view path,
                     absl::string_view problem) const {
    return absl::InvalidArgumentError(
        absl::StrCat(tree_->Locate(node.position), ": ", path, path.empty() ? "" : ": ", problem));
  }

  absl::Status Mismatch(const YamlNode& node, absl::string_view path,
                        absl::string_view expected) const {
    return Error(node, path, absl::StrCat("found ", Describe(node), ", expected ", expected));
  }

  absl::Status Duplicate(const YamlNode& key, absl::string_view path, const YamlNode& first) const {
    return Error(
        key, path,
        absl::StrCat("duplicate key, first given in line ", tree_->LineOf(first.position)));
  }

  const YamlTree* tree_;
};

// Walks a dotted path through a message and sets what it leads to.
class PathSetter {
 public:
  PathSetter(absl::string_view path, absl::string_view value, absl::string_view origin)
      : path_(path), value_(value), origin_(origin) {}

  // The path may be as long as a command line, so the recursion needs a bound.
  absl::Status Set(Message* message) const {
    const auto keys = static_cast<size_t>(std::count(path_.begin(), path_.end(), '.')) + 1;
    if (keys > kMaxPathKeys) {
      return Error(Shorten(path_), absl::StrCat("found a path of ", keys,
                                                " keys, expected at most ", kMaxPathKeys));
    }
    return SetBelow(0, message);
  }

 private:
  // One key of the path: path[begin, end). The last one ends with the path.
  struct Step {
    size_t begin = 0;
    size_t end = 0;
    bool last = false;
  };

  Step StepAt(size_t begin) const {
    const size_t dot = path_.find('.', begin);
    Step step;
    step.begin = begin;
    step.last = dot == absl::string_view::npos;
    step.end = step.last ? path_.size() : dot;
    return step;
  }

  absl::string_view Text(const Step& step) const {
    return path_.substr(step.begin, step.end - step.begin);
  }

  absl::string_view Upto(const Step& step) const { return path_.substr(0, step.end); }

  absl::Status SetBelow(size_t begin, Message* message) const {
    const Step step = StepAt(begin);
    if (step.begin == step.end) {
      return absl::InvalidArgumentError(absl::StrCat(origin_, ": found the path '", Shorten(path_),
                                                     "', expected keys joined by dots"));
    }
    const Descriptor& type = *message->GetDescriptor();
    const FieldDescriptor* field = type.FindFieldByName(std::string(Text(step)));
    if (field == nullptr) return Error(Shorten(Upto(step)), UnknownKey(Text(step), type));
    if (field->is_map()) return SetMapEntry(step, *field, message);
    if (IsMessage(*field)) {
      if (field->is_repeated()) return SetListItem(step, *field, message);
      if (step.last) return NeedsKey(step, *field);
      return SetBelow(step.end + 1, message->GetReflection()->MutableMessage(message, field));
    }
    if (!step.last)
      return Error(Shorten(path_), absl::StrCat("'", Text(step), "' has no keys of its own"));
    if (!field->is_repeated()) return Store(Upto(step), value_, *field, message);
    message->GetReflection()->ClearField(message, field);
    if (value_.empty()) return absl::OkStatus();
    for (const absl::string_view item : absl::StrSplit(value_, ',')) {
      RETURN_IF_ERROR(Store(Upto(step), absl::StripAsciiWhitespace(item), *field, message));
    }
    return absl::OkStatus();
  }

  absl::Status SetMapEntry(const Step& step, const FieldDescriptor& field, Message* message) const {
    const size_t begin = step.end + 1;
    if (step.last || begin == path_.size()) {
      return Error(Upto(step),
                   absl::StrCat("expected a key of this map after it, as in ", Upto(step), ".KEY"));
    }
    const FieldDescriptor& value = *field.message_type()->map_value();
    Step key = StepAt(begin);
    if (!IsMessage(value)) {  // nothing can follow such a key, so its dots are its own
      key.end = path_.size();
      key.last = true;
    }
    if (key.last && IsMessage(value)) return NeedsKey(key, value);
    std::string ignored;
    const absl::StatusOr<Message*> entry =
        MapEntries(&field, message).FindOrAdd(Text(key), &ignored);
    if (!entry.ok())
      return Error(Shorten(Upto(key)), absl::StrCat(entry.status().message(), " as the key"));
    if (!IsMessage(value)) return Store(Upto(key), value_, value, *entry);
    return SetBelow(key.end + 1, (*entry)->GetReflection()->MutableMessage(*entry, &value));
  }

  absl::Status SetListItem(const Step& step, const FieldDescriptor& field, Message* message) const {
    if (step.last) {
      return Error(Upto(step),
                   absl::StrCat("expected an item's number after it, as in ", Upto(step), ".0"));
    }
    const Reflection& reflection = *message->GetReflection();
    const int size = reflection.FieldSize(*message, &field);
    const Step item = StepAt(step.end + 1);
    int index = 0;
    if (!absl::SimpleAtoi(Text(item), &index) || index < 0 || index > size) {
      return Error(Shorten(Upto(item)), absl::StrCat("found '", Shorten(Text(item)),
                                                     "', expected an item's number, 0 to ", size,
                                                     " (", size, " adds an item)"));
    }
    if (item.last) return NeedsKey(item, field);
    Message* child = index == size ? reflection.AddMessage(message, &field)
                                   : reflection.MutableRepeatedMessage(message, &field, index);
    return SetBelow(item.end + 1, child);
  }

  absl::Status NeedsKey(const Step& step, const FieldDescriptor& field) const {
    return Error(Shorten(Upto(step)),
                 absl::StrCat("expected one of its keys after it: ",
                              absl::StrJoin(FieldNames(*field.message_type()), ", ")));
  }

  absl::Status Store(absl::string_view path, absl::string_view text, const FieldDescriptor& field,
                     Message* message) const {
    const absl::Status stored = StoreScalar(text, field, message);
    return stored.ok() ? stored : Error(Shorten(path), stored.message());
  }

  absl::Status Error(absl::string_view path, absl::string_view problem) const {
    return absl::InvalidArgumentError(absl::StrCat(origin_, ": ", path, ": ", problem));
  }

  absl::string_view path_;
  absl::string_view value_;
  absl::string_view origin_;
};

// Work happens on a copy, so that an error leaves no half-made change behind.
std::unique_ptr<Message> CopyOf(const Message& message) {
  std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  return copy;
}

}  // namespace

absl::Status MergeYaml(absl::string_view text, absl::string_view file, Message* message) {
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(text, file));
  const YamlNode* root = tree.root();
  if (root == nullptr || root->kind == YamlNode::Kind::kNull) return absl::OkStatus();
  const std::unique_ptr<Message> merged = CopyOf(*message);
  absl::Status status = Merger(&tree).MergeMessage(*root, std::string(), merged.get());
  if (status.ok()) message->GetReflection()->Swap(message, merged.get());
  return status;
}

absl::Status SetField(absl::string_view path, absl::string_view value, absl::string_view origin,
                      Message* message) {
  const std::unique_ptr<Message> changed = CopyOf(*message);
  absl::Status status = PathSetter(path, value, origin).Set(changed.get());
  if (status.ok()) message->GetReflection()->Swap(message, changed.get());
  return status;
}

std::string LocateField(absl::string_view text, absl::string_view file, absl::string_view path) {
  absl::StatusOr<YamlTree> tree = YamlTree::Parse(text, file);
  if (!tree.ok() || tree->root() == nullptr) return "";
  const YamlNode* node = tree->root();
  bool is_item = false;  // of a list
  for (absl::string_view key : absl::StrSplit(path, '.')) {
    const YamlNode* found = nullptr;
    size_t number = 0;
    const bool in_list = node->kind == YamlNode::Kind::kSequence;
    if (in_list) {
      if (absl::SimpleAtoi(key, &number) && number < node->children.size()) {
        found = node->children[number];
      }
    } else if (node->kind == YamlNode::Kind::kMapping) {
      for (size_t i = 0; i + 1 < node->children.size(); i += 2) {
        if (node->children[i]->text == key) found = node->children[i + 1];
      }
    }
    if (found == nullptr) return is_item ? tree->Locate(node->position) : "";
    node = found;
    is_item = in_list;
  }
  return tree->Locate(node->position);
}

}  // namespace drasim
