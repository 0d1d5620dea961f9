// drasim compare.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "model/text/shown_text.h"
#include "model/text/text_table.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/app/gate_flags.h"
#include "sim/app/report_flag.h"
#include "sim/app/scenario_flags.h"
#include "sim/compare/baseline_gate.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/compare_outputs.h"
#include "sim/compare/contenders.h"
#include "sim/compare/divergence.h"
#include "sim/compare/fail_rule.h"
#include "sim/compare/kept_comparison.h"
#include "sim/compare/paired.h"
#include "sim/compare/parallel.h"
#include "sim/compare/statistics.h"
#include "sim/compare/world_table.h"
#include "sim/outputs/result_formats.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/record/pod_log.h"
#include "sim/record/version.h"
#include "sim/run/input_files.h"
#include "sim/run/progress.h"
#include "sim/run/resolved_yaml.h"
#include "sim/run/run_outputs.h"
#include "sim/scenario/scenario_paths.h"

namespace drasim {
namespace {

// The metric of a fill that every row is compared with the first row by.
constexpr absl::string_view kVersusMetric = "gpu_allocation_percent_end";

// The load to which a fill fills a cluster: requested GPUs over existing ones.
constexpr double kFillRatio = 1.3;

struct InputFile {
  std::string path;
  std::string sha256;
};

struct Comparison {
  Contenders contenders;
  GivenScenario given;        // the origin of values, for messages; empty with worlds by name
  const char* mode = "fill";  // or replay; mixed: some contenders are fills, some replays
  bool has_replays = false;
  std::vector<CellMetric> metrics;  // the columns
  bool drop_undefined = false;      // leave out columns without any value
  std::vector<InputFile> inputs;    // all files that the contenders read, by path
  std::string scenario;             // with the flags, as YAML that repeats the comparison

