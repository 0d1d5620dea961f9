#include "sim/app/mig_arguments.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "model/text/mig_catalogue.h"
#include "model/text/mig_table_set.h"

namespace drasim {

absl::Status AtMostArguments(size_t most, const ParsedFlags& flags) {
  if (flags.positional().size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("unexpected argument '", flags.positional()[most], "'"));
}

absl::StatusOr<const MigProduct*> MigProductNamed(const std::string& name) {
  const MigProduct* const product = FindMigProduct(name);
  if (product == nullptr) return UnknownMigProduct(name);
  return product;
}

absl::StatusOr<const MigProduct*> MigProductArgument(const ParsedFlags& flags, size_t most) {
  if (flags.positional().empty()) {
    return absl::InvalidArgumentError(
        "expected a GPU product such as A100-40GB; `drasim mig products` lists them");
  }
  RETURN_IF_ERROR(AtMostArguments(most, flags));
  return MigProductNamed(flags.positional()[0]);
}

absl::StatusOr<MigRules> MigRulesOfDriver(const MigProduct& product, const ParsedFlags& flags) {
  int32_t branch = 0;
  const std::optional<std::string> text = flags.Get("driver");
  if (text.has_value() && (!absl::SimpleAtoi(*text, &branch) || branch < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--driver: found '", *text, "', expected a driver branch such as 550"));
  }
  return RulesOfDriver(product, branch);
}

std::vector<std::string> MigRuleLines(absl::Span<const MigProfile> profiles,
                                      const MigRules& rules) {
  std::vector<std::string> lines;
  if (std::any_of(profiles.begin(), profiles.end(),
                  [](const MigProfile& p) { return p.has_media_extension(); })) {
    lines.emplace_back("At most one instance of a GPU has the media extension (+me).");
  }
  for (const auto& [one, other] : rules.forbidden) {
    lines.push_back(absl::StrCat("A ", one, " and a ", other, " are never on one GPU."));
  }
  if (rules.media_engines) {
    lines.emplace_back("Instances have no more media engines together than the GPU has.");
  }
  return lines;
}

void WriteMigRules(const MigRules& rules, JsonWriter* json) {
  json->Key("forbid").BeginArray();
  for (const auto& [one, other] : rules.forbidden) {
    json->BeginArray().String(one).String(other).EndArray();
  }
  json->EndArray();
  json->Key("engines").Bool(rules.media_engines);
}

}  // namespace drasim
