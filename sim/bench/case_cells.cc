#include "sim/bench/case_cells.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"
#include "model/proto/suite.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_writer.h"
#include "policies/allocator/dra_features.h"
#include "sim/sdra/case_worlds.h"
#include "traces/byte_source.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxCaseBytes = size_t{1} << 30;
constexpr size_t kShownDigits = 8;

proto::SuiteCases WrittenCases(const SuiteCases& cases) {
  proto::SuiteCases written;
  if (cases.world.empty()) {
    written.set_kind(cases.kind == CaseKind::kCel ? proto::CASE_FILE_KIND_CEL
                                                  : proto::CASE_FILE_KIND_SDRA);
  }
  written.set_world(cases.world);
  if (cases.size.nodes.has_value()) written.set_nodes(*cases.size.nodes);
  if (cases.size.devices.has_value()) written.set_devices(*cases.size.devices);
  if (cases.size.wanted.has_value()) written.set_wanted(*cases.size.wanted);
  if (cases.size.pods.has_value()) written.set_pods(*cases.size.pods);
  written.set_variant(std::string(VariantName(cases.run.variant)));
  written.set_count_steps(cases.run.count_steps);
  written.set_rounds(cases.run.rounds);
  written.set_cold(cases.run.cold);
  return written;
}

std::string NameInDigests(absl::string_view name) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) {
        return !absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' &&
               c != '-';
      },
      '_');
  return plain;
}

// One case of a text of digests.
struct DigestedCase {
  std::string name;
  std::map<std::string, std::string> fields;

  bool operator==(const DigestedCase&) const = default;
};

std::vector<DigestedCase> ParseDigests(absl::string_view text) {
  std::vector<DigestedCase> cases;
  for (const absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> named =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    DigestedCase& one = cases.emplace_back();
    one.name = std::string(named.first);
    for (const absl::string_view field : absl::StrSplit(named.second, ',', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> digest =
          absl::StrSplit(field, absl::MaxSplits(':', 1));
      one.fields.insert(digest);
    }
  }
  return cases;
}

std::string FieldsThatDiffer(const DigestedCase& base, const DigestedCase& head) {
  std::map<std::string, std::string> all = base.fields;
  all.insert(head.fields.begin(), head.fields.end());
  std::vector<std::string> names;
  for (const auto& [name, digest] : all) {
    const auto before = base.fields.find(name);
    const auto after = head.fields.find(name);
    const bool both = before != base.fields.end() && after != head.fields.end();
    if (!both || before->second != after->second) names.push_back(name);
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<CaseSet> LoadCases(const SuiteCases& cases) {
  if (!cases.world.empty()) return MakeCaseWorld(cases.world, cases.size);
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(cases.file));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxCaseBytes));
  return ReadCaseSet(cases.kind, cases.file, text);
}

absl::StatusOr<CaseAnswers> RunCases(const SuiteCases& cases) {
  ASSIGN_OR_RETURN(const CaseSet set, LoadCases(cases));
  return AnswerCaseSet(set, cases.run);
}

std::string DeciderOf(const SuiteCases& cases) {
  const bool is_cel = cases.kind == CaseKind::kCel;
  return std::string(is_cel ? absl::string_view("cel") : VariantName(cases.run.variant));
}

std::string CasesIdentity(const SuiteCases& cases) { return ToYaml(WrittenCases(cases)); }

std::string SuiteOfCases(const SuiteEntry& entry) {
  proto::Suite suite;
  suite.set_version(1);
  proto::SuiteEntry* const written = suite.add_entries();
  written->set_name(entry.name);
  written->set_tier(static_cast<proto::Tier>(entry.tier));
  written->mutable_primary()->set_metric(entry.primary.metric);
  written->mutable_primary()->set_better(entry.primary.higher_is_better ? proto::BETTER_HIGHER
                                                                        : proto::BETTER_LOWER);
  *written->mutable_cases() = WrittenCases(*entry.cases);
  std::error_code error;
  if (!entry.cases->file.empty()) {
    written->mutable_cases()->set_file(fs::absolute(entry.cases->file, error).string());
  }
  return ToYaml(suite);
}

std::string DigestText(absl::Span<const AnswerDigest> digests) {
  std::string text;
  for (size_t i = 0; i < digests.size(); ++i) {
    const bool begins = i == 0 || digests[i].position != digests[i - 1].position;
    absl::StrAppend(&text, begins && i > 0 ? " " : "",
                    begins ? NameInDigests(digests[i].name) + "=" : ",", digests[i].field, ":",
                    HexHash(digests[i].hash).substr(0, kShownDigits));
  }
  return text;
}

std::string FirstDifference(absl::string_view base, absl::string_view head) {
  const std::vector<DigestedCase> before = ParseDigests(base);
  const std::vector<DigestedCase> after = ParseDigests(head);
  if (before.size() != after.size()) return absl::StrCat(before.size(), " cases -> ", after.size());
  std::string first;
  size_t more = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    if (!first.empty()) {
      ++more;
    } else if (before[i].name != after[i].name) {
      first = absl::StrCat("case ", before[i].name, " -> ", after[i].name);
    } else {
      first = absl::StrCat("case ", before[i].name, " differs in ",
                           FieldsThatDiffer(before[i], after[i]));
    }
  }
  if (more > 0) absl::StrAppend(&first, " (and ", more, more == 1 ? " case more)" : " cases more)");
  return first;
}

}  // namespace drasim::bench
