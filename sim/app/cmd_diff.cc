// drasim diff: where two ledgers part.

#include <bit>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/hash.h"
#include "sim/app/cli.h"
#include "sim/app/commands.h"
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
    const PodShape& s = ledger.cluster().pod_shape(r.pod);
    absl::StrAppend(&text, "  (", s.cpu_milli, "m CPU, ", s.memory_bytes, " B, ", s.gpu_count,
                    " x ", s.gpu_milli, "m GPU", s.gpu_spec.empty() ? "" : " of ", s.gpu_spec, ")");
  }
  if (r.node.valid()) absl::StrAppend(&text, "  node ", ledger.cluster().node_spec(r.node).name);
  for (uint32_t rest = r.devices; rest != 0; rest &= rest - 1)
    absl::StrAppend(&text, " gpu", std::countr_zero(rest));
  if (r.kind == RecordKind::kAttemptFailed)
    absl::StrAppend(&text, "  ", ledger.summaries().Text(SummaryId(r.detail)));
  return text;
}

}  // namespace

absl::Status DiffCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 2)
    return absl::InvalidArgumentError("diff needs two ledgers (files or run folders)");
  std::unique_ptr<LedgerReader> ledgers[2];
  for (size_t i = 0; i < 2; ++i) {
    absl::StatusOr<std::unique_ptr<LedgerReader>> opened =
        LedgerReader::Open(flags.positional()[i]);
    if (!opened.ok()) return opened.status();
    ledgers[i] = *std::move(opened);
  }
  while (true) {
    Record records[2];
    bool more[2];
    for (size_t i = 0; i < 2; ++i) {
      absl::StatusOr<bool> next = ledgers[i]->Next(&records[i]);
      if (!next.ok()) return next.status();
      more[i] = *next;
    }
    if (!more[0] && !more[1]) break;
    std::string text[2];
    for (size_t i = 0; i < 2; ++i) {
      text[i] = more[i] ? Describe(records[i], *ledgers[i])
                        : absl::StrCat("(the ledger ends here",
                                       ledgers[i]->complete() ? "" : "; it is partial", ")");
    }
    if (text[0] == text[1]) continue;
    std::printf("first divergence at record %llu\n< %s\n> %s\n",
                static_cast<unsigned long long>(ledgers[more[0] ? 0 : 1]->records()),
                text[0].c_str(), text[1].c_str());
    return QuietFailure();
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
