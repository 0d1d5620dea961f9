// The drasim command line: finds the command, parses its flags, prints help and errors.
#ifndef DRASIM_SIM_APP_CLI_H_
#define DRASIM_SIM_APP_CLI_H_

#include <string>
#include <vector>

namespace drasim {

// Runs a command line without the program's name; prints errors to standard error. Returns the exit
// code of exit_codes.h. It is not kExitOk if part of the output could not be written to standard
// output.
int RunCli(const std::vector<std::string>& args);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_CLI_H_
