#include "sim/app/flags.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/text/did_you_mean.h"

namespace drasim {

std::optional<std::string> ParsedFlags::Get(absl::string_view name) const {
  for (size_t i = given_.size(); i-- > 0;) {
    if (given_[i].spec.name == name) return given_[i].value;
  }
  return std::nullopt;
}

std::string ParsedFlags::GetOr(absl::string_view name, absl::string_view fallback) const {
  const std::optional<std::string> value = Get(name);
  return value.has_value() ? *value : std::string(fallback);
}

std::vector<std::string> ParsedFlags::All(absl::string_view name) const {
  std::vector<std::string> values;
  for (const GivenFlag& given : given_) {
    if (given.spec.name == name) values.push_back(given.value);
  }
  return values;
}

absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const FlagSpec> specs,
                                       const std::vector<std::string>& args) {
  ParsedFlags parsed;
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view arg = args[i];
    if (arg == "--") {
      parsed.positional_.insert(parsed.positional_.end(),
                                args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (arg == "-h") arg = "--help";
    if (arg.size() < 2 || arg[0] != '-') {
      parsed.positional_.emplace_back(arg);
      continue;
    }
    const absl::string_view body = absl::StripPrefix(absl::StripPrefix(arg, "-"), "-");
    const size_t equals = body.find('=');
    const absl::string_view name = body.substr(0, equals);
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const FlagSpec& s) { return s.name == name; });
    if (spec == specs.end() || arg.size() == body.size() + 1) {
      std::vector<std::string> known;
      for (const FlagSpec& s : specs) known.push_back(absl::StrCat("--", s.name));
      return absl::InvalidArgumentError(absl::StrCat("unknown flag ", arg.substr(0, arg.find('=')),
                                                     Suggest(absl::StrCat("--", name), known)));
    }
    std::string value = "true";
    if (equals != absl::string_view::npos) {
      value = std::string(body.substr(equals + 1));
      if (spec->value.empty() && value != "true" && value != "false") {
        return absl::InvalidArgumentError(
            absl::StrCat("--", name, " is a switch and takes no value"));
      }
    } else if (!spec->value.empty()) {
      if (i + 1 == args.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", name, " needs a value: ", spec->value));
      }
      value = args[++i];
    }
    if (spec->value.empty() && value == "false") {
      auto& given = parsed.given_;
      given.erase(std::remove_if(given.begin(), given.end(),
                                 [&](const GivenFlag& g) { return g.spec.name == name; }),
                  given.end());
      continue;
    }
    parsed.given_.push_back({*spec, std::move(value)});
  }
  return parsed;
}

std::string FlagHelp(absl::Span<const FlagSpec> specs) {
  std::string text;
  for (const FlagSpec& s : specs) {
    std::string left = absl::StrCat("  --", s.name, s.value.empty() ? "" : " ", s.value);
    if (left.size() < 28) {
      left.resize(28, ' ');
    } else {
      left += "\n" + std::string(28, ' ');
    }
    absl::StrAppend(&text, left, s.help);
    if (!s.choices.empty())
      absl::StrAppend(&text, ": ", absl::StrJoin(absl::StrSplit(s.choices, ','), ", "));
    if (!s.key.empty()) absl::StrAppend(&text, " [", s.key, "]");
    text.push_back('\n');
  }
  return text;
}

}  // namespace drasim
