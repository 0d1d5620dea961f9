// Command lines: flags that are shorthand for scenario keys, declared once for parsing, --help and
// completion.
#ifndef DRASIM_SIM_APP_FLAGS_H_
#define DRASIM_SIM_APP_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim {

struct FlagSpec {
  absl::string_view name;   // without the dashes
  absl::string_view key;    // the scenario key that it sets; empty: the command's own
  absl::string_view value;  // placeholder in --help; empty: a switch without value
  absl::string_view help;
  absl::string_view choices = "";  // comma-separated, for help and completion
  bool on_off = false;             // on and off stand for true and false of the key
};

struct GivenFlag {
  FlagSpec spec;
  std::string value;  // "true" for a switch
};

// The flags and positional arguments of one command line, in order.
class ParsedFlags {
 public:
  bool Has(absl::string_view name) const { return Get(name).has_value(); }
  // The last value given.
  std::optional<std::string> Get(absl::string_view name) const;
  std::string GetOr(absl::string_view name, absl::string_view fallback) const;
  std::vector<std::string> All(absl::string_view name) const;
  const std::vector<GivenFlag>& given() const { return given_; }
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  friend absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const FlagSpec>,
                                                const std::vector<std::string>&);
  std::vector<GivenFlag> given_;
  std::vector<std::string> positional_;
};

// Accepts --name=value, --name value, and --switch. "--" ends the flags; "-" is a positional
// argument. InvalidArgument for unknown flags (did you mean), missing values and values for
// switches. The result keeps copies of the specs; their texts must outlive it.
absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const FlagSpec> specs,
                                       const std::vector<std::string>& args);

// A line or two per flag, aligned, with the scenario key in brackets.
std::string FlagHelp(absl::Span<const FlagSpec> specs);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_FLAGS_H_
