#include "sim/record/atomic_file.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace drasim {

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!keep_) std::remove(temporary_.c_str());
}

absl::Status AtomicFile::Fail(absl::string_view what) {
  status_ =
      absl::InvalidArgumentError(absl::StrCat(temporary_, ": ", what, ": ", std::strerror(errno)));
  return status_;
}

absl::Status AtomicFile::Open(const std::string& path, absl::string_view suffix) {
  path_ = path;
  temporary_ = absl::StrCat(path, suffix);
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) return Fail("cannot create the file");
  return absl::OkStatus();
}

absl::Status AtomicFile::Write(absl::string_view bytes) {
  if (!status_.ok()) return status_;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
    return Fail("cannot write");
  return absl::OkStatus();
}

absl::Status AtomicFile::Flush() {
  if (!status_.ok()) return status_;
  if (std::fflush(file_) != 0) return Fail("cannot write");
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (!status_.ok()) return status_;
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) {
    (void)Fail("cannot write");
  } else if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    (void)Fail(absl::StrCat("cannot rename to ", path_));
  }
  if (!status_.ok() && !keep_) std::remove(temporary_.c_str());
  return status_;
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes) {
  AtomicFile file;
  if (absl::Status s = file.Open(path); !s.ok()) return s;
  if (absl::Status s = file.Write(bytes); !s.ok()) return s;
  return file.Commit();
}

}  // namespace drasim
