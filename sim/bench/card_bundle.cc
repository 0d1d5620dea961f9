#include "sim/bench/card_bundle.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/proto/scenario.pb.h"
#include "model/proto/suite.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/bound_input.h"
#include "sim/bench/gpu_bound.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"
#include "sim/record/atomic_file.h"
#include "sim/record/folder_lock.h"
#include "sim/run/simulation.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/scenario_paths.h"
#include "traces/byte_source.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kRequestFile[] = "card.yaml";
constexpr char kBoundsFile[] = "bounds.csv";
constexpr char kSuiteFolder[] = "suite";
constexpr size_t kMaxBundleFileBytes = size_t{256} << 20;
// Files that a repetition must reproduce. Others hold costs, which differ from run to run.
constexpr const char* kReproduced[] = {"cells.csv", "missing.csv", kBoundsFile, kRequestFile,
                                       "card.txt",  "card.csv",    "card.json"};

std::string InFolder(const std::string& dir, absl::string_view name) {
  return absl::StrCat(dir, "/", name);
}

absl::StatusOr<std::string> ReadBundleFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return ReadAll(*source, kMaxBundleFileBytes);
}

absl::Status MakeFolder(const std::string& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(dir, ": ", error.message()));
}

// The path from wherever the program is run.
std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// The entry as a message, whose scenario has been written to `folder` with its settings.
absl::StatusOr<proto::SuiteEntry> CopyEntry(const SuiteEntry& entry, const std::string& folder) {
  GivenScenario given;
  if (!entry.scenario.empty()) {
    ASSIGN_OR_RETURN(given, ReadGiven(entry.scenario));
  }
  for (const std::string& setting : entry.settings) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    RETURN_IF_ERROR(OverrideKey(pair.first, pair.second, "set", &given));
  }
  MakePathsAbsolute(&*given.scenario);
  if (given.scenario->name().empty()) given.scenario->set_name(entry.name);
  const std::string file = absl::StrCat("scenarios/", entry.name, ".yaml");
  RETURN_IF_ERROR(WriteFileAtomically(InFolder(folder, file), ToYaml(*given.scenario)));
  proto::SuiteEntry copy;
  copy.set_name(entry.name);
  copy.set_scenario(file);
  for (const std::string& policy : entry.policies) copy.add_policies(policy);
  for (const std::string& queue : entry.queues) copy.add_queues(queue);
  copy.set_world(entry.world);
  copy.set_seeds(absl::StrJoin(entry.seeds, ","));
  copy.set_tier(static_cast<proto::Tier>(entry.tier));
  copy.mutable_primary()->set_metric(entry.primary.metric);
  copy.mutable_primary()->set_better(entry.primary.higher_is_better ? proto::BETTER_HIGHER
                                                                    : proto::BETTER_LOWER);
  copy.mutable_primary()->set_margin(entry.primary.margin.Text());
  for (const SuiteInput& input : entry.inputs) {
    proto::SuiteInput* const pinned = copy.add_inputs();
    pinned->set_path(Absolute(input.path));
    pinned->set_sha256(input.sha256);
  }
  return copy;
}

// Returns the path of the copied suite, relative to the bundle.
absl::StatusOr<std::string> CopySuite(const Suite& suite, const std::string& dir) {
  const std::string folder = InFolder(dir, kSuiteFolder);
  RETURN_IF_ERROR(MakeFolder(InFolder(folder, "scenarios")));
  proto::Suite copy;
  copy.set_version(suite.version);
  for (const SuiteEntry& entry : suite.entries) {
    if (entry.cases.has_value()) continue;  // nothing in them ranks policies
    ASSIGN_OR_RETURN(*copy.add_entries(), CopyEntry(entry, folder));
  }
  const std::string file = absl::StrCat(kSuiteFolder, "/", suite.name, ".yaml");
  RETURN_IF_ERROR(WriteFileAtomically(InFolder(dir, file), ToYaml(copy)));
  return file;
}

// A sample's input to the bound, and the GPU milli of its cluster.
struct BoundSample {
  BoundInput input;
  int64_t capacity_milli = 0;
};

