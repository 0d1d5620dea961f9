#include "policies/framework/reason.h"

#include <atomic>

#include "model/check.h"

namespace drasim {
namespace {

// Runs on several threads read it; constant-initialised.
std::atomic<ScopedReasonTexts::Rewrite> rewrite_of_reasons{nullptr};

}  // namespace

std::string ListedText(absl::string_view text) {
  const ScopedReasonTexts::Rewrite rewrite = rewrite_of_reasons.load();
  return rewrite == nullptr ? std::string(text) : rewrite(text);
}

ScopedReasonTexts::ScopedReasonTexts(Rewrite rewrite) {
  DRASIM_CHECK(rewrite_of_reasons.exchange(rewrite) == nullptr);
}

ScopedReasonTexts::~ScopedReasonTexts() { rewrite_of_reasons.store(nullptr); }

}  // namespace drasim
