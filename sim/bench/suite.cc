#include "sim/bench/suite.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/proto/suite.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "policies/allocator/dra_features.h"
#include "sim/bench/bench_metrics.h"
#include "sim/scenario/comparison.h"
#include "traces/byte_source.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSuiteBytes = 4u << 20;
constexpr absl::string_view kTierNames[] = {"smoke", "pr", "nightly"};
constexpr size_t kSha256Digits = 64;
constexpr int64_t kMostRounds = 1'000'000'000;

bool IsName(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-';
  });
}

bool IsSha256(absl::string_view text) {
  return text.size() == kSha256Digits && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
         });
}

// A path in the suite's file, as seen from the working directory.
std::string Anchored(const std::string& suite_file, const std::string& path) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  return (fs::path(suite_file).parent_path() / path).string();
}

absl::StatusOr<Primary> PrimaryOf(const proto::SuiteEntry& entry, const std::string& key) {
  const proto::PrimaryMetric& written = entry.primary();
  // A missing key has no place in the file, so the error names its parent.
  if (written.metric().empty())
    return KeyError(absl::StrCat(key, ".primary"), "found no metric, expected its name");
  const absl::StatusOr<BenchMetric> metric = FindBenchMetric(written.metric());
  if (!metric.ok())
    return KeyError(absl::StrCat(key, ".primary.metric"), metric.status().message());
  if (metric->of_cases != entry.has_cases()) {
    return KeyError(absl::StrCat(key, ".primary.metric"),
                    absl::StrCat("found ", written.metric(), ", expected a metric of ",
                                 entry.has_cases() ? "cases" : "scenarios"));
  }
  Primary primary;
  primary.metric = written.metric();
  primary.higher_is_better = metric->more_is_better;
  const std::string better_key = absl::StrCat(key, ".primary.better");
  const absl::string_view expected = metric->more_is_better ? "higher" : "lower";
  if (!written.has_better()) {
    return KeyError(absl::StrCat(key, ".primary"),
                    absl::StrCat("found no better, expected ", expected, " for ", primary.metric));
  }
  // A wrong direction would turn the gate around without anybody noticing.
  if ((written.better() == proto::BETTER_HIGHER) != metric->more_is_better) {
    return KeyError(better_key, absl::StrCat("found ", metric->more_is_better ? "lower" : "higher",
                                             ", expected ", expected, " for ", primary.metric));
  }
  const std::string margin_key = absl::StrCat(key, ".primary.margin");
  const absl::StatusOr<Margin> margin = ParseMargin(written.margin(), "");
  if (!margin.ok()) return KeyError(margin_key, margin.status().message());
  primary.margin = *margin;
  return primary;
}

// Keys that have no meaning beside cases.
absl::Status CheckBesideCases(const proto::SuiteEntry& written, const std::string& key) {
  const std::pair<const char*, bool> keys[] = {
      {"scenario", !written.scenario().empty()}, {"set", written.set_size() > 0},
      {"policies", written.policies_size() > 0}, {"queues", written.queues_size() > 0},
      {"seeds", !written.seeds().empty()},       {"world", !written.world().empty()}};
  for (const auto& [name, given] : keys) {
    if (given)
      return KeyError(absl::StrCat(key, ".", name), "found it, expected none beside cases");
  }
  return absl::OkStatus();
}

// A number that only one of the two sources of cases has.
std::optional<int64_t> NumberOf(bool has, int64_t number) {
  return has ? std::optional<int64_t>(number) : std::nullopt;
}

