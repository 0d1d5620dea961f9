// Long texts and tables of tests (expected outputs, scenarios, mistakes and their messages), kept
// in files beside the tests.
//
// tests/a/b_test.cc has its texts in tests/a/data/b_test.txt. The file holds sections, each of
// which begins with a line that names it:
//
//   == NoNodeHasTwoGpus
//   ml/want (Pending): no node takes it.
//
//   EXPECT_EQ(text, TestText("NoNodeHasTwoGpus"));
//
// By convention a section has the name of its test, helper or constant; `.2` and so on tell several
// of one test apart. Files are edited by hand: no test writes them.
#ifndef DRASIM_TESTS_TESTING_DATA_TEXT_H_
#define DRASIM_TESTS_TESTING_DATA_TEXT_H_

#include <array>
#include <cstddef>
#include <fstream>
#include <ios>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace drasim {
namespace data_text {

// The sections of the data file of a source file, read once and kept. `source` is a path as the
// compiler knows it, that ends with tests/ROOM/NAME.cc or .h.
inline const std::map<std::string, std::string>& Sections(absl::string_view source) {
  static auto* const files = new std::map<std::string, std::map<std::string, std::string>>;
  source.remove_prefix(source.rfind("tests/"));
  const auto [place, added] = files->try_emplace(std::string(source));
  if (!added) return place->second;
  const size_t slash = source.rfind('/');
  const size_t dot = source.rfind('.');
  const std::string path = absl::StrCat(DRASIM_SOURCE_DIR, "/", source.substr(0, slash), "/data",
                                        source.substr(slash, dot - slash), ".txt");
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << "cannot read " << path;
  std::string* section = nullptr;
  for (std::string line; std::getline(file, line);) {
    absl::string_view name = line;
    if (absl::ConsumePrefix(&name, "== ")) {
      const auto [named, is_new] = place->second.try_emplace(std::string(name));
      EXPECT_TRUE(is_new) << path << " has two sections " << name;
      section = &named->second;
    } else if (section != nullptr) {
      absl::StrAppend(section, line, "\n");
    } else {
      ADD_FAILURE() << path << " does not begin with the name of a section";
    }
  }
  return place->second;
}

}  // namespace data_text

// A section of the data file of the calling file, with a line break at the end of every line; it
// lives to the end of the program. The test fails if there is no such section.
inline const std::string& TestText(absl::string_view section,
                                   absl::string_view source = __builtin_FILE()) {
  static const std::string* const kNone = new std::string;
  const std::map<std::string, std::string>& sections = data_text::Sections(source);
  const auto found = sections.find(std::string(section));
  if (found != sections.end()) return found->second;
  ADD_FAILURE() << "the data of " << source << " have no section " << section;
  return *kNone;
}

// The same without the line break at the end of the last line.
inline std::string TestLines(absl::string_view section,
                             absl::string_view source = __builtin_FILE()) {
  std::string text = TestText(section, source);
  if (!text.empty()) text.pop_back();
  return text;
}

template <size_t kColumns>
using TextRows = std::vector<std::array<std::string, kColumns>>;

// The rows of a table, each of `kColumns` texts, from a section such as
//
//   == NamesTheKeyThatIsWrong
//   mode: full\n
//     mode: found 'full', expected one of fill, replay
//
// A row begins at the start of a line; its other columns are the lines below, after two blanks.
// Columns have the escapes of C, so that a blank at an end is \040; "" is the empty text.
template <size_t kColumns>
TextRows<kColumns> TestRows(absl::string_view section,
                            absl::string_view source = __builtin_FILE()) {
  TextRows<kColumns> rows;
  size_t column = kColumns - 1;
  const std::string text = TestLines(section, source);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "  ")) {
      ++column;
    } else {
      EXPECT_EQ(column, kColumns - 1) << section << ": " << line;
      rows.emplace_back();
      column = 0;
    }
    if (column >= kColumns) {
      ADD_FAILURE() << section << " has too many columns: " << line;
    } else if (line != "\"\"") {
      EXPECT_TRUE(absl::CUnescape(line, &rows.back()[column])) << section << ": " << line;
    }
  }
  EXPECT_EQ(column, kColumns - 1) << section << " lacks columns at its end";
  return rows;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_DATA_TEXT_H_
