// drasim: parse the command line, run it, map the status to an exit code.

#include <string>
#include <vector>

#include "sim/app/cli.h"
#include "sim/app/process.h"

int main(int argc, char** argv) {
  drasim::PrepareProcess();
  return drasim::RunCli(std::vector<std::string>(argv + 1, argv + argc));
}
