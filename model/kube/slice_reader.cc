#include "model/kube/slice_reader.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/kube/positions.h"
#include "model/kube/reader.h"
#include "model/kube/reader_source.h"
#include "model/kube/resource_lift.h"
#include "model/kube/validate.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr size_t kMostOddFields = 20;

// Whether the text begins with a list, after comments.
bool BeginsWithList(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripLeadingAsciiWhitespace(line);
    if (line.empty() || line[0] == '#' || absl::StartsWith(line, "---")) continue;
    return line[0] == '[' || line == "-" || absl::StartsWith(line, "- ");
  }
  return false;
}

absl::StatusOr<PublishedSlices> ReadDeviceLists(const KubeSource& source) {
  PublishedSlices read;
  KubeWarnings warnings;
  KubeReadOptions options;
  options.of_cluster = true;
  options.warnings = &warnings;
  kube::ResourceSlice& slice = read.slices.emplace_back();
  slice.set_api_version(kResourceV1);
  slice.set_kind("ResourceSlice");
  for (const KubeDocument& document : source.documents()) {
    if (document.root->kind != YamlNode::Kind::kSequence) {
      return absl::InvalidArgumentError(
          absl::StrCat(source.Locate(document.begin + document.root->position),
                       ": expected a list of devices, as in the document before"));
    }
    for (const YamlNode* item : document.root->children) {
      kube::Device device;
      RETURN_IF_ERROR(ReadKubeNode(source, document, *item, options, &device));
      if (item->kind == YamlNode::Kind::kMapping) {
        *slice.mutable_spec()->add_devices() = std::move(device);
      }
    }
  }
  read.warnings.push_back(
      absl::StrCat(source.Locate(0),
                   ": found a list of devices, expected a ResourceSlice: name, driver, pool and "
                   "nodes of its devices are unknown"));
  for (std::string& text : warnings.Texts()) read.warnings.push_back(std::move(text));
  return read;
}

// Drops capacities without a value; the value may have been no quantity.
void DropEmptyCapacities(absl::string_view file, PublishedSlices* read) {
  for (kube::ResourceSlice& slice : read->slices) {
    for (kube::Device& device : *slice.mutable_spec()->mutable_devices()) {
      std::set<std::string> empty;
      for (const auto& [name, capacity] : device.capacity()) {
        if (capacity.value().empty()) empty.insert(name);
      }
      for (const std::string& name : empty) {
        device.mutable_capacity()->erase(name);
        read->warnings.push_back(absl::StrCat(file, ": device ", device.name(), ": the capacity ",
                                              name, " has no value: left out"));
      }
    }
  }
}

// --- Pools ---

// The slices of the newest generation of a pool.
struct PoolSlices {
  int64_t generation = 0;
  std::vector<const kube::ResourceSliceSpec*> slices;
};

using PoolCounters = std::map<std::string, std::set<std::string>>;

// The pool's counter sets; `twice` gets the name of one that two have.
PoolCounters CountersOf(const PoolSlices& pool, std::string* twice) {
  PoolCounters counters;
  for (const kube::ResourceSliceSpec* slice : pool.slices) {
    for (const kube::CounterSet& set : slice->shared_counters()) {
      const auto [entry, is_new] = counters.try_emplace(set.name());
      if (!is_new && twice->empty()) *twice = set.name();
      for (const auto& [name, counter] : set.counters()) entry->second.insert(name);
    }
  }
  return counters;
}

// The first counter of a device that the pool does not have, as "counter NAME of set SET"; empty if
// there is none.
std::string UnknownCounter(const kube::Device& device, const PoolCounters& counters) {
  for (const kube::DeviceCounterConsumption& consumption : device.consumes_counters()) {
    const auto set = counters.find(consumption.counter_set());
    if (set == counters.end()) return absl::StrCat("counter set ", consumption.counter_set());
    std::set<std::string> names;
    for (const auto& [name, counter] : consumption.counters()) names.insert(name);
    for (const std::string& name : names) {
      if (set->second.contains(name)) continue;
      return absl::StrCat("counter ", name, " of the set ", consumption.counter_set());
    }
  }
  return "";
}

