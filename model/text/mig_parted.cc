#include "model/text/mig_parted.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/mig_layout.h"
#include "model/mig_product.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/mig_catalogue.h"
#include "model/text/proto_scalar.h"
#include "model/text/yaml_tree.h"

namespace drasim {
namespace {

constexpr char kConfigs[] = "mig-configs";
constexpr char kFilter[] = "device-filter";
constexpr char kDevices[] = "devices";
constexpr char kEnabled[] = "mig-enabled";
constexpr char kInstances[] = "mig-devices";

std::string FoundText(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return absl::StrCat("'", Shorten(node.text), "'");
    case YamlNode::Kind::kSequence:
      return node.children.empty() ? "an empty list" : "a list";
    case YamlNode::Kind::kMapping:
      return "keys and values";
  }
  return std::string();
}

// A number without sign and without leading zeros, which some readers of YAML take for octal.
bool ParseNumber(const YamlNode& node, int32_t* number) {
  const std::string& text = node.text;
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  return node.kind == YamlNode::Kind::kScalar && plain && (text.size() < 2 || text[0] != '0') &&
         absl::SimpleAtoi(text, number);
}

// The value of a key; null when the key is absent or its value is null.
const YamlNode* ValueOf(const YamlNode& mapping, absl::string_view key) {
  for (size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    const YamlNode* value = mapping.children[i + 1];
    if (mapping.children[i]->text != key) continue;
    return value->kind == YamlNode::Kind::kNull ? nullptr : value;
  }
  return nullptr;
}

// Whether one GPU may pass both filters.
bool FiltersMeet(const MigPartedGroup& a, const MigPartedGroup& b) {
  if (a.device_filter.empty() || b.device_filter.empty()) return true;
  return std::any_of(a.device_filter.begin(), a.device_filter.end(), [&b](const std::string& one) {
    return std::any_of(
        b.device_filter.begin(), b.device_filter.end(),
        [&one](const std::string& other) { return absl::EqualsIgnoreCase(one, other); });
  });
}

// "device 3", "all devices": what two groups both name; empty when there is nothing.
std::string SharedDevices(const MigPartedGroup& a, const MigPartedGroup& b) {
  if (a.all_devices && b.all_devices) return "all devices";
  const std::vector<int32_t>& some = a.all_devices ? b.devices : a.devices;
  const std::vector<int32_t>& others = a.all_devices || b.all_devices ? some : b.devices;
  const std::set<int32_t> named(others.begin(), others.end());
  for (const int32_t device : some) {
    if (named.count(device) > 0) return absl::StrCat("device ", device);
  }
  return std::string();
}

// Walks the tree of one file. Every member returns the first thing that is wrong.
class PartedReader {
 public:
  explicit PartedReader(const YamlTree* tree) : tree_(tree) {}

  absl::Status Read(std::vector<MigPartedConfig>* configs) const {
    const YamlNode nothing{};
    const YamlNode& root = tree_->root() == nullptr ? nothing : *tree_->root();
    RETURN_IF_ERROR(CheckKeys(root, "", {"version", kConfigs}));
    const YamlNode* version = ValueOf(root, "version");
    if (version == nullptr || version->text != "v1") {
      return Mismatch(version, root, "version", "v1");
    }
    const YamlNode* all = ValueOf(root, kConfigs);
    if (all == nullptr) return Mismatch(all, root, kConfigs, "configurations by name");
    RETURN_IF_ERROR(CheckKeys(*all, kConfigs, {}));
    for (size_t i = 0; i + 1 < all->children.size(); i += 2) {
      MigPartedConfig config;
      config.name = all->children[i]->text;
      RETURN_IF_ERROR(ReadConfig(*all->children[i + 1], &config));
      configs->push_back(std::move(config));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const YamlNode& node, absl::string_view path, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(tree_->Locate(node.position), ": ", path, path.empty() ? "" : ": ", what));
  }

  // `node` is null when it is missing from `parent`.
  absl::Status Mismatch(const YamlNode* node, const YamlNode& parent, absl::string_view path,
                        absl::string_view expected) const {
    const std::string found = node == nullptr ? std::string("nothing") : FoundText(*node);
    return Error(node == nullptr ? parent : *node, path,
                 absl::StrCat("found ", found, ", expected ", expected));
  }

