#include "sim/bench/bench_table.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/check.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/bench/bench_metrics.h"
#include "sim/bench/case_cells.h"
#include "sim/record/pod_log.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"

namespace drasim::bench {
namespace {

constexpr size_t kMaxTableBytes = 256u << 20;
constexpr size_t kHashDigits = 16;
constexpr absl::string_view kCounters[] = {"records",         "decisions",
                                           "nodes_filtered",  "nodes_scored",
                                           "cache_hits",      "attempts_remembered",
                                           "events",          "queue_operations",
                                           "allocator_calls", "api_calls"};
constexpr size_t kAllocatorCalls = 8;  // in kCounters
constexpr absl::string_view kHead[] = {"suite", "version", "entry",  "queue",  "policy", "seed",
                                       "tier",  "primary", "better", "margin", "random", "inputs"};
constexpr absl::string_view kAnswersColumn = "answers";
constexpr absl::string_view kTail[] = {"reason", "fingerprint"};

// In the order of BenchMetrics().
const std::vector<std::string>& BenchMetricNames() {
  static const auto* const names = [] {
    auto* const made = new std::vector<std::string>;
    for (const BenchMetric& metric : BenchMetrics()) made->emplace_back(metric.name);
    return made;
  }();
  return *names;
}

std::vector<std::string> Columns() {
  std::vector<std::string> columns(std::begin(kHead), std::end(kHead));
  const std::vector<std::string>& metrics = BenchMetricNames();
  columns.insert(columns.end(), metrics.begin(), metrics.end());
  for (const absl::string_view counter : kCounters) columns.emplace_back(counter);
  for (const absl::string_view calls : kCallColumnNames) columns.emplace_back(calls);
  columns.emplace_back(kAnswersColumn);
  for (const absl::string_view last : kTail) columns.emplace_back(last);
  return columns;
}

// All but the figures.
BenchRow RowHeadOf(const BenchCell& cell) {
  BenchRow row;
  row.id = cell.id;
  row.tier = cell.tier;
  row.primary = cell.primary;
  row.random = cell.random;
  row.inputs = cell.inputs;
  return row;
}

// Whether a table may lack the column: one from before it was added.
bool MayBeAbsent(const std::string& column) {
  const auto is_column = [&column](absl::string_view name) { return name == column; };
  return is_column(kAnswersColumn) ||
         std::any_of(BenchMetricNames().begin(), BenchMetricNames().end(), is_column) ||
         std::any_of(std::begin(kCounters), std::end(kCounters), is_column) ||
         std::any_of(std::begin(kCallColumnNames), std::end(kCallColumnNames), is_column);
}

std::string CallsText(const PluginCalls& calls) {
  return absl::StrJoin(calls, " ", absl::PairFormatter("="));
}

// False for anything that CallsText does not write.
bool ParseCalls(absl::string_view text, PluginCalls* calls) {
  if (text.empty()) return true;
  for (const absl::string_view part : absl::StrSplit(text, ' ')) {
    const std::pair<absl::string_view, absl::string_view> call = absl::StrSplit(part, '=');
    uint64_t count = 0;
    if (call.first.empty() || !absl::SimpleAtoi(call.second, &count)) return false;
    if (!calls->emplace(std::string(call.first), count).second) return false;
  }
  return true;
}

bool IsHash(absl::string_view text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
         });
}

// Reads one file; kept apart from the functions above for its state.
class TableReader {
 public:
  TableReader(absl::string_view name, CsvSplitter* rows) : name_(name), rows_(*rows) {}

  absl::StatusOr<BenchTable> Read() {
    RETURN_IF_ERROR(ReadHeader());
    while (true) {
      ASSIGN_OR_RETURN(const bool more, Next());
      if (!more) break;
      RETURN_IF_ERROR(ReadRow());
    }
    std::sort(table_.rows.begin(), table_.rows.end(),
              [](const BenchRow& a, const BenchRow& b) { return a.id < b.id; });
    return std::move(table_);
  }

 private:
  absl::StatusOr<bool> Next() {
    switch (rows_.Next()) {
      case CsvSplitter::Result::kRow:
        return true;
      case CsvSplitter::Result::kEnd:
        return false;
      case CsvSplitter::Result::kBadRow:
        return At(rows_.error().at, rows_.error().what);
      case CsvSplitter::Result::kFailed:
        return rows_.status();
    }
    return false;
  }

  absl::Status At(const CsvPosition& at, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", at.line, ":", at.column, ": ", what));
  }

