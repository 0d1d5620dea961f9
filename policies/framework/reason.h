// Reasons of plugins: what they are about, and their texts.
#ifndef DRASIM_POLICIES_FRAMEWORK_REASON_H_
#define DRASIM_POLICIES_FRAMEWORK_REASON_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/reason_kind.h"

namespace drasim {

// An index into a list of reasons, from 1 on: of a plugin (local) or of a profile. 0: no reason,
// the node fits.
using ReasonIndex = uint8_t;
inline constexpr ReasonIndex kFits = 0;

struct Reason {
  ReasonKind kind = ReasonKind::kOther;
  absl::string_view text;  // fixed, in kube-scheduler's words: "Insufficient cpu"
  bool operator==(const Reason&) const = default;
};

// The text by which a profile lists a reason: the reason's own, unless a test rewrites it.
std::string ListedText(absl::string_view text);

// For tests: rewrites the texts of all reasons while it lives. Texts may become equal or empty; no
// decision, comparison or explanation may take another course. At most one at a time, created
// before and destroyed after the runs that it covers.
//
//   const ScopedReasonTexts edited([](absl::string_view text) { return absl::StrCat(text, "!"); });
//   ... = Simulation::Build(spec);
class ScopedReasonTexts {
 public:
  using Rewrite = std::string (*)(absl::string_view text);
  explicit ScopedReasonTexts(Rewrite rewrite);
  ~ScopedReasonTexts();
  ScopedReasonTexts(const ScopedReasonTexts&) = delete;
  ScopedReasonTexts& operator=(const ScopedReasonTexts&) = delete;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_REASON_H_
