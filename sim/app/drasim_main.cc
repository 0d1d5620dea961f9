#include "sim/app/drasim_main.h"

#include <string>
#include <vector>

#include "sim/app/cli.h"
#include "sim/app/process.h"
#include "sim/scenario/scheduler_spec.h"

namespace drasim {

int Main(int argc, char** argv, const Registrar& registrar) {
  PrepareProcess();
  if (registrar != nullptr) AddToBuiltinRegistry(registrar);
  return RunCli(std::vector<std::string>(argv + 1, argv + argc));
}

}  // namespace drasim
