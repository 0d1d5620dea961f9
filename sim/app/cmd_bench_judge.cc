// drasim bench judge.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/app/gate_flags.h"
#include "sim/app/scenario_flags.h"
#include "sim/bench/judge.h"
#include "sim/bench/judge_decisions.h"
#include "sim/compare/baseline_gate.h"
#include "sim/compare/cell_metrics.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/record/version.h"
#include "sim/run/input_files.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario_paths.h"
#include "traces/date_time.h"

namespace drasim {
namespace {

absl::StatusOr<bench::DecisionFileOptions> OptionsOf(const ParsedFlags& flags,
                                                     const RunSpec& spec) {
  bench::DecisionFileOptions options;
  options.replay = spec.is_replay();
  options.grace_period = spec.engine.interruption.grace_period;
  if (const std::optional<std::string> zero = flags.Get("zero"); zero.has_value()) {
    const absl::StatusOr<int64_t> ns = ParseRfc3339(*zero);
    if (!ns.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--zero: found '", *zero, "', expected a time such as 2026-01-31T08:00:00Z"));
    }
    options.zero_ns = *ns;
  }
  return options;
}

// Files that the scenario reads; the decisions may differ.
absl::StatusOr<std::vector<std::string>> InputHashesOf(const RunSpec& spec) {
  std::vector<std::string> hashes;
  for (const std::string& path : InputPaths(*spec.written)) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    ASSIGN_OR_RETURN(std::string hash, FileSha256(path));
    hashes.push_back(std::move(hash));
  }
  return hashes;
}

std::string JudgementText(const bench::Judgement& judgement) {
  TextTable table({"metric", "value"});
  for (const CellMetric& metric : AllMetrics()) {
    const double value = metric.value(judgement.figures);
    if (std::isfinite(value)) table.AddRow({metric.name, DoubleText(RoundSignificant(value, 8))});
  }
  return absl::StrCat(table.Render(false), judgement.followed, " of ", judgement.placements,
                      " placements carried out, ", judgement.problems.size(), " impossible\n",
                      "fingerprint ", HexHash(judgement.figures.fingerprint), "\n");
}

std::string JudgementJson(const bench::Judgement& judgement, const std::vector<std::string>& inputs,
                          const std::optional<GateResult>& gate) {
  JsonWriter json;
  json.BeginDocument("bench-judge");
  json.Key("drasim_version").String(kDrasimVersion);
  json.Key("inputs").BeginArray();
  for (const std::string& sha256 : inputs) {
    json.BeginObject().Key("sha256").String(sha256).EndObject();
  }
  json.EndArray();
  json.Key("placements").Uint(judgement.placements);
  json.Key("followed").Uint(judgement.followed);
  json.Key("impossible").Strings(judgement.problems);
  json.Key("metrics").BeginObject();
  for (const CellMetric& metric : AllMetrics()) {
    const double value = metric.value(judgement.figures);
    if (std::isfinite(value)) json.Key(metric.name).Double(value);
  }
  json.EndObject();
  json.Key("fingerprint").String(HexHash(judgement.figures.fingerprint));
  if (gate.has_value()) {
    json.Key("baseline");
    WriteBaseline(gate->comparison, gate->file, gate->version, &json);
  }
  json.EndObject();
  return json.text();
}

std::string JudgementCsv(const bench::Judgement& judgement) {
  DataTable table({"metric", "value"});
  for (const CellMetric& metric : AllMetrics()) {
    const double value = metric.value(judgement.figures);
    if (std::isfinite(value)) table.AddRow().Text(metric.name).Number(DoubleText(value));
  }
  return table.Csv();
}

}  // namespace

absl::Status BenchJudgeCommand(const ParsedFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  const std::string file = flags.GetOr("decisions", "");
  if (file.empty()) return absl::InvalidArgumentError("bench judge needs --decisions FILE");
  ASSIGN_OR_RETURN(const Gate gate, GateFrom(flags));
  ASSIGN_OR_RETURN(GivenScenario given, ScenarioFromFlags(flags));
  if (flags.Has("out")) SetOutputDir(*flags.Get("out"), &given);
  ASSIGN_OR_RETURN(RunSpec spec, ResolveGiven(given));
  if (absl::Status status = bench::CheckJudgeable(spec); !status.ok()) return InFile(given, status);
  ASSIGN_OR_RETURN(const bench::DecisionFileOptions options, OptionsOf(flags, spec));
  ASSIGN_OR_RETURN(std::shared_ptr<const DecisionList> decisions,
                   bench::ReadDecisions(file, options));
  ASSIGN_OR_RETURN(const std::vector<std::string> inputs, InputHashesOf(spec));
  const std::string dir = spec.output.dir;
  std::unique_ptr<FolderLock> lock;
  if (!dir.empty()) {
    ASSIGN_OR_RETURN(lock, PrepareOutputDir(dir, flags.Has("force")));
  }
  absl::StatusOr<std::unique_ptr<Simulation>> sim =
      Simulation::Build(bench::FollowDecisions(std::move(spec), std::move(decisions)));
  if (!sim.ok()) return InFile(given, sim.status());
  std::unique_ptr<RunOutputs> outputs;
  if (!dir.empty()) {
    ASSIGN_OR_RETURN(outputs, RunOutputs::Attach(sim->get(), dir));
  }
  RETURN_IF_ERROR((*sim)->Start());
  RETURN_IF_ERROR((*sim)->Run());
  if (outputs != nullptr) {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    RETURN_IF_ERROR(outputs->Complete(wall.count()));
  }
  const bench::Judgement judgement = bench::JudgementOf(**sim);
  const OutputFormat format = FormatOf(flags);
  for (const std::string& problem : judgement.problems) {
    if (flags.Has("quiet")) break;
    PrintProblem("impossible", problem, format);
  }
  std::optional<GateResult> gated;
  if (!gate.file.empty()) {
    ASSIGN_OR_RETURN(gated, ApplyGate(gate, JudgementJson(judgement, inputs, gated)));
  }
  std::string text = format == OutputFormat::kJson  ? JudgementJson(judgement, inputs, gated)
                     : format == OutputFormat::kCsv ? JudgementCsv(judgement)
                                                    : JudgementText(judgement);
  if (gated.has_value() && format == OutputFormat::kText) {
    absl::StrAppend(&text, "\n", BaselineText(gated->comparison, gated->file));
  }
  std::fputs(text.c_str(), stdout);
  const bool failed = gated.has_value() && gated->comparison.failed();
  return judgement.problems.empty() && !failed ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
