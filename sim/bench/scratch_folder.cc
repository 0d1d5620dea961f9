#include "sim/bench/scratch_folder.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace drasim::bench {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Make() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "drasim_XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat(path, ": cannot make a folder"));
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
}

ScratchFolder::ScratchFolder(std::string path) : path_(std::move(path)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace drasim::bench
