#include "model/kube/reader.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/kube/go_json.h"
#include "model/kube/reader_schema.h"
#include "model/kube/reader_source.h"
#include "model/kube/resource_lift.h"
#include "model/kube/scalar.h"
#include "model/kube/validate.h"
#include "model/quantity.h"
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
using proto::kube::Format;

constexpr size_t kMaxKubeErrors = 20;

// KubePath: the place of a value in its object; made on the way down, a text only when it is
// needed.
struct KubePath {
  enum class Step : uint8_t { kRoot, kField, kItem, kMapKey };

  KubePath Field(absl::string_view name) const { return {this, Step::kField, name, 0}; }
  KubePath Item(size_t number) const { return {this, Step::kItem, "", number}; }
  KubePath MapKey(absl::string_view name) const { return {this, Step::kMapKey, name, 0}; }

  // `any_item`: list items are all one.
  std::string Text(bool any_item = false) const {
    if (step == Step::kRoot) return "";
    const std::string above = parent->Text(any_item);
    if (step == Step::kItem) {
      return any_item ? absl::StrCat(above, "[]") : absl::StrCat(above, "[", index, "]");
    }
    if (step == Step::kMapKey) return absl::StrCat(above, "[", Shorten(key), "]");
    return absl::StrCat(above, above.empty() ? "" : ".", Shorten(key));
  }

  const KubePath* parent = nullptr;
  Step step = Step::kRoot;
  absl::string_view key;
  size_t index = 0;
};

// A key of a mapping and its value.
struct KubeEntry {
  const YamlNode* key = nullptr;
  std::string name;
  const YamlNode* value = nullptr;
};

// Fields that an item of a list of one kind may leave out.
struct KubeItemDefaults {
  std::string api_version;
  std::string kind;
};

