#include "model/key_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

constexpr absl::string_view kKeyPayload = "drasim/scenario-key";

}  // namespace

absl::Status KeyError(absl::string_view key, absl::string_view what) {
  return WithKey(key, absl::InvalidArgumentError(absl::StrCat(key, ": ", what)));
}

absl::Status WithKey(absl::string_view key, absl::Status status) {
  status.SetPayload(kKeyPayload, absl::Cord(key));  // no effect on OK
  return status;
}

absl::Status BelowKey(absl::string_view parent, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string key = KeyOfError(status);
  if (key.empty()) return KeyError(parent, status.message());
  const std::string whole = absl::StrCat(parent, ".", key);
  return WithKey(whole, absl::InvalidArgumentError(absl::StrCat(parent, ".", status.message())));
}

std::string KeyOfError(const absl::Status& status) {
  const auto key = status.GetPayload(kKeyPayload);
  return key.has_value() ? std::string(*key) : std::string();
}

}  // namespace drasim
