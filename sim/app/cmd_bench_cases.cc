// drasim bench cases: the cases of one entry of a suite, answered.

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/hash.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/json_writer.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/bench/bench_metrics.h"
#include "sim/bench/case_cells.h"
#include "sim/bench/suite.h"
#include "sim/record/data_table.h"
#include "sim/sdra/case_answers.h"
#include "sim/sdra/case_set.h"

namespace drasim {
namespace {

// The entry of that name; without a name, the only one with cases.
absl::StatusOr<const bench::SuiteEntry*> EntryWithCases(const bench::Suite& suite,
                                                        absl::string_view name) {
  std::vector<const bench::SuiteEntry*> found;
  std::vector<std::string> known;
  for (const bench::SuiteEntry& entry : suite.entries) {
    if (!entry.cases.has_value()) continue;
    known.push_back(entry.name);
    if (name.empty() || name == entry.name) found.push_back(&entry);
  }
  if (found.size() == 1) return found[0];
  if (known.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(suite.file, ": found no entry with cases, expected one"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      suite.file, ": found entry '", name,
      "', expected one with cases: ", absl::StrJoin(known, ", "), Suggest(name, known)));
}

// As `drasim cases` reads them: JSON Lines, or an array for CEL.
void PrintCases(const CaseSet& cases, CaseKind kind) {
  const bool is_array = kind == CaseKind::kCel;
  std::string text = is_array ? "[" : "";
  for (size_t i = 0; i < cases.size(); ++i) {
    absl::StrAppend(&text, is_array && i > 0 ? "," : "", CaseText(cases[i].given));
    std::fputs(text.c_str(), stdout);
    text.clear();
  }
  if (is_array) std::fputs((text + "]\n").c_str(), stdout);
}

std::string AnswersText(const CaseAnswers& answers) {
  std::string text;
  const std::vector<std::string> figures = bench::BenchFigures(answers);
  for (size_t m = 0; m < figures.size(); ++m) {
    if (figures[m].empty()) continue;
    absl::StrAppend(&text, bench::BenchMetrics()[m].name, " ", figures[m], "\n");
  }
  absl::StrAppend(&text, "decisions ", answers.decisions, "\n");
  if (answers.mismatches.value_or(0) > 0) text += answers.table.Text();
  absl::StrAppend(&text, "fingerprint ", HexHash(answers.fingerprint), "\n");
  return text;
}

std::string AnswersJson(const bench::SuiteEntry& entry, const CaseAnswers& answers) {
  JsonWriter json;
  json.BeginDocument("bench-cases");
  json.Key("entry").String(entry.name);
  json.Key("figures").BeginObject();
  const std::vector<std::string> figures = bench::BenchFigures(answers);
  for (size_t m = 0; m < figures.size(); ++m) {
    if (!figures[m].empty()) json.Key(bench::BenchMetrics()[m].name).Number(figures[m]);
  }
  json.Key("decisions").Int(answers.decisions).EndObject();
  // Names of cases may repeat.
  json.Key("answers").BeginObject();
  for (size_t i = 0; i < answers.digests.size(); ++i) {
    const AnswerDigest& digest = answers.digests[i];
    const bool begins = i == 0 || answers.digests[i - 1].position != digest.position;
    if (begins && i > 0) json.EndObject();
    if (begins) json.Key(absl::StrCat(digest.position + 1, " ", digest.name)).BeginObject();
    json.Key(digest.field).String(HexHash(digest.hash));
  }
  if (!answers.digests.empty()) json.EndObject();
  json.EndObject();
  json.Key("fingerprint").String(HexHash(answers.fingerprint));
  json.EndObject();
  return json.text();
}

// Options of the entry's answers, with the rounds of the flag.
absl::StatusOr<CaseRunOptions> OptionsFrom(const ParsedFlags& flags,
                                           const bench::SuiteEntry& entry) {
  CaseRunOptions options = entry.cases->run;
  const std::string rounds = flags.GetOr("rounds", "");
  if (rounds.empty()) return options;
  if (!absl::SimpleAtoi(rounds, &options.rounds) || options.rounds < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rounds: found '", rounds, "', expected a number from 1 on"));
  }
  return options;
}

std::string AnswersCsv(const CaseAnswers& answers) {
  DataTable table({"case", "field", "digest"});
  for (const AnswerDigest& digest : answers.digests) {
    table.AddRow().Text(digest.name).Text(digest.field).Text(HexHash(digest.hash));
  }
  return table.Csv();
}

}  // namespace

absl::Status BenchCasesCommand(const ParsedFlags& flags) {
  const size_t arguments = flags.positional().size();
  if (arguments < 1 || arguments > 2) {
    return absl::InvalidArgumentError("bench cases needs a suite's file, and an entry's name");
  }
  if (flags.Has("cases") && flags.Has("answers")) {
    return absl::InvalidArgumentError("found --cases and --answers, expected one of them");
  }
  ASSIGN_OR_RETURN(const bench::Suite suite, bench::ReadSuite(flags.positional()[0]));
  const std::string name = arguments == 2 ? flags.positional()[1] : "";
  ASSIGN_OR_RETURN(const bench::SuiteEntry* const entry, EntryWithCases(suite, name));
  ASSIGN_OR_RETURN(const CaseRunOptions options, OptionsFrom(flags, *entry));
  ASSIGN_OR_RETURN(const CaseSet cases, bench::LoadCases(*entry->cases));
  if (flags.Has("cases")) {
    PrintCases(cases, entry->cases->kind);
    return absl::OkStatus();
  }
  const bool tell = flags.Has("answers");
  const auto print = [](const std::string& line) { std::fputs(line.c_str(), stdout); };
  ASSIGN_OR_RETURN(const CaseAnswers answers,
                   AnswerCaseSet(cases, options,
                                 tell ? std::function<void(const std::string&)>(print) : nullptr));
  if (tell) return absl::OkStatus();
  const OutputFormat format = FormatOf(flags);
  const std::string text = format == OutputFormat::kJson  ? AnswersJson(*entry, answers)
                           : format == OutputFormat::kCsv ? AnswersCsv(answers)
                                                          : AnswersText(answers);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