  absl::Status ReadHeader() {
    ASSIGN_OR_RETURN(const bool any, Next());
    if (!any)
      return absl::InvalidArgumentError(absl::StrCat(name_, ": found no header, expected one"));
    const std::vector<std::string> known = Columns();
    for (size_t i = 0; i < rows_.size(); ++i) {
      const std::string column(rows_.field(i));
      if (std::find(known.begin(), known.end(), column) == known.end()) {
        return At(rows_.position(i),
                  absl::StrCat("unknown column '", column, "'", Suggest(column, known)));
      }
      if (!places_.emplace(column, i).second)
        return At(rows_.position(i), absl::StrCat("found column '", column, "' twice"));
    }
    columns_ = rows_.size();
    for (const std::string& metric : BenchMetricNames())
      table_.has_metric.push_back(places_.count(metric) > 0);
    for (const absl::string_view counter : kCounters)
      table_.has_counter.push_back(places_.find(counter) != places_.end());
    for (const absl::string_view calls : kCallColumnNames)
      table_.has_counter.push_back(places_.find(calls) != places_.end());
    for (const std::string& column : known) {
      if (places_.count(column) > 0 || MayBeAbsent(column)) continue;
      return At(rows_.end_position(), absl::StrCat("found no column '", column, "'"));
    }
    return absl::OkStatus();
  }

  // Empty for a column that is not there.
  absl::string_view Field(absl::string_view column) const {
    const auto it = places_.find(column);
    return it == places_.end() ? absl::string_view() : rows_.field(it->second);
  }
  absl::Status Bad(absl::string_view column, absl::string_view expected) const {
    return At(rows_.position(places_.find(column)->second),
              absl::StrCat(column, ": found '", Field(column), "', expected ", expected));
  }

  absl::Status ReadRow() {
    if (rows_.size() != columns_) {
      return At(rows_.end_position(),
                absl::StrCat("found ", rows_.size(), " fields, expected ", columns_));
    }
    if (!IsHash(Field("fingerprint"))) {
      return Bad("fingerprint", "16 hexadecimal digits (the line may be cut off)");
    }
    int32_t version = 0;
    if (!absl::SimpleAtoi(Field("version"), &version) || version < 1)
      return Bad("version", "a number from 1 on");
    if (table_.rows.empty()) {
      table_.suite = std::string(Field("suite"));
      table_.version = version;
    }
    if (Field("suite") != table_.suite) return Bad("suite", table_.suite);
    if (version != table_.version) return Bad("version", absl::StrCat(table_.version));
    BenchRow row;
    RETURN_IF_ERROR(ReadHead(&row));
    for (size_t i = 0; i < BenchMetricNames().size(); ++i) {
      const std::string& metric = BenchMetricNames()[i];
      const absl::string_view text = Field(metric);
      double value = 0;
      if (!text.empty() && (!absl::SimpleAtod(text, &value) || !std::isfinite(value)))
        return Bad(metric, "a number or nothing");
      row.metrics.emplace_back(text);
    }
    RETURN_IF_ERROR(ReadCounts(&row));
    row.answers = std::string(Field(kAnswersColumn));
    row.reason = std::string(Field("reason"));
    row.fingerprint = std::string(Field("fingerprint"));
    const auto [it, first] = lines_.emplace(row.id, rows_.line());
    if (!first) {
      return At({rows_.line(), 1},
                absl::StrCat("cell ", row.id.Name(), " is already in line ", it->second));
    }
    table_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status ReadCounts(BenchRow* row) const {
    for (const absl::string_view counter : kCounters) {
      uint64_t count = 0;
      const bool there = places_.find(counter) != places_.end();
      if (there && !absl::SimpleAtoi(Field(counter), &count))
        return Bad(counter, "a number from 0 on");
      row->counters.push_back(count);
    }
    for (size_t i = 0; i < kCallColumns; ++i) {
      if (!ParseCalls(Field(kCallColumnNames[i]), &row->calls[i]))
        return Bad(kCallColumnNames[i], "PLUGIN=COUNT, separated by spaces");
    }
    return absl::OkStatus();
  }

  absl::Status ReadHead(BenchRow* row) {
    row->id = {std::string(Field("entry")), std::string(Field("queue")),
               std::string(Field("policy")), 0};
    if (row->id.entry.empty()) return Bad("entry", "a name");
    if (row->id.policy.empty()) return Bad("policy", "a name");
    if (!absl::SimpleAtoi(Field("seed"), &row->id.seed)) return Bad("seed", "a number from 0 on");
    const absl::StatusOr<Tier> tier = ParseTier(Field("tier"), "tier");
    if (!tier.ok()) return Bad("tier", "smoke, pr or nightly");
    row->tier = *tier;
    row->primary.metric = std::string(Field("primary"));
    if (!FindBenchMetric(row->primary.metric).ok()) return Bad("primary", "a metric's name");
    if (Field("better") != "higher" && Field("better") != "lower")
      return Bad("better", "higher or lower");
    row->primary.higher_is_better = Field("better") == "higher";
    const absl::StatusOr<Margin> margin = ParseMargin(Field("margin"), "margin");
    if (!margin.ok()) return Bad("margin", "a number from 0 on, or a percentage");
    row->primary.margin = *margin;
    if (Field("random") != "yes" && Field("random") != "no") return Bad("random", "yes or no");
    row->random = Field("random") == "yes";
    if (!IsHash(Field("inputs"))) return Bad("inputs", "16 hexadecimal digits");
    row->inputs = std::string(Field("inputs"));
    return absl::OkStatus();
  }

  absl::string_view name_;
  CsvSplitter& rows_;
  BenchTable table_;
  std::map<std::string, size_t, std::less<>> places_;  // by column
  std::map<CellId, int64_t> lines_;
  size_t columns_ = 0;
};

absl::StatusOr<BenchTable> ReadFrom(ByteSource* source) {
  CsvSplitter rows(source, CsvOptions());
  return TableReader(source->name(), &rows).Read();
}

}  // namespace

