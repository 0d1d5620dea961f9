// Reference data that the repository does not hold (real traces, published results), for tests that
// compare with it.
//
// It lies in the folder that the environment variable DRASIM_SHARED names, else in the build's
// DRASIM_DEFAULT_SHARED. A test whose data is not there skips itself. In continuous integration
// (CI=true) a folder that is there but lacks something is a failure: a test that silently stopped
// running is worth nothing.
#ifndef DRASIM_TESTS_TESTING_SHARED_DATA_H_
#define DRASIM_TESTS_TESTING_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#ifndef DRASIM_DEFAULT_SHARED
#define DRASIM_DEFAULT_SHARED ""
#endif

namespace drasim {

// The folder; empty when none is named.
inline std::string SharedFolder() {
  const char* folder = std::getenv("DRASIM_SHARED");
  return folder != nullptr && *folder != '\0' ? folder : DRASIM_DEFAULT_SHARED;
}

// A path inside the folder.
inline std::string SharedPath(absl::string_view name) {
  return absl::StrCat(SharedFolder(), "/", name);
}

// One line that says what of `names` is missing; empty when all of it is there.
inline std::string MissingSharedData(std::initializer_list<absl::string_view> names) {
  const std::string folder = SharedFolder();
  std::error_code error;
  if (folder.empty()) return "no shared data: DRASIM_SHARED is not set";
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::StrCat("no shared data: DRASIM_SHARED: there is no folder ", folder);
  }
  for (const absl::string_view name : names) {
    if (!std::filesystem::exists(SharedPath(name), error)) {
      return absl::StrCat("no shared data: DRASIM_SHARED lacks ", name);
    }
  }
  return std::string();
}

// Whether missing data is a failure and not a reason to skip.
inline bool MustHaveSharedData() {
  const char* ci = std::getenv("CI");
  std::error_code error;
  return ci != nullptr && absl::string_view(ci) == "true" &&
         std::filesystem::is_directory(SharedFolder(), error);
}

}  // namespace drasim

// Ends the test unless the shared folder holds all of the given names (relative paths).
#define DRASIM_NEEDS_SHARED_DATA(...)                                                    \
  do {                                                                                   \
    const std::string drasim_missing_data_ = ::drasim::MissingSharedData({__VA_ARGS__}); \
    if (!drasim_missing_data_.empty() && ::drasim::MustHaveSharedData()) {               \
      ADD_FAILURE() << drasim_missing_data_;                                             \
      return;                                                                            \
    }                                                                                    \
    if (!drasim_missing_data_.empty()) GTEST_SKIP() << drasim_missing_data_;             \
  } while (false)

#endif  // DRASIM_TESTS_TESTING_SHARED_DATA_H_
