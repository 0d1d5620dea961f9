#include "gui/view/what_if.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gui/view/compare_model.h"
#include "gui/view/find_model.h"
#include "gui/view/key_reference.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"

namespace drasim::view {
namespace {

// --- The reference ---

// A row of the reference. In `path`, "[]" stands behind lists.
struct ReferenceRow {
  std::string path;
  std::string type;
  std::string fallback;
  std::string meaning;
};

// Markdown as plain text: links become their texts.
std::string Plain(absl::string_view cell) {
  std::string text;
  for (size_t i = 0; i < cell.size();) {
    const size_t close = cell[i] == '[' ? cell.find("](", i) : absl::string_view::npos;
    const size_t end = close == absl::string_view::npos ? close : cell.find(')', close);
    if (end != absl::string_view::npos) {
      absl::StrAppend(&text, cell.substr(i + 1, close - i - 1));
      i = end + 1;
      continue;
    }
    text.push_back(cell[i++]);
  }
  return absl::StrReplaceAll(text, {{"`", ""}, {"<br>", "\n"}, {"\\|", "|"}});
}

// Cells of a row of a table; a bar behind a backslash is text.
std::vector<std::string> CellsOf(absl::string_view line) {
  std::vector<std::string> cells = {""};
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|' && line[i - 1] != '\\') {
      cells.emplace_back();
    } else {
      cells.back().push_back(line[i]);
    }
  }
  cells.pop_back();  // behind the last bar
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  return cells;
}

// "These keys belong to `a`, `b`."
std::vector<std::string> PlacesOf(absl::string_view line) {
  std::vector<std::string> places;
  const std::vector<absl::string_view> parts = absl::StrSplit(line, '`');
  for (size_t i = 1; i < parts.size(); i += 2) places.emplace_back(parts[i]);
  return places;
}

// Whether the schema has a value there, in contrast to a section, a list of sections or a map.
bool HasValue(absl::string_view path) {
  const google::protobuf::Descriptor* message = proto::Scenario::descriptor();
  const google::protobuf::FieldDescriptor* field = nullptr;
  for (const absl::string_view part : absl::StrSplit(path, '.')) {
    if (message == nullptr) return false;
    field = message->FindFieldByName(std::string(absl::StripSuffix(part, "[]")));
    if (field == nullptr) return false;
    message = field->message_type();
  }
  return message == nullptr;
}

std::vector<ReferenceRow> ReadReference() {
  std::vector<ReferenceRow> rows;
  std::vector<std::string> places;  // of the section; the first is that of its rows
  for (const absl::string_view line : absl::StrSplit(EmbeddedScenarioKeys(), '\n')) {
    if (absl::StartsWith(line, "#")) places.clear();
    if (absl::StartsWith(line, "These keys belong to ")) places = PlacesOf(line);
    if (!absl::StartsWith(line, "| ") || absl::StartsWith(line, "| Key |")) continue;
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.size() != 4) continue;
    ReferenceRow row = {cells[0], Plain(cells[1]), Plain(cells[2]), Plain(cells[3])};
    if (places.empty() && HasValue(row.path)) rows.push_back(row);
    // A shared section has its keys in full for the first place, or without any place.
    absl::string_view key = cells[0];
    if (!places.empty() && absl::ConsumePrefix(&key, places[0])) absl::ConsumePrefix(&key, ".");
    for (const std::string& place : places) {
      row.path = absl::StrCat(place, ".", key);
      if (HasValue(row.path)) rows.push_back(row);
    }
  }
  return rows;
}

const std::vector<ReferenceRow>& Reference() {
  static const auto* const rows = new std::vector<ReferenceRow>(ReadReference());
  return *rows;
}

// --- The values of a scenario ---

