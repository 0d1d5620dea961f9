// The process around the command line: memory, file sizes, standard streams.
#ifndef DRASIM_SIM_APP_PROCESS_H_
#define DRASIM_SIM_APP_PROCESS_H_

namespace drasim {

// Call it once, before anything else. From then on
//   * lack of memory in any thread ends the process with one line and kExitFailed;
//   * a write beyond the limit on file sizes fails like a full disk instead of killing the process;
//   * no opened file takes the descriptor of a standard stream that the caller has closed.
void PrepareProcess();

}  // namespace drasim

#endif  // DRASIM_SIM_APP_PROCESS_H_
