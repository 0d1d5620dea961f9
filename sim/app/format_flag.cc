#include "sim/app/format_flag.h"

#include <cstdio>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/text/json_writer.h"

namespace drasim {
namespace {

constexpr absl::string_view kFormatFlag = "format";
constexpr absl::string_view kJsonFlag = "json";  // short for --format json

OutputFormat FormatNamed(absl::string_view name) {
  return name == "json"  ? OutputFormat::kJson
         : name == "csv" ? OutputFormat::kCsv
                         : OutputFormat::kText;
}

// "table, json or csv"
std::string ChoicesText(const std::vector<std::string>& choices) {
  if (choices.size() < 2) return absl::StrJoin(choices, "");
  return absl::StrCat(absl::StrJoin(choices.begin(), choices.end() - 1, ", "), " or ",
                      choices.back());
}

}  // namespace

OutputFormat FormatOf(const ParsedFlags& flags) {
  if (flags.Has(kJsonFlag)) return OutputFormat::kJson;
  return FormatNamed(flags.GetOr(kFormatFlag, ""));
}

absl::Status CheckFormat(absl::Span<const FlagSpec> specs, const ParsedFlags& flags) {
  const std::optional<std::string> given = flags.Get(kFormatFlag);
  if (!given.has_value()) return absl::OkStatus();
  for (const FlagSpec& spec : specs) {
    if (spec.name != kFormatFlag) continue;
    const std::vector<std::string> choices = absl::StrSplit(spec.choices, ',');
    for (const std::string& choice : choices) {
      if (choice == *given) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--format: found '", *given, "', expected ", ChoicesText(choices)));
  }
  return absl::OkStatus();
}

OutputFormat FormatAskedFor(const std::vector<std::string>& args) {
  OutputFormat format = OutputFormat::kText;
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view arg = args[i];
    if (arg == "--") break;
    if (!absl::ConsumePrefix(&arg, "-")) continue;
    arg = absl::StripPrefix(arg, "-");
    if (arg == kJsonFlag) return OutputFormat::kJson;
    if (!absl::ConsumePrefix(&arg, kFormatFlag)) continue;
    if (absl::ConsumePrefix(&arg, "=")) {
      format = FormatNamed(arg);
    } else if (arg.empty() && i + 1 < args.size()) {
      format = FormatNamed(args[i + 1]);
    }
  }
  return format;
}

std::string ErrorJson(const absl::Status& status, int exit_code) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginDocument("error");
  json.Key("code").String(absl::AsciiStrToLower(absl::StatusCodeToString(status.code())));
  json.Key("message").String(status.message());
  json.Key("exit_code").Int(exit_code);
  json.EndObject();
  return json.text();
}

void PrintProblem(absl::string_view what, absl::string_view message, OutputFormat format) {
  std::string line = absl::StrCat("drasim: ", what, ": ", message, "\n");
  if (format == OutputFormat::kJson) {
    JsonWriter json(JsonWriter::Layout::kOneLine);
    json.BeginDocument("problem");
    json.Key("problem").String(what);
    json.Key("message").String(message);
    json.EndObject();
    line = json.text();
  }
  std::fputs(line.c_str(), stderr);
}

}  // namespace drasim