bool IsNumber(absl::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

struct GivenValues {
  std::map<std::string, std::string> by_key;  // lists of scalars as one text
  // "workload.jobs[].mig[]" -> the number of items of each: {"workload.jobs.0.mig", 2}
  std::map<std::string, std::vector<std::pair<std::string, size_t>>> lists;
};

void NoteItem(const std::string& list, const std::string& pattern, size_t index,
              GivenValues* given) {
  auto& lists = given->lists[pattern];
  if (lists.empty() || lists.back().first != list) lists.emplace_back(list, 0);
  lists.back().second = std::max(lists.back().second, index + 1);
}

GivenValues ValuesOf(absl::string_view scenario_yaml) {
  GivenValues given;
  const absl::StatusOr<std::vector<KeyDifference>> all = CompareScenarios("", scenario_yaml);
  if (!all.ok()) return given;
  for (const KeyDifference& leaf : *all) {
    std::string key;
    std::string pattern;
    const std::vector<std::string> parts = absl::StrSplit(leaf.key, '.');
    for (size_t i = 0; i < parts.size(); ++i) {
      uint64_t index = 0;
      if (i > 0 && IsNumber(parts[i]) && absl::SimpleAtoi(parts[i], &index)) {
        if (i + 1 == parts.size()) break;  // an item of a list of scalars
        absl::StrAppend(&pattern, "[]");
        NoteItem(key, pattern, static_cast<size_t>(index), &given);
        absl::StrAppend(&key, ".", parts[i]);
        continue;
      }
      absl::StrAppend(&key, i > 0 ? "." : "", parts[i]);
      absl::StrAppend(&pattern, i > 0 ? "." : "", parts[i]);
    }
    std::string& value = given.by_key[key];
    absl::StrAppend(&value, value.empty() ? "" : ",", leaf.b);
  }
  return given;
}

// The keys that a path of the reference stands for.
std::vector<std::string> KeysOf(const std::string& path, const GivenValues& given) {
  const size_t last = path.rfind("[].");
  if (last == std::string::npos) return {path};
  const std::string pattern = path.substr(0, last + 2);
  const std::string rest = path.substr(last + 2);
  std::vector<std::string> keys;
  const auto found = given.lists.find(pattern);
  if (found == given.lists.end()) {
    // Items of a list in a list need an item of the outer one.
    const std::string list = path.substr(0, last);
    if (!absl::StrContains(list, "[]")) keys.push_back(absl::StrCat(list, ".0", rest));
    return keys;
  }
  for (const auto& [list, items] : found->second) {
    for (size_t i = 0; i < std::min(items, kListedItems); ++i) {
      keys.push_back(absl::StrCat(list, ".", i, rest));
    }
    keys.push_back(absl::StrCat(list, ".", items, rest));
  }
  return keys;
}

// --- Suggestions ---

class Suggester {
 public:
  Suggester(const PodInspection& pod, absl::string_view scenario_yaml)
      : pod_(pod), given_(ValuesOf(scenario_yaml)) {}

  std::vector<WhatIfSuggestion> Suggest() {
    if (pod_.waits <= SimDuration()) return {};
    const bool waits_now = pod_.phase == PodPhase::kPending;
    const bool has_room = waits_now && pod_.nodes_that_fit > 0;
    const VerdictCount verdict = TellingVerdict();
    if (verdict.of_claims || pod_.times_taken_back > 0) ForDrivers(verdict);
    if (pod_.attempts_failed == 0 && has_room) ForQuota();
    if (pod_.times_evicted > 0) ForEvictions();
    if (has_room && !verdict.of_claims) ForBackoff();
    if (!has_room && pod_.attempts_failed > 0) ForRoom();
    if (out_.size() > kMostSuggestions) out_.resize(kMostSuggestions);
    return std::move(out_);
  }

 private:
  // The verdict that the pod got most often; the last one of several.
  VerdictCount TellingVerdict() const {
    const VerdictCount* best = nullptr;
    for (const VerdictCount& count : pod_.verdicts) {
      if (best == nullptr || count.times >= best->times) best = &count;
    }
    return best == nullptr ? VerdictCount() : *best;
  }
  std::string Value(const std::string& key, absl::string_view fallback) const {
    const auto found = given_.by_key.find(key);
    return found == given_.by_key.end() || found->second.empty() ? std::string(fallback)
                                                                 : found->second;
  }
  void Add(const std::string& key, std::string old, std::string value, std::string why) {
    if (old == value) return;
    out_.push_back({key, std::move(old), std::move(value), std::move(why)});
  }
  // A number times a factor.
  void Multiply(const std::string& key, absl::string_view fallback, double factor,
                absl::string_view why) {
    const std::string old = Value(key, fallback);
    double number = 0;
    if (!absl::SimpleAtod(old, &number) || !(number > 0 && number < 1e6)) return;
    Add(key, old, DoubleText(std::ceil(number * factor)), std::string(why));
  }

  void ForDrivers(const VerdictCount& verdict) {
    // The library's defaults.
    const std::string qps = Value("front_end.dra.driver_controllers.qps", "5");
    if (Value("front_end.dra.zero_latency", "false") != "true" && qps != "0") {
      Multiply("front_end.dra.driver_controllers.qps", "5", 10,
               absl::StrCat("It waits for answers of drivers, whose controllers may make ", qps,
                            " calls a second."));
      Multiply("front_end.dra.driver_controllers.burst", "10", 10,
               "The drivers' calls come in bursts when pods arrive or end together.");
    }
    const std::string kind = Value("front_end.dra.drivers.0.kind", "");
    if (verdict.of_refusal && (kind == "nvidia" || kind == "constraints")) {
      Add("front_end.dra.drivers.0.placement", Value("front_end.dra.drivers.0.placement", ""),
          "best-fit",
          "The driver refuses nodes: another placement may leave whole instances free.");
    }
    Add("front_end.dra.scheduler_reports", Value("front_end.dra.scheduler_reports", "false"),
        "false", "Reports of failed attempts use up the scheduler's calls.");
  }
  void ForQuota() {
    const auto quotas = given_.lists.find("quotas[]");
    if (quotas == given_.lists.end()) return;
    for (size_t i = 0; i < quotas->second[0].second; ++i) {
      const std::string item = absl::StrCat("quotas.", i, ".");
      if (Value(item + "tenant", "") != pod_.tenant) continue;
      for (const char* const amount : {"gpus", "cpu", "memory"}) {
        Multiply(item + amount, "", 2,
                 "There is room, but it has not been tried: its tenant may be at its quota.");
      }
    }
  }
  void ForEvictions() {
    const bool preempted =
        std::any_of(pod_.marks.begin(), pod_.marks.end(), [](const LifeMark& mark) {
          return mark.kind == LifeMark::Kind::kEvicted && mark.cause == EvictionCause::kPreempted;
        });
    if (!preempted) return;
    Add("preemption.mode", Value("preemption.mode", "priority"), "none",
        "It lost its place to another job.");
  }
  void ForBackoff() {
    if (pod_.attempts_failed == 0 || Value("scheduler.queue", "kubernetes") != "kubernetes") return;
    Add("scheduler.kubernetes.max_backoff", Value("scheduler.kubernetes.max_backoff", "10s"), "1s",
        "There is room now: it waits to be tried again.");
    Add("scheduler.kubernetes.unschedulable_flush",
        Value("scheduler.kubernetes.unschedulable_flush", "5m"), "30s",
        "There is room now, and no event has woken it.");
  }
  void ForRoom() {
    const std::string kind = Value("front_end.kind", "direct");
    const std::string policy = Value("scheduler.policy", "fgd");
    // A policy of the kind that decides here.
    const char* const better = kind != "direct"  ? "most-allocated"
                               : pod_.wants_mig  ? "mig-mfi-any"
                               : policy == "fgd" ? "best-fit"
                                                 : "fgd";
    if (given_.by_key.count("scheduler.score.0.name") == 0) {
      Add("scheduler.policy", policy, better,
          "No node has room: a policy that packs otherwise may leave some.");
    }
    const bool replay = Value("mode", "fill") == "replay";
    if (replay && kind != "dra-classic" && Value("scheduler.queue", "kubernetes") == "kubernetes") {
      Add("scheduler.queue", "kubernetes", "sjf", "It waits for others to end: short jobs first.");
    }
    Multiply("cluster.nodes", "", 1.1, "Would a tenth more nodes be enough?");
  }

  const PodInspection& pod_;
  const GivenValues given_;
  std::vector<WhatIfSuggestion> out_;
};

}  // namespace

