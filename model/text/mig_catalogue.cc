#include "model/text/mig_catalogue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/proto/mig.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/embedded_mig.h"
#include "model/text/proto_scalar.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_tree.h"

namespace drasim {
namespace {

constexpr int32_t kMaxUnits = 16;  // a placement has a bit per unit in 16 bits

// Keys and item numbers from the root to a field; a text with dots would not do, as keys have dots.
using Path = std::vector<std::string>;

Path Below(Path path, absl::string_view key) {
  path.emplace_back(key);
  return path;
}

// In order, because protobuf's maps have none.
template <typename Map>
std::vector<std::string> SortedKeys(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// The form in which two spellings of a product's name are equal.
std::string NormalName(absl::string_view name) {
  constexpr absl::string_view kSeparators = " _-()";
  std::string normal;
  bool separated = false;
  for (const char c : name) {
    if (kSeparators.find(c) != absl::string_view::npos) {
      separated = !normal.empty();
      continue;
    }
    if (separated) normal.push_back('-');
    separated = false;
    normal.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return std::string(absl::StripPrefix(normal, "nvidia-"));
}

// Turns the message into products; remembers the first thing that is wrong with it.
class CatalogueReader {
 public:
  explicit CatalogueReader(const proto::MigCatalogue* catalogue) : catalogue_(*catalogue) {}

  // Meaningless when failed().
  std::vector<MigProduct> Read() {
    for (const std::string& key : SortedKeys(catalogue_.sources())) {
      Require(!catalogue_.sources().at(key).empty(), {"sources", key}, "", "a sentence");
    }
    for (const std::string& key : SortedKeys(catalogue_.geometries())) {
      CheckGeometry({"geometries", key}, catalogue_.geometries().at(key));
    }
    Require(catalogue_.products_size() > 0, {"products"}, "", "at least one product");
    std::vector<MigProduct> products;
    for (int i = 0; i < catalogue_.products_size() && !failed(); ++i) {
      products.push_back(ReadProduct({"products", absl::StrCat(i)}, catalogue_.products(i)));
    }
    return products;
  }

  bool failed() const { return !problem_.empty(); }
  const Path& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  // Names and numbers that the profiles of one product have taken.
  struct Taken {
    std::set<std::string> rows;
    std::set<std::string> names;  // in lower case
  };

  bool Require(bool good, const Path& path, absl::string_view found, absl::string_view expected) {
    if (good || failed()) return good;
    path_ = path;
    const std::string shown =
        found.empty() ? std::string("nothing") : absl::StrCat("'", Shorten(found), "'");
    problem_ = absl::StrCat("found ", shown, ", expected ", expected);
    return false;
  }

  bool RequireKnown(const Path& path, absl::string_view name,
                    const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return true;
    return Require(false, path, name,
                   absl::StrCat("one of ", absl::StrJoin(known, ", "), Suggest(name, known)));
  }

  void RequireRange(const Path& path, int32_t value, int32_t least, int32_t most) {
    Require(value >= least && value <= most, path, absl::StrCat(value),
            absl::StrCat("a whole number from ", least, " to ", most));
  }

  void RequireAtLeast(const Path& path, int32_t value, int32_t least) {
    Require(value >= least, path, absl::StrCat(value),
            absl::StrCat("a whole number of at least ", least));
  }

  int32_t Amount(const Path& path, bool given, int32_t value, int32_t least) {
    if (!given) return kUnknownAmount;
    RequireAtLeast(path, value, least);
    return value;
  }

  void CheckGeometry(const Path& at, const proto::MigGeometry& geometry) {
    RequireRange(Below(at, "units"), geometry.units(), 1, kMaxUnits);
    RequireRange(Below(at, "compute_slices"), geometry.compute_slices(), 1, kMaxUnits);
    std::map<int32_t, std::string> ids;
    std::map<int32_t, std::string> enums;
    for (const std::string& key : SortedKeys(geometry.rows())) {
      const Path here = Below(Below(at, "rows"), key);
      const proto::MigGeometryRow& row = geometry.rows().at(key);
      RequireRange(Below(here, "compute_slices"), row.compute_slices(), 1,
                   geometry.compute_slices());
      RequireRange(Below(here, "size"), row.size(), 1, geometry.units());
      CheckStarts(Below(here, "starts"), row, geometry.units() - row.size());
      RequireRange(Below(here, "max_instances"), row.max_instances(), 1, row.starts_size());
      if (row.has_profile_id()) CheckId(Below(here, "profile_id"), row.profile_id(), key, &ids);
      if (row.has_nvml_enum()) CheckId(Below(here, "nvml_enum"), row.nvml_enum(), key, &enums);
    }
  }

  void CheckStarts(const Path& at, const proto::MigGeometryRow& row, int32_t last) {
    Require(row.starts_size() > 0, at, "", "at least one start");
    std::set<int32_t> seen;
    for (int i = 0; i < row.starts_size(); ++i) {
      const Path here = Below(at, absl::StrCat(i));
      RequireRange(here, row.starts(i), 0, last);
      Require(seen.insert(row.starts(i)).second, here, absl::StrCat(row.starts(i)),
              "a start that no earlier item is");
    }
  }

  void CheckId(const Path& at, int32_t id, const std::string& row,
               std::map<int32_t, std::string>* ids) {
    RequireAtLeast(at, id, 0);
    const auto first = ids->emplace(id, row);
    Require(first.second, at, absl::StrCat(id),
            absl::StrCat("another number than that of row '", Shorten(first.first->second), "'"));
  }

  MigProduct ReadProduct(const Path& at, const proto::MigProduct& given) {
    MigProduct product;
    ReadNames(at, given, &product);
    product.architecture = given.architecture();
    Require(!product.architecture.empty(), Below(at, "architecture"), "", "a name");
    product.compute_capability = given.compute_capability();
    Require(!product.compute_capability.empty(), Below(at, "compute_capability"), "", "a version");
    product.memory_nominal_gb = given.memory_nominal_gb();
    RequireAtLeast(Below(at, "memory_nominal_gb"), product.memory_nominal_gb, 1);
    product.memory_mib =
        Amount(Below(at, "memory_mib"), given.has_memory_mib(), given.memory_mib(), 1);
    product.multiprocessors = Amount(Below(at, "multiprocessors"), given.has_multiprocessors(),
                                     given.multiprocessors(), 1);
    product.certainty = given.certainty();
    Require(!product.certainty.empty(), Below(at, "certainty"), "", "how sure the figures are");
    const std::vector<std::string> sources = SortedKeys(catalogue_.sources());
    for (int i = 0; i < given.sources_size(); ++i) {
      const std::string& key = given.sources(i);
      if (!RequireKnown(Below(Below(at, "sources"), absl::StrCat(i)), key, sources)) return product;
      product.sources.push_back(catalogue_.sources().at(key));
    }
    product.notes.assign(given.notes().begin(), given.notes().end());
    if (!RequireKnown(Below(at, "geometry"), given.geometry(),
                      SortedKeys(catalogue_.geometries())) ||
        !RequireKnown(Below(at, "engines"), given.engines(), SortedKeys(catalogue_.engines()))) {
      return product;
    }
    const proto::MigGeometry& geometry = catalogue_.geometries().at(given.geometry());
    product.compute_slices = geometry.compute_slices();
    product.units = geometry.units();
    Require(given.profiles_size() > 0, Below(at, "profiles"), "", "at least one profile");
    Taken taken;
    for (int i = 0; i < given.profiles_size() && !failed(); ++i) {
      const Path here = Below(Below(at, "profiles"), absl::StrCat(i));
      product.profiles.push_back(ReadProfile(here, given, given.profiles(i), &taken));
    }
    return product;
  }

  void ReadNames(const Path& at, const proto::MigProduct& given, MigProduct* product) {
    product->group = given.group();
    TakeName(Below(at, "group"), product->group, product->group);
    Require(given.products_size() > 0, Below(at, "products"), "", "at least one name");
    for (int i = 0; i < given.products_size(); ++i) {
      const std::string& name = given.products(i);
      product->products.push_back(name);
      if (NormalName(name) == NormalName(product->group)) continue;
      TakeName(Below(Below(at, "products"), absl::StrCat(i)), name, product->group);
    }
    for (int i = 0; i < given.pci_ids_size(); ++i) {
      const Path here = Below(Below(at, "pci_ids"), absl::StrCat(i));
      const std::string& id = given.pci_ids(i);
      Require(IsPciId(id), here, id, "a PCI device and vendor such as 0x20B010DE");
      const auto first = pci_ids_.emplace(absl::AsciiStrToUpper(id), product->group);
      Require(first.second, here, id,
              absl::StrCat("another id than those of ", Shorten(first.first->second)));
      product->pci_ids.push_back(id);
    }
  }

  void TakeName(const Path& at, const std::string& name, const std::string& group) {
    const std::string normal = NormalName(name);
    Require(!normal.empty(), at, name, "a product's name");
    const auto first = names_.emplace(normal, group);
    Require(first.second, at, name,
            absl::StrCat("another name than those of ", Shorten(first.first->second)));
  }

  MigProfile ReadProfile(const Path& at, const proto::MigProduct& product,
                         const proto::MigProfile& given, Taken* taken) {
    const proto::MigGeometry& geometry = catalogue_.geometries().at(product.geometry());
    const proto::MigEngineTable& engines = catalogue_.engines().at(product.engines());
    MigProfile profile;
    const Path row_path = Below(at, "row");
    if (!RequireKnown(row_path, given.row(), SortedKeys(geometry.rows())) ||
        !RequireKnown(row_path, given.row(), SortedKeys(engines.rows()))) {
      return profile;
    }
    Require(taken->rows.insert(given.row()).second, row_path, given.row(),
            "a row that no earlier profile of the product has");
    const proto::MigGeometryRow& row = geometry.rows().at(given.row());
    profile.profile_id = row.has_profile_id() ? row.profile_id() : kUnknownAmount;
    profile.nvml_enum = row.has_nvml_enum() ? row.nvml_enum() : kUnknownAmount;
    profile.compute_slices = row.compute_slices();
    profile.size = row.size();
    profile.starts.assign(row.starts().begin(), row.starts().end());
    profile.max_instances = row.max_instances();
    profile.nominal_gb = given.nominal_gb();
    RequireAtLeast(Below(at, "nominal_gb"), profile.nominal_gb, 1);
    ReadProfileNames(at, given, taken, &profile);
    profile.memory_mib =
        Amount(Below(at, "memory_mib"), given.has_memory_mib(), given.memory_mib(), 1);
    profile.multiprocessors = Amount(Below(at, "multiprocessors"), given.has_multiprocessors(),
                                     given.multiprocessors(), 1);
    ReadEngines({"engines", product.engines(), "rows", given.row()}, engines.rows().at(given.row()),
                &profile);
    profile.uncertain.assign(given.uncertain().begin(), given.uncertain().end());
    return profile;
  }

  void ReadProfileNames(const Path& at, const proto::MigProfile& given, Taken* taken,
                        MigProfile* profile) {
    profile->name = given.name();
    const std::string slices = absl::StrCat(profile->compute_slices, "g.");
    const std::string plain = absl::StrCat(slices, profile->nominal_gb, "gb");
    absl::string_view suffix = profile->name;
    const bool begins_well = absl::ConsumePrefix(&suffix, plain);
    Require(begins_well && (suffix.empty() || suffix[0] == '+' || suffix[0] == '-'),
            Below(at, "name"), profile->name,
            absl::StrCat("'", plain, "', maybe with a suffix such as +me"));
    TakeProfileName(Below(at, "name"), profile->name, taken);
    for (int i = 0; i < given.names_size(); ++i) {
      const Path here = Below(Below(at, "names"), absl::StrCat(i));
      const std::string& name = given.names(i);
      Require(absl::StartsWith(name, slices), here, name,
              absl::StrCat("a name that begins with '", slices, "'"));
      TakeProfileName(here, name, taken);
      profile->names.push_back(name);
    }
  }

  void TakeProfileName(const Path& at, const std::string& name, Taken* taken) {
    Require(taken->names.insert(absl::AsciiStrToLower(name)).second, at, name,
            "a name that no other profile of the product has");
  }

  void ReadEngines(const Path& at, const proto::MigEngines& given, MigProfile* profile) {
    profile->copy_engines = Amount(Below(at, "copy"), given.has_copy(), given.copy(), 0);
    profile->decoders = Amount(Below(at, "decoders"), given.has_decoders(), given.decoders(), 0);
    profile->encoders = Amount(Below(at, "encoders"), given.has_encoders(), given.encoders(), 0);
    profile->jpeg_engines = Amount(Below(at, "jpeg"), given.has_jpeg(), given.jpeg(), 0);
    profile->ofa_engines =
        Amount(Below(at, "optical_flow"), given.has_optical_flow(), given.optical_flow(), 0);
  }

  const proto::MigCatalogue& catalogue_;
  std::map<std::string, std::string> names_;    // group by normal name
  std::map<std::string, std::string> pci_ids_;  // group by id in upper case
  Path path_;
  std::string problem_;
};

const YamlNode* ChildOf(const YamlNode& node, const std::string& key) {
  if (node.kind == YamlNode::Kind::kSequence) {
    size_t item = 0;
    return absl::SimpleAtoi(key, &item) && item < node.children.size() ? node.children[item]
                                                                       : nullptr;
  }
  if (node.kind != YamlNode::Kind::kMapping) return nullptr;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    if (node.children[i]->text == key) return node.children[i + 1];
  }
  return nullptr;
}

// The place of the field, or of the part of its path that is there: a missing field has no place.
std::string LocatePath(absl::string_view yaml, absl::string_view file, const Path& path) {
  const absl::StatusOr<YamlTree> tree = YamlTree::Parse(yaml, file);
  if (!tree.ok() || tree->root() == nullptr) return std::string(file);
  const YamlNode* node = tree->root();
  for (const std::string& key : path) {
    const YamlNode* child = ChildOf(*node, key);
    if (child == nullptr) break;
    node = child;
  }
  return tree->Locate(node->position);
}

}  // namespace

absl::StatusOr<std::vector<MigProduct>> ParseMigCatalogue(absl::string_view yaml,
                                                          absl::string_view file) {
  proto::MigCatalogue catalogue;
  RETURN_IF_ERROR(MergeYaml(yaml, file, &catalogue));
  CatalogueReader reader(&catalogue);
  std::vector<MigProduct> products = reader.Read();
  if (!reader.failed()) return products;
  const std::string path = absl::StrJoin(reader.path(), ".", [](std::string* out, const auto& key) {
    absl::StrAppend(out, Shorten(key));
  });
  return absl::InvalidArgumentError(
      absl::StrCat(LocatePath(yaml, file, reader.path()), ": ", path, ": ", reader.problem()));
}

bool IsPciId(absl::string_view text) {
  if (text.size() != 10 || !absl::ConsumePrefix(&text, "0x")) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); });
}