absl::StatusOr<BoundSample> SampleOf(const RunSpec& spec) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Simulation> sim, Simulation::Build(spec));
  RETURN_IF_ERROR(sim->Start());
  RETURN_IF_ERROR(sim->Run());
  BoundSample sample;
  ASSIGN_OR_RETURN(sample.input, BoundInputOf(*sim));
  sample.capacity_milli = sim->cluster().totals().gpu_milli_capacity;
  return sample;
}

// Runs the suite of the bundle and writes what follows from it.
absl::StatusOr<BundleResult> FillBundle(proto::CardRequest request, const BenchRunOptions& run,
                                        const std::string& dir) {
  ASSIGN_OR_RETURN(const Suite suite, ReadSuite(InFolder(dir, request.suite())));
  BundleResult result;
  ASSIGN_OR_RETURN(result.run, RunBench(suite, run, dir));
  if (!result.run.failed.empty()) {
    const CellProblem& first = result.run.failed.front();
    return absl::FailedPreconditionError(absl::StrCat(
        result.run.failed.size(), " cells failed: ", first.id.Name(), ": ", first.what));
  }
  CardOptions options;
  options.reference = request.reference();
  options.front.assign(request.front().begin(), request.front().end());
  result.division = DivisionOf(run, result.run, options);
  request.set_division(result.division.closed
                           ? "closed"
                           : absl::StrCat("open: ", absl::StrJoin(result.division.reasons, "; ")));
  ASSIGN_OR_RETURN(const std::vector<BenchCell> cells, MakeBenchCells(suite, run.last, run.filter));
  ASSIGN_OR_RETURN(const SampleBounds bounds, ComputeBounds(cells, run.jobs));
  ASSIGN_OR_RETURN(const BenchResults results, ReadBenchResults(dir));
  ASSIGN_OR_RETURN(result.card, MakeCard(results.table, bounds, options));
  const std::string yaml = ToYaml(request);
  const std::string bounds_csv = BoundsCsv(bounds);
  const std::string text =
      absl::StrCat("division ", request.division(), "\n", CardText(result.card));
  const std::string csv = CardCsv(result.card);
  const std::string json = CardJson(result.card);
  RETURN_IF_ERROR(WriteFilesAtomically({{InFolder(dir, kRequestFile), yaml},
                                        {InFolder(dir, kBoundsFile), bounds_csv},
                                        {InFolder(dir, "card.txt"), text},
                                        {InFolder(dir, "card.csv"), csv},
                                        {InFolder(dir, "card.json"), json}}));
  return result;
}

// Where two texts part; empty if they do not.
std::string FirstDifference(const std::string& name, const std::string& found,
                            const std::string& expected) {
  if (found == expected) return "";
  const std::vector<absl::string_view> a = absl::StrSplit(found, '\n');
  const std::vector<absl::string_view> b = absl::StrSplit(expected, '\n');
  size_t line = 0;
  while (line < a.size() && line < b.size() && a[line] == b[line]) ++line;
  const auto at = [line](const std::vector<absl::string_view>& lines) {
    return line < lines.size() ? absl::StrCat("'", lines[line], "'") : std::string("the end");
  };
  return absl::StrCat(name, ":", line + 1, ": found ", at(a), ", expected ", at(b));
}

}  // namespace

