#include "sim/bench/bench_history.h"

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "model/text/yaml_node.h"
#include "model/text/yaml_tree.h"
#include "sim/bench/bench_table.h"
#include "sim/record/atomic_file.h"

namespace drasim::bench {
namespace {

constexpr absl::string_view kKind = "bench-history";
constexpr int kDigits = 12;

// Sums by group, and how many seeds are in them.
struct GroupSums {
  std::map<std::string, double> sums;
  uint64_t fingerprint = 0;
  size_t seeds = 0;
};

const YamlNode* HistoryMember(const YamlNode& object, absl::string_view key, YamlNode::Kind kind) {
  if (object.kind != YamlNode::Kind::kMapping) return nullptr;
  for (size_t i = 0; i + 1 < object.children.size(); i += 2) {
    const YamlNode* value = object.children[i + 1];
    if (object.children[i]->text == key) return value->kind == kind ? value : nullptr;
  }
  return nullptr;
}

// Empty: fine.
std::string ReadRun(const YamlNode& root, HistoryRun* run) {
  const auto scalar = [&root](absl::string_view key) {
    return HistoryMember(root, key, YamlNode::Kind::kScalar);
  };
  const YamlNode* schema = scalar("schema");
  if (schema == nullptr || schema->text != SchemaName(kKind)) {
    return absl::StrCat("expected the schema ", SchemaName(kKind));
  }
  const YamlNode* commit = scalar("commit");
  const YamlNode* suite = scalar("suite");
  const YamlNode* version = scalar("version");
  const YamlNode* groups = HistoryMember(root, "groups", YamlNode::Kind::kMapping);
  if (commit == nullptr || suite == nullptr || version == nullptr ||
      !absl::SimpleAtoi(version->text, &run->version) || groups == nullptr) {
    return "expected commit, suite, version and groups";
  }
  run->commit = commit->text;
  run->suite = suite->text;
  for (size_t g = 0; g + 1 < groups->children.size(); g += 2) {
    const YamlNode& told = *groups->children[g + 1];
    const YamlNode* fingerprint = HistoryMember(told, "fingerprint", YamlNode::Kind::kScalar);
    const YamlNode* figures = HistoryMember(told, "figures", YamlNode::Kind::kMapping);
    if (fingerprint == nullptr || figures == nullptr) return "expected fingerprint and figures";
    HistoryGroup& group = run->groups[groups->children[g]->text];
    group.fingerprint = fingerprint->text;
    for (size_t f = 0; f + 1 < figures->children.size(); f += 2) {
      double value = 0;
      const std::string& text = figures->children[f + 1]->text;
      if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
        return absl::StrCat("found '", text, "', expected a number");
      }
      group.figures[figures->children[f]->text] = value;
    }
  }
  return "";
}

std::string LineOf(const HistoryRun& run) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginDocument(kKind);
  json.Key("commit").String(run.commit);
  json.Key("suite").String(run.suite);
  json.Key("version").Int(run.version);
  json.Key("groups").BeginObject();
  for (const auto& [name, group] : run.groups) {
    json.Key(name).BeginObject().Key("fingerprint").String(group.fingerprint);
    json.Key("figures").BeginObject();
    for (const auto& [figure, value] : group.figures) json.Key(figure).Double(value);
    json.EndObject().EndObject();
  }
  json.EndObject().EndObject();
  return json.text();
}

}  // namespace

HistoryRun HistoryRunOf(const BenchResults& results, const std::string& commit) {
  HistoryRun run;
  run.commit = commit;
  run.suite = results.table.suite;
  run.version = results.table.version;
  std::map<std::string, GroupSums> groups;
  const absl::Span<const absl::string_view> counters = WorkCounterNames();
  for (const BenchRow& row : results.table.rows) {
    GroupSums& group = groups[row.id.GroupName()];
    ++group.seeds;
    group.fingerprint = Fnv1a(row.fingerprint, group.fingerprint);
    double value = 0;
    if (absl::SimpleAtod(row.metrics[MetricIndex(row.primary.metric)], &value)) {
      group.sums[row.primary.metric] += value;
    }
    for (size_t c = 0; c < counters.size() && c < row.counters.size(); ++c) {
      group.sums[std::string(counters[c])] += static_cast<double>(row.counters[c]);
    }
  }
  for (const auto& [name, sums] : groups) {
    HistoryGroup& group = run.groups[name];
    group.fingerprint = HexHash(sums.fingerprint);
    for (const auto& [figure, sum] : sums.sums) {
      group.figures[figure] = RoundSignificant(sum / static_cast<double>(sums.seeds), kDigits);
    }
  }
  return run;
}

absl::Status AppendHistory(const std::string& path, const HistoryRun& run) {
  std::FILE* const file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return FileStatus(path, "cannot open the file", errno);
  const std::string line = LineOf(run);
  const bool written = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return absl::OkStatus();
  return FileStatus(path, "cannot write", written ? errno : error);
}

absl::StatusOr<std::vector<HistoryRun>> ParseHistory(absl::string_view text,
                                                     absl::string_view file) {
  std::vector<HistoryRun> runs;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const absl::StatusOr<YamlTree> tree = YamlTree::Parse(line, "line");
    HistoryRun run;
    const std::string wrong = !tree.ok() || tree->root() == nullptr
                                  ? std::string("expected a JSON object")
                                  : ReadRun(*tree->root(), &run);
    if (!wrong.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ":", number, ": ", wrong));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace drasim::bench
