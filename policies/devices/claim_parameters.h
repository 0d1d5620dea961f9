// Typed access to the fields of a classic DRA parameters object.
#ifndef DRASIM_POLICIES_DEVICES_CLAIM_PARAMETERS_H_
#define DRASIM_POLICIES_DEVICES_CLAIM_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/kube/objects.h"

namespace drasim {

// Paths leave out "spec." and use dots only: "selector.andExpression.0.productName"; the object may
// also have them with "spec." and with "[0]". Errors are InvalidArgument and name the object, the
// path, what was expected and what was found.
class ParameterFields {
 public:
  // Null: no fields.
  explicit ParameterFields(const ParametersObject* object);

  bool given() const { return object_ != nullptr; }
  absl::string_view kind() const;
  // In the object's order, without metadata.
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }
  // Null when the field is absent.
  const std::string* Find(absl::string_view path) const;
  // True when any path begins with `prefix`.
  bool HasPrefix(absl::string_view prefix) const;

  // These leave `*out` unchanged when the field is absent.
  absl::Status ReadInt(absl::string_view path, int64_t least, int64_t most, int64_t* out) const;
  absl::Status ReadBool(absl::string_view path, bool* out) const;
  absl::Status ReadWord(absl::string_view path, const std::vector<absl::string_view>& words,
                        std::string* out) const;

  // The error of one field; REQUIRES given().
  absl::Status Wrong(absl::string_view path, absl::string_view expected) const;

  // An error for an object of another API group. No object, and "group/version", pass.
  absl::Status CheckGroup(absl::string_view group) const;

 private:
  const ParametersObject* object_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

// In double quotes, with backslashes as JSON requires.
std::string JsonQuoted(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_CLAIM_PARAMETERS_H_
