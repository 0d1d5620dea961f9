// A file that appears whole or not at all: written as PATH.tmp, renamed on Commit, removed
// otherwise.
#ifndef DRASIM_SIM_RECORD_ATOMIC_FILE_H_
#define DRASIM_SIM_RECORD_ATOMIC_FILE_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

class AtomicFile {
 public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Names the path and the system's reason on failure. `suffix` is the temporary name's ending.
  absl::Status Open(const std::string& path, absl::string_view suffix = ".tmp");
  // Goes on with the temporary that an earlier process left behind: cuts it to `bytes` and appends.
  // Unavailable when it cannot be opened or is shorter; it then stays as it is.
  absl::Status Reopen(const std::string& path, uint64_t bytes, absl::string_view suffix = ".tmp");
  bool open() const { return file_ != nullptr; }
  // Bytes of the temporary, flushed or not.
  uint64_t size() const { return size_; }
  // Errors stick and come out at Commit as well.
  absl::Status Write(absl::string_view bytes);
  absl::Status Flush();
  // Closes and renames. Without it the temporary is removed, unless KeepTemporary was called.
  absl::Status Commit();
  // Leaves the temporary behind when not committed: what a later process can read or go on with.
  void KeepTemporary() { keep_ = true; }

 private:
  absl::Status Fail(absl::string_view what);

  std::FILE* file_ = nullptr;
  std::string path_;
  std::string temporary_;
  bool keep_ = false;
  uint64_t size_ = 0;
  absl::Status status_;
};

// Open, Write and Commit in one.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_ATOMIC_FILE_H_
