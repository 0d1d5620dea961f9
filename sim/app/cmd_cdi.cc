// drasim cdi: the CDI specifications of a pod's claims.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/explain/cdi_of_pod.h"
#include "sim/scenario/duration_text.h"

namespace drasim {

absl::Status CdiCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1 || !flags.Has("pod") || flags.Get("pod")->empty()) {
    return absl::InvalidArgumentError(
        "cdi needs one run (its folder or its ledger) and --pod NAMESPACE/NAME");
  }
  CdiRequest request;
  request.path = flags.positional()[0];
  request.pod = *flags.Get("pod");
  if (flags.Has("at")) {
    const absl::StatusOr<SimDuration> at = ParseDuration(*flags.Get("at"));
    if (!at.ok() || flags.Get("at")->empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--at: found '", *flags.Get("at"), "', expected a duration such as 5ms, 1.5s or 2h"));
    }
    request.at = SimTime(at->ns());
  }
  ASSIGN_OR_RETURN(const PodCdi cdi, CdiOfPod(request));
  for (const std::string& warning : cdi.warnings) {
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  }
  std::vector<std::string> texts;
  for (const CdiSpec& spec : cdi.specs) {
    texts.emplace_back(absl::StripSuffix(CdiSpecJson(spec), "\n"));
  }
  const std::string text = absl::StrJoin(texts, ",\n");
  std::printf("%s\n", (texts.size() == 1 ? text : absl::StrCat("[\n", text, "\n]")).c_str());
  return absl::OkStatus();
}

}  // namespace drasim