const KubeEntry* FindEntry(const std::vector<KubeEntry>& entries, absl::string_view name) {
  for (const KubeEntry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// "spec.containers[].name" of "spec.containers[2].name".
std::string PathOfAnyItem(absl::string_view path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    text.push_back(path[i]);
    if (path[i] != '[') continue;
    const size_t end = path.find_first_not_of("0123456789", i + 1);
    if (end != absl::string_view::npos && path[end] == ']') i = end - 1;
  }
  return text;
}

// Whether the groups of Kubernetes itself have that one: "apps", "resource.k8s.io".
bool IsKubernetesGroup(absl::string_view group) {
  return !absl::StrContains(group, ".") || absl::EndsWith(group, ".k8s.io");
}

std::string ExpectedFormat(const FieldDescriptor& field, Format format) {
  if (format == proto::kube::FORMAT_QUANTITY) return "a quantity such as 2, 500m or 1.5Gi";
  if (format == proto::kube::FORMAT_TIME) return "a time such as 2024-01-31T12:00:00Z";
  if (format == proto::kube::FORMAT_JSON) return "a value of JSON";
  return ExpectedScalar(field);
}

Format FormatOf(const FieldDescriptor& field) {
  return field.options().GetExtension(proto::kube::format);
}

// Reads one document after the other. Errors are noted and the faulty parts left out, so that one
// run reports all of them.
class KubeTreeReader {
 public:
  KubeTreeReader(const KubeSource* source, const KubeReadOptions& options)
      : source_(source), options_(options) {}

  void ReadDocument(const KubeDocument& document) {
    begin_ = document.begin;
    ReadObject(*document.root, KubeItemDefaults());
  }

  // The document as `message`; unknown fields are errors.
  void ReadMessage(const KubeDocument& document, Message* message,
                   absl::FunctionRef<std::vector<KubeProblem>()> check) {
    begin_ = document.begin;
    strict_ = true;
    const KubePath root;
    const YamlNode& node = *document.root;
    if (node.kind != YamlNode::Kind::kMapping) return Mismatch(node, root, "an object");
    const std::vector<KubeEntry> entries = Entries(node, root);
    const auto expect = [&](const char* name, const std::string& expected) {
      const std::string given = EntryText(node, entries, name, "", expected);
      if (given.empty() || given == expected) return;
      Mismatch(*FindEntry(entries, name)->value, root.Field(name), expected);
    };
    const proto::kube::Api& api =
        message->GetDescriptor()->options().GetExtension(proto::kube::api, 0);
    expect("apiVersion", api.version());
    expect("kind", api.kind().empty() ? message->GetDescriptor()->name() : api.kind());
    if (errors_ > 0) return;
    MergeEntries(entries, root, message);
    if (errors_ > 0) return;
    for (const KubeProblem& problem : check()) {
      Error(*KubeNodeAt(&node, problem.path), "", problem.what);
    }
  }

  void ReadNode(const KubeDocument& document, const YamlNode& node, Message* message) {
    begin_ = document.begin;
    const KubePath root;
    MergeMessage(node, root, message);
  }

  absl::StatusOr<KubeManifest> Finish() {
    if (errors_ > kMaxKubeErrors) {
      absl::StrAppend(&error_text_, "\nand ", errors_ - kMaxKubeErrors, " more errors");
    }
    if (errors_ > 0) return absl::InvalidArgumentError(error_text_);
    manifest_.warnings = warnings_.Texts();
    return std::move(manifest_);
  }

 private:
  // --- Messages ---

  std::string Located(const YamlNode& node, absl::string_view path, absl::string_view what) const {
    return absl::StrCat(source_->Locate(begin_ + node.position), ": ", path,
                        path.empty() ? "" : ": ", what);
  }

  void Error(const YamlNode& node, absl::string_view path, absl::string_view what) {
    if (options_.of_cluster) {
      return Warn(node, path, absl::StrCat(what, "; left out"),
                  absl::StrCat("error ", PathOfAnyItem(path)));
    }
    if (++errors_ > kMaxKubeErrors) return;
    absl::StrAppend(&error_text_, error_text_.empty() ? "" : "\n", Located(node, path, what));
  }

  // `alike` tells which warnings are one.
  void Warn(const YamlNode& node, absl::string_view path, absl::string_view what,
            const std::string& alike) {
    KubeWarnings* warnings = options_.warnings != nullptr ? options_.warnings : &warnings_;
    warnings->Add(alike, [&] { return Located(node, path, what); });
  }

  std::string Describe(const YamlNode& node) const {
    switch (node.kind) {
      case YamlNode::Kind::kNull:
        return "null";
      case YamlNode::Kind::kSequence:
        return "a list";
      case YamlNode::Kind::kMapping:
        return "keys and values";
      case YamlNode::Kind::kScalar:
        break;
    }
    const KubeWordKind kind = Resolve(node).kind;
    const std::string text = Shorten(node.text);
    if (kind == KubeWordKind::kBoolean) return absl::StrCat("the boolean ", text);
    const bool number = kind == KubeWordKind::kInteger || kind == KubeWordKind::kFloat;
    return number ? absl::StrCat("the number ", text) : absl::StrCat("the text '", text, "'");
  }

  void Mismatch(const YamlNode& node, const KubePath& path, absl::string_view expected) {
    Error(node, path.Text(), absl::StrCat("found ", Describe(node), ", expected ", expected));
  }

  // --- Trees ---

  KubeWord Resolve(const YamlNode& scalar) const {
    if (source_->IsPlain(begin_ + scalar.position)) return ResolveKubeWord(scalar.text);
    KubeWord text;
    text.text = scalar.text;
    return text;
  }

  // The name that a key has in JSON; false after an error.
  bool KeyName(const YamlNode& key, const KubePath& path, std::string* name) {
    if (key.kind == YamlNode::Kind::kScalar) {
      const KubeWord word = Resolve(key);
      *name = word.kind == KubeWordKind::kTimestamp ? key.text : word.text;
      // kubectl would go on with the digits of a 32-bit float.
      if (word.kind != KubeWordKind::kFloat) return true;
      Error(key, path.Text(),
            absl::StrCat("found the number ", Shorten(key.text), " as a key, expected a text: \"",
                         Shorten(key.text), "\""));
      return false;
    }
    Mismatch(key, path, "a key");
    return false;
  }

  // The entries of a mapping; none, after an error, for anything else. The first of duplicates
  // counts.
  std::vector<KubeEntry> Entries(const YamlNode& node, const KubePath& path) {
    std::vector<KubeEntry> entries;
    if (node.kind != YamlNode::Kind::kMapping) {
      Mismatch(node, path, "keys and values");
      return entries;
    }
    std::vector<const YamlNode*> merged;
    entries.reserve(node.children.size() / 2);
    absl::flat_hash_map<std::string, size_t>
        given;  // of mappings that are too long to look through
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      KubeEntry entry;
      entry.key = node.children[i];
      entry.value = node.children[i + 1];
      if (entry.key->text == "<<" && source_->IsPlain(begin_ + entry.key->position)) {
        merged.push_back(entry.value);
        continue;
      }
      if (!KeyName(*entry.key, path, &entry.name)) continue;
      const KubeEntry* first = FirstOf(entries, entry.name, &given);
      if (first == nullptr) {
        entries.push_back(std::move(entry));
      } else {
        const size_t line = source_->LineOf(begin_ + first->key->position);
        Error(*entry.key, path.Field(entry.name).Text(),
              absl::StrCat("duplicate key, first given in line ", line));
      }
    }
    for (const YamlNode* source : merged) AddMerged(*source, path, &entries);
    return entries;
  }

  // The entry of that name, which is about to be added if there is none.
  static const KubeEntry* FirstOf(const std::vector<KubeEntry>& entries, const std::string& name,
                                  absl::flat_hash_map<std::string, size_t>* index) {
    constexpr size_t kShort = 16;
    if (entries.size() < kShort) return FindEntry(entries, name);
    for (size_t i = index->size(); i < entries.size(); ++i) index->emplace(entries[i].name, i);
    const auto known = index->find(name);
    return known == index->end() ? nullptr : &entries[known->second];
  }

  // Adds what a merge key brings and no entry has yet.
  void AddMerged(const YamlNode& node, const KubePath& path, std::vector<KubeEntry>* entries) {
    if (node.kind == YamlNode::Kind::kSequence) {
      for (const YamlNode* item : node.children) AddMerged(*item, path, entries);
      return;
    }
    for (KubeEntry& entry : Entries(node, path)) {
      if (FindEntry(*entries, entry.name) == nullptr) entries->push_back(std::move(entry));
    }
  }

  // For values that are ignored.
  void CheckDuplicates(const YamlNode& node, const KubePath& path) {
    if (node.kind == YamlNode::Kind::kMapping) {
      for (const KubeEntry& entry : Entries(node, path)) {
        CheckDuplicates(*entry.value, path.Field(entry.name));
      }
    } else if (node.kind == YamlNode::Kind::kSequence) {
      for (size_t i = 0; i < node.children.size(); ++i) {
        CheckDuplicates(*node.children[i], path.Item(i));
      }
    }
  }

  // --- Objects ---

  // The text of a top-level entry, or `missing` when there is none; empty after an error.
  std::string EntryText(const YamlNode& node, const std::vector<KubeEntry>& entries,
                        absl::string_view name, const std::string& missing,
                        absl::string_view expected) {
    const KubePath root;
    const KubeEntry* entry = FindEntry(entries, name);
    if (entry == nullptr || entry->value->kind == YamlNode::Kind::kNull) {
      if (missing.empty()) Error(node, name, absl::StrCat("not given, expected ", expected));
      return missing;
    }
    const bool is_text = entry->value->kind == YamlNode::Kind::kScalar &&
                         Resolve(*entry->value).kind == KubeWordKind::kText;
    if (is_text && !entry->value->text.empty()) return entry->value->text;
    Mismatch(*entry->value, root.Field(name), expected);
    return "";
  }

  void ReadObject(const YamlNode& node, const KubeItemDefaults& defaults) {
    const KubePath root;
    if (node.kind != YamlNode::Kind::kMapping) return Mismatch(node, root, "an object");
    const std::vector<KubeEntry> entries = Entries(node, root);
    // kubectl writes the kind of a list behind its items.
    const bool list = FindEntry(entries, "items") != nullptr;
    const std::string kind = EntryText(
        node, entries, "kind", defaults.kind,
        list ? "List: it follows the items, so is the file complete?" : "a text such as Pod");
    const std::string version = EntryText(node, entries, "apiVersion", defaults.api_version,
                                          "a text such as v1 or apps/v1");
    if (kind.empty() || version.empty()) return;
    if (kind == "List") return ReadList(entries, KubeItemDefaults());
    const absl::string_view item_kind = absl::StripSuffix(kind, "List");
    const bool any_list = options_.of_cluster && FindEntry(entries, "items") != nullptr;
    if (item_kind != kind && (any_list || !kinds_.Find(item_kind).empty())) {
      return ReadList(entries, {version, std::string(item_kind)});
    }
    const FieldDescriptor* member = FindMember(node, entries, kind, version);
    if (member == nullptr && options_.of_cluster) return Skip(node, entries, {version, kind});
    if (member == nullptr) {
      for (const KubeEntry& entry : entries) {
        CheckDuplicates(*entry.value, root.Field(entry.name));
      }
      return;
    }
    ReadKnown(node, entries, *member, {version, kind});
  }

  void ReadList(const std::vector<KubeEntry>& entries, const KubeItemDefaults& defaults) {
    const KubeEntry* items = FindEntry(entries, "items");
    if (items == nullptr || items->value->kind == YamlNode::Kind::kNull) return;
    if (items->value->kind != YamlNode::Kind::kSequence) {
      const KubePath root;
      return Mismatch(*items->value, root.Field("items"), "a list of objects");
    }
    for (const YamlNode* item : items->value->children) ReadObject(*item, defaults);
  }

  void Skip(const YamlNode& node, const std::vector<KubeEntry>& entries,
            const KubeItemDefaults& name) {
    KubeSkipped skipped;
    skipped.api_version = name.api_version;
    skipped.kind = name.kind;
    skipped.line = source_->LineOf(begin_ + node.position);
    const KubeEntry* metadata = FindEntry(entries, "metadata");
    if (metadata != nullptr && metadata->value->kind == YamlNode::Kind::kMapping) {
      const std::vector<const YamlNode*>& parts = metadata->value->children;
      for (size_t i = 0; i + 1 < parts.size(); i += 2) {
        if (parts[i]->text == "name") skipped.name = parts[i + 1]->text;
        if (parts[i]->text == "namespace") skipped.ns = parts[i + 1]->text;
      }
    }
    manifest_.skipped.push_back(std::move(skipped));
  }

  // Null when that kind is not read in that version; after an error or a warning, but for the text
  // of a cluster.
  const FieldDescriptor* FindMember(const YamlNode& node, const std::vector<KubeEntry>& entries,
                                    const std::string& kind, const std::string& version) {
    const std::vector<KubeApi>& apis = kinds_.Find(kind);
    const absl::string_view group = KubeGroup(version);
    std::vector<std::string> spoken;
    bool same_group = false;
    for (const KubeApi& api : apis) {
      if (api.version == version) return api.member;
      same_group = same_group || KubeGroup(api.version) == group;
    }
    for (const KubeApi& api : apis) {
      if (!same_group || KubeGroup(api.version) == group) spoken.push_back(api.version);
    }
    if (options_.of_cluster) return nullptr;
    if (!apis.empty() && (same_group || IsKubernetesGroup(group))) {
      const KubeEntry* given = FindEntry(entries, "apiVersion");
      Error(given == nullptr ? node : *given->value, "apiVersion",
            absl::StrCat("found '", Shorten(version), "', expected for the kind ", kind, " ",
                         absl::StrJoin(spoken, " or ")));
      return nullptr;
    }
    const KubeEntry* given = FindEntry(entries, "kind");
    const std::string what = absl::StrCat(
        "objects of the kind ", Shorten(kind), " of ", Shorten(version), " are not read: left out",
        apis.empty() ? "" : absl::StrCat(" (read of ", absl::StrJoin(spoken, ", "), ")"));
    Warn(given == nullptr ? node : *given->value, "kind", what, what);
    return nullptr;
  }

  void ReadKnown(const YamlNode& node, const std::vector<KubeEntry>& entries,
                 const FieldDescriptor& member, const KubeItemDefaults& name) {
    const KubePath root;
    const size_t errors_before = errors_;
    KubeObject read;
    read.line = source_->LineOf(begin_ + node.position);
    Message* object = read.object.GetReflection()->MutableMessage(&read.object, &member);
    version_ = name.api_version;
    MergeEntries(entries, root, object);
    const auto set_text = [object](const char* field, const std::string& text) {
      const FieldDescriptor* descriptor = object->GetDescriptor()->FindFieldByName(field);
      object->GetReflection()->SetString(object, descriptor, text);
    };
    set_text("api_version", name.api_version);
    set_text("kind", name.kind);
    for (const KubeProblem& problem : LiftResourceObject(&read.object)) {
      Error(*KubeNodeAt(&node, problem.path), problem.path, problem.what);
    }
    if (options_.validate && errors_ == errors_before) {
      for (const KubeProblem& problem : ValidateKubeObject(read.object)) {
        Error(*KubeNodeAt(&node, problem.path), problem.path, problem.what);
      }
    }
    if (options_.check != nullptr && errors_ == errors_before) {
      for (const KubeProblem& problem : options_.check(read.object)) {
        Error(*KubeNodeAt(&node, problem.path), problem.path, problem.what);
      }
    }
    manifest_.objects.push_back(std::move(read));
  }

  // --- Fields ---

  void MergeMessage(const YamlNode& node, const KubePath& path, Message* message) {
    MergeEntries(Entries(node, path), path, message);
  }

  void MergeEntries(const std::vector<KubeEntry>& entries, const KubePath& path, Message* message) {
    const KubeFields& fields = fields_.Of(*message->GetDescriptor());
    for (const KubeEntry& entry : entries) {
      const KubePath below = path.Field(entry.name);
      const FieldDescriptor* known = FindField(fields, entry.name);
      if (known != nullptr && IsInVersion(*known, version_)) {
        MergeField(*entry.value, below, *known, message);
        continue;
      }
      if (!fields.ignored.contains(entry.name)) {
        const std::string what =
            known == nullptr
                ? absl::StrCat("unknown field", Suggest(entry.name, fields.names))
                : absl::StrCat("unknown field: only ",
                               known->options().GetExtension(proto::kube::only_in), " have it");
        if (strict_) {
          Error(*entry.key, below.Text(), what);
        } else {
          Warn(*entry.key, below.Text(), what,
               absl::StrCat(message->GetDescriptor()->full_name(), " ", below.Text(true)));
        }
      }
      CheckDuplicates(*entry.value, below);
    }
  }

  // Null if there is none.
  const FieldDescriptor* FindField(const KubeFields& fields, const std::string& name) const {
    const auto known = fields.by_name.find(name);
    if (known != fields.by_name.end()) return known->second;
    if (!options_.any_case) return nullptr;
    for (const std::string& other : fields.names) {
      const auto field = fields.by_name.find(other);
      if (field != fields.by_name.end() && absl::EqualsIgnoreCase(other, name)) {
        return field->second;
      }
    }
    return nullptr;
  }

  void MergeField(const YamlNode& node, const KubePath& path, const FieldDescriptor& field,
                  Message* message) {
    if (node.kind == YamlNode::Kind::kNull) return;
    const Reflection& reflection = *message->GetReflection();
    if (field.is_map()) return MergeMap(node, path, field, message);
    if (!field.is_repeated()) {
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        MergeScalar(node, path, field, FormatOf(field), message);
        return;
      }
      return MergeMessage(node, path, reflection.MutableMessage(message, &field));
    }
    if (node.kind != YamlNode::Kind::kSequence) return Mismatch(node, path, "a list");
    if (const FieldDescriptor* given = GivenFieldOf(field); given != nullptr) {
      reflection.SetBool(message, given, true);
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      const YamlNode& item = *node.children[i];
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (item.kind != YamlNode::Kind::kMapping) {
          Mismatch(item, path.Item(i), "keys and values");
          continue;
        }
        MergeMessage(item, path.Item(i), reflection.AddMessage(message, &field));
      } else {
        MergeScalar(item, path.Item(i), field, FormatOf(field), message);
      }
    }
  }

  void MergeMap(const YamlNode& node, const KubePath& path, const FieldDescriptor& field,
                Message* message) {
    const FieldDescriptor& key = *field.message_type()->map_key();
    const FieldDescriptor& value = *field.message_type()->map_value();
    DRASIM_CHECK(key.cpp_type() == FieldDescriptor::CPPTYPE_STRING);
    for (const KubeEntry& given : Entries(node, path)) {
      Message* entry = message->GetReflection()->AddMessage(message, &field);
      entry->GetReflection()->SetString(entry, &key, given.name);
      if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        MergeMapped(*given.value, path.MapKey(given.name),
                    entry->GetReflection()->MutableMessage(entry, &value));
        continue;
      }
      if (!MergeScalar(*given.value, path.MapKey(given.name), value, FormatOf(field), entry)) {
        message->GetReflection()->RemoveLast(message, &field);
      }
    }
  }

  // A message that is the value of a map; null is one without fields.
  void MergeMapped(const YamlNode& node, const KubePath& path, Message* message) {
    if (node.kind == YamlNode::Kind::kNull) return;
    const Descriptor& type = *message->GetDescriptor();
    const bool bare = !version_.empty() && node.kind == YamlNode::Kind::kScalar &&
                      type.options().GetExtension(proto::kube::bare_in) == version_;
    if (!bare) return MergeMessage(node, path, message);
    MergeField(node, path, *type.FindFieldByName("value"), message);
  }

  // --- Values of JSON ---

  // The value as compact JSON with sorted keys, which is what kubectl sends.
  void AppendJson(const YamlNode& node, const KubePath& path, std::string* out) {
    switch (node.kind) {
      case YamlNode::Kind::kNull:
        out->append("null");
        return;
      case YamlNode::Kind::kScalar:
        return AppendJsonScalar(node, path, out);
      case YamlNode::Kind::kSequence:
        out->push_back('[');
        for (size_t i = 0; i < node.children.size(); ++i) {
          if (i > 0) out->push_back(',');
          AppendJson(*node.children[i], path.Item(i), out);
        }
        out->push_back(']');
        return;
      case YamlNode::Kind::kMapping:
        break;
    }
    std::vector<KubeEntry> entries = Entries(node, path);
    std::sort(entries.begin(), entries.end(),
              [](const KubeEntry& a, const KubeEntry& b) { return a.name < b.name; });
    out->push_back('{');
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out->push_back(',');
      AppendGoQuoted(entries[i].name, out);
      out->push_back(':');
      AppendJson(*entries[i].value, path.MapKey(entries[i].name), out);
    }
    out->push_back('}');
  }

  void AppendJsonScalar(const YamlNode& node, const KubePath& path, std::string* out) {
    const KubeWord word = Resolve(node);
    const bool number = word.kind == KubeWordKind::kInteger || word.kind == KubeWordKind::kFloat;
    const bool literal =
        word.kind == KubeWordKind::kBoolean ||
        (number && absl::ascii_isdigit(static_cast<unsigned char>(word.text.back())));
    if (word.kind == KubeWordKind::kNull) {
      out->append("null");
    } else if (literal) {
      out->append(word.text);
    } else if (!number) {
      AppendGoQuoted(word.text, out);
    } else {
      // YAML's .inf and .nan
      Mismatch(node, path, "a value of JSON");
      out->append("null");
    }
  }

  // One value: sets a singular field, appends to a repeated one. False after an error, which leaves
  // the message as it was.
  bool MergeScalar(const YamlNode& node, const KubePath& path, const FieldDescriptor& field,
                   Format format, Message* message) {
    const auto mismatch = [&](const std::string& hint = "") {
      Mismatch(node, path, ExpectedFormat(field, format) + hint);
      return false;
    };
    if (format == proto::kube::FORMAT_JSON) {
      std::string json;
      AppendJson(node, path, &json);
      if (json == "null") return true;  // as kNull: not given
      message->GetReflection()->SetString(message, &field, json);
      return true;
    }
    if (node.kind != YamlNode::Kind::kScalar) return mismatch();
    KubeWord word = Resolve(node);
    const bool is_text = word.kind == KubeWordKind::kText || word.kind == KubeWordKind::kTimestamp;
    if (format == proto::kube::FORMAT_QUANTITY) absl::StripAsciiWhitespace(&word.text);
    bool fits = false;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (!is_text && format == proto::kube::FORMAT_ANY) {
          return mismatch(absl::StrCat(": \"", Shorten(node.text), "\" in quotes"));
        }
        fits = HasFormat(word, is_text, format);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        fits = word.kind == KubeWordKind::kBoolean;
        break;
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_INT64:
        // A float without a fraction is written as an integer in JSON.
        fits = word.kind == KubeWordKind::kInteger ||
               (word.kind == KubeWordKind::kFloat &&
                word.text.find_first_not_of("-0123456789") == std::string::npos);
        break;
      default:
        DRASIM_UNREACHABLE("a field of kube.proto has a type that no field of Kubernetes has");
    }
    if (!fits) return mismatch();
    const absl::Status stored = StoreScalar(word.text, field, message);
    if (!stored.ok()) Error(node, path.Text(), stored.message());
    return stored.ok();
  }

  static bool HasFormat(const KubeWord& word, bool is_text, Format format) {
    if (format == proto::kube::FORMAT_TIME) return is_text && IsRfc3339(word.text);
    if (format == proto::kube::FORMAT_ANY) return is_text;
    const bool number = word.kind == KubeWordKind::kInteger || word.kind == KubeWordKind::kFloat;
    return (is_text || number) && Quantity::Parse(word.text).ok();
  }

  const KubeSource* source_;
  KubeReadOptions options_;
  bool strict_ = false;  // unknown fields are errors
  std::string version_;  // of the object; empty: the newest
  KubeKinds kinds_;
  KubeFieldTable fields_;
  size_t begin_ = 0;  // of the document
  KubeManifest manifest_;
  size_t errors_ = 0;
  std::string error_text_;
  KubeWarnings warnings_;
};

}  // namespace