  bool worlds() const { return contenders.worlds; }
};

struct Row {
  const Contender* contender = nullptr;
  std::vector<MeanInterval> metrics;  // beside Comparison::metrics
  std::vector<bool> defined;
  std::vector<std::vector<double>> by_seed;  // likewise, then beside the seeds
  std::vector<PairedDifference> to_first;    // likewise; to the first row, paired by seed
  std::vector<uint64_t> fingerprints;        // beside the seeds
  std::vector<FailureCount> failures;        // of the first seed, with --worlds
  // Sums over all seeds of a replay.
  int64_t jobs_submitted = 0;
  int64_t jobs_finished = 0;
};

// The first world and another one, and where they part.
struct WorldPair {
  std::string first;
  std::string other;
  absl::StatusOr<std::optional<Divergence>> divergence = std::optional<Divergence>();
};

bool AnyOf(absl::Span<const CellMetric> family, const std::vector<CellMetric>& metrics) {
  return std::any_of(metrics.begin(), metrics.end(), [&](const CellMetric& m) {
    return std::any_of(family.begin(), family.end(),
                       [&](const CellMetric& f) { return absl::string_view(f.name) == m.name; });
  });
}

// A column in front of the metrics, which tells rows apart.
struct LabelColumn {
  std::string title;
  std::vector<std::string> cells;  // beside the rows
};

// The cells of contenders x seeds.
absl::StatusOr<std::vector<CellResult>> RunCells(const Comparison& c, size_t jobs, bool quiet) {
  const Contenders& contenders = c.contenders;
  const bool with_starts = c.worlds() || AnyOf(StartMetrics(), c.metrics);
  const size_t seeds = contenders.seeds.size();
  std::vector<CellResult> cells(contenders.all.size() * seeds);
  RunsProgress progress("compare", cells.size(), quiet);
  const absl::Status ran = ForEachInParallel(
      cells.size(), jobs,
      [&](size_t i) -> absl::Status {
        const Contender& contender = contenders.all[i / seeds];
        absl::StatusOr<CellResult> cell = RunCell(
            contender.WithSeed(contenders.seeds[i % seeds]), with_starts,
            [&progress, i](double share) { progress.Update(i, share); }, c.worlds());
        if (!cell.ok() && c.worlds()) {
          return absl::Status(cell.status().code(), absl::StrCat("--worlds: '", contender.values[0],
                                                                 "': ", cell.status().message()));
        }
        if (!cell.ok()) return cell.status();
        cells[i] = *std::move(cell);
        return absl::OkStatus();
      },
      [&](size_t i) { progress.Update(i, 1); });
  progress.Clear();
  if (!ran.ok()) return InFile(c.given, ran);
  return cells;
}

// Prints the warnings of the first seed: those of the others differ in numbers at most.
void PrintWarnings(const std::vector<CellResult>& cells, size_t seeds) {
  std::set<std::string> printed;
  for (size_t i = 0; i < cells.size(); i += seeds) {
    for (const std::string& w : cells[i].warnings) {
      if (printed.insert(w).second) std::fprintf(stderr, "drasim: warning: %s\n", w.c_str());
    }
  }
}

std::vector<Row> Reduce(const Comparison& c, const std::vector<CellResult>& cells) {
  const size_t seeds = c.contenders.seeds.size();
  std::vector<Row> rows;
  for (size_t r = 0; r < c.contenders.all.size(); ++r) {
    Row row;
    row.contender = &c.contenders.all[r];
    row.failures = cells[r * seeds].failures;
    for (size_t s = 0; s < seeds; ++s) {
      row.fingerprints.push_back(cells[r * seeds + s].fingerprint);
      row.jobs_submitted += cells[r * seeds + s].replay.jobs_submitted;
      row.jobs_finished += cells[r * seeds + s].replay.jobs_finished;
    }
    for (size_t m = 0; m < c.metrics.size(); ++m) {
      std::vector<double> values;
      for (size_t s = 0; s < seeds; ++s) {
        values.push_back(c.metrics[m].value(cells[r * seeds + s]));
      }
      row.defined.push_back(
          std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
      row.metrics.push_back(row.defined.back() ? MeanOf(values) : MeanInterval());
      row.by_seed.push_back(std::move(values));
      const std::vector<double>& first = r == 0 ? row.by_seed.back() : rows[0].by_seed[m];
      row.to_first.push_back(ComparePaired(first, row.by_seed.back()));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void DropUndefined(Comparison* c, std::vector<Row>* rows) {
  for (size_t m = c->metrics.size(); m-- > 0;) {
    if (std::any_of(rows->begin(), rows->end(), [m](const Row& r) { return r.defined[m]; }))
      continue;
    const auto at = static_cast<std::ptrdiff_t>(m);
    c->metrics.erase(c->metrics.begin() + at);
    for (Row& row : *rows) {
      row.metrics.erase(row.metrics.begin() + at);
      row.defined.erase(row.defined.begin() + at);
      row.by_seed.erase(row.by_seed.begin() + at);
      row.to_first.erase(row.to_first.begin() + at);
    }
  }
}

const std::string& PolicyOf(const Contender& c) { return c.spec.scheduler.profile.policy; }

// In a fill nothing queues.
std::string QueueOf(const Contender& c) {
  return c.is_replay() ? c.spec.scheduler.queue_name : "-";
}

template <typename Text>
bool Varies(const std::vector<Contender>& all, Text text) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Contender& c) { return text(c) != text(all[0]); });
}

// A column per axis. Then what else tells rows apart: queue, policy or both in one column; where
// nothing else does, the policy stands there only if there is no axis.
std::vector<LabelColumn> Labels(const Contenders& contenders) {
  const std::vector<Contender>& all = contenders.all;
  std::vector<LabelColumn> columns;
  for (size_t a = 0; a < contenders.axes.size(); ++a) {
    LabelColumn column;
    column.title = contenders.axes[a];
    for (const Contender& c : all) column.cells.push_back(c.values[a]);
    columns.push_back(std::move(column));
  }
  const bool queues = Varies(all, QueueOf);
  const bool policies = Varies(all, PolicyOf) || (columns.empty() && !queues);
  if (!queues && !policies) return columns;
  LabelColumn column;
  column.title =
      absl::StrCat(queues ? "queue" : "", queues && policies ? "/" : "", policies ? "policy" : "");
  for (const Contender& c : all) {
    column.cells.push_back(absl::StrCat(queues ? QueueOf(c) : "", queues && policies ? "/" : "",
                                        policies ? PolicyOf(c) : ""));
  }
  columns.push_back(std::move(column));
  return columns;
}

// Fills the title and the cells of every column but the first up to one width, since a TextTable
// aligns them to the right.
void AlignLeft(std::vector<LabelColumn>* columns) {
  for (size_t i = 1; i < columns->size(); ++i) {
    LabelColumn& column = (*columns)[i];
    size_t width = column.title.size();
    for (const std::string& cell : column.cells) width = std::max(width, cell.size());
    column.title.resize(width, ' ');
    for (std::string& cell : column.cells) cell.resize(width, ' ');
  }
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

// The column of the metric by which rows are compared, in a comparison of fills.
std::optional<size_t> VersusColumn(const Comparison& c) {
  for (size_t m = 0; m < c.metrics.size() && !c.has_replays; ++m) {
    if (c.metrics[m].name == kVersusMetric) return m;
  }
  return std::nullopt;
}

std::string Versus(const std::vector<Row>& rows, size_t r, size_t m) {
  if (r == 0) return std::string();
  const PairedDifference& difference = rows[r].to_first[m];
  if (difference.has_interval()) return PairedText(difference, 2);
  const double delta = rows[r].metrics[m].mean - rows[0].metrics[m].mean;
  return absl::StrCat(delta >= 0 ? "+" : "", FixedText(delta, 2));
}

// The meaning of the titles of the columns that are shown.
std::string Legend(const Comparison& c) {
  std::string text;
  if (std::any_of(c.metrics.begin(), c.metrics.end(),
                  [](const CellMetric& m) { return m.at_load; })) {
    text += "@N: GPU milli allocated, % of all GPUs, while requests add up to N % of them. ";
  }
  if (AnyOf(ReplayMetrics(), c.metrics)) {
    text +=
        "Times in seconds; GPU %: allocated, averaged over time; goodput: useful part of the GPU "
        "time held. ";
  }
  if (AnyOf(DeviceMetrics(), c.metrics)) {
    text +=
        "Accepted: part of the pods that got a place (acc. slices: by the GPU share asked for); "
        "alloc, wanted: % of all GPUs, at the end of a fill, on average in a replay; strand.: idle "
        "slices of no use, % of all. ";
  }
  if (AnyOf(StartMetrics(), c.metrics)) {
    text +=
        "Start: from arrival to work, in seconds: queue, then negotiation with drivers, then "
        "preparation; cycles: scheduling attempts per start; writes, reads: calls to the API "
        "server per pod; pinned: pods that wait although all their claims are allocated. ";
  }
  return text;
}

// Means over jobs leave out those that did not finish, which flatters a queue that starves them.
std::string CoverageText(const std::vector<LabelColumn>& labels, const std::vector<Row>& rows) {
  constexpr size_t kShownRows = 10;
  std::vector<std::string> partial;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].jobs_finished == rows[r].jobs_submitted) continue;
    std::string name;
    for (const LabelColumn& label : labels) {
      absl::StrAppend(&name, name.empty() ? "" : "/", absl::StripAsciiWhitespace(label.cells[r]));
    }
    partial.push_back(
        absl::StrCat(name, " ", rows[r].jobs_finished, " of ", rows[r].jobs_submitted, " jobs"));
  }
  if (partial.empty()) return std::string();
  return absl::StrCat("Means over jobs that finished alone: ", ListText(partial, kShownRows), ". ");
}

std::string SeedsText(size_t seeds) {
  return absl::StrCat(seeds, " seed(s)", seeds > 1 ? ", ± 95 % confidence of the mean" : "", ".\n");
}

std::string Table(const Comparison& c, const std::vector<Row>& rows, bool ansi) {
  std::vector<LabelColumn> labels = Labels(c.contenders);
  const std::string first = labels.size() == 1 ? labels[0].cells[0] : "first row";
  AlignLeft(&labels);
  const std::optional<size_t> versus = VersusColumn(c);
  std::vector<std::string> header;
  for (const LabelColumn& label : labels) header.push_back(label.title);
  for (const CellMetric& metric : c.metrics) header.emplace_back(metric.title);
  if (versus.has_value()) header.push_back(absl::StrCat("vs ", first));
  TextTable table(header);
  std::vector<int> best;
  for (size_t m = 0; m < c.metrics.size(); ++m) {
    best.push_back(BestRow(rows, m, c.metrics[m].more_is_better));
  }
  const size_t seeds = c.contenders.seeds.size();
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> cells;
    for (const LabelColumn& label : labels) cells.push_back(label.cells[r]);
    for (size_t m = 0; m < c.metrics.size(); ++m) {
      const MeanInterval& v = rows[r].metrics[m];
      const int decimals = c.metrics[m].decimals;
      std::string text = rows[r].defined[m] ? FixedText(v.mean, decimals) : "-";
      if (rows[r].defined[m] && seeds > 1)
        absl::StrAppend(&text, " ±", FixedText(v.half_width, decimals));
      cells.push_back(std::move(text));
    }
    if (versus.has_value()) cells.push_back(Versus(rows, r, *versus));
    table.AddRow(std::move(cells));
    for (size_t m = 0; m < best.size(); ++m) {
      if (best[m] == static_cast<int>(r)) table.Bold(labels.size() + m);
    }
  }
  return absl::StrCat(table.Render(ansi), "\n", Legend(c), CoverageText(labels, rows),
                      SeedsText(seeds));
}

