// drasim mig layouts | count: all layouts of a GPU that MIG can partition, listed or counted.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/mig_layout.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "model/text/mig_catalogue.h"
#include "model/text/text_table.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/app/mig_arguments.h"
#include "sim/record/data_table.h"

namespace drasim {
namespace {

using Names = std::vector<std::string>;

// The names of profiles in a flag's value, as the product's table has them.
absl::StatusOr<Names> ProfilesIn(const MigProduct& product, absl::string_view flag,
                                 absl::string_view text) {
  ASSIGN_OR_RETURN(const MigTable all, MigTable::Make(product));
  Names names;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    if (name.empty() || name.find_first_of(":@") != absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", flag, ": found '", text, "', expected names of profiles with commas between them"));
    }
    // Its errors also know the profiles of other products.
    const absl::StatusOr<MigRequest> known = ParseLayout(all, name, MigCatalogue());
    if (!known.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", known.status().message()));
    }
    names.push_back(all.profiles()[static_cast<size_t>(all.FindProfile(name))].name);
  }
  return names;
}

// Restricts the rules to --profiles.
absl::Status ReadProfiles(const MigProduct& product, const ParsedFlags& flags, MigRules* rules) {
  const std::optional<std::string> text = flags.Get("profiles");
  if (!text.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(rules->profiles, ProfilesIn(product, "profiles", *text));
  return absl::OkStatus();
}

absl::Status ReadForbidden(const MigProduct& product, const ParsedFlags& flags, MigRules* rules) {
  for (const std::string& text : flags.All("forbid")) {
    ASSIGN_OR_RETURN(const Names names, ProfilesIn(product, "forbid", text));
    if (names.size() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("--forbid: found '", text, "', expected two profiles, A,B"));
    }
    rules->forbidden.emplace_back(names.front(), names.back());
  }
  return absl::OkStatus();
}

Names ProfileNames(const MigTable& table) {
  Names names;
  for (const MigProfile& profile : table.profiles()) names.push_back(profile.name);
  return names;
}

// The keys that layouts and counts have in common, into an object that is open. Scripts rely on
// them.
void WriteCounts(const MigTable& table, const MigRules& rules, JsonWriter* json) {
  json->Key("product").String(table.product().group);
  json->Key("profiles").Strings(ProfileNames(table));
  WriteMigRules(rules, json);
  const MigCounts counts = CountLayouts(table);
  json->Key("sets").Int(counts.sets);
  json->Key("maximal_sets").Int(counts.maximal_sets);
  json->Key("multisets").Int(counts.multisets);
}

// --- mig layouts -------------------------------------------------------------------------------

struct LayoutRow {
  MigMultiset counts;
  MigState example = kNoMigState;  // the first state with these instances
  int64_t ways = 0;                // number of states that have them
};

// The maximal multisets, or all that are not empty; large profiles first.
std::vector<LayoutRow> LayoutRows(const MigTable& table, bool all) {
  std::map<MigMultiset, LayoutRow> known;
  for (size_t s = 0; s < table.states(); ++s) {
    const auto state = static_cast<MigState>(s);
    LayoutRow& row = known[MultisetOf(table, state)];
    if (row.ways++ == 0) row.example = state;
  }
  std::vector<MigMultiset> wanted;
  if (all) {
    for (const auto& entry : known) wanted.push_back(entry.first);
    // The catalogue lists large profiles last.
    std::sort(wanted.begin(), wanted.end(), [](const MigMultiset& a, const MigMultiset& b) {
      return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
    });
    wanted.pop_back();  // the empty one
  } else {
    wanted = MaximalMultisets(table);
  }
  std::vector<LayoutRow> rows;
  for (MigMultiset& counts : wanted) {
    rows.push_back(known[counts]);
    rows.back().counts = std::move(counts);
  }
  return rows;
}

int UsedCompute(const MigTable& table, MigState state) {
  return table.product().compute_slices - table.free_compute(state);
}

int UsedUnits(const MigTable& table, MigState state) {
  return table.product().units - table.free_units(state);
}

std::string LayoutsText(const MigTable& table, const MigRules& rules, bool all) {
  const std::vector<LayoutRow> rows = LayoutRows(table, all);
  const MigCounts counts = CountLayouts(table);
  TextTable shown({table.product().group, "compute", "units", "ways"});
  for (const LayoutRow& row : rows) {
    shown.AddRow({MultisetText(table, row.counts), absl::StrCat(UsedCompute(table, row.example)),
                  absl::StrCat(UsedUnits(table, row.example)), absl::StrCat(row.ways)});
  }
  std::string text = shown.Render(/*ansi=*/false);
  if (!all) {
    for (const LayoutRow& row : rows) {
      absl::StrAppend(&text, "\n", MultisetText(table, row.counts), "\n",
                      DrawLayout(table, row.example));
    }
  }
  absl::StrAppend(&text, "\n", rows.size(),
                  all ? " multisets" : absl::StrCat(" maximal multisets of ", counts.multisets),
                  "; ", counts.sets, " sets of placements with the empty one, ",
                  counts.maximal_sets, " of them maximal\n");
  for (const std::string& line : MigRuleLines(table.profiles(), rules)) {
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string LayoutsJson(const MigTable& table, const MigRules& rules, bool all) {
  JsonWriter json;
  json.BeginDocument("mig-layouts");
  WriteCounts(table, rules, &json);
  json.Key("layouts").BeginArray();
  for (const LayoutRow& row : LayoutRows(table, all)) {
    json.BeginObject().Key("instances").BeginObject();
    for (size_t p = 0; p < row.counts.size(); ++p) {
      if (row.counts[p] > 0) json.Key(table.profiles()[p].name).Int(row.counts[p]);
    }
    json.EndObject();
    json.Key("compute_slices").Int(UsedCompute(table, row.example));
    json.Key("units").Int(UsedUnits(table, row.example));
    json.Key("ways").Int(row.ways);
    json.Key("example").String(MigLayoutText(table, row.example));
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string LayoutsCsv(const MigTable& table, bool all) {
  DataTable shown({"instances", "compute_slices", "units", "ways", "example"});
  for (const LayoutRow& row : LayoutRows(table, all)) {
    shown.AddRow().Text(MultisetText(table, row.counts)).Int(UsedCompute(table, row.example));
    shown.Int(UsedUnits(table, row.example)).Int(row.ways);
    shown.Text(MigLayoutText(table, row.example));
  }
  return shown.Csv();
}

// --- mig count ---------------------------------------------------------------------------------

std::string CountText(const MigTable& table, const MigRules& rules) {
  const MigCounts counts = CountLayouts(table);
  TextTable shown({table.product().group, "count"});
  shown.AddRow({"sets of placements, with the empty one", absl::StrCat(counts.sets)});
  shown.AddRow({"maximal sets", absl::StrCat(counts.maximal_sets)});
  shown.AddRow({"multisets, without the empty one", absl::StrCat(counts.multisets)});
  std::string text = absl::StrCat(shown.Render(/*ansi=*/false),
                                  "\nProfiles: ", absl::StrJoin(ProfileNames(table), ", "), "\n");
  for (const std::string& line : MigRuleLines(table.profiles(), rules)) {
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string CountJson(const MigTable& table, const MigRules& rules) {
  JsonWriter json;
  json.BeginDocument("mig-count");
  WriteCounts(table, rules, &json);
  json.EndObject();
  return json.text();
}

std::string CountCsv(const MigTable& table) {
  const MigCounts counts = CountLayouts(table);
  DataTable shown({"product", "sets", "maximal_sets", "multisets"});
  shown.AddRow().Text(table.product().group).Int(counts.sets);
  shown.Int(counts.maximal_sets).Int(counts.multisets);
  return shown.Csv();
}

}  // namespace

absl::Status MigLayoutsCommand(const ParsedFlags& flags) {
  const OutputFormat format = FormatOf(flags);
  ASSIGN_OR_RETURN(const MigProduct* const product, MigProductArgument(flags, 1));
  ASSIGN_OR_RETURN(MigRules rules, MigRulesOfDriver(*product, flags));
  RETURN_IF_ERROR(ReadProfiles(*product, flags, &rules));
  ASSIGN_OR_RETURN(const MigTable table, MigTable::Make(*product, rules));
  const bool all = flags.Has("all");
  const std::string text = format == OutputFormat::kJson  ? LayoutsJson(table, rules, all)
                           : format == OutputFormat::kCsv ? LayoutsCsv(table, all)
                                                          : LayoutsText(table, rules, all);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status MigCountCommand(const ParsedFlags& flags) {
  const OutputFormat format = FormatOf(flags);
  ASSIGN_OR_RETURN(const MigProduct* const product, MigProductArgument(flags, 1));
  MigRules rules;
  rules.media_engines = flags.Has("engines");
  RETURN_IF_ERROR(ReadProfiles(*product, flags, &rules));
  RETURN_IF_ERROR(ReadForbidden(*product, flags, &rules));
  ASSIGN_OR_RETURN(const MigTable table, MigTable::Make(*product, rules));
  const std::string text = format == OutputFormat::kJson  ? CountJson(table, rules)
                           : format == OutputFormat::kCsv ? CountCsv(table)
                                                          : CountText(table, rules);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
