#include "sim/bench/bisect.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "sim/bench/commit_runs.h"
#include "sim/bench/git_history.h"

namespace drasim::bench {
namespace {

constexpr size_t kShortHash = 12;
constexpr size_t kShownFigures = 8;

std::string Short(const std::string& commit) { return commit.substr(0, kShortHash); }

class Search {
 public:
  Search(const GitHistory* history, const std::vector<BenchCell>* cells,
         const BisectOptions* options)
      : history_(*history), options_(*options), runs_(history, cells, options) {}

  absl::StatusOr<BisectResult> Run(std::string good, const std::string& bad) {
    ASSIGN_OR_RETURN(const std::vector<std::string> between, history_.Halving(bad, {good}));
    result_.commits = between.size();
    RETURN_IF_ERROR(MustRun(good, "--good"));
    RETURN_IF_ERROR(MustRun(bad, "--bad"));
    while (true) {
      ASSIGN_OR_RETURN(const bool differs, Differ(good, bad));
      if (!differs) break;
      ASSIGN_OR_RETURN(const BisectChange change, FindFirst(good, bad));
      result_.changes.push_back(change);
      good = change.commits[0];
      if (!options_.all) break;
    }
    result_.built = runs_.built();
    result_.skipped.assign(skipped_.begin(), skipped_.end());
    return std::move(result_);
  }

 private:
  void Say(absl::string_view line) const {
    if (options_.on_progress) options_.on_progress(line);
  }

  absl::Status MustRun(const std::string& commit, const char* flag) {
    const absl::Status status = runs_.Of(commit).status();
    if (status.ok()) return status;
    return absl::FailedPreconditionError(
        absl::StrCat(flag, " ", Short(commit), ": ", status.message()));
  }

  absl::StatusOr<bool> Differ(const std::string& a, const std::string& b) {
    ASSIGN_OR_RETURN(const CommitFigures* const before, runs_.Of(a));
    ASSIGN_OR_RETURN(const CommitFigures* const after, runs_.Of(b));
    return !Differences(*before, *after, options_.figures).empty();
  }

  // REQUIRES: both can be run, and differ.
  absl::StatusOr<BisectChange> FindFirst(const std::string& base, std::string bad) {
    std::vector<std::string> good = {base};
    while (true) {
      ASSIGN_OR_RETURN(const std::vector<std::string> open, history_.Halving(bad, good));
      const auto next = std::find_if(open.begin(), open.end(), [&](const std::string& commit) {
        return commit != bad && skipped_.count(commit) == 0;
      });
      if (next == open.end()) return Describe(base, bad, open);
      Say(absl::StrCat(open.size(), " commits left, now ", Short(*next)));
      const absl::Status ran = runs_.Of(*next).status();
      if (!ran.ok()) {
        Say(absl::StrCat("skipped ", Short(*next), ": ", ran.message()));
        skipped_.insert(*next);
        continue;
      }
      ASSIGN_OR_RETURN(const bool differs, Differ(base, *next));
      if (differs) {
        bad = *next;
      } else {
        good.push_back(*next);
      }
    }
  }

  // `open`: the commits that may have made the change.
  absl::StatusOr<BisectChange> Describe(const std::string& base, const std::string& bad,
                                        const std::vector<std::string>& open) {
    BisectChange change;
    change.commits = {bad};
    for (const std::string& commit : open) {
      if (commit != bad) change.commits.push_back(commit);
    }
    ASSIGN_OR_RETURN(change.subject, history_.SubjectOf(bad));
    ASSIGN_OR_RETURN(const CommitFigures* const before, runs_.Of(base));
    ASSIGN_OR_RETURN(const CommitFigures* const after, runs_.Of(bad));
    change.figures = Differences(*before, *after, options_.figures);
    for (const FigureStep& step : Differences(*before, *after, {std::string(kFingerprintFigure)})) {
      ASSIGN_OR_RETURN(change.decision, runs_.DecisionOf(step.cell, base, bad));
      break;
    }
    return change;
  }

