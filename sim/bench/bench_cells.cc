#include "sim/bench/bench_cells.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/hash.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "sim/bench/case_cells.h"
#include "sim/compare/cell.h"
#include "sim/compare/worlds.h"
#include "sim/run/input_files.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/scenario_paths.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

// The hash of a file, or of all files below a folder; each is read once. NotFound if there is none.
class InputHashes {
 public:
  absl::StatusOr<std::string> Of(const std::string& path) {
    const auto it = known_.find(path);
    if (it != known_.end()) return it->second;
    ASSIGN_OR_RETURN(const std::string hash, Read(path));
    known_[path] = hash;
    return hash;
  }

 private:
  static absl::StatusOr<std::string> Read(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return FileSha256(path);
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
      if (entry.is_regular_file(error)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::string all;
    for (const fs::path& file : files) {
      ASSIGN_OR_RETURN(const std::string hash, FileSha256(file.string()));
      absl::StrAppend(&all, file.lexically_relative(path).string(), " ", hash, "\n");
    }
    return HexHash(Fnv1a(all));
  }

  std::map<std::string, std::string> known_;
};

// An entry's scenario in two forms: as it runs, and as it is hashed, with paths as written.
struct EntryScenario {
  GivenScenario given;
  proto::Scenario written;
};

// Makes the scenario the entry's world, if it names one. `key`: that of the name.
absl::Status ApplyWorld(const SuiteEntry& entry, const std::string& key, GivenScenario* given) {
  if (entry.world.empty()) return absl::OkStatus();
  given->scenario->clear_comparison();
  const proto::Scenario bare = *given->scenario;
  const std::string& policy = bare.scheduler().policy();
  const absl::StatusOr<ScenarioChange> world = WorldOf(entry.world, bare);
  if (!world.ok()) return KeyError(key, absl::StripPrefix(world.status().message(), "--worlds: "));
  for (const ScenarioChange& change :
       {LikeConditions(bare, policy.empty() ? std::string(kPolicyOfWorlds) : policy), *world}) {
    RETURN_IF_ERROR(ApplyChange(change, key, &*given->scenario));
    for (const std::string& setting : change.set) {
      given->overridden.emplace_back(KeyOfSetting(setting));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<EntryScenario> ReadEntryScenario(const SuiteEntry& entry, const std::string& key) {
  EntryScenario scenario;
  if (!entry.scenario.empty()) {
    absl::StatusOr<GivenScenario> given = ReadGiven(entry.scenario);
    if (!given.ok()) return KeyError(absl::StrCat(key, ".scenario"), given.status().message());
    scenario.given = *std::move(given);
    RETURN_IF_ERROR(MergeYaml(scenario.given.text, scenario.given.file, &scenario.written));
  }
  for (size_t i = 0; i < entry.settings.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> setting =
        absl::StrSplit(entry.settings[i], absl::MaxSplits('=', 1));
    const std::string place = absl::StrCat(key, ".set.", i);
    const absl::Status set = OverrideKey(setting.first, setting.second, "set", &scenario.given);
    if (!set.ok()) return KeyError(place, set.message());
    RETURN_IF_ERROR(SetField(setting.first, setting.second, place, &scenario.written));
  }
  RETURN_IF_ERROR(ApplyWorld(entry, absl::StrCat(key, ".world"), &scenario.given));
  for (proto::Scenario* one : {&*scenario.given.scenario, &scenario.written}) {
    one->clear_comparison();
    one->clear_output();
  }
  scenario.written.clear_name();
  scenario.written.clear_description();
  return scenario;
}

// Why the files of the entry cannot be used; empty if they can. InvalidArgument for other bytes
// than the pinned ones.
absl::StatusOr<std::string> MissingInput(const SuiteEntry& entry, const std::string& key,
                                         InputHashes* hashes) {
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const SuiteInput& input = entry.inputs[i];
    const absl::StatusOr<std::string> hash = hashes->Of(input.path);
    if (absl::IsNotFound(hash.status())) return std::string(hash.status().message());
    RETURN_IF_ERROR(hash.status());
    if (*hash == input.sha256) continue;
    return KeyError(absl::StrCat(key, ".inputs.", i, ".sha256"),
                    absl::StrCat("found ", *hash, " in ", input.path, ", expected ", input.sha256));
  }
  return std::string();
}

class CellMaker {
 public:
  CellMaker(const SuiteEntry& entry, std::string key, InputHashes* hashes)
      : entry_(entry), key_(std::move(key)), hashes_(*hashes) {}

  absl::Status AddCells(std::vector<BenchCell>* cells) {
    if (entry_.cases.has_value()) return AddCases(cells);
    ASSIGN_OR_RETURN(scenario_, ReadEntryScenario(entry_, key_));
    ASSIGN_OR_RETURN(missing_, MissingInput(entry_, key_, &hashes_));
    std::vector<std::string> queues = {""};
    std::vector<std::string> policies = {""};
    if (!entry_.queues.empty()) {
      ASSIGN_OR_RETURN(queues, ChooseQueues(entry_.queues, absl::StrCat(key_, ".queues")));
    }
    if (!entry_.policies.empty()) {
      ASSIGN_OR_RETURN(policies, ChoosePolicies(entry_.policies, absl::StrCat(key_, ".policies"),
                                                KindOfPolicies(*scenario_.given.scenario)));
    }
    for (const std::string& queue : queues) {
      for (const std::string& policy : policies) RETURN_IF_ERROR(AddGroup(queue, policy, cells));
    }
    return absl::OkStatus();
  }

 private:
  // The cell of an entry with cases.
  absl::Status AddCases(std::vector<BenchCell>* cells) {
    BenchCell cell;
    cell.cases = entry_.cases;
    cell.id = {entry_.name, "", DeciderOf(*entry_.cases), 0};
    cell.tier = entry_.tier;
    cell.primary = entry_.primary;
    cell.cost = entry_.cost;
    ASSIGN_OR_RETURN(cell.missing, MissingInput(entry_, key_, &hashes_));
    std::string bytes;
    if (!entry_.cases->file.empty() && cell.missing.empty()) {
      const std::string key = absl::StrCat(key_, ".cases.file");
      const absl::StatusOr<std::string> hash = hashes_.Of(entry_.cases->file);
      if (!hash.ok()) return KeyError(key, hash.status().message());
      bytes = *hash;
      // Mistakes in the file are found before any cell runs.
      const absl::StatusOr<CaseSet> set = LoadCases(*entry_.cases);
      if (!set.ok()) return KeyError(key, set.status().message());
    }
    cell.scenario = SuiteOfCases(entry_);
    cell.inputs = HexHash(Fnv1a(bytes, Fnv1a(CasesIdentity(*entry_.cases))));
    cells->push_back(std::move(cell));
    return absl::OkStatus();
  }

  // The cells of one queue and one policy; an empty name is the scenario's own.
  absl::Status AddGroup(const std::string& queue, const std::string& policy,
                        std::vector<BenchCell>* cells) {
    GivenScenario given = scenario_.given;
    proto::Scenario written = scenario_.written;
    for (proto::Scenario* one : {&*given.scenario, &written}) {
      if (!queue.empty()) one->mutable_scheduler()->set_queue(queue);
      if (!policy.empty()) one->mutable_scheduler()->set_policy(policy);
    }
    const absl::StatusOr<RunSpec> spec = ResolveGiven(given);
    if (!spec.ok()) return KeyError(key_, spec.status().message());
    BenchCell cell;
    cell.id = {entry_.name, spec->is_replay() ? spec->scheduler.queue_name : "",
               spec->scheduler.profile.policy, 0};
    if (spec->scheduler.kube.has_value()) cell.id.policy = std::string(kKubeSchedulerPolicy);
    cell.tier = entry_.tier;
    cell.primary = entry_.primary;
    cell.spec = *spec;
    cell.random = DependsOnSeed(*spec);
    cell.missing = missing_;
    cell.cost = entry_.cost;
    ASSIGN_OR_RETURN(const std::string files, HashFiles(&cell));
    // Counted runs have another working directory.
    MakePathsAbsolute(&*given.scenario);
    std::vector<uint64_t> seeds = entry_.seeds;
    if (seeds.empty()) seeds.push_back(spec->seed);
    for (const uint64_t seed : seeds) {
      cell.id.seed = seed;
      cell.spec.SetSeed(seed);
      written.set_seed(seed);
      given.scenario->set_seed(seed);
      cell.scenario = ToYaml(*given.scenario);
      cell.inputs = HexHash(Fnv1a(files, Fnv1a(ToYaml(written))));
      cells->push_back(cell);
    }
    return absl::OkStatus();
  }

  // The hashes of all files that the run reads, a line each, below the name of the world.
  absl::StatusOr<std::string> HashFiles(BenchCell* cell) {
    // The meaning of a world belongs to the program: a change of it is another outcome, not another
    // input.
    std::string all = entry_.world.empty() ? "" : absl::StrCat("world ", entry_.world, "\n");
    for (const std::string& path : InputPaths(*cell->spec.written)) {
      const absl::StatusOr<std::string> hash = hashes_.Of(path);
      if (absl::IsNotFound(hash.status())) {
        if (cell->missing.empty()) cell->missing = std::string(hash.status().message());
        continue;
      }
      RETURN_IF_ERROR(hash.status());
      absl::StrAppend(&all, *hash, "\n");
    }
    return all;
  }

  const SuiteEntry& entry_;
  std::string key_;
  InputHashes& hashes_;
  EntryScenario scenario_;
  std::string missing_;
};

}  // namespace

std::string CellId::Name() const { return absl::StrCat(GroupName(), "/", seed); }

std::string CellId::GroupName() const {
  return absl::StrCat(entry, "/", queue.empty() ? "-" : queue, "/", policy);
}

absl::StatusOr<Filter> Filter::Make(const std::string& text) {
  Filter filter;
  if (text.empty()) return filter;
  auto* const compiled = new regex_t;
  const int error = regcomp(compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    char why[200] = "";
    regerror(error, compiled, why, sizeof(why));
    delete compiled;
    return absl::InvalidArgumentError(
        absl::StrCat("--filter: found '", text, "', expected a regular expression: ", why));
  }
  filter.text_ = text;
  filter.compiled_ = std::shared_ptr<const regex_t>(compiled, [](const regex_t* made) {
    auto* const own = const_cast<regex_t*>(made);
    regfree(own);
    delete own;
  });
  return filter;
}

bool Filter::Matches(const CellId& cell) const {
  return compiled_ == nullptr || regexec(compiled_.get(), cell.Name().c_str(), 0, nullptr, 0) == 0;
}

absl::StatusOr<std::vector<BenchCell>> MakeBenchCells(const Suite& suite, std::optional<Tier> last,
                                                      const Filter& filter) {
  std::vector<BenchCell> cells;
  InputHashes hashes;
  for (size_t i = 0; i < suite.entries.size(); ++i) {
    if (last.has_value() && suite.entries[i].tier > *last) continue;
    CellMaker maker(suite.entries[i], absl::StrCat("entries.", i), &hashes);
    RETURN_IF_ERROR(InSuite(suite, maker.AddCells(&cells)));
  }
  cells.erase(std::remove_if(cells.begin(), cells.end(),
                             [&](const BenchCell& cell) { return !filter.Matches(cell.id); }),
              cells.end());
  std::sort(cells.begin(), cells.end(),
            [](const BenchCell& a, const BenchCell& b) { return a.id < b.id; });
  return cells;
}

}  // namespace drasim::bench
