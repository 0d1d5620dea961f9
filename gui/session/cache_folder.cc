#include "gui/session/cache_folder.h"

#include <stdlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"

namespace drasim::gui {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "run-";
// A younger folder may not be locked yet.
constexpr std::chrono::minutes kLeastAge(1);

fs::path BaseFolder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "drasim";
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".cache" / "drasim";
  std::error_code error;
  return fs::temp_directory_path(error) / "drasim";
}

// Removes the folders that nobody holds. Errors leave them where they are.
void RemoveAbandoned(const fs::path& base) {
  std::error_code error;
  std::vector<fs::path> old;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  fs::directory_iterator it(base, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code unknown;
    const bool is_run = absl::StartsWith(it->path().filename().string(), kPrefix) &&
                        it->is_directory(unknown) && !it->is_symlink(unknown);
    if (is_run && now - it->last_write_time(unknown) > kLeastAge && !unknown) {
      old.push_back(it->path());
    }
  }
  for (const fs::path& folder : old) {
    const absl::StatusOr<std::unique_ptr<FolderLock>> lock = FolderLock::Take(folder.string());
    if (lock.ok()) fs::remove_all(folder, error);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CacheFolder>> CacheFolder::Make() {
  const fs::path base = BaseFolder();
  std::error_code error;
  fs::create_directories(base, error);
  std::string path = (base / absl::StrCat(kPrefix, "XXXXXX")).string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(base.string(), ": cannot make a folder for the run there"));
  }
  absl::StatusOr<std::unique_ptr<FolderLock>> lock = FolderLock::Take(path);
  if (!lock.ok()) {
    fs::remove_all(path, error);
    return lock.status();
  }
  // If a second lock is granted, the file system has no locks, and no owner can be told.
  if (!FolderLock::Take(path).ok()) RemoveAbandoned(base);
  return std::unique_ptr<CacheFolder>(new CacheFolder(std::move(path), *std::move(lock)));
}

CacheFolder::~CacheFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string CacheFolder::results() const { return absl::StrCat(path_, "/results"); }

}  // namespace drasim::gui