  const GitHistory& history_;
  const BisectOptions& options_;
  CommitRuns runs_;
  std::set<std::string> skipped_;
  BisectResult result_;
};

void WriteDecision(const std::array<BisectDecision, 2>& sides, JsonWriter* j) {
  j->BeginArray();
  for (const BisectDecision& side : sides) {
    if (!side.json.empty()) {
      j->Json(side.json);
      continue;
    }
    j->BeginObject();
    j->Key("pod").String(side.pod);
    j->Key("node").String(side.node);
    j->Key("unknown").String(side.unknown);
    j->EndObject();
  }
  j->EndArray();
}

std::string DecisionLine(absl::string_view when, const BisectDecision& side) {
  return absl::StrCat("  ", when, ": pod ", side.pod.empty() ? "-" : side.pod,
                      side.node.empty() ? " without a node" : absl::StrCat(" to ", side.node),
                      side.nodes.empty() ? "" : "; best: ", absl::StrJoin(side.nodes, ", "),
                      side.unknown.empty() ? "" : absl::StrCat(" (", side.unknown, ")"), "\n");
}

}  // namespace

absl::StatusOr<BisectResult> Bisect(const std::vector<BenchCell>& cells,
                                    const BisectOptions& options) {
  DRASIM_CHECK(!cells.empty());
  ASSIGN_OR_RETURN(const GitHistory history, GitHistory::Open(options.folder));
  ASSIGN_OR_RETURN(const std::string good, history.Resolve(options.good, "--good"));
  ASSIGN_OR_RETURN(const std::string bad, history.Resolve(options.bad, "--bad"));
  ASSIGN_OR_RETURN(const bool in_order, history.IsAncestor(good, bad));
  if (!in_order || good == bad) {
    return absl::InvalidArgumentError(
        absl::StrCat("--good: found '", options.good, "', expected an ancestor of ", options.bad));
  }
  return Search(&history, &cells, &options).Run(good, bad);
}

std::string BisectText(const BisectResult& result) {
  std::string text;
  for (const BisectChange& change : result.changes) {
    absl::StrAppend(&text, "first commit that differs: ", Short(change.commits[0]), " ",
                    change.subject, "\n");
    if (change.commits.size() > 1) {
      std::vector<std::string> others;
      for (size_t c = 1; c < change.commits.size(); ++c) others.push_back(Short(change.commits[c]));
      absl::StrAppend(&text,
                      "  or one before it that could not be tested: ", absl::StrJoin(others, ", "),
                      "\n");
    }
    for (size_t f = 0; f < change.figures.size() && f < kShownFigures; ++f) {
      const FigureStep& step = change.figures[f];
      absl::StrAppend(&text, "  ", step.cell, " ", step.figure, ": ", step.before, " -> ",
                      step.after, "\n");
    }
    if (change.figures.size() > kShownFigures) {
      absl::StrAppend(&text, "  and ", change.figures.size() - kShownFigures, " other figures\n");
    }
    if (!change.decision.has_value()) {
      text += "  all decisions are the same\n";
      continue;
    }
    absl::StrAppend(&text, DecisionLine("before", (*change.decision)[0]),
                    DecisionLine("after", (*change.decision)[1]));
  }
  if (result.changes.empty()) text += "both ends agree in every figure\n";
  absl::StrAppend(&text, result.commits, " commits, ", result.built, " built, ",
                  result.skipped.size(), " skipped\n");
  return text;
}

std::string BisectJson(const BisectResult& result) {
  JsonWriter j;
  j.BeginDocument("bench-bisect");
  j.Key("commits").Uint(result.commits);
  j.Key("built").Uint(result.built);
  j.Key("skipped").Strings(result.skipped);
  j.Key("changes").BeginArray();
  for (const BisectChange& change : result.changes) {
    j.BeginObject();
    j.Key("commits").Strings(change.commits);
    j.Key("subject").String(change.subject);
    j.Key("figures").BeginArray();
    for (const FigureStep& step : change.figures) {
      j.BeginObject().Key("cell").String(step.cell).Key("figure").String(step.figure);
      j.Key("before").String(step.before).Key("after").String(step.after).EndObject();
    }
    j.EndArray().Key("decision");
    if (change.decision.has_value()) {
      WriteDecision(*change.decision, &j);
    } else {
      j.Null();
    }
    j.EndObject();
  }
  j.EndArray().EndObject();
  return j.text();
}

}  // namespace drasim::bench
