#include "sim/app/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <new>

#include "absl/strings/string_view.h"
#include "sim/app/exit_codes.h"

namespace drasim {
namespace {

// A handler rather than a catch: it also covers threads, destructors and libraries, and needs no
// memory. Only calls that are safe wherever memory runs out.
[[noreturn]] void EndWithoutMemory() {
  static std::atomic_flag is_ending = ATOMIC_FLAG_INIT;
  while (is_ending.test_and_set()) pause();  // another thread is about to end the process
  constexpr absl::string_view kMessage =
      "drasim: error: out of memory: the run needs more than the machine, or a limit on the "
      "process, allows\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(kExitFailed);
}

// A stand-in for a closed standard stream. It is opened the other way round, so that reading a
// closed standard input and writing to a closed standard output still fail.
void KeepOpen(int descriptor, int mode) {
  if (fcntl(descriptor, F_GETFD) >= 0) return;
  // The lowest free descriptor is this one, since those below are open by now.
  (void)open("/dev/null", mode);
}

}  // namespace

void PrepareProcess() {
  KeepOpen(STDIN_FILENO, O_WRONLY);
  KeepOpen(STDOUT_FILENO, O_RDONLY);
  KeepOpen(STDERR_FILENO, O_WRONLY);
  // Holds all that most commands print: when it cannot be written, that shows in one place, where
  // the reason is still known.
  static char buffer[1 << 20];
  if (isatty(STDOUT_FILENO) != 1) std::setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(EndWithoutMemory);
}

}  // namespace drasim