void KubeWarnings::Add(const std::string& alike, absl::FunctionRef<std::string()> text) {
  const auto [known, is_new] = index_.emplace(alike, warnings_.size());
  if (is_new) {
    warnings_.emplace_back(text(), 0);
  } else {
    ++warnings_[known->second].second;
  }
}

std::vector<std::string> KubeWarnings::Texts() const {
  std::vector<std::string> texts;
  for (const auto& [text, others] : warnings_) {
    texts.push_back(others == 0 ? text : absl::StrCat(text, " (and ", others, " more like it)"));
  }
  return texts;
}

absl::StatusOr<KubeManifest> ReadKubeObjects(absl::string_view text, absl::string_view file,
                                             const KubeReadOptions& options) {
  ASSIGN_OR_RETURN(const KubeSource source, KubeSource::Parse(text, file));
  KubeTreeReader reader(&source, options);
  for (const KubeDocument& document : source.documents()) reader.ReadDocument(document);
  return reader.Finish();
}

absl::Status ReadKubeNode(const KubeSource& source, const KubeDocument& document,
                          const YamlNode& node, const KubeReadOptions& options, Message* message) {
  KubeTreeReader reader(&source, options);
  reader.ReadNode(document, node, message);
  return reader.Finish().status();
}

absl::Status ReadKubeMessage(absl::string_view text, absl::string_view file, Message* message,
                             absl::FunctionRef<std::vector<KubeProblem>()> check) {
  ASSIGN_OR_RETURN(const KubeSource source, KubeSource::Parse(text, file));
  if (source.documents().size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": found ", source.documents().size(),
                                                   " objects, expected one of the kind ",
                                                   message->GetDescriptor()->name()));
  }
  KubeTreeReader reader(&source, {});
  reader.ReadMessage(source.documents()[0], message, check);
  return reader.Finish().status();
}

}  // namespace drasim
