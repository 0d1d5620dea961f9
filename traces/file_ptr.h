// An open C stream that closes itself, and the error of a write that lost bytes.
#ifndef DRASIM_TRACES_FILE_PTR_H_
#define DRASIM_TRACES_FILE_PTR_H_

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace drasim {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

// Unavailable whatever the errno: bytes that a file does not take (a full disk, a limit on file
// sizes) are the machine's fault and not the user's.
inline absl::Status LostBytesError(int error_number, absl::string_view path) {
  const std::string doing = absl::StrCat("cannot write ", path);
  return absl::UnavailableError(absl::ErrnoToStatus(error_number, doing).message());
}

}  // namespace drasim

#endif  // DRASIM_TRACES_FILE_PTR_H_