absl::StatusOr<SuiteCases> CasesOf(const proto::SuiteCases& written, const std::string& file,
                                   const std::string& key) {
  SuiteCases cases;
  if (written.file().empty() == written.world().empty()) {
    return KeyError(key, absl::StrCat(written.file().empty() ? "found neither file nor world"
                                                             : "found both file and world",
                                      ", expected one of them"));
  }
  cases.file = Anchored(file, written.file());
  cases.world = written.world();
  if (written.has_kind() && cases.file.empty()) {
    return KeyError(absl::StrCat(key, ".kind"), "found it, expected none beside world");
  }
  cases.kind = written.kind() == proto::CASE_FILE_KIND_CEL ? CaseKind::kCel : CaseKind::kSdra;
  cases.size = {NumberOf(written.has_nodes(), written.nodes()),
                NumberOf(written.has_devices(), written.devices()),
                NumberOf(written.has_wanted(), written.wanted()),
                NumberOf(written.has_pods(), written.pods())};
  if (!cases.world.empty()) {
    const absl::StatusOr<CaseKind> kind = CheckCaseWorld(cases.world, cases.size);
    if (!kind.ok()) {
      const std::string number = KeyOfError(kind.status());
      return KeyError(absl::StrCat(key, ".", number),
                      absl::StripPrefix(kind.status().message(), absl::StrCat(number, ": ")));
    }
    cases.kind = *kind;
  } else if (written.has_nodes() || written.has_devices() || written.has_wanted() ||
             written.has_pods()) {
    return KeyError(key,
                    "found the size of a world beside file, expected neither nodes nor "
                    "devices, wanted and pods");
  }
  if (!written.variant().empty()) {
    const absl::StatusOr<AllocatorVariant> variant = ParseAllocatorVariant(written.variant());
    if (!variant.ok()) {
      return KeyError(absl::StrCat(key, ".variant"), variant.status().message());
    }
    cases.run.variant = *variant;
  }
  cases.run.count_steps = written.count_steps();
  cases.run.cold = written.cold();
  if (written.has_rounds()) {
    cases.run.rounds = written.rounds();
    if (cases.run.rounds < 1 || cases.run.rounds > kMostRounds) {
      return KeyError(
          absl::StrCat(key, ".rounds"),
          absl::StrCat("found ", cases.run.rounds, ", expected a number from 1 to ", kMostRounds));
    }
  }
  return cases;
}

absl::StatusOr<SuiteEntry> EntryOf(const proto::SuiteEntry& written, const std::string& file,
                                   const std::string& key) {
  SuiteEntry entry;
  entry.name = written.name();
  if (!IsName(entry.name)) {
    return KeyError(
        absl::StrCat(key, ".name"),
        absl::StrCat("found '", entry.name, "', expected lower-case letters, digits and dashes"));
  }
  if (!written.has_tier())
    return KeyError(absl::StrCat(key, ".tier"), "found none, expected smoke, pr or nightly");
  entry.tier = static_cast<Tier>(written.tier());
  ASSIGN_OR_RETURN(entry.primary, PrimaryOf(written, key));
  if (written.has_cases()) {
    RETURN_IF_ERROR(CheckBesideCases(written, key));
    ASSIGN_OR_RETURN(entry.cases, CasesOf(written.cases(), file, absl::StrCat(key, ".cases")));
  }
  entry.scenario = Anchored(file, written.scenario());
  entry.settings.assign(written.set().begin(), written.set().end());
  for (int i = 0; i < written.set_size(); ++i) {
    if (absl::string_view(written.set(i)).find('=') != absl::string_view::npos) continue;
    return KeyError(absl::StrCat(key, ".set.", i),
                    absl::StrCat("found '", written.set(i), "', expected KEY=VALUE"));
  }
  entry.cost = written.cost();
  entry.world = written.world();
  if (!entry.world.empty() && written.policies_size() + written.queues_size() > 0) {
    return KeyError(absl::StrCat(key, ".world"),
                    "expected neither policies nor queues beside it; worlds have kube-scheduler's "
                    "queue, and the policy of scheduler.policy");
  }
  entry.policies.assign(written.policies().begin(), written.policies().end());
  entry.queues.assign(written.queues().begin(), written.queues().end());
  if (!written.seeds().empty()) {
    const absl::StatusOr<std::vector<uint64_t>> seeds = ParseSeeds(written.seeds());
    if (!seeds.ok()) return KeyError(absl::StrCat(key, ".seeds"), seeds.status().message());
    entry.seeds = *seeds;
    std::set<uint64_t> seen;
    for (const uint64_t seed : entry.seeds) {
      if (seen.insert(seed).second) continue;
      return KeyError(absl::StrCat(key, ".seeds"),
                      absl::StrCat("found ", seed, " twice, expected each seed once"));
    }
  }
  for (int i = 0; i < written.inputs_size(); ++i) {
    const proto::SuiteInput& input = written.inputs(i);
    const std::string input_key = absl::StrCat(key, ".inputs.", i);
    if (input.path().empty())
      return KeyError(absl::StrCat(input_key, ".path"), "found none, expected a file");
    if (!IsSha256(input.sha256())) {
      return KeyError(
          absl::StrCat(input_key, ".sha256"),
          absl::StrCat("found '", input.sha256(), "', expected 64 lower-case hexadecimal digits"));
    }
    entry.inputs.push_back({Anchored(file, input.path()), input.sha256()});
  }
  return entry;
}

