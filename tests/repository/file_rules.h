// The rules of this repository for files of any kind, as functions from text to findings, and what
// they share with the rules for C++ code in tidy_rules.h. They read no files themselves, so that
// tidy_test.cc can also try each of them on samples.
//
// In lists of words, a '*' at either end of a word stands for any characters there. A '~' in a
// forbidden word is dropped before use: these files obey the rules, too.
#ifndef DRASIM_TESTS_REPOSITORY_FILE_RULES_H_
#define DRASIM_TESTS_REPOSITORY_FILE_RULES_H_

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tests/repository/cpp_text.h"

namespace drasim::tidy {

inline constexpr char kRooms[] = "model policies traces sim gui bench";
inline constexpr char kRoots[] = "model policies traces sim gui bench tests";

struct SourceFile {
  std::string path;  // from the repository root, with '/'
  std::string text;
};

struct Finding {
  std::string file;
  size_t line = 0;  // from 1; 0 if the file as a whole is meant
  std::string what;
};

// One line per finding: file:line: what is wrong.
inline std::string Report(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    absl::StrAppend(&text, finding.file, ":", finding.line, ": ", finding.what, "\n");
  }
  return text;
}

inline void Append(const std::vector<Finding>& more, std::vector<Finding>* findings) {
  findings->insert(findings->end(), more.begin(), more.end());
}

// The words of a list. They point into `list`.
inline std::vector<absl::string_view> Words(absl::string_view list) {
  return absl::StrSplit(list, ' ', absl::SkipEmpty());
}

inline std::vector<absl::string_view> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n');
}

inline bool Matches(absl::string_view pattern, absl::string_view text) {
  if (absl::ConsumePrefix(&pattern, "*")) return absl::EndsWith(text, pattern);
  if (absl::ConsumeSuffix(&pattern, "*")) return absl::StartsWith(text, pattern);
  return text == pattern;
}

inline bool MatchesAny(absl::string_view patterns, absl::string_view text) {
  for (const absl::string_view pattern : Words(patterns)) {
    if (Matches(pattern, text)) return true;
  }
  return false;
}

// Whether `path` is `room` or something in it.
inline bool IsUnder(absl::string_view path, absl::string_view room) {
  return path == room || absl::StartsWith(path, absl::StrCat(room, "/"));
}

inline bool IsUnderAny(absl::string_view path, absl::string_view rooms) {
  for (const absl::string_view room : Words(rooms)) {
    if (room == "*" || IsUnder(path, room)) return true;
  }
  return false;
}

inline std::string FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

inline bool IsCpp(absl::string_view path) { return MatchesAny("*.h *.cc", path); }

// --- Layout ---

inline constexpr size_t kMaxLineLength = 100;

// Whether a file is written by hand in a format where blanks at the end of a line mean nothing.
inline bool HasLayout(absl::string_view path) {
  if (absl::StrContains(path, "/corpus/") || absl::StrContains(path, "/testdata/")) return false;
  return MatchesAny(
      "*.h *.cc *.inc *.py *.proto *.cmake *.md *.yaml *.yml *.json *.sh *.toml *.mk "
      "*CMakeLists.txt *Makefile *.clang-format *.clang-tidy *.gitignore .ci/*",
      path);
}

inline size_t CodePoints(absl::string_view line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not a continuation byte
  }));
}

inline std::vector<Finding> CheckLayout(const SourceFile& file) {
  if (!HasLayout(file.path) || file.text.empty()) return {};
  std::vector<Finding> findings;
  std::vector<absl::string_view> lines = Lines(file.text);
  if (lines.back().empty()) {
    lines.pop_back();
  } else {
    findings.push_back({file.path, lines.size(), "no line end at the end of the file"});
  }
  const bool tabs_allowed = MatchesAny("*Makefile *.mk", file.path);
  for (size_t i = 0; i < lines.size(); ++i) {
    const absl::string_view line = lines[i];
    const size_t length = CodePoints(line);
    if (IsCpp(file.path) && length > kMaxLineLength && !absl::StrContains(line, "://")) {
      findings.push_back(
          {file.path, i + 1,
           absl::StrCat("a line of ", length, " characters; ", kMaxLineLength, " are the limit")});
    }
    if (!tabs_allowed && absl::StrContains(line, "\t")) {
      findings.push_back({file.path, i + 1, "a tab"});
    }
    if (absl::StripTrailingAsciiWhitespace(line).size() < line.size()) {
      findings.push_back({file.path, i + 1, "white space at the end of the line"});
    }
  }
  return findings;
}

// --- Words that no file contains ---

inline constexpr char kUnfinished[] = "TO~DO FIX~ME XX~X HA~CK";
inline constexpr char kMachinePaths[] = "/wo~rk/ /ho~me/";
inline constexpr char kRegistries[] =
    "deb.deb~ian.org py~pi.org crat~es.io registry.np~mjs.org proxy.gol~ang.org repo.mav~en";

inline std::string Joined(absl::string_view word) { return absl::StrReplaceAll(word, {{"~", ""}}); }

