// drasim compare.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/number_text.h"
#include "model/text/json_writer.h"
#include "model/text/yaml_proto.h"
#include "sim/app/cell.h"
#include "sim/app/commands.h"
#include "sim/app/progress.h"
#include "sim/app/run_outputs.h"
#include "sim/app/simulation.h"
#include "sim/app/statistics.h"
#include "sim/app/text_table.h"

namespace drasim {
namespace {

// One column of the comparison. Loads are percentages of the cluster's GPUs that have been
// requested so far.
struct Metric {
  const char* name;
  const char* title;
  int decimals;
  bool more_is_better;
  double (*value)(const CellResult&);
};

double AllocationAt(const CellResult& c, int64_t load) {
  const LoadRow* row = c.AtLoad(load);
  return row != nullptr ? row->gpu_allocation_percent : std::nan("");
}

double Percent(double part, int64_t whole) {
  return whole > 0 ? 100 * part / static_cast<double>(whole) : 0;
}

constexpr Metric kMetrics[] = {
    {"gpu_allocation_percent_at_100", "GPU % @100", 2, true,
     [](const CellResult& c) { return AllocationAt(c, 100); }},
    {"gpu_allocation_percent_at_130", "GPU % @130", 2, true,
     [](const CellResult& c) { return AllocationAt(c, 130); }},
    {"gpu_allocation_percent_end", "GPU % end", 2, true,
     [](const CellResult& c) {
       return Percent(static_cast<double>(c.gpu_allocated_milli), c.gpu_capacity_milli);
     }},
    {"fragmentation_percent_of_total_end", "frag % end", 2, false,
     [](const CellResult& c) { return Percent(c.fragmentation_milli, c.gpu_capacity_milli); }},
    {"pods_unschedulable", "failed pods", 0, false,
     [](const CellResult& c) { return static_cast<double>(c.pods_unschedulable); }},
};

struct Row {
  std::string policy;
  std::vector<MeanInterval> metrics;  // beside kMetrics
  std::vector<bool> defined;
};

std::vector<Row> Reduce(const std::vector<std::string>& policies, size_t seeds,
                        const std::vector<CellResult>& cells) {
  std::vector<Row> rows;
  for (size_t p = 0; p < policies.size(); ++p) {
    Row row;
    row.policy = policies[p];
    for (const Metric& metric : kMetrics) {
      std::vector<double> values;
      for (size_t s = 0; s < seeds; ++s) values.push_back(metric.value(cells[p * seeds + s]));
      row.defined.push_back(
          std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
      row.metrics.push_back(row.defined.back() ? MeanOf(values) : MeanInterval());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// The best mean of the column, or -1 when it has no value.
int BestRow(const std::vector<Row>& rows, size_t m) {
  int best = -1;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (!rows[r].defined[m]) continue;
    const double v = rows[r].metrics[m].mean;
    const bool better = best < 0 || (kMetrics[m].more_is_better
                                         ? v > rows[static_cast<size_t>(best)].metrics[m].mean
                                         : v < rows[static_cast<size_t>(best)].metrics[m].mean);
    if (better) best = static_cast<int>(r);
  }
  return best;
}

std::string Table(const std::vector<Row>& rows, size_t seeds, bool ansi) {
  std::vector<std::string> header = {"policy"};
  for (const Metric& metric : kMetrics) header.push_back(metric.title);
  header.push_back(absl::StrCat("vs ", rows[0].policy));
  TextTable table(header);
  std::vector<int> best;
  for (size_t m = 0; m < rows[0].metrics.size(); ++m) best.push_back(BestRow(rows, m));
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> cells = {rows[r].policy};
    for (size_t m = 0; m < rows[r].metrics.size(); ++m) {
      const MeanInterval& v = rows[r].metrics[m];
      std::string text = rows[r].defined[m] ? FixedText(v.mean, kMetrics[m].decimals) : "-";
      if (rows[r].defined[m] && seeds > 1)
        absl::StrAppend(&text, " ±", FixedText(v.half_width, kMetrics[m].decimals));
      cells.push_back(std::move(text));
    }
    const double delta = rows[r].metrics[2].mean - rows[0].metrics[2].mean;
    cells.push_back(r == 0 ? "" : absl::StrCat(delta >= 0 ? "+" : "", FixedText(delta, 2)));
    table.AddRow(std::move(cells));
    for (size_t m = 0; m < best.size(); ++m) {
      if (best[m] == static_cast<int>(r)) table.Bold(m + 1);
    }
  }
  return table.Render(ansi);
}

std::string Csv(const std::vector<Row>& rows) {
  std::string text = "policy,seeds";
  for (const Metric& metric : kMetrics)
    absl::StrAppend(&text, ",", metric.name, "_mean,", metric.name, "_ci95");
  text += "\n";
  for (const Row& row : rows) {
    absl::StrAppend(&text, row.policy, ",", row.metrics.back().n);
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

std::string Json(const std::vector<Row>& rows, const std::vector<uint64_t>& seeds) {
  JsonWriter j;
  j.BeginObject().Key("schema").String("drasim.compare/v1").Key("seeds").BeginArray();
  for (uint64_t s : seeds) j.Uint(s);
  j.EndArray().Key("policies").BeginArray();
  for (const Row& row : rows) {
    j.BeginObject().Key("policy").String(row.policy);
    for (size_t m = 0; m < row.metrics.size(); ++m) {
      j.Key(kMetrics[m].name);
      if (!row.defined[m]) {
        j.Null();
        continue;
      }
      j.BeginObject()
          .Key("mean")
          .Double(row.metrics[m].mean)
          .Key("stddev")
          .Double(row.metrics[m].stddev);
      j.Key("ci95_half_width").Double(row.metrics[m].half_width).EndObject();
    }
    j.EndObject();
  }
  j.EndArray().EndObject();
  return j.text();
}

}  // namespace

absl::Status CompareCommand(const ParsedFlags& flags) {
  absl::StatusOr<GivenScenario> given = ScenarioFromFlags(flags);
  if (!given.ok()) return given.status();
  proto::Scenario* scenario = &given->scenario;
  if (!scenario->workload().tuning().has_ratio() && scenario->mode() != "replay") {
    scenario->mutable_workload()->mutable_tuning()->set_ratio(1.3);
  }
  if (absl::Status s = ResolveGiven(&*given); !s.ok()) return s;
  absl::StatusOr<std::vector<std::string>> policies = ParsePolicies(flags.GetOr("policies", ""));
  if (!policies.ok()) return policies.status();
  absl::StatusOr<std::vector<uint64_t>> seeds =
      ParseSeeds(flags.GetOr("seeds", absl::StrCat(scenario->seed())));
  if (!seeds.ok()) return seeds.status();
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
  const size_t n = policies->size() * seeds->size();
  std::vector<CellResult> cells(n);
  Progress progress("compare", n, flags.Has("quiet"));
  size_t finished = 0;
  const absl::Status ran = ForEachInParallel(
      n, *jobs,
      [&](size_t i) -> absl::Status {
        proto::Scenario s = *scenario;
        s.mutable_scheduler()->set_policy((*policies)[i / seeds->size()]);
        s.set_seed((*seeds)[i % seeds->size()]);
        absl::StatusOr<CellResult> cell = RunCell(s);
        if (!cell.ok()) return cell.status();
        cells[i] = *std::move(cell);
        return absl::OkStatus();
      },
      [&](size_t) { progress.Update(++finished); });
  progress.Clear();
  if (!ran.ok()) return ran;
  for (const std::string& w : cells[0].warnings)
    std::fprintf(stderr, "drasim: warning: %s\n", w.c_str());
  const std::vector<Row> rows = Reduce(*policies, seeds->size(), cells);
  const std::string json = Json(rows, *seeds);
  if (!dir.empty()) {
    if (absl::Status s = WriteFileAtomically(dir + "/compare.json", json); !s.ok()) return s;
    if (absl::Status s = WriteFileAtomically(dir + "/compare.csv", Csv(rows)); !s.ok()) return s;
  }
  const std::string text = format == "json" ? json
                           : format == "csv"
                               ? Csv(rows)
                               : Table(rows, seeds->size(), isatty(STDOUT_FILENO) == 1);
  std::fputs(text.c_str(), stdout);
  if (format == "table") {
    std::printf(
        "\n@N: GPU milli allocated, %% of all GPUs, while requests add up to N %% of them. %zu "
        "seed(s)%s.\n",
        seeds->size(), seeds->size() > 1 ? ", ± 95 % confidence of the mean" : "");
  }
  return absl::OkStatus();
}

}  // namespace drasim
