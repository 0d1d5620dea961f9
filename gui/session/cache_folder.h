// A folder for the results of a run of this window, below the user's cache.
#ifndef DRASIM_GUI_SESSION_CACHE_FOLDER_H_
#define DRASIM_GUI_SESSION_CACHE_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "sim/record/folder_lock.h"

namespace drasim::gui {

// Removed with the object. The next process that makes such a folder removes the folders of killed
// processes: a lock tells whether the owner of a folder lives.
class CacheFolder {
 public:
  // In $XDG_CACHE_HOME/drasim, ~/.cache/drasim or the system's folder for temporary files.
  // Unavailable if nothing can be made there.
  static absl::StatusOr<std::unique_ptr<CacheFolder>> Make();
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  // For results; it does not exist yet.
  std::string results() const;

 private:
  CacheFolder(std::string path, std::unique_ptr<FolderLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  std::unique_ptr<FolderLock> lock_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_CACHE_FOLDER_H_