// Whether `line` has `word` in a place where no name, and no path if `word` is one, goes on.
inline bool HasWord(absl::string_view line, absl::string_view word) {
  const bool path = word[0] == '/';
  for (size_t at = line.find(word); at != absl::string_view::npos; at = line.find(word, at + 1)) {
    const char before = at > 0 ? line[at - 1] : ' ';
    const char after = at + word.size() < line.size() ? line[at + word.size()] : ' ';
    const bool inside = IsNameChar(before) || (path && absl::StrContains(".-}", before));
    if (!inside && (path || !IsNameChar(after))) return true;
  }
  return false;
}

inline std::vector<Finding> CheckWords(const SourceFile& file) {
  const std::string unfinished = Joined(kUnfinished);
  const std::string machine_paths = Joined(kMachinePaths);
  const std::string registries = Joined(kRegistries);
  const std::vector<absl::string_view> lines = Lines(file.text);
  std::vector<Finding> findings;
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const absl::string_view word : Words(unfinished)) {
      if (!HasWord(lines[i], word)) continue;
      findings.push_back({file.path, i + 1, absl::StrCat(word, ": finish it or drop it")});
    }
    for (const absl::string_view path : Words(machine_paths)) {
      if (!HasWord(lines[i], path)) continue;
      findings.push_back({file.path, i + 1, absl::StrCat(path, ": a path of one machine")});
    }
    const std::string lower = absl::AsciiStrToLower(lines[i]);
    for (const absl::string_view host : Words(registries)) {
      if (!absl::StrContains(lower, host)) continue;
      findings.push_back({file.path, i + 1, absl::StrCat(host, ": a package registry's host")});
    }
  }
  return findings;
}

// --- Dead files ---

// The paths that a CMakeLists.txt or a .cmake file names, as seen from the repository root. In a
// foreach over words that stand on its line, each of them takes the place of the variable.
inline std::set<std::string> PathsInCMake(const SourceFile& cmake) {
  std::set<std::string> paths;
  const bool list = MatchesAny("*CMakeLists.txt", cmake.path);
  const std::string folder = list ? FolderOf(cmake.path) : std::string();
  const auto add = [&](absl::string_view word) {
    absl::ConsumePrefix(&word, "${CMAKE_CURRENT_SOURCE_DIR}/");
    const bool from_root = absl::ConsumePrefix(&word, "${CMAKE_SOURCE_DIR}/") ||
                           absl::ConsumePrefix(&word, "${PROJECT_SOURCE_DIR}/") || folder.empty();
    paths.insert(from_root ? std::string(word) : absl::StrCat(folder, "/", word));
  };
  std::string variable;
  std::vector<absl::string_view> values;
  for (const absl::string_view line : Lines(cmake.text)) {
    const std::vector<absl::string_view> words = absl::StrSplit(
        line.substr(0, line.find('#')), absl::ByAnyChar(" \t()\";=<>:"), absl::SkipEmpty());
    if (words.size() > 2 && words[0] == "foreach") {
      variable = absl::StrCat("${", words[1], "}");
      values.assign(words.begin() + 2, words.end());
    }
    for (const absl::string_view word : words) {
      if (word == "endforeach") variable.clear();
      // Names of commands, targets and variables are no paths.
      if (!absl::StrContains(word, '/') && !absl::StrContains(word, '.')) continue;
      if (variable.empty() || !absl::StrContains(word, variable)) add(word);
      for (const absl::string_view value : values) {
        if (!variable.empty()) add(absl::StrReplaceAll(word, {{variable, value}}));
      }
    }
  }
  return paths;
}

// Every source and, outside bench and tests, every header belongs to a target. `built`: the paths
// of all CMake files together. A pair of source and header may be named without an extension, and
// then brings its test along (see policies/CMakeLists.txt).
inline std::vector<Finding> CheckBuilt(const std::string& path,
                                       const std::set<std::string>& built) {
  const bool source = IsUnderAny(path, kRoots) && MatchesAny("*.cc", path);
  const bool header = IsUnderAny(path, "model policies traces sim gui") && MatchesAny("*.h", path);
  if (!source && !header) return {};
  const std::string stem = path.substr(0, path.rfind('.'));
  absl::string_view tested = stem;
  const bool is_test =
      absl::ConsumePrefix(&tested, "tests/") && absl::ConsumeSuffix(&tested, "_test");
  if (built.count(path) > 0 || built.count(stem) > 0) return {};
  if (is_test && built.count(std::string(tested)) > 0) return {};
  return {Finding{path, 0, "no CMakeLists.txt names this file"}};
}

// --- Tests mirror the rooms ---

// `folders`: every folder of the repository that has a file somewhere in it.
inline std::vector<Finding> CheckMirror(const std::string& path,
                                        const std::set<std::string>& folders) {
  if (!IsUnder(path, "tests") || !absl::EndsWith(path, "_test.cc")) return {};
  std::string mirrored = FolderOf(path).substr(std::string("tests").size());
  if (!mirrored.empty()) mirrored.erase(0, 1);
  if (IsUnderAny(mirrored, "docs golden repository testing fuzz soak install")) return {};
  if (IsUnderAny(mirrored, kRooms) && folders.count(mirrored) > 0) return {};
  return {Finding{path, 0, absl::StrCat("mirrors no room: there is no folder '", mirrored, "'")}};
}

}  // namespace drasim::tidy

#endif  // DRASIM_TESTS_REPOSITORY_FILE_RULES_H_
