// Errors about values of scenario keys (model/key_error.h): every message begins with the key.
#ifndef DRASIM_SIM_SCENARIO_FIELD_ERRORS_H_
#define DRASIM_SIM_SCENARIO_FIELD_ERRORS_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"

namespace drasim {

// The error with the key in front, as InvalidArgument.
inline absl::Status UnderKey(absl::string_view key, const absl::Status& status) {
  return KeyError(key, status.message());
}

// OK if `value` is in `known`; otherwise InvalidArgument with the known values and the nearest one.
inline absl::Status CheckChoice(absl::string_view key, const std::string& value,
                                const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  return KeyError(key, absl::StrCat("found '", value, "', expected one of ",
                                    absl::StrJoin(known, ", "), Suggest(value, known)));
}

// The index of `value` in `known`; 0 for an empty value.
inline absl::StatusOr<size_t> ChoiceOf(absl::string_view key, const std::string& value,
                                       const std::vector<std::string>& known) {
  if (value.empty()) return size_t{0};
  RETURN_IF_ERROR(CheckChoice(key, value, known));
  return static_cast<size_t>(std::find(known.begin(), known.end(), value) - known.begin());
}

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_FIELD_ERRORS_H_
