#include "sim/bench/commit_runs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"
#include "model/text/yaml_node.h"
#include "model/text/yaml_tree.h"
#include "sim/bench/program_run.h"
#include "sim/record/atomic_file.h"
#include "sim/run/resolved_yaml.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;
using Kind = YamlNode::Kind;

constexpr size_t kShownNodes = 3;

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// All scalars of a document by their dotted paths.
void Flatten(const YamlNode& node, const std::string& path,
             std::map<std::string, std::string>* figures) {
  const auto inner = [&path](const std::string& key) {
    return path.empty() ? key : absl::StrCat(path, ".", key);
  };
  if (node.kind == Kind::kScalar) (*figures)[path] = node.text;
  if (node.kind == Kind::kSequence) {
    for (size_t i = 0; i < node.children.size(); ++i) {
      Flatten(*node.children[i], inner(absl::StrCat(i)), figures);
    }
  }
  if (node.kind != Kind::kMapping) return;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    Flatten(*node.children[i + 1], inner(node.children[i]->text), figures);
  }
}

// Excludes the settings of a run and its wall time, which are no results.
bool IsFigure(absl::string_view name) {
  return !absl::StartsWith(name, "scenario.") && !absl::StartsWith(name, "wall_") &&
         name != "schema" && name != "compiler" && name != "drasim_version";
}

absl::Status AddFigures(const std::string& path, std::map<std::string, std::string>* figures) {
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(FileText(path), path));
  if (tree.root() == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": nothing in it"));
  }
  std::map<std::string, std::string> all;
  Flatten(*tree.root(), "", &all);
  for (auto& [name, value] : all) {
    if (IsFigure(name)) figures->emplace(name, std::move(value));
  }
  return absl::OkStatus();
}

const YamlNode* Member(const YamlNode* object, absl::string_view key) {
  if (object == nullptr || object->kind != Kind::kMapping) return nullptr;
  for (size_t i = 0; i + 1 < object->children.size(); i += 2) {
    if (object->children[i]->text == key) return object->children[i + 1];
  }
  return nullptr;
}

std::string TextAt(const YamlNode* object, absl::string_view key) {
  const YamlNode* value = Member(object, key);
  return value != nullptr && value->kind == Kind::kScalar ? value->text : std::string();
}

// The object that begins there in a JSON text.
std::string ObjectAt(absl::string_view json, size_t begin) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = begin; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return std::string(json.substr(begin, i + 1 - begin));
  }
  return std::string();
}

// One side of what `drasim diff --format json` says.
BisectDecision SideOf(const std::string& json, size_t side) {
  BisectDecision decision;
  const absl::StatusOr<YamlTree> tree = YamlTree::Parse(json, "diff");
  const YamlNode* root = tree.ok() ? tree->root() : nullptr;
  const YamlNode* sides = Member(Member(root, "decision"), "sides");
  if (sides == nullptr || sides->children.size() <= side) {
    // A version that tells no decisions still tells the records.
    const YamlNode* parting = Member(root, "parting");
    if (parting != nullptr && parting->children.size() > side) {
      decision.pod = TextAt(parting->children[side], "pod");
      decision.node = TextAt(parting->children[side], "node");
    }
    decision.unknown = "this commit's `drasim diff` does not tell candidates";
    return decision;
  }
  const YamlNode* told = sides->children[side];
  decision.pod = TextAt(told, "pod");
  decision.node = TextAt(told, "node");
  decision.unknown = TextAt(told, "unknown");
  decision.json = ObjectAt(json, told->position);
  const YamlNode* nodes = Member(told, "nodes");
  for (size_t n = 0; nodes != nullptr && n < nodes->children.size() && n < kShownNodes; ++n) {
    const std::string score = TextAt(nodes->children[n], "score");
    decision.nodes.push_back(absl::StrCat(TextAt(nodes->children[n], "node"),
                                          score.empty() ? "" : absl::StrCat(" (", score, ")")));
  }
  return decision;
}

absl::Status Untestable(const std::string& what, const ProgramOutput& output) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(output.err.empty() ? output.out : output.err, '\n', absl::SkipEmpty());
  return absl::FailedPreconditionError(absl::StrCat(what, ": exit code ", output.exit_code,
                                                    lines.empty() ? "" : ": ",
                                                    lines.empty() ? "" : lines.back()));
}

}  // namespace

std::vector<FigureStep> Differences(const CommitFigures& before, const CommitFigures& after,
                                    const std::vector<std::string>& wanted) {
  const auto counts = [&wanted](const std::string& name) {
    return wanted.empty() ||
           std::any_of(wanted.begin(), wanted.end(),
                       [&](const std::string& prefix) { return absl::StartsWith(name, prefix); });
  };
  std::vector<FigureStep> steps;
  for (const auto& [cell, figures] : before) {
    const auto other = after.find(cell);
    if (other == after.end()) continue;
    const size_t first = steps.size();
    for (const auto& [name, value] : figures) {
      const auto now = other->second.find(name);
      if (now == other->second.end() || now->second == value || !counts(name)) continue;
      steps.push_back({cell, name, value, now->second});
      if (name == kFingerprintFigure) {
        std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end() - 1,
                    steps.end());
      }
    }
  }
  return steps;
}

