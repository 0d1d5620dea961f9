// A temporary folder.
#ifndef DRASIM_SIM_BENCH_SCRATCH_FOLDER_H_
#define DRASIM_SIM_BENCH_SCRATCH_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace drasim::bench {

// ScratchFolder: lies where the system keeps temporary files, and is removed with all that is in
// it. The length of its path is the same in every run, so programs that see the path need not vary
// with it.
class ScratchFolder {
 public:
  // Unavailable if it cannot be made. Only its owner may enter it.
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Make();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path);

  std::string path_;
};

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_SCRATCH_FOLDER_H_
