// Types of unquoted YAML words as kubectl reads them, and numbers as Kubernetes writes them in
// JSON.
//
// kubectl reads YAML 1.1 through sigs.k8s.io/yaml (goyaml.v2): `yes` is a boolean there and 010 is
// eight, but 12:30 is a text. Its printer quotes what its reader would not take for a text, so both
// directions need the same rules.
#ifndef DRASIM_MODEL_KUBE_SCALAR_H_
#define DRASIM_MODEL_KUBE_SCALAR_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

enum class KubeWordKind : uint8_t {
  kText,
  kTimestamp,  // a text in JSON, but quoted by the printer
  kNull,
  kBoolean,
  kInteger,
  kFloat,
};

struct KubeWord {
  KubeWordKind kind = KubeWordKind::kText;
  // A boolean is "true" or "false", an integer decimal digits without leading zeros, a float the
  // shortest digits in the form of Go's JSON encoder ("0.5", "1e+21"); else the word as it is.
  std::string text;
};

// `word` is not quoted. Linear in its length.
KubeWord ResolveKubeWord(absl::string_view word);

// Whether kubectl's printer writes the text `text` without quotes as far as its meaning goes; its
// characters may still ask for some.
bool IsKubeText(absl::string_view text);

// A finite number as Go's JSON encoder writes it: shortest digits that read back, with an exponent
// below 1e-6 and from 1e21 on.
std::string GoNumber(double value);

// Whether `text` is a point of time as RFC 3339 has it: "2024-02-29T12:00:00Z", with a fraction or
// an offset if need be.
bool IsRfc3339(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SCALAR_H_