double DeltaOf(const std::vector<Row>& rows, const Row& row, size_t m) {
  const double mean = row.metrics[m].mean;
  const double first = rows[0].metrics[m].mean;
  return RoundDifference(mean - first, std::max(std::abs(mean), std::abs(first)));
}

std::string Csv(const Comparison& c, const std::vector<Row>& rows) {
  std::string text;
  for (const std::string& axis : c.contenders.axes) {
    AppendCsvField(axis, &text);
    text += ",";
  }
  text += c.has_replays ? "queue,policy,seeds" : "policy,seeds";
  for (const CellMetric& metric : c.metrics) {
    absl::StrAppend(&text, ",", metric.name, "_mean,", metric.name, "_ci95");
    if (c.worlds()) absl::StrAppend(&text, ",", metric.name, "_delta");
  }
  text += "\n";
  for (const Row& row : rows) {
    for (const std::string& value : row.contender->values) {
      AppendCsvField(value, &text);
      text += ",";
    }
    if (row.contender->is_replay()) text += QueueOf(*row.contender);
    if (c.has_replays) text += ",";
    absl::StrAppend(&text, PolicyOf(*row.contender), ",", c.contenders.seeds.size());
    for (size_t m = 0; m < row.metrics.size(); ++m) {
      if (!row.defined[m]) {
        text += c.worlds() ? ",,," : ",,";
        continue;
      }
      text += ",";
      AppendDouble(&text, row.metrics[m].mean);
      text += ",";
      AppendDouble(&text, row.metrics[m].half_width);
      if (!c.worlds()) continue;
      text += ",";
      if (rows[0].defined[m]) AppendDouble(&text, DeltaOf(rows, row, m));
    }
    text += "\n";
  }
  return text;
}