absl::Status AddEntries(const proto::Suite& written, Suite* suite) {
  if (!written.has_version() || written.version() < 1)
    return KeyError("version", "expected a number from 1 on");
  suite->version = written.version();
  if (written.entries_size() == 0) return KeyError("entries", "expected at least one");
  std::set<std::string> names;
  for (int i = 0; i < written.entries_size(); ++i) {
    const std::string key = absl::StrCat("entries.", i);
    ASSIGN_OR_RETURN(SuiteEntry entry, EntryOf(written.entries(i), suite->file, key));
    if (!names.insert(entry.name).second) {
      return KeyError(
          absl::StrCat(key, ".name"),
          absl::StrCat("found '", entry.name, "' a second time, expected unique names"));
    }
    suite->entries.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view TierName(Tier tier) { return kTierNames[static_cast<size_t>(tier)]; }

absl::StatusOr<Tier> ParseTier(absl::string_view text, absl::string_view origin) {
  for (const Tier tier : {Tier::kSmoke, Tier::kPr, Tier::kNightly}) {
    if (text == TierName(tier)) return tier;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(origin, ": found '", text, "', expected smoke, pr or nightly"));
}

double Margin::Of(double base_mean) const {
  return percent ? std::fabs(base_mean) * value / 100 : value;
}

std::string Margin::Text() const { return DoubleText(value) + (percent ? "%" : ""); }

absl::StatusOr<Margin> ParseMargin(absl::string_view text, absl::string_view origin) {
  Margin margin;
  absl::string_view number = text;
  margin.percent = absl::ConsumeSuffix(&number, "%");
  if (text.empty()) return margin;
  if (!absl::SimpleAtod(number, &margin.value) || !std::isfinite(margin.value) ||
      std::signbit(margin.value)) {
    return absl::InvalidArgumentError(
        absl::StrCat(origin, origin.empty() ? "" : ": ", "found '", text,
                     "', expected a number from 0 on, or a percentage such as 1%"));
  }
  return margin;
}

absl::StatusOr<Suite> ReadSuite(const std::string& path) {
  Suite suite;
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  suite.file = source->name();
  suite.name = fs::path(path).stem().string();
  ASSIGN_OR_RETURN(suite.text, ReadAll(*source, kMaxSuiteBytes));
  proto::Suite written;
  RETURN_IF_ERROR(MergeYaml(suite.text, suite.file, &written));
  RETURN_IF_ERROR(InSuite(suite, AddEntries(written, &suite)));
  return suite;
}

absl::Status InSuite(const Suite& suite, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string key = KeyOfError(status);
  const std::string place = key.empty() ? "" : LocateField(suite.text, suite.file, key);
  return absl::Status(status.code(),
                      absl::StrCat(place.empty() ? suite.file : place, ": ", status.message()));
}

}  // namespace drasim::bench
