#include "sim/record/atomic_file.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>

#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

bool IsAboutThePath(int error) {
  switch (error) {
    case EACCES:
    case EEXIST:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
    case ENOTEMPTY:
    case EPERM:
    case EROFS:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status FileStatus(const std::string& path, absl::string_view what, int error) {
  const std::string message = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  return IsAboutThePath(error) ? absl::InvalidArgumentError(message)
                               : absl::UnavailableError(message);
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (pending_ && !keep_) std::remove(temporary_.c_str());
}

absl::Status AtomicFile::Fail(absl::string_view what) {
  status_ = FileStatus(temporary_, what, errno);
  return status_;
}

absl::Status AtomicFile::Open(const std::string& path, absl::string_view suffix) {
  path_ = path;
  temporary_ = absl::StrCat(path, suffix);
  // Renaming would replace a device or pipe for everybody.
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot write: neither a file nor a new name"));
    return status_;
  }
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) return Fail("cannot create the file");
  pending_ = true;
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
  pending_ = true;
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

absl::Status AtomicFile::Finish() {
  if (!status_.ok() || file_ == nullptr) return status_;
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) return Fail("cannot write");
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (absl::Status s = Finish(); !s.ok()) return s;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Fail(absl::StrCat("cannot rename to ", path_));
  }
  pending_ = false;
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes) {
  const std::pair<std::string, absl::string_view> file(path, bytes);
  return WriteFilesAtomically(absl::MakeConstSpan(&file, 1));
}

absl::Status WriteFilesAtomically(
    absl::Span<const std::pair<std::string, absl::string_view>> files) {
  std::list<AtomicFile> whole;  // a list, because AtomicFile cannot move
  for (const auto& [path, bytes] : files) {
    AtomicFile& file = whole.emplace_back();
    if (absl::Status s = file.Open(path); !s.ok()) return s;
    if (absl::Status s = file.Write(bytes); !s.ok()) return s;
    if (absl::Status s = file.Finish(); !s.ok()) return s;
  }
  for (AtomicFile& file : whole) {
    if (absl::Status s = file.Commit(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace drasim
