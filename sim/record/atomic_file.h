// A file that appears whole or not at all: written as PATH.tmp, renamed on Commit, removed
// otherwise.
#ifndef DRASIM_SIM_RECORD_ATOMIC_FILE_H_
#define DRASIM_SIM_RECORD_ATOMIC_FILE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim {

// "PATH: WHAT: the system's reason", for the errno `error`: InvalidArgument where another path
// would help, Unavailable where the machine is at fault.
absl::Status FileStatus(const std::string& path, absl::string_view what, int error);

class AtomicFile {
 public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Errors of this class are those of FileStatus. `suffix` is the temporary name's ending.
  absl::Status Open(const std::string& path, absl::string_view suffix = ".tmp");
  // Goes on with the temporary that an earlier process left behind: cuts it to `bytes` and appends.
  // Unavailable when it cannot be opened or is shorter; it then stays as it is.
  absl::Status Reopen(const std::string& path, uint64_t bytes, absl::string_view suffix = ".tmp");
  bool open() const { return file_ != nullptr; }
  const std::string& temporary() const { return temporary_; }
  // Bytes of the temporary, flushed or not.
  uint64_t size() const { return size_; }
  // Errors stick and come out at Commit as well.
  absl::Status Write(absl::string_view bytes);
  absl::Status Flush();
  // Flushes and closes the temporary: a disk that is full shows here, before anything is renamed.
  absl::Status Finish();
  // Finish, unless that has been done, and the renaming. Without Commit the temporary is removed,
  // unless KeepTemporary was called.
  absl::Status Commit();
  // Leaves the temporary behind when not committed: what a later process can read or go on with.
  void KeepTemporary() { keep_ = true; }

 private:
  absl::Status Fail(absl::string_view what);

  std::FILE* file_ = nullptr;
  std::string path_;
  std::string temporary_;
  bool pending_ = false;  // the temporary exists and has not been renamed
  bool keep_ = false;
  uint64_t size_ = 0;
  absl::Status status_;
};

// Open, Write and Commit in one.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes);
// The same for files that belong together (path, bytes): none is renamed before all are whole.
absl::Status WriteFilesAtomically(
    absl::Span<const std::pair<std::string, absl::string_view>> files);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_ATOMIC_FILE_H_
