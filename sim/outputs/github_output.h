// Results as workflow commands of GitHub Actions, which annotate files in a pull request.
#ifndef DRASIM_SIM_OUTPUTS_GITHUB_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_GITHUB_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// A line "::error file=F,line=L,title=T::MESSAGE" for each check that failed or is missing, and
// "::warning ..." for each that changed. Empty if all passed. Print it on standard output.
// Rule: docs.github.com, "Workflow commands for GitHub Actions", with the escapes of
// actions/toolkit (packages/core/src/command.ts).
std::string GithubAnnotations(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_GITHUB_OUTPUT_H_