bool IsBundleFile(absl::string_view name) {
  constexpr absl::string_view kNames[] = {kSuiteFolder, kRequestFile,        kBoundsFile,
                                          "card.txt",   "card.csv",          "card.json",
                                          "cells.csv",  "costs.csv",         "missing.csv",
                                          "bench.yaml", "bench.partial.csv", FolderLock::kFileName};
  absl::ConsumeSuffix(&name, ".tmp");
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Division DivisionOf(const BenchRunOptions& run, const BenchRunSummary& summary,
                    const CardOptions& options) {
  Division division;
  if (run.last == Tier::kSmoke) division.reasons.emplace_back("the tier smoke alone");
  if (!run.filter.text().empty())
    division.reasons.push_back(absl::StrCat("only cells that match ", run.filter.text()));
  if (!summary.missing.empty())
    division.reasons.push_back(absl::StrCat(summary.missing.size(), " cells are missing"));
  if (!options.reference.empty())
    division.reasons.push_back(absl::StrCat("reference ", options.reference));
  if (!options.front.empty())
    division.reasons.push_back(absl::StrCat("front of ", absl::StrJoin(options.front, ", ")));
  division.closed = division.reasons.empty();
  return division;
}

absl::StatusOr<SampleBounds> ComputeBounds(const std::vector<BenchCell>& cells, size_t jobs) {
  std::map<std::pair<std::string, uint64_t>, const BenchCell*> samples;
  for (const BenchCell& cell : cells) {
    if (cell.missing.empty() && CheckBoundable(cell.spec).ok())
      samples.try_emplace({cell.id.entry, cell.id.seed}, &cell);
  }
  const std::vector<std::pair<std::pair<std::string, uint64_t>, const BenchCell*>> pending(
      samples.begin(), samples.end());
  std::vector<BoundSample> found(pending.size());
  RETURN_IF_ERROR(ForEachInParallel(
      pending.size(), jobs,
      [&](size_t i) -> absl::Status {
        ASSIGN_OR_RETURN(found[i], SampleOf(pending[i].second->spec));
        return absl::OkStatus();
      },
      [](size_t) {}));
  SampleBounds bounds;
  // One after the other: the solver makes no promise about threads.
  for (size_t i = 0; i < pending.size(); ++i)
    bounds[pending[i].first] = {found[i].capacity_milli, GpuMilliBound(found[i].input)};
  return bounds;
}

std::string BoundsCsv(const SampleBounds& bounds) {
  std::string text = "entry,seed,gpu_capacity_milli,bound_milli,bound_percent\n";
  for (const auto& [sample, bound] : bounds) {
    absl::StrAppend(&text, sample.first, ",", sample.second, ",", bound.capacity_milli, ",",
                    bound.bound_milli, ",",
                    PercentRoundedUp(bound.bound_milli, bound.capacity_milli), "\n");
  }
  return text;
}

absl::StatusOr<BundleResult> MakeBundle(const Suite& suite, const BenchRunOptions& run,
                                        const CardOptions& options, const std::string& dir) {
  proto::CardRequest request;
  ASSIGN_OR_RETURN(*request.mutable_suite(), CopySuite(suite, dir));
  request.set_reference(options.reference);
  for (const std::string& metric : options.front) request.add_front(metric);
  return FillBundle(std::move(request), run, dir);
}

absl::StatusOr<std::vector<std::string>> VerifyBundle(const std::string& bundle,
                                                      const std::string& scratch,
                                                      const BenchRunOptions& run) {
  const std::string file = InFolder(bundle, kRequestFile);
  std::error_code error;
  if (!fs::exists(file, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(bundle, ": found no ", kRequestFile, ", expected a folder of bench card"));
  }
  ASSIGN_OR_RETURN(const std::string yaml, ReadBundleFile(file));
  proto::CardRequest request;
  RETURN_IF_ERROR(MergeYaml(yaml, file, &request));
  ASSIGN_OR_RETURN(const BenchResults results, ReadBenchResults(bundle));
  BenchRunOptions again = run;
  again.last = results.last;
  again.filter = results.filter;
  fs::copy(InFolder(bundle, kSuiteFolder), InFolder(scratch, kSuiteFolder),
           fs::copy_options::recursive, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat(InFolder(bundle, kSuiteFolder), ": ", error.message()));
  }
  ASSIGN_OR_RETURN(const BundleResult made, FillBundle(request, again, scratch));
  if (made.run.missing.size() > results.missing.size()) {
    const CellProblem& first = made.run.missing.front();
    return absl::NotFoundError(absl::StrCat(first.id.Name(), ": ", first.what));
  }
  std::vector<std::string> differences;
  for (const char* const name : kReproduced) {
    ASSIGN_OR_RETURN(const std::string expected, ReadBundleFile(InFolder(bundle, name)));
    ASSIGN_OR_RETURN(const std::string found, ReadBundleFile(InFolder(scratch, name)));
    const std::string difference = FirstDifference(name, found, expected);
    if (!difference.empty()) differences.push_back(difference);
  }
  return differences;
}

}  // namespace drasim::bench