void WriteFailures(const std::vector<FailureCount>& failures, JsonWriter* j) {
  j->Key("failures").BeginArray();
  for (const FailureCount& f : failures) {
    j->BeginObject().Key("reason").String(f.reason).Key("count").Int(f.count).EndObject();
  }
  j->EndArray();
}

void AppendRow(const Comparison& c, const std::vector<Row>& rows, const Row& row, JsonWriter* j) {
  j->BeginObject();
  if (!c.contenders.axes.empty()) {
    j->Key("axes").BeginObject();
    for (size_t a = 0; a < c.contenders.axes.size(); ++a)
      j->Key(c.contenders.axes[a]).String(row.contender->values[a]);
    j->EndObject();
  }
  if (row.contender->is_replay()) j->Key("queue").String(QueueOf(*row.contender));
  j->Key("policy").String(PolicyOf(*row.contender));
  if (row.contender->is_replay()) {
    j->Key("jobs_submitted").Int(row.jobs_submitted);
    j->Key("jobs_in_means").Int(row.jobs_finished);
  }
  j->Key("fingerprints").BeginArray();
  for (const uint64_t fingerprint : row.fingerprints) j->String(HexHash(fingerprint));
  j->EndArray();
  for (size_t m = 0; m < row.metrics.size(); ++m) {
    j->Key(c.metrics[m].name);
    if (!row.defined[m]) {
      j->Null();
      continue;
    }
    j->BeginObject();
    j->Key("mean").Double(row.metrics[m].mean);
    j->Key("stddev").Double(row.metrics[m].stddev);
    j->Key("ci95_half_width").Double(row.metrics[m].half_width);
    j->Key("by_seed").BeginArray();
    for (const double value : row.by_seed[m]) j->Double(value);
    j->EndArray();
    if (&row != rows.data() && rows[0].defined[m]) {
      j->Key("to_first").BeginObject();
      WritePairedKeys(row.to_first[m], j);
      j->EndObject();
    }
    if (c.worlds() && rows[0].defined[m]) j->Key("delta").Double(DeltaOf(rows, row, m));
    j->EndObject();
  }
  if (c.worlds()) WriteFailures(row.failures, j);
  j->EndObject();
}