void CheckPoolSlices(const std::string& pool_name, const PoolSlices& pool,
                     std::vector<std::string>* problems) {
  const auto tell = [&](const auto&... parts) {
    problems->push_back(absl::StrCat("pool ", pool_name, ": ", parts...));
  };
  const auto count = static_cast<int64_t>(pool.slices.size());
  const int64_t wanted = pool.slices[0]->pool().resource_slice_count();
  if (count != wanted) {
    tell("found ", count, count == 1 ? " slice" : " slices", " of generation ", pool.generation,
         ", expected ", wanted, ": the pool is incomplete");
  }
  std::string twice;
  const PoolCounters counters = CountersOf(pool, &twice);
  if (!twice.empty()) tell("two counter sets are called ", twice, ": the pool is invalid");
  std::set<std::string> names;
  bool told_name = false;
  bool told_counter = false;
  for (const kube::ResourceSliceSpec* slice : pool.slices) {
    for (const kube::Device& device : slice->devices()) {
      if (!names.insert(device.name()).second && !told_name) {
        told_name = true;
        tell("two devices are called ", device.name(), ": the pool is invalid");
      }
      if (told_counter) continue;
      const std::string unknown = UnknownCounter(device, counters);
      if (unknown.empty()) continue;
      told_counter = true;
      tell("device ", device.name(), " consumes the ", unknown,
           ", which no slice of the pool has: the pool is ",
           count < wanted ? "incomplete" : "invalid");
    }
  }
}

}  // namespace

std::vector<std::string> PoolProblems(absl::Span<const kube::ResourceSlice> slices) {
  std::map<std::string, PoolSlices> pools;
  for (const kube::ResourceSlice& slice : slices) {
    const kube::ResourceSliceSpec& spec = slice.spec();
    // Without a name there is no telling which slices belong together.
    if (spec.pool().name().empty()) continue;
    PoolSlices& pool = pools[absl::StrCat(spec.driver(), "/", spec.pool().name())];
    if (pool.slices.empty() || spec.pool().generation() > pool.generation) {
      pool.slices.clear();
      pool.generation = spec.pool().generation();
    }
    if (spec.pool().generation() == pool.generation) pool.slices.push_back(&spec);
  }
  std::vector<std::string> problems;
  for (const auto& [name, pool] : pools) CheckPoolSlices(name, pool, &problems);
  return problems;
}

absl::StatusOr<PublishedSlices> ReadResourceSlices(absl::string_view text, absl::string_view file) {
  if (BeginsWithList(text)) {
    ASSIGN_OR_RETURN(const KubeSource source, KubeSource::Parse(text, file));
    ASSIGN_OR_RETURN(PublishedSlices read, ReadDeviceLists(source));
    DropEmptyCapacities(file, &read);
    return read;
  }
  KubeReadOptions options;
  options.of_cluster = true;
  options.validate = false;
  ASSIGN_OR_RETURN(KubeManifest manifest, ReadKubeObjects(text, file, options));
  PublishedSlices read;
  read.warnings = std::move(manifest.warnings);
  KubePositions positions(std::string(text), std::string(file), manifest.objects);
  size_t others = manifest.skipped.size();
  size_t odd_fields = 0;
  for (size_t i = 0; i < manifest.objects.size(); ++i) {
    kube::Object& object = manifest.objects[i].object;
    if (!object.has_resource_slice()) {
      ++others;
      continue;
    }
    for (const KubeProblem& problem : ValidateKubeObject(object)) {
      if (++odd_fields > kMostOddFields) continue;
      read.warnings.push_back(
          absl::StrCat(positions.Locate(i, problem.path), ": ", problem.path, ": ", problem.what));
    }
    read.slices.push_back(std::move(*object.mutable_resource_slice()));
  }
  if (odd_fields > kMostOddFields) {
    read.warnings.push_back(
        absl::StrCat(file, ": ", odd_fields - kMostOddFields, " more of such fields"));
  }
  if (others > 0) {
    read.warnings.push_back(
        absl::StrCat(file, ": ", others, " objects that are no ResourceSlice are left out"));
  }
  if (read.slices.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": found no ResourceSlice"));
  }
  DropEmptyCapacities(file, &read);
  for (const std::string& problem : PoolProblems(read.slices)) {
    read.warnings.push_back(absl::StrCat(file, ": ", problem));
  }
  return read;
}

}  // namespace drasim
