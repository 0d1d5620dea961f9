// Keeps two processes from writing results into one folder.
//
//   absl::StatusOr<std::unique_ptr<FolderLock>> lock = FolderLock::Take(dir);
//   if (!lock.ok()) return lock.status();  // another process works there
#ifndef DRASIM_SIM_RECORD_FOLDER_LOCK_H_
#define DRASIM_SIM_RECORD_FOLDER_LOCK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace drasim {

// The system releases the lock when the process ends in any way. The lock's file is removed with
// the lock; the file of a killed process locks nothing.
class FolderLock {
 public:
  static constexpr char kFileName[] = "drasim.lock";

  // FailedPrecondition, with the folder's name, while another FolderLock holds it; an error of
  // FileStatus if the file cannot be made. On a file system without locks, nothing is locked.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::string& dir);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  FolderLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_FOLDER_LOCK_H_