  // Whether `node` has keys and values, no key twice, and only known ones; none: any will do.
  absl::Status CheckKeys(const YamlNode& node, absl::string_view path,
                         const std::vector<std::string>& known) const {
    if (node.kind != YamlNode::Kind::kMapping) {
      return Mismatch(&node, node, path, "keys and values");
    }
    std::map<std::string, const YamlNode*> seen;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      if (key.kind != YamlNode::Kind::kScalar) return Mismatch(&key, node, path, "a key");
      const std::string here = absl::StrCat(path, path.empty() ? "" : ".", Shorten(key.text));
      if (!known.empty() && std::find(known.begin(), known.end(), key.text) == known.end()) {
        const std::string hint = Suggest(key.text, known);
        return Error(key, here,
                     hint.empty()
                         ? absl::StrCat("unknown key, expected one of ", absl::StrJoin(known, ", "))
                         : absl::StrCat("unknown key", hint));
      }
      const auto first = seen.emplace(key.text, &key);
      if (first.second) continue;
      return Error(key, here,
                   absl::StrCat("duplicate key, first given in line ",
                                tree_->LineOf(first.first->second->position)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadConfig(const YamlNode& node, MigPartedConfig* config) const {
    const std::string path = absl::StrCat(kConfigs, ".", Shorten(config->name));
    if (node.kind != YamlNode::Kind::kSequence || node.children.empty()) {
      return Mismatch(&node, node, path, "a list of at least one group of devices");
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      const YamlNode& item = *node.children[i];
      const std::string here = absl::StrCat(path, ".", i);
      MigPartedGroup group;
      absl::Status status = ReadGroup(item, here, &group);
      for (size_t j = 0; status.ok() && j < i; ++j) {
        if (!FiltersMeet(config->groups[j], group)) continue;
        const std::string shared = SharedDevices(config->groups[j], group);
        if (shared.empty()) continue;
        status = Error(
            *ValueOf(item, kDevices), absl::StrCat(here, ".", kDevices),
            absl::StrCat("found ", shared, " in the groups of line ",
                         tree_->LineOf(node.children[j]->position), " and of line ",
                         tree_->LineOf(item.position), ", expected each GPU in one group only"));
      }
      RETURN_IF_ERROR(status);
      config->groups.push_back(std::move(group));
    }
    return absl::OkStatus();
  }

  absl::Status ReadGroup(const YamlNode& node, const std::string& path,
                         MigPartedGroup* group) const {
    RETURN_IF_ERROR(CheckKeys(node, path, {kFilter, kDevices, kEnabled, kInstances}));
    group->where = tree_->Locate(node.position);
    const YamlNode* filter = ValueOf(node, kFilter);
    if (filter != nullptr) {
      RETURN_IF_ERROR(ReadFilter(*filter, absl::StrCat(path, ".", kFilter), group));
    }
    RETURN_IF_ERROR(ReadDevices(node, absl::StrCat(path, ".", kDevices), group));
    const YamlNode* enabled = ValueOf(node, kEnabled);
    if (enabled == nullptr || (enabled->text != "true" && enabled->text != "false")) {
      return Mismatch(enabled, node, absl::StrCat(path, ".", kEnabled), "true or false");
    }
    group->mig_enabled = enabled->text == "true";
    const YamlNode* instances = ValueOf(node, kInstances);
    if (instances == nullptr) return absl::OkStatus();
    return ReadInstances(*instances, absl::StrCat(path, ".", kInstances), group);
  }

  absl::Status ReadFilter(const YamlNode& node, const std::string& path,
                          MigPartedGroup* group) const {
    static constexpr char kExpected[] = "a PCI device and vendor such as 0x20B010DE";
    if (node.kind != YamlNode::Kind::kSequence) {
      if (!IsPciId(node.text)) {
        return Mismatch(&node, node, path, absl::StrCat(kExpected, ", or a list of them"));
      }
      group->device_filter.push_back(node.text);
      return absl::OkStatus();
    }
    if (node.children.empty()) return Mismatch(&node, node, path, kExpected);
    for (size_t i = 0; i < node.children.size(); ++i) {
      const YamlNode& item = *node.children[i];
      if (!IsPciId(item.text)) {
        return Mismatch(&item, node, absl::StrCat(path, ".", i), kExpected);
      }
      group->device_filter.push_back(item.text);
    }
    return absl::OkStatus();
  }

  absl::Status ReadDevices(const YamlNode& parent, const std::string& path,
                           MigPartedGroup* group) const {
    static constexpr char kExpected[] = "all, or a list of the numbers of GPUs";
    const YamlNode* node = ValueOf(parent, kDevices);
    if (node != nullptr && node->kind == YamlNode::Kind::kScalar && node->text == "all") {
      group->all_devices = true;
      return absl::OkStatus();
    }
    if (node == nullptr || node->kind != YamlNode::Kind::kSequence || node->children.empty()) {
      return Mismatch(node, parent, path, kExpected);
    }
    std::set<int32_t> seen;
    for (size_t i = 0; i < node->children.size(); ++i) {
      const YamlNode& item = *node->children[i];
      const std::string here = absl::StrCat(path, ".", i);
      int32_t device = 0;
      if (!ParseNumber(item, &device)) {
        return Mismatch(&item, *node, here, "the number of a GPU, from 0");
      }
      if (!seen.insert(device).second) {
        return Mismatch(&item, *node, here, "a GPU that the group does not name before");
      }
      group->devices.push_back(device);
    }
    return absl::OkStatus();
  }

  absl::Status ReadInstances(const YamlNode& node, const std::string& path,
                             MigPartedGroup* group) const {
    RETURN_IF_ERROR(CheckKeys(node, path, {}));
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      const YamlNode& value = *node.children[i + 1];
      const std::string here = absl::StrCat(path, ".", Shorten(key.text));
      if (!group->mig_enabled) {
        return Error(key, here, "found an instance, expected none, because mig-enabled is false");
      }
      int32_t count = 0;
      if (!ParseNumber(value, &count) || count < 1) {
        return Mismatch(&value, node, here, "how many instances, at least 1");
      }
      group->mig_devices.emplace_back(key.text, count);
    }
    return absl::OkStatus();
  }

  const YamlTree* tree_;
};

// Cuts GPUs as one group says.
class GroupLayout {
 public:
  // `path`: the group's place and name, "FILE:LINE:COLUMN: mig-configs.NAME.0".
  GroupLayout(const MigPartedGroup* group, std::string path)
      : group_(*group), path_(std::move(path)) {}

  bool Matches(size_t gpu, const MigTable* table) const {
    const auto index = static_cast<int64_t>(gpu);
    if (!group_.all_devices && std::none_of(group_.devices.begin(), group_.devices.end(),
                                            [index](int32_t device) { return device == index; })) {
      return false;
    }
    if (group_.device_filter.empty()) return true;
    if (table == nullptr) return false;
    const std::vector<std::string>& ids = table->product().pci_ids;
    return std::any_of(ids.begin(), ids.end(), [this](const std::string& id) {
      return std::any_of(
          group_.device_filter.begin(), group_.device_filter.end(),
          [&id](const std::string& wanted) { return absl::EqualsIgnoreCase(id, wanted); });
    });
  }

  // REQUIRES: the group matches the GPU and enables MIG.
  absl::StatusOr<PermutationSearch> LayOut(size_t gpu, const MigTable& table) {
    if (&table == last_table_) return last_;
    const std::string here =
        absl::StrCat(path_, ".", kInstances, ": GPU ", gpu, " (", table.product().group, "): ");
    MigMultiset counts(table.profiles().size(), 0);
    for (const auto& [name, count] : group_.mig_devices) {
      const int profile = table.FindProfile(name);
      if (profile < 0) return UnknownProfile(here, name, table);
      // One too many is as wrong as a million too many, and sooner explained.
      const int32_t most = table.profiles()[static_cast<size_t>(profile)].max_instances + 1;
      int32_t& sum = counts[static_cast<size_t>(profile)];
      sum = std::min(sum + std::min(count, most), most);
    }
    if (FindLayout(table, counts) == kNoMigState) {
      return absl::InvalidArgumentError(
          absl::StrCat(here, "found '", Wanted(),
                       "', expected instances that fit together: ", ExplainMisfit(table, counts)));
    }
    const PermutationSearch search = ApplyByPermutations(table, counts);
    if (search.state == kNoMigState) {
      return absl::InvalidArgumentError(
          absl::StrCat(here, "found '", Wanted(),
                       "', expected instances that some order of creation brings about: they would "
                       "fit, but not where the driver puts them"));
    }
    last_table_ = &table;
    last_ = search;
    return search;
  }

 private:
  std::string Wanted() const {
    return absl::StrJoin(group_.mig_devices, ", ", [](std::string* out, const auto& entry) {
      absl::StrAppend(out, Shorten(entry.first), ": ", entry.second);
    });
  }

  static bool Has(const MigProduct& product, absl::string_view name) {
    return std::any_of(product.profiles.begin(), product.profiles.end(),
                       [name](const MigProfile& profile) {
                         return absl::EqualsIgnoreCase(profile.name, name) ||
                                std::any_of(profile.names.begin(), profile.names.end(),
                                            [name](const std::string& other) {
                                              return absl::EqualsIgnoreCase(other, name);
                                            });
                       });
  }

  static absl::Status UnknownProfile(absl::string_view here, absl::string_view name,
                                     const MigTable& table) {
    std::vector<std::string> known;
    for (const MigProfile& profile : table.profiles()) known.push_back(profile.name);
    std::string hint;
    if (Has(table.product(), name)) {
      hint = ", which are those of the product that are allowed";
    } else {
      hint = Suggest(name, known);
      const std::vector<MigProduct>& products = MigCatalogue();
      const auto other =
          std::find_if(products.begin(), products.end(),
                       [name](const MigProduct& product) { return Has(product, name); });
      if (other != products.end()) absl::StrAppend(&hint, "; it is a profile of ", other->group);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        here, "found '", Shorten(name), "', expected one of ", absl::StrJoin(known, ", "), hint));
  }

  const MigPartedGroup& group_;
  std::string path_;
  // The last search and its table: a node's GPUs are mostly alike.
  const MigTable* last_table_ = nullptr;
  PermutationSearch last_;
};

}  // namespace

absl::StatusOr<std::vector<MigPartedConfig>> ParseMigParted(absl::string_view yaml,
                                                            absl::string_view file) {
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(yaml, file));
  std::vector<MigPartedConfig> configs;
  RETURN_IF_ERROR(PartedReader(&tree).Read(&configs));
  return configs;
}