const std::vector<MigProduct>& MigCatalogue() {
  static const std::vector<MigProduct>* const catalogue = [] {
    absl::StatusOr<std::vector<MigProduct>> products =
        ParseMigCatalogue(EmbeddedMigCatalogue(), "built-in MIG catalogue");
    DRASIM_CHECK(products.ok());
    return new std::vector<MigProduct>(*std::move(products));
  }();
  return *catalogue;
}

const MigProduct* FindMigProduct(absl::string_view name) {
  using Index = std::map<std::string, const MigProduct*>;
  static const Index* const by_name = [] {
    auto* index = new Index;
    for (const MigProduct& product : MigCatalogue()) {
      index->emplace(NormalName(product.group), &product);
      for (const std::string& other : product.products) {
        index->emplace(NormalName(other), &product);
      }
    }
    return index;
  }();
  const auto found = by_name->find(NormalName(name));
  return found == by_name->end() ? nullptr : found->second;
}

absl::Status UnknownMigProduct(absl::string_view name) {
  const std::string wanted = NormalName(name);
  std::vector<std::string> groups;
  std::vector<std::string> names;
  std::vector<std::string> longer;  // groups with a name that goes on where `name` ends
  for (const MigProduct& product : MigCatalogue()) {
    std::vector<std::string> own = product.products;
    own.push_back(product.group);
    const bool goes_on =
        !wanted.empty() && std::any_of(own.begin(), own.end(), [&wanted](const std::string& one) {
          return absl::StartsWith(NormalName(one), wanted);
        });
    if (goes_on) longer.push_back(product.group);
    groups.push_back(product.group);
    names.insert(names.end(), own.begin(), own.end());
  }
  const std::string hint =
      longer.empty() ? Suggest(wanted, names)
                     : absl::StrCat(" (did you mean '", absl::StrJoin(longer, "' or '"), "'?)");
  return absl::InvalidArgumentError(absl::StrCat("GPU product: found '", Shorten(name),
                                                 "', expected one of ", absl::StrJoin(groups, ", "),
                                                 hint));
}

}  // namespace drasim
