// drasim validate.

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/app/commands.h"
#include "sim/app/simulation.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"

namespace drasim {
namespace {

// A mapping file is told from a scenario by its top-level pods or nodes section.
bool LooksLikeMapping(absl::string_view text) {
  for (absl::string_view key : {"pods:", "nodes:"}) {
    if (text.substr(0, key.size()) == key ||
        text.find(absl::StrCat("\n", key)) != absl::string_view::npos)
      return true;
  }
  return false;
}

absl::Status ValidateOne(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(path);
  if (!source.ok()) return source.status();
  absl::StatusOr<std::string> text = ReadAll(**source, kMaxScenarioBytes);
  if (!text.ok()) return text.status();
  const std::string name = (*source)->name();
  if (LooksLikeMapping(*text)) {
    absl::StatusOr<proto::TableMapping> mapping = ParseMappingFile(*text, name);
    if (!mapping.ok()) return mapping.status();
    std::printf("%s: a valid mapping\n", name.c_str());
    return absl::OkStatus();
  }
  GivenScenario given;
  given.file = name;
  given.text = *text;
  if (absl::Status s = ParseGiven(&given); !s.ok()) return s;
  if (absl::Status s = ResolveGiven(&given); !s.ok()) {
    const bool placed = s.message().substr(0, name.size()) == name;
    return placed ? s : absl::InvalidArgumentError(absl::StrCat(name, ": ", s.message()));
  }
  std::printf("%s: a valid scenario\n", name.c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateCommand(const ParsedFlags& flags) {
  if (flags.positional().empty())
    return absl::InvalidArgumentError("validate needs at least one file");
  for (const std::string& path : flags.positional()) {
    if (absl::Status s = ValidateOne(path); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace drasim