absl::StatusOr<NodeMigLayout> LayOutNode(const MigPartedConfig& config,
                                         absl::Span<const MigTable* const> gpus) {
  NodeMigLayout layout;
  layout.mig_enabled.assign(gpus.size(), false);
  layout.states.assign(gpus.size(), MigState{0});
  for (size_t i = 0; i < config.groups.size(); ++i) {
    const MigPartedGroup& group = config.groups[i];
    const std::string path =
        absl::StrCat(group.where, ": ", kConfigs, ".", Shorten(config.name), ".", i);
    for (const int32_t device : group.devices) {
      if (device >= 0 && static_cast<size_t>(device) < gpus.size()) continue;
      return absl::InvalidArgumentError(absl::StrCat(path, ".", kDevices, ": found '", device,
                                                     "', expected the number of one of the node's ",
                                                     gpus.size(), " GPUs, from 0"));
    }
    GroupLayout cut(&group, path);
    for (size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      if (!cut.Matches(gpu, gpus[gpu])) continue;
      layout.mig_enabled[gpu] = group.mig_enabled;
      layout.states[gpu] = 0;
      if (!group.mig_enabled) continue;
      if (gpus[gpu] == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ".", kEnabled, ": found 'true' for GPU ", gpu,
                         ", expected false, because this GPU has no MIG"));
      }
      ASSIGN_OR_RETURN(const PermutationSearch search, cut.LayOut(gpu, *gpus[gpu]));
      layout.states[gpu] = search.state;
      layout.created += search.created;
      layout.destroyed += search.destroyed;
    }
  }
  return layout;
}

}  // namespace drasim
