#include "sim/record/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/record/atomic_file.h"

namespace drasim {
namespace {

// True when the open file still has that name: its holder may have removed it between our opening
// and our locking.
bool IsFileAt(int descriptor, const std::string& path) {
  struct stat held;
  struct stat named;
  return fstat(descriptor, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::string& dir) {
  const std::string path = absl::StrCat(dir, "/", kFileName);
  while (true) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return FileStatus(path, "cannot create the file", errno);
    int locked = flock(descriptor, LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR) locked = flock(descriptor, LOCK_EX | LOCK_NB);
    if (locked != 0 && errno == EWOULDBLOCK) {
      close(descriptor);
      return absl::FailedPreconditionError(
          absl::StrCat(dir,
                       ": another drasim process is writing into this folder; wait for it to "
                       "end, or choose another folder"));
    }
    if (locked != 0 || IsFileAt(descriptor, path)) {
      return std::unique_ptr<FolderLock>(new FolderLock(path, descriptor));
    }
    close(descriptor);
  }
}

FolderLock::~FolderLock() {
  // Removed while still locked, so that no other process's file goes.
  unlink(path_.c_str());
  close(descriptor_);
}

}  // namespace drasim
