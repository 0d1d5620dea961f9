// Long texts of tests, expected outputs and scenarios, kept in files beside the tests.
//
// A file holds sections, each of which begins with a line that names it:
//
//   == NoNodeHasTwoGpus
//   ml/want (Pending): no node takes it.
//
//   EXPECT_EQ(text, DataText("tests/sim/explain/data/cluster_test.txt", "NoNodeHasTwoGpus"));
#ifndef DRASIM_TESTS_TESTING_DATA_TEXT_H_
#define DRASIM_TESTS_TESTING_DATA_TEXT_H_

#include <fstream>
#include <ios>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace drasim {

// The section of a file, with a line break at the end of every line. `path` is relative to the
// repository. The test fails if there is no such section.
inline std::string DataText(absl::string_view path, absl::string_view section) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/", path), std::ios::binary);
  std::string text;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "== ") == 0) {
      if (found) break;
      found = absl::string_view(line).substr(3) == section;
    } else if (found) {
      absl::StrAppend(&text, line, "\n");
    }
  }
  EXPECT_TRUE(found) << path << " has no section " << section;
  return text;
}

// The same without the line break at the end of the last line.
inline std::string DataLines(absl::string_view path, absl::string_view section) {
  std::string text = DataText(path, section);
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_DATA_TEXT_H_
