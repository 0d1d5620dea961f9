// The whole program `drasim`, for projects that add policies, queues or device choosers of their
// own:
//
//   // my_drasim.cc, linked with drasim::sim_app of find_package(drasim)
//   #include "sim/app/drasim_main.h"
//
//   void RegisterMine(drasim::Registry& registry) {
//     registry.AddPlugin("Mine",
//                        [](const drasim::PolicyContext&) { return std::make_unique<Mine>(); });
//     registry.AddPolicy({"mine", "what it prefers", {{"Mine", 1}}, "best"});
//   }
//
//   int main(int argc, char** argv) { return drasim::Main(argc, argv, RegisterMine); }
#ifndef DRASIM_SIM_APP_DRASIM_MAIN_H_
#define DRASIM_SIM_APP_DRASIM_MAIN_H_

#include <functional>

#include "policies/framework/registry.h"

namespace drasim {

// Adds to a registry that has all that is built in. A name that is taken ends the program.
using Registrar = std::function<void(Registry& registry)>;

// Runs the command line and returns the exit code of the process. What `registrar` adds takes part
// in every command: scenarios, comparisons, suites, --help. To be called once, by main.
int Main(int argc, char** argv, const Registrar& registrar = nullptr);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_DRASIM_MAIN_H_