CommitRuns::~CommitRuns() {
  for (size_t s = 0; s < slots_.size(); ++s) {
    history_.RemoveWorktree(PathIn(absl::StrCat("tree-", s)));
  }
  std::error_code ignored;
  fs::remove_all(PathIn("runs"), ignored);
}

std::string CommitRuns::RunFolder(const std::string& commit, size_t cell) const {
  return PathIn(absl::StrCat("runs/", commit, "/", cell));
}

absl::StatusOr<std::string> CommitRuns::Build(const std::string& commit) {
  Slot* slot = nullptr;
  for (Slot& one : slots_) {
    if (one.commit == commit) slot = &one;
  }
  const bool there = slot != nullptr;
  if (!there) {
    slot = std::min_element(slots_.begin(), slots_.end(),
                            [](const Slot& a, const Slot& b) { return a.last_use < b.last_use; });
  }
  slot->last_use = ++uses_;
  const std::string tree = PathIn(absl::StrCat("tree-", slot - slots_.data()));
  if (there) return tree;
  slot->commit.clear();  // until it is built
  RETURN_IF_ERROR(history_.CheckOut(commit, tree));
  if (!options_.build.empty()) {
    ++built_;
    ASSIGN_OR_RETURN(const ProgramOutput output,
                     RunProgram({"sh", "-c", options_.build}, tree, options_.build_seconds));
    if (output.exit_code != 0) return Untestable("the build failed", output);
  }
  slot->commit = commit;
  return tree;
}

absl::StatusOr<CommitFigures> CommitRuns::Measure(const std::string& commit) {
  ASSIGN_OR_RETURN(const std::string tree, Build(commit));
  CommitFigures all;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const std::string folder = RunFolder(commit, i);
    std::error_code error;
    fs::create_directories(folder, error);
    const std::string scenario = folder + ".yaml";
    std::map<std::string, std::string>& figures = all[cells_[i].id.Name()];
    if (cells_[i].cases.has_value()) {
      RETURN_IF_ERROR(WriteFileAtomically(scenario, cells_[i].scenario));
      RETURN_IF_ERROR(MeasureCases(tree, scenario, &figures));
      continue;
    }
    RETURN_IF_ERROR(WriteFileAtomically(scenario, ResolvedYaml(*cells_[i].spec.written)));
    ASSIGN_OR_RETURN(const ProgramOutput output,
                     RunProgram({absl::StrCat(tree, "/", options_.program), "run", scenario,
                                 "--out", folder, "--quiet"},
                                tree, options_.run_seconds));
    if (output.exit_code != 0) return Untestable("the run failed", output);
    for (absl::string_view line : absl::StrSplit(output.out, '\n')) {
      if (absl::ConsumePrefix(&line, "fingerprint ")) {
        figures[std::string(kFingerprintFigure)] = std::string(line);
      }
    }
    RETURN_IF_ERROR(AddFigures(folder + "/summary.json", &figures));
    RETURN_IF_ERROR(AddFigures(folder + "/run.json", &figures));
  }
  return all;
}

absl::Status CommitRuns::MeasureCases(const std::string& tree, const std::string& suite,
                                      std::map<std::string, std::string>* figures) const {
  ASSIGN_OR_RETURN(const ProgramOutput output,
                   RunProgram({absl::StrCat(tree, "/", options_.program), "bench", "cases", suite,
                               "--format", "json"},
                              tree, options_.run_seconds));
  if (output.exit_code != 0) return Untestable("the cases failed", output);
  const std::string file = suite + ".json";
  RETURN_IF_ERROR(WriteFileAtomically(file, output.out));
  return AddFigures(file, figures);
}

absl::StatusOr<const CommitFigures*> CommitRuns::Of(const std::string& commit) {
  auto known = known_.find(commit);
  if (known == known_.end()) known = known_.emplace(commit, Measure(commit)).first;
  if (!known->second.ok()) return known->second.status();
  return &*known->second;
}

absl::StatusOr<std::array<BisectDecision, 2>> CommitRuns::DecisionOf(const std::string& cell,
                                                                     const std::string& before,
                                                                     const std::string& after) {
  const auto at = std::find_if(cells_.begin(), cells_.end(),
                               [&](const BenchCell& c) { return c.id.Name() == cell; });
  const auto index = static_cast<size_t>(at - cells_.begin());
  std::array<BisectDecision, 2> decisions;
  if (at->cases.has_value()) {
    for (BisectDecision& decision : decisions) {
      decision.unknown =
          "the figures name case and field; `drasim bench cases --answers` prints them";
    }
    return decisions;
  }
  const std::array<std::string, 2> commits = {before, after};
  for (size_t side = 0; side < 2; ++side) {
    ASSIGN_OR_RETURN(const std::string tree, Build(commits[side]));
    ASSIGN_OR_RETURN(
        const ProgramOutput output,
        RunProgram({absl::StrCat(tree, "/", options_.program), "diff", RunFolder(before, index),
                    RunFolder(after, index), "--format", "json"},
                   tree, options_.run_seconds));
    decisions[side] = SideOf(output.out, side);
    if (output.exit_code > 1) {
      decisions[side].unknown = std::string(Untestable("drasim diff", output).message());
    }
  }
  return decisions;
}

}  // namespace drasim::bench
