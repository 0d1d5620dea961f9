// drasim diff: where two ledgers part.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "model/hash.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/app/report_flag.h"
#include "sim/explain/parting.h"
#include "sim/outputs/result_formats.h"
#include "sim/outputs/result_set.h"
#include "sim/record/data_table.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/pod_log.h"

namespace drasim {
namespace {

// The record in names, so that ledgers whose ids differ can still be the same.
std::string Describe(const Record& r, const LedgerReader& ledger) {
  std::string text;
  AppendSeconds(r.time, &text);
  absl::StrAppend(&text, " s  ", RecordKindName(r.kind));
  if (r.pod.valid()) absl::StrAppend(&text, "  pod ", ledger.cluster().pod_name(r.pod));
  if (r.kind == RecordKind::kPodArrived) {
    const ResourceRequest& s = ledger.cluster().pod_shape(r.pod).request;
    absl::StrAppend(&text, "  (", s.cpu_milli, "m CPU, ", s.memory_bytes, " B, ", s.gpu_count,
                    " x ", s.gpu_milli, "m GPU", s.gpu_spec.empty() ? "" : " of ", s.gpu_spec, ")");
  }
  if (r.node.valid()) absl::StrAppend(&text, "  node ", ledger.cluster().node_spec(r.node).name);
  for (const size_t device : r.devices) absl::StrAppend(&text, " gpu", device);
  if (r.kind == RecordKind::kAttemptFailed)
    absl::StrAppend(&text, "  ", ledger.summaries().Text(SummaryId(r.detail)));
  return text;
}

// The seconds, event, pod and node of a record, and its text; empty at the end of the ledger.
void AddDiffRow(const LedgerReader& ledger, const Record* r, const std::string& text,
                DataTable* table) {
  table->AddRow().Text(ledger.path());
  if (r == nullptr) {
    table->Empty().Empty().Empty().Empty().Text(text);
    return;
  }
  std::string seconds;
  AppendSeconds(r->time, &seconds);
  table->Number(seconds).Text(RecordKindName(r->kind));
  if (r->pod.valid()) {
    table->Text(ledger.cluster().pod_name(r->pod));
  } else {
    table->Empty();
  }
  if (r->node.valid()) {
    table->Text(ledger.cluster().node_spec(r->node).name);
  } else {
    table->Empty();
  }
  table->Text(text);
}

// Where `ledger` parts from the other one: `r` is its record there, null at its end.
PartingRecord PartingOf(const LedgerReader& ledger, const Record* r) {
  PartingRecord where;
  where.path = ledger.path();
  if (r == nullptr) return where;
  where.record = ledger.records();
  if (r->pod.valid()) where.pod = std::string(ledger.cluster().pod_name(r->pod));
  return where;
}

// The answer for programs. `parting` has a row per ledger, or none when both tell the same;
// `where` says the same for the search for the decisions.
void PrintDiff(const std::unique_ptr<LedgerReader> (&ledgers)[2], bool same, uint64_t record,
               const DataTable& parting, const std::array<PartingRecord, 2>& where,
               OutputFormat format) {
  if (format == OutputFormat::kCsv) {
    std::fputs(parting.Csv().c_str(), stdout);
    return;
  }
  JsonWriter json;
  json.BeginDocument("diff");
  json.Key("same").Bool(same);
  json.Key(same ? "records" : "record").Uint(record);
  if (same) {
    json.Key("ledgers").BeginArray();
    for (const std::unique_ptr<LedgerReader>& ledger : ledgers) {
      json.BeginObject().Key("ledger").String(ledger->path());
      json.Key("fingerprint");
      if (ledger->complete()) {
        json.String(HexHash(ledger->fingerprint()));
      } else {
        json.Null();
      }
      json.EndObject();
    }
    json.EndArray();
  } else {
    json.Key("parting");
    parting.WriteRows(&json);
    json.Key("decision");
    WriteParting(ExplainParting(where), &json);
  }
  json.EndObject();
  std::fputs(json.text().c_str(), stdout);
}

// `difference`: empty if the ledgers tell the same.
ResultSet DiffResults(const std::vector<std::string>& paths, const std::string& difference) {
  ResultSet results;
  results.command = "diff";
  results.summary =
      absl::StrCat(paths[0], " and ", paths[1], difference.empty() ? " tell the same" : " differ");
  results.text = difference;
  results.checks.push_back({absl::StrCat(paths[0], " ", paths[1]), "diff",
                            difference.empty() ? CheckOutcome::kPassed : CheckOutcome::kFailed,
                            std::string(absl::StripTrailingAsciiWhitespace(difference)), ""});
  return results;
}

}  // namespace

absl::Status DiffCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 2)
    return absl::InvalidArgumentError("diff needs two ledgers (files or run folders)");
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports,
                   ReportsOf(flags, "diff", {ResultPart::kText, ResultPart::kChecks}));
  std::unique_ptr<LedgerReader> ledgers[2];
  for (size_t i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(ledgers[i], LedgerReader::Open(flags.positional()[i]));
  }
  const OutputFormat format = FormatOf(flags);
  DataTable parting({"ledger", "seconds", "event", "pod", "node", "text"});
  while (true) {
    Record records[2];
    bool more[2];
    for (size_t i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(more[i], ledgers[i]->Next(&records[i]));
    }
    if (!more[0] && !more[1]) break;
    std::string text[2];
    for (size_t i = 0; i < 2; ++i) {
      text[i] = more[i] ? Describe(records[i], *ledgers[i])
                        : absl::StrCat("(the ledger ends here",
                                       ledgers[i]->complete() ? "" : "; it is partial", ")");
    }
    if (text[0] == text[1]) continue;
    const std::string difference =
        absl::StrCat("first divergence at record ", ledgers[more[0] ? 0 : 1]->records(), "\n< ",
                     text[0], "\n> ", text[1], "\n");
    if (format != OutputFormat::kText) {
      std::array<PartingRecord, 2> where;
      for (size_t i = 0; i < 2; ++i) {
        const Record* record = more[i] ? &records[i] : nullptr;
        AddDiffRow(*ledgers[i], record, text[i], &parting);
        where[i] = PartingOf(*ledgers[i], record);
      }
      PrintDiff(ledgers, false, ledgers[more[0] ? 0 : 1]->records(), parting, where, format);
    } else {
      std::fputs(difference.c_str(), stdout);
    }
    RETURN_IF_ERROR(WriteReports(reports, DiffResults(flags.positional(), difference)));
    return QuietFailure();
  }
  RETURN_IF_ERROR(WriteReports(reports, DiffResults(flags.positional(), "")));
  if (format != OutputFormat::kText) {
    PrintDiff(ledgers, true, ledgers[0]->records(), parting, {}, format);
    return absl::OkStatus();
  }
  for (const auto& ledger : ledgers) {
    if (!ledger->complete()) {
      std::printf("same %llu records; %s is partial\n",
                  static_cast<unsigned long long>(ledger->records()), ledger->path().c_str());
      return absl::OkStatus();
    }
  }
  std::printf("same: %llu records, fingerprints %s and %s\n",
              static_cast<unsigned long long>(ledgers[0]->records()),
              HexHash(ledgers[0]->fingerprint()).c_str(),
              HexHash(ledgers[1]->fingerprint()).c_str());
  return absl::OkStatus();
}

}  // namespace drasim
