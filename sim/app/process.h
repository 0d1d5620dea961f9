// The process around the command line.
#ifndef DRASIM_SIM_APP_PROCESS_H_
#define DRASIM_SIM_APP_PROCESS_H_

namespace drasim {

// Called once, before anything else. From then on
//   * lack of memory, in whatever thread, ends the process with one line and kExitFailed;
//   * a write beyond the limit on a file's size fails as on a full disk, instead of killing it;
//   * no file that is opened takes the place of a standard stream that the caller has closed.
void PrepareProcess();

}  // namespace drasim

#endif  // DRASIM_SIM_APP_PROCESS_H_
