// Results as GitHub-flavoured Markdown, such as for the file $GITHUB_STEP_SUMMARY.
#ifndef DRASIM_SIM_OUTPUTS_MARKDOWN_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_MARKDOWN_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// A heading, the summary, the checks that did not pass, and the tables; other text as a code block.
// Pipes, angle brackets and line ends in cells are escaped. Ends with an empty line, so that
// outputs can be appended to one another.
std::string MarkdownOutput(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_MARKDOWN_OUTPUT_H_