void WriteDivergences(const std::vector<WorldPair>& pairs, JsonWriter* j) {
  j->Key("divergences").BeginArray();
  for (const WorldPair& pair : pairs) {
    j->BeginObject();
    j->Key("worlds").BeginArray().String(pair.first).String(pair.other).EndArray();
    j->Key("first");
    if (pair.divergence.ok() && pair.divergence->has_value()) {
      WriteDivergence(**pair.divergence, pair.first, pair.other, j);
    } else {
      j->Null();
    }
    j->EndObject();
  }
  j->EndArray();
}

// A line for each row and seed.
std::string SeedsCsv(const Comparison& c, const std::vector<Row>& rows) {
  std::string text;
  for (const std::string& axis : c.contenders.axes) {
    AppendCsvField(axis, &text);
    text += ",";
  }
  text += "queue,policy,seed";
  for (const CellMetric& metric : c.metrics) absl::StrAppend(&text, ",", metric.name);
  text += ",fingerprint\n";
  for (const Row& row : rows) {
    for (size_t s = 0; s < c.contenders.seeds.size(); ++s) {
      for (const std::string& value : row.contender->values) {
        AppendCsvField(value, &text);
        text += ",";
      }
      if (row.contender->is_replay()) text += QueueOf(*row.contender);
      absl::StrAppend(&text, ",", PolicyOf(*row.contender), ",", c.contenders.seeds[s]);
      for (const std::vector<double>& figures : row.by_seed) {
        text += ",";
        if (!std::isnan(figures[s])) AppendDouble(&text, figures[s]);
      }
      absl::StrAppend(&text, ",", HexHash(row.fingerprints[s]), "\n");
    }
  }
  return text;
}

std::string Json(const Comparison& c, const std::vector<Row>& rows,
                 const std::vector<WorldPair>& pairs,
                 const std::optional<GateResult>& gate = std::nullopt) {
  JsonWriter j;
  j.BeginDocument("compare");
  j.Key("drasim_version").String(kDrasimVersion);
  j.Key("inputs").BeginArray();
  for (const InputFile& input : c.inputs) {
    j.BeginObject().Key("path").String(input.path).Key("sha256").String(input.sha256).EndObject();
  }
  j.EndArray();
  j.Key("mode").String(c.mode);
  j.Key("seeds").BeginArray();
  for (uint64_t seed : c.contenders.seeds) j.Uint(seed);
  j.EndArray().Key("policies").BeginArray();
  for (const Row& row : rows) AppendRow(c, rows, row, &j);
  j.EndArray();
  if (c.worlds()) WriteDivergences(pairs, &j);
  if (gate.has_value()) {
    j.Key("baseline");
    WriteBaseline(gate->comparison, gate->file, gate->version, &j);
  }
  j.EndObject();
  return j.text();
}

// --- Worlds by name ---

// The divergence of each world from the first, with the first seed.
std::vector<WorldPair> FindDivergences(const Contenders& contenders, size_t jobs) {
  const std::vector<Contender>& all = contenders.all;
  std::vector<WorldPair> pairs(all.size() - 1);
  const auto seeded = [&](size_t i) { return all[i].WithSeed(contenders.seeds[0]); };
  const absl::Status ran = ForEachInParallel(
      pairs.size(), jobs,
      [&](size_t i) {
        pairs[i].first = all[0].values[0];
        pairs[i].other = all[i + 1].values[0];
        pairs[i].divergence = FindDivergence(seeded(0), seeded(i + 1));
        return absl::OkStatus();
      },
      [](size_t) {});
  DRASIM_CHECK(ran.ok());
  return pairs;
}

std::string PairText(const WorldPair& pair) {
  if (!pair.divergence.ok()) {
    return absl::StrCat("first divergence between ", pair.first, " and ", pair.other,
                        ": not known: ", pair.divergence.status().message(), "\n");
  }
  if (!pair.divergence->has_value()) {
    return absl::StrCat("no divergence between ", pair.first, " and ", pair.other,
                        ": all pods went to the same nodes\n");
  }
  return DivergenceText(**pair.divergence, pair.first, pair.other);
}

