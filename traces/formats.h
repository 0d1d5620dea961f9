// The trace formats that need code of their own because no one-table mapping can express them.
//
// A new one is a file pair with a class derived from TraceFormatSource and a function that returns
// its SpecialFormat, a test, and one line in formats.cc.
#ifndef DRASIM_TRACES_FORMATS_H_
#define DRASIM_TRACES_FORMATS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/format_source.h"

namespace drasim {

// All of them, sorted by name.
const std::vector<SpecialFormat>& SpecialFormats();

// Null when there is no special format of this name.
const SpecialFormat* FindSpecialFormat(absl::string_view name);

// Checks that the tables given are those that the format has, then opens. Errors: NotFound for an
// unknown format; InvalidArgument, which begins with "tables: ", for a table that is missing or
// unknown; those of the format and of OpenByteSource. REQUIRES: input.shapes is not null.
absl::StatusOr<std::unique_ptr<TraceFormatSource>> OpenSpecialFormat(absl::string_view name,
                                                                     const FormatInput& input);

}  // namespace drasim

#endif  // DRASIM_TRACES_FORMATS_H_