std::vector<ScenarioKey> ScenarioKeys(absl::string_view scenario_yaml) {
  const GivenValues given = ValuesOf(scenario_yaml);
  std::vector<ScenarioKey> keys;
  if (given.by_key.empty()) return keys;
  for (const ReferenceRow& row : Reference()) {
    for (std::string& key : KeysOf(row.path, given)) {
      const auto value = given.by_key.find(key);
      keys.push_back({std::move(key), row.type, row.fallback, row.meaning,
                      value == given.by_key.end() ? "" : value->second});
    }
  }
  return keys;
}

std::vector<size_t> SearchKeys(absl::Span<const ScenarioKey> keys, absl::string_view query) {
  std::vector<std::pair<int64_t, size_t>> found;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::optional<int64_t> score =
        query.empty() ? std::optional<int64_t>(0) : FindScore(query, keys[i].key);
    if (score.has_value()) found.emplace_back(-*score, i);
  }
  std::sort(found.begin(), found.end());
  std::vector<size_t> order;
  for (const auto& [score, index] : found) order.push_back(index);
  return order;
}

absl::Status CheckValue(absl::string_view scenario_yaml, absl::string_view key,
                        absl::string_view value) {
  proto::Scenario scenario;
  RETURN_IF_ERROR(MergeYaml(scenario_yaml, "scenario", &scenario));
  return SetField(key, value, "change", &scenario);
}

std::vector<WhatIfSuggestion> SuggestChanges(const PodInspection& pod,
                                             absl::string_view scenario_yaml) {
  return Suggester(pod, scenario_yaml).Suggest();
}

}  // namespace drasim::view