absl::Span<const absl::string_view> WorkCounterNames() { return kCounters; }

const BenchRow* BenchTable::Find(const CellId& id) const {
  const auto it = std::lower_bound(rows.begin(), rows.end(), id,
                                   [](const BenchRow& row, const CellId& c) { return row.id < c; });
  return it != rows.end() && it->id == id ? &*it : nullptr;
}

BenchTable EmptyTable(const Suite& suite) {
  BenchTable table;
  table.suite = suite.name;
  table.version = suite.version;
  table.has_metric.assign(BenchMetricNames().size(), true);
  table.has_counter.assign(WorkCounterNames().size() + kCallColumns, true);
  return table;
}

BenchRow RowOf(const BenchCell& cell, const CellResult& result) {
  BenchRow row = RowHeadOf(cell);
  row.metrics = BenchFigures(result);
  const WorkCounters& search = result.work.search;
  row.counters = {result.records,
                  search.decisions,
                  search.nodes_filtered,
                  search.nodes_scored,
                  search.cache_hits,
                  search.attempts_remembered,
                  result.work.events,
                  result.work.queue_operations,
                  result.work.allocator_calls,
                  result.work.api_calls};
  row.calls = {result.work.filter_calls, result.work.score_calls};
  row.fingerprint = HexHash(result.fingerprint);
  return row;
}

BenchRow RowOf(const BenchCell& cell, const CaseAnswers& answers) {
  BenchRow row = RowHeadOf(cell);
  row.metrics = BenchFigures(answers);
  row.counters.assign(WorkCounterNames().size(), 0);
  // Each decision asks the allocator, or a selector, once.
  row.counters[kAllocatorCalls] = static_cast<uint64_t>(answers.decisions);
  row.answers = DigestText(answers.digests);
  row.fingerprint = HexHash(answers.fingerprint);
  return row;
}

size_t MetricIndex(absl::string_view name) {
  const std::vector<std::string>& names = BenchMetricNames();
  const auto it = std::find(names.begin(), names.end(), name);
  DRASIM_CHECK(it != names.end());
  return static_cast<size_t>(it - names.begin());
}

std::string BenchHeader() { return absl::StrJoin(Columns(), ","); }

std::string BenchLine(const BenchTable& table, const BenchRow& row) {
  std::string line = absl::StrCat(table.suite, ",", table.version, ",", row.id.entry, ",",
                                  row.id.queue, ",", row.id.policy, ",", row.id.seed, ",");
  absl::StrAppend(&line, TierName(row.tier), ",", row.primary.metric, ",",
                  row.primary.higher_is_better ? "higher" : "lower", ",", row.primary.margin.Text(),
                  ",", row.random ? "yes" : "no", ",", row.inputs);
  for (const std::string& figure : row.metrics) absl::StrAppend(&line, ",", figure);
  for (const uint64_t count : row.counters) absl::StrAppend(&line, ",", count);
  for (const PluginCalls& calls : row.calls) {
    line += ",";
    AppendCsvField(CallsText(calls), &line);
  }
  line += ",";
  AppendCsvField(row.answers, &line);
  line += ",";
  AppendCsvField(row.reason, &line);
  absl::StrAppend(&line, ",", row.fingerprint);
  return line;
}

std::string BenchCsv(const BenchTable& table) {
  std::string text = BenchHeader() + "\n";
  for (const BenchRow& row : table.rows) absl::StrAppend(&text, BenchLine(table, row), "\n");
  return text;
}

absl::StatusOr<BenchTable> ReadBenchTable(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxTableBytes));
  return ParseBenchTable(path, text);
}

absl::StatusOr<BenchTable> ParseBenchTable(absl::string_view name, absl::string_view text) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenMemory(name, text));
  return ReadFrom(source.get());
}

}  // namespace drasim::bench
