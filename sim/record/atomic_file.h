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

// "PATH: WHAT: the system's reason", for the errno `error`. InvalidArgument if another path would
// help, Unavailable if the machine is at fault.
absl::Status FileStatus(const std::string& path, absl::string_view what, int error);

class AtomicFile {
 public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Errors of this class are those of FileStatus. `suffix` is the temporary name's ending.
  absl::Status Open(const std::string& path, absl::string_view suffix = ".tmp");
  // Continues the temporary of an earlier process: cuts it to `bytes` and appends. Unavailable if
  // it cannot be opened or is shorter; it is then left unchanged.
  absl::Status Reopen(const std::string& path, uint64_t bytes, absl::string_view suffix = ".tmp");
  bool open() const { return file_ != nullptr; }
  const std::string& temporary() const { return temporary_; }
  // Bytes of the temporary, flushed or not.
  uint64_t size() const { return size_; }
  // After an error every later call fails with it, Commit included.
  absl::Status Write(absl::string_view bytes);
  absl::Status Flush();
  // Flushes and closes the temporary, so that a full disk is noticed before any file is renamed.
  absl::Status Finish();
  // Finishes the temporary if Finish has not been called, and renames it. Without Commit the
  // destructor removes the temporary, unless KeepTemporary was called.
  absl::Status Commit();
  // Keeps an uncommitted temporary for a later process, which may read or continue it.
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
// The same for a set of files (path, bytes): none is renamed before all are complete.
absl::Status WriteFilesAtomically(
    absl::Span<const std::pair<std::string, absl::string_view>> files);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_ATOMIC_FILE_H_
