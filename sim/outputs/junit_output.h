// Results as JUnit's XML, which CI systems show as a list of tests.
#ifndef DRASIM_SIM_OUTPUTS_JUNIT_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_JUNIT_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// One testsuite for each group, in the order of first occurrence, with a testcase for each check. A
// check that changed or failed is a failure, one that is missing an error. Characters that XML 1.0
// does not have become U+FFFD. The format is that of the Jenkins plugin's schema (junit-10.xsd).
std::string JunitXml(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_JUNIT_OUTPUT_H_
