// drasim compare.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/text/json_writer.h"
#include "sim/app/cell.h"
#include "sim/app/commands.h"
#include "sim/app/progress.h"
#include "sim/app/run_outputs.h"
#include "sim/app/statistics.h"
#include "sim/app/text_table.h"

namespace drasim {
namespace {

// The metric of a fill that every row is compared with the first row by.
constexpr size_t kVersusMetric = 2;

struct Comparison {
  Contenders contenders;
  std::vector<uint64_t> seeds;
  bool replay = false;
  absl::Span<const CellMetric> metrics;
};

struct Row {
  std::string queue;
  std::string policy;
  std::vector<MeanInterval> metrics;  // beside Comparison::metrics
  std::vector<bool> defined;
};

// The cells of scenarios x seeds.
absl::StatusOr<std::vector<CellResult>> RunCells(const Comparison& c, size_t jobs, bool quiet) {
  const size_t seeds = c.seeds.size();
  std::vector<CellResult> cells(c.contenders.scenarios.size() * seeds);
  Progress progress("compare", cells.size(), quiet);
  size_t finished = 0;
  const absl::Status ran = ForEachInParallel(
      cells.size(), jobs,
      [&](size_t i) -> absl::Status {
        proto::Scenario scenario = c.contenders.scenarios[i / seeds];
        scenario.set_seed(c.seeds[i % seeds]);
        absl::StatusOr<CellResult> cell = RunCell(scenario);
        if (!cell.ok()) return cell.status();
        cells[i] = *std::move(cell);
        return absl::OkStatus();
      },
      [&](size_t) { progress.Update(++finished); });
  progress.Clear();
  if (!ran.ok()) return ran;
  return cells;
}

// Those of the first seed: the others' differ in numbers at most.
void PrintWarnings(const std::vector<CellResult>& cells, size_t seeds) {
  std::set<std::string> printed;
  for (size_t i = 0; i < cells.size(); i += seeds) {
    for (const std::string& w : cells[i].warnings) {
      if (printed.insert(w).second) std::fprintf(stderr, "drasim: warning: %s\n", w.c_str());
    }
  }
}

std::vector<Row> Reduce(const Comparison& c, const std::vector<CellResult>& cells) {
  const size_t seeds = c.seeds.size();
  const size_t policies = c.contenders.policies.size();
  std::vector<Row> rows;
  for (size_t r = 0; r < c.contenders.scenarios.size(); ++r) {
    Row row;
    row.queue = c.contenders.queues[r / policies];
    row.policy = c.contenders.policies[r % policies];
    for (const CellMetric& metric : c.metrics) {
      std::vector<double> values;
      for (size_t s = 0; s < seeds; ++s) values.push_back(metric.value(cells[r * seeds + s]));
      row.defined.push_back(
          std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
      row.metrics.push_back(row.defined.back() ? MeanOf(values) : MeanInterval());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What tells the rows apart, given their queue and policy or the words for these.
std::string Label(const Contenders& contenders, const std::string& queue,
                  const std::string& policy) {
  if (contenders.queues.size() == 1) return policy;
  if (contenders.policies.size() == 1) return queue;
  return absl::StrCat(queue, "/", policy);
}

// The best mean of the column, or -1 when it has no value.
int BestRow(const std::vector<Row>& rows, size_t m, bool more_is_better) {
  int best = -1;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (!rows[r].defined[m]) continue;
    const double v = rows[r].metrics[m].mean;
    const bool better =
        best < 0 || (more_is_better ? v > rows[static_cast<size_t>(best)].metrics[m].mean
                                    : v < rows[static_cast<size_t>(best)].metrics[m].mean);
    if (better) best = static_cast<int>(r);
  }
  return best;
}

std::string Versus(const std::vector<Row>& rows, size_t r) {
  if (r == 0) return std::string();
  const double delta = rows[r].metrics[kVersusMetric].mean - rows[0].metrics[kVersusMetric].mean;
  return absl::StrCat(delta >= 0 ? "+" : "", FixedText(delta, 2));
}

std::string Table(const Comparison& c, const std::vector<Row>& rows, bool ansi) {
  std::vector<std::string> header = {Label(c.contenders, "queue", "policy")};
  for (const CellMetric& metric : c.metrics) header.emplace_back(metric.title);
  if (!c.replay) header.push_back(absl::StrCat("vs ", rows[0].policy));
  TextTable table(header);
  std::vector<int> best;
  for (size_t m = 0; m < c.metrics.size(); ++m) {
    best.push_back(BestRow(rows, m, c.metrics[m].more_is_better));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> cells = {Label(c.contenders, rows[r].queue, rows[r].policy)};
    for (size_t m = 0; m < c.metrics.size(); ++m) {
      const MeanInterval& v = rows[r].metrics[m];
      const int decimals = c.metrics[m].decimals;
      std::string text = rows[r].defined[m] ? FixedText(v.mean, decimals) : "-";
      if (rows[r].defined[m] && c.seeds.size() > 1)
        absl::StrAppend(&text, " ±", FixedText(v.half_width, decimals));
      cells.push_back(std::move(text));
    }
    if (!c.replay) cells.push_back(Versus(rows, r));
    table.AddRow(std::move(cells));
    for (size_t m = 0; m < best.size(); ++m) {
      if (best[m] == static_cast<int>(r)) table.Bold(m + 1);
    }
  }
  return absl::StrCat(
      table.Render(ansi),
      c.replay ? "\nTimes in seconds; GPU %: allocated, averaged over time; goodput: useful part "
                 "of the GPU time held. "
               : "\n@N: GPU milli allocated, % of all GPUs, while requests add up to N % of them. ",
      c.seeds.size(), " seed(s)", c.seeds.size() > 1 ? ", ± 95 % confidence of the mean" : "",
      ".\n");
}

std::string Csv(const Comparison& c, const std::vector<Row>& rows) {
  std::string text = c.replay ? "queue,policy,seeds" : "policy,seeds";
  for (const CellMetric& metric : c.metrics)
    absl::StrAppend(&text, ",", metric.name, "_mean,", metric.name, "_ci95");
  text += "\n";
  for (const Row& row : rows) {
    if (c.replay) absl::StrAppend(&text, row.queue, ",");
    absl::StrAppend(&text, row.policy, ",", c.seeds.size());
    for (size_t m = 0; m < row.metrics.size(); ++m) {
      if (!row.defined[m]) {
        text += ",,";
        continue;
      }
      text += ",";
      AppendDouble(&text, row.metrics[m].mean);
      text += ",";
      AppendDouble(&text, row.metrics[m].half_width);
    }
    text += "\n";
  }
  return text;
}

std::string Json(const Comparison& c, const std::vector<Row>& rows) {
  JsonWriter j;
  j.BeginObject().Key("schema").String("drasim.compare/v1");
  j.Key("mode").String(c.replay ? "replay" : "fill");
  j.Key("seeds").BeginArray();
  for (uint64_t seed : c.seeds) j.Uint(seed);
  j.EndArray().Key("policies").BeginArray();
  for (const Row& row : rows) {
    j.BeginObject();
    if (c.replay) j.Key("queue").String(row.queue);
    j.Key("policy").String(row.policy);
    for (size_t m = 0; m < row.metrics.size(); ++m) {
      j.Key(c.metrics[m].name);
      if (!row.defined[m]) {
        j.Null();
        continue;
      }
      j.BeginObject();
      j.Key("mean").Double(row.metrics[m].mean);
      j.Key("stddev").Double(row.metrics[m].stddev);
      j.Key("ci95_half_width").Double(row.metrics[m].half_width);
      j.EndObject();
    }
    j.EndObject();
  }
  j.EndArray().EndObject();
  return j.text();
}

// What is to be compared, from the command line.
absl::StatusOr<Comparison> MakeComparison(const ParsedFlags& flags) {
  absl::StatusOr<GivenScenario> given = ScenarioFromFlags(flags);
  if (!given.ok()) return given.status();
  proto::Scenario* scenario = &given->scenario;
  if (!scenario->workload().tuning().has_ratio() && scenario->mode() != "replay") {
    scenario->mutable_workload()->mutable_tuning()->set_ratio(1.3);
  }
  absl::StatusOr<Contenders> contenders = MakeContenders(flags, *given);
  if (!contenders.ok()) return contenders.status();
  Comparison comparison;
  comparison.contenders = *std::move(contenders);
  const proto::Scenario& first = comparison.contenders.scenarios[0];
  absl::StatusOr<std::vector<uint64_t>> seeds =
      ParseSeeds(flags.GetOr("seeds", absl::StrCat(first.seed())));
  if (!seeds.ok()) return seeds.status();
  comparison.seeds = *std::move(seeds);
  comparison.replay = first.mode() == "replay";
  comparison.metrics = comparison.replay ? ReplayMetrics() : FillMetrics();
  return comparison;
}

}  // namespace

absl::Status CompareCommand(const ParsedFlags& flags) {
  absl::StatusOr<Comparison> comparison = MakeComparison(flags);
  if (!comparison.ok()) return comparison.status();
  absl::StatusOr<size_t> jobs = ParseJobs(flags.GetOr("jobs", ""));
  if (!jobs.ok()) return jobs.status();
  const std::string format = flags.GetOr("format", "table");
  if (format != "table" && format != "json" && format != "csv") {
    return absl::InvalidArgumentError(
        absl::StrCat("--format: found '", format, "', expected table, json or csv"));
  }
  const std::string dir = flags.GetOr("out", "");
  if (!dir.empty()) {
    if (absl::Status s = PrepareOutputDir(dir, flags.Has("force")); !s.ok()) return s;
  }
  NoteIdleSeeds(comparison->contenders, comparison->seeds.size());
  absl::StatusOr<std::vector<CellResult>> cells = RunCells(*comparison, *jobs, flags.Has("quiet"));
  if (!cells.ok()) return cells.status();
  PrintWarnings(*cells, comparison->seeds.size());
  const std::vector<Row> rows = Reduce(*comparison, *cells);
  const std::string json = Json(*comparison, rows);
  const std::string csv = Csv(*comparison, rows);
  if (!dir.empty()) {
    if (absl::Status s = WriteFileAtomically(dir + "/compare.json", json); !s.ok()) return s;
    if (absl::Status s = WriteFileAtomically(dir + "/compare.csv", csv); !s.ok()) return s;
  }
  const std::string text = format == "json"  ? json
                           : format == "csv" ? csv
                                             : Table(*comparison, rows, isatty(STDOUT_FILENO) == 1);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