constexpr char kWorldLegend[] =
    "Brackets: more than in the first world. GPUs, slices: % of all, at the end where no pod ends, "
    "else on average.\nQueue: until bound, or until a driver is asked; negotiation: until bound; "
    "prepare: until work begins.\n";

// The conditions that all worlds share, apart from the workload.
std::string ConditionsText(const Contenders& contenders) {
  const RunSpec& spec = contenders.all[0].spec;
  const std::string& interval = spec.workload.stream_interval_text;
  std::string text = "Kube-scheduler's queue";
  if (!Varies(contenders.all, PolicyOf)) {
    absl::StrAppend(&text, ", policy ", spec.scheduler.profile.policy);
  }
  if (!interval.empty()) absl::StrAppend(&text, "; a job every ", interval, ", none of which ends");
  return absl::StrCat(text, "; ", SeedsText(contenders.seeds.size()));
}

std::string WorldsText(const Comparison& c, const std::vector<Row>& rows,
                       const std::vector<WorldPair>& pairs, bool ansi) {
  std::vector<WorldColumn> columns;
  for (const Row& row : rows) {
    columns.push_back({row.contender->values[0], row.metrics, row.defined, row.failures});
  }
  std::string text = absl::StrCat(WorldTable(c.metrics, columns, c.contenders.seeds.size(), ansi),
                                  "\n", kWorldLegend, ConditionsText(c.contenders));
  if (const std::string failures = FailureLines(columns); !failures.empty()) {
    absl::StrAppend(&text, "\n", failures);
  }
  for (const WorldPair& pair : pairs) absl::StrAppend(&text, "\n", PairText(pair));
  return text;
}

// Adds the metrics of the rules as columns, so that the usual columns do not limit the rules.
void AddRuleMetrics(const Gate& gate, Comparison* comparison) {
  for (const FailRule& rule : gate.rules) {
    const bool known = std::any_of(
        comparison->metrics.begin(), comparison->metrics.end(),
        [&](const CellMetric& m) { return absl::string_view(m.name) == rule.metric.name; });
    if (!known) comparison->metrics.push_back(rule.metric);
  }
}

absl::StatusOr<std::vector<InputFile>> InputsOf(const Contenders& contenders) {
  std::set<std::string> paths;
  for (const Contender& contender : contenders.all) {
    for (const std::string& path : InputPaths(*contender.spec.written)) paths.insert(path);
  }
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    ASSIGN_OR_RETURN(std::string sha256, FileSha256(path));
    inputs.push_back({path, std::move(sha256)});
  }
  return inputs;
}

// The scenario with the lists of the command line, so that `drasim compare` repeats it.
std::string ScenarioText(const ContenderFlags& flags, const GivenScenario& given) {
  proto::Scenario scenario = *given.scenario;
  proto::Comparison* comparison = scenario.mutable_comparison();
  const auto put = [](const std::optional<std::string>& list, auto* field) {
    if (!list.has_value()) return;
    field->Clear();
    for (const absl::string_view name : absl::StrSplit(*list, ','))
      *field->Add() = std::string(name);
  };
  put(flags.policies, comparison->mutable_policies());
  put(flags.queues, comparison->mutable_queues());
  if (flags.seeds.has_value()) comparison->set_seeds(*flags.seeds);
  return ResolvedYaml(scenario);
}

