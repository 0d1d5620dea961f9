#include "traces/formats.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "traces/google_source.h"
#include "traces/google_subtrace_source.h"
#include "traces/pai_source.h"
#include "traces/philly_source.h"

namespace drasim {
namespace {

std::string TableNames(const SpecialFormat& format) {
  if (format.tables.empty()) return "none";
  return absl::StrJoin(format.tables, ", ", [](std::string* out, const FormatTable& table) {
    absl::StrAppend(out, table.name);
  });
}

absl::Status CheckTables(const SpecialFormat& format, const FormatInput& input) {
  for (const auto& given : input.tables) {
    const auto known =
        std::find_if(format.tables.begin(), format.tables.end(),
                     [&given](const FormatTable& table) { return table.name == given.first; });
    if (known == format.tables.end()) {
      return absl::InvalidArgumentError(absl::StrCat("tables: found '", given.first,
                                                     "', expected for format '", format.name,
                                                     "': ", TableNames(format)));
    }
  }
  for (const FormatTable& table : format.tables) {
    if (!table.required || input.tables.contains(table.name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("tables: found no '", table.name,
                                                   "', expected the path of ", table.description,
                                                   ", which format '", format.name, "' needs"));
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<SpecialFormat>& SpecialFormats() {
  static const auto* const kFormats = new std::vector<SpecialFormat>{
      GoogleTaskEventsFormat(),
      GoogleSubtraceFormat(),
      PaiFormat(),
      PhillyFormat(),
  };
  return *kFormats;
}

const SpecialFormat* FindSpecialFormat(absl::string_view name) {
  for (const SpecialFormat& format : SpecialFormats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<TraceFormatSource>> OpenSpecialFormat(absl::string_view name,
                                                                     const FormatInput& input) {
  DRASIM_CHECK(input.shapes != nullptr);
  const SpecialFormat* const format = FindSpecialFormat(name);
  if (format == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "format: found '", name, "', expected one of ",
        absl::StrJoin(SpecialFormats(), ", ", [](std::string* out, const SpecialFormat& each) {
          absl::StrAppend(out, each.name);
        })));
  }
  RETURN_IF_ERROR(CheckTables(*format, input));
  return format->open(input);
}

}  // namespace drasim
