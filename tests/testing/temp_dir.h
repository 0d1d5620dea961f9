// A folder of a test's own, removed with everything in it at the end.
#ifndef DRASIM_TESTS_TESTING_TEMP_DIR_H_
#define DRASIM_TESTS_TESTING_TEMP_DIR_H_

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"

namespace drasim {

class TempDir {
 public:
  TempDir() : path_(absl::StrCat(::testing::TempDir(), "drasim_test_XXXXXX")) {
    DRASIM_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

  void Write(absl::string_view name, absl::string_view bytes) const {
    std::ofstream file(PathOf(name), std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    DRASIM_CHECK(file.good());
  }
  // Empty when there is no such file.
  std::string Read(absl::string_view name) const {
    std::ifstream file(PathOf(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  bool Has(absl::string_view name) const {
    std::error_code error;
    return std::filesystem::exists(PathOf(name), error);
  }
  // The names in a folder, sorted; none when there is no such folder.
  std::vector<std::string> List(absl::string_view name) const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(PathOf(name), error)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_TEMP_DIR_H_