// The comparison that the command line asks for.
absl::StatusOr<Comparison> MakeComparison(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(GivenScenario given, ScenarioFromFlags(flags));
  ASSIGN_OR_RETURN(Contenders contenders,
                   MakeContenders(ContenderFlagsOf(flags), given, kFillRatio));
  Comparison comparison;
  comparison.contenders = std::move(contenders);
  comparison.scenario = ScenarioText(ContenderFlagsOf(flags), given);
  if (!comparison.contenders.worlds) {
    comparison.given = given;
    for (const proto::Axis& axis : given.scenario->comparison().axes()) {
      for (const proto::AxisValue& value : axis.values()) {
        for (const std::string& setting : value.set()) {
          comparison.given.overridden.push_back(setting.substr(0, setting.find('=')));
        }
      }
    }
  }
  const std::vector<Contender>& all = comparison.contenders.all;
  const auto replays =
      std::count_if(all.begin(), all.end(), [](const Contender& c) { return c.is_replay(); });
  const bool mixed = replays > 0 && static_cast<size_t>(replays) < all.size();
  comparison.has_replays = replays > 0;
  comparison.mode = mixed ? "mixed" : replays > 0 ? "replay" : "fill";
  for (const std::string& name : given.scenario->comparison().metrics()) {
    ASSIGN_OR_RETURN(const CellMetric metric, FindMetric(name));
    comparison.metrics.push_back(metric);
  }
  if (!comparison.metrics.empty()) return comparison;
  if (comparison.worlds()) {
    comparison.metrics = WorldMetrics();
    comparison.drop_undefined = true;
  } else if (mixed) {
    for (const auto& family : {FillMetrics(), ReplayMetrics(), DeviceMetrics()}) {
      comparison.metrics.insert(comparison.metrics.end(), family.begin(), family.end());
    }
    comparison.drop_undefined = true;
  } else {
    const absl::Span<const CellMetric> usual = replays > 0 ? ReplayMetrics() : FillMetrics();
    comparison.metrics.assign(usual.begin(), usual.end());
  }
  return comparison;
}

}  // namespace

absl::Status CompareCommand(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const Gate gate, GateFrom(flags));
  std::vector<ResultPart> parts = {ResultPart::kText, ResultPart::kFigures};
  if (!gate.rules.empty()) parts.push_back(ResultPart::kChecks);
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports, ReportsOf(flags, "compare", parts));
  ASSIGN_OR_RETURN(Comparison comparison, MakeComparison(flags));
  AddRuleMetrics(gate, &comparison);
  ASSIGN_OR_RETURN(const size_t jobs, ParseJobs(flags.GetOr("jobs", "")));
  const OutputFormat format = FormatOf(flags);
  const std::string dir = flags.GetOr("out", "");
  std::unique_ptr<FolderLock> lock;
  if (!dir.empty()) {
    ASSIGN_OR_RETURN(lock, PrepareOutputDir(dir, flags.Has("force")));
  }
  const Contenders& contenders = comparison.contenders;
  ASSIGN_OR_RETURN(comparison.inputs, InputsOf(contenders));
  NoteIdleSeeds(contenders);
  ASSIGN_OR_RETURN(std::vector<CellResult> cells, RunCells(comparison, jobs, flags.Has("quiet")));
  PrintWarnings(cells, contenders.seeds.size());
  std::vector<Row> rows = Reduce(comparison, cells);
  if (comparison.drop_undefined) DropUndefined(&comparison, &rows);
  std::vector<WorldPair> pairs;
  if (contenders.worlds && (format != OutputFormat::kCsv || !dir.empty())) {
    pairs = FindDivergences(contenders, jobs);
  }
  std::string json = Json(comparison, rows, pairs);
  std::optional<GateResult> gated;
  if (!gate.file.empty()) {
    ASSIGN_OR_RETURN(gated, ApplyGate(gate, json));
    json = Json(comparison, rows, pairs, gated);
  }
  const std::string csv = Csv(comparison, rows);
  if (!dir.empty()) {
    const std::string seeds = SeedsCsv(comparison, rows);
    RETURN_IF_ERROR(WriteFilesAtomically({{dir + "/compare.json", json},
                                          {dir + "/compare.csv", csv},
                                          {dir + "/compare_seeds.csv", seeds},
                                          {dir + "/compare.yaml", comparison.scenario}}));
  }
  const bool ansi = isatty(STDOUT_FILENO) == 1;
  std::string text = format == OutputFormat::kJson  ? json
                     : format == OutputFormat::kCsv ? csv
                     : contenders.worlds            ? WorldsText(comparison, rows, pairs, ansi)
                                                    : Table(comparison, rows, ansi);
  if (gated.has_value() && format == OutputFormat::kText) {
    absl::StrAppend(&text, "\n", BaselineText(gated->comparison, gated->file));
  }
  std::fputs(text.c_str(), stdout);
  if (!reports.empty()) {
    ASSIGN_OR_RETURN(const KeptComparison current, ParseComparison(json, "this comparison"));
    const BaselineComparison* const against = gated.has_value() ? &gated->comparison : nullptr;
    RETURN_IF_ERROR(WriteReports(reports, CompareResults(current, against, gate.file)));
  }
  return gated.has_value() && gated->comparison.failed() ? QuietFailure() : absl::OkStatus();
}

}  // namespace drasim
