#include "sim/record/atomic_file.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

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

absl::Status AtomicFile::Reopen(const std::string& path, uint64_t bytes, absl::string_view suffix) {
  path_ = path;
  temporary_ = absl::StrCat(path, suffix);
  std::FILE* file = std::fopen(temporary_.c_str(), "r+b");
  struct stat info;
  if (file == nullptr || fstat(fileno(file), &info) != 0) {
    status_ = absl::UnavailableError(absl::StrCat(
        temporary_, ": cannot open the file to go on with it: ", std::strerror(errno)));
  } else if (info.st_size < 0 || static_cast<uint64_t>(info.st_size) < bytes) {
    status_ = absl::UnavailableError(
        absl::StrCat(temporary_, ": found ", info.st_size, " bytes, expected at least ", bytes));
  } else if (ftruncate(fileno(file), static_cast<off_t>(bytes)) != 0 ||
             fseeko(file, static_cast<off_t>(bytes), SEEK_SET) != 0) {
    (void)Fail("cannot cut the file");
  }
  if (!status_.ok()) {
    if (file != nullptr) std::fclose(file);
    return status_;
  }
  file_ = file;
  size_ = bytes;
  return absl::OkStatus();
}

absl::Status AtomicFile::Write(absl::string_view bytes) {
  if (!status_.ok()) return status_;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
    return Fail("cannot write");
  size_ += bytes.size();
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
