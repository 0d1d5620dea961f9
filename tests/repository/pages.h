// The Markdown documents of this repository, and the rules that they keep besides those of their
// commands: length, links, paths.
#ifndef DRASIM_TESTS_REPOSITORY_PAGES_H_
#define DRASIM_TESTS_REPOSITORY_PAGES_H_

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace drasim::docs {

// From path to text: the documents at the root, of notebooks/ and of docs/ with all its folders.
inline std::map<std::string, std::string> Pages() {
  const std::filesystem::path root(DRASIM_SOURCE_DIR);
  std::map<std::string, std::string> pages;
  const auto add = [&](const std::filesystem::directory_entry& entry) {
    if (entry.path().extension() != ".md") return;
    std::ifstream file(entry.path(), std::ios::binary);
    pages.emplace(
        entry.path().lexically_relative(root).generic_string(),
        std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
  };
  for (const auto& entry : std::filesystem::directory_iterator(root)) add(entry);
  for (const auto& entry : std::filesystem::directory_iterator(root / "notebooks")) add(entry);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) add(entry);
  return pages;
}

// Words as `wc -w` counts them.
inline size_t WordCount(absl::string_view page) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(page, absl::ByAnyChar(" \n\t"), absl::SkipEmpty());
  return words.size();
}

// The page without its fenced blocks.
inline std::vector<std::string> ProseOf(absl::string_view page) {
  std::vector<std::string> prose;
  bool inside = false;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    const bool fence = absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "```");
    if (fence) inside = !inside;
    prose.emplace_back(inside || fence ? absl::string_view() : line);
  }
  return prose;
}

// The anchor of a heading, as GitHub makes it: "`Why` a GPU?" is why-a-gpu.
inline std::string AnchorOf(absl::string_view heading) {
  std::string anchor;
  for (const char c : absl::AsciiStrToLower(absl::StripAsciiWhitespace(heading))) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') anchor += c;
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

inline std::vector<std::string> AnchorsOf(absl::string_view page) {
  std::vector<std::string> anchors;
  for (const std::string& line : ProseOf(page)) {
    absl::string_view heading = line;
    if (!absl::ConsumePrefix(&heading, "#")) continue;
    while (absl::ConsumePrefix(&heading, "#")) {
    }
    anchors.push_back(AnchorOf(heading));
  }
  return anchors;
}

// The relative links of `pages` that lead nowhere: "PAGE:LINE: TARGET". `exists` tells whether the
// repository has a path.
inline std::vector<std::string> DeadLinks(const std::map<std::string, std::string>& pages,
                                          const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> dead;
  for (const auto& [path, text] : pages) {
    const std::vector<std::string> lines = ProseOf(text);
    for (size_t i = 0; i < lines.size(); ++i) {
      for (size_t at = lines[i].find("]("); at != std::string::npos;
           at = lines[i].find("](", at + 1)) {
        const size_t end = lines[i].find(')', at);
        if (end == std::string::npos) continue;
        const std::string target = lines[i].substr(at + 2, end - at - 2);
        if (target.empty() || absl::StrContains(target, "://")) continue;
        const size_t hash = target.find('#');
        const std::string file = target.substr(0, hash);
        const std::string to = file.empty() ? path
                                            : (std::filesystem::path(path).parent_path() / file)
                                                  .lexically_normal()
                                                  .generic_string();
        bool good = exists(to);
        const auto page = pages.find(to);
        if (good && hash != std::string::npos && page != pages.end()) {
          const std::vector<std::string> anchors = AnchorsOf(page->second);
          good = std::count(anchors.begin(), anchors.end(), target.substr(hash + 1)) > 0;
        }
        if (!good) dead.push_back(absl::StrCat(path, ":", i + 1, ": ", target));
      }
    }
  }
  return dead;
}

// The files and folders that the last column of the tables below `heading` names: whole paths, and
// names of files in the folder of the path before them in the row. Paths with NAME, which stands
// for any name, are left out.
inline std::vector<std::string> PathsInTables(absl::string_view page, absl::string_view heading) {
  std::vector<std::string> paths;
  bool below = false;
  for (const std::string& line : ProseOf(page)) {
    if (absl::StartsWith(line, "#")) below = line == heading;
    if (!below || !absl::StartsWith(line, "|") || !absl::EndsWith(line, "|")) continue;
    const size_t bar = line.rfind('|', line.size() - 2);
    const std::string cell = line.substr(bar + 1, line.size() - bar - 2);
    std::string folder;
    for (absl::string_view word : absl::StrSplit(cell, ' ', absl::SkipEmpty())) {
      while (absl::ConsumeSuffix(&word, ",") || absl::ConsumeSuffix(&word, ";") ||
             absl::ConsumeSuffix(&word, ":")) {
      }
      const std::filesystem::path path{std::string(word)};
      if (absl::StrContains(word, "/")) {
        folder = (path.has_extension() ? path.parent_path() : path).generic_string();
        if (!absl::StrContains(word, "NAME")) paths.emplace_back(word);
      } else if (path.has_extension() && absl::ascii_islower(static_cast<unsigned char>(word[0]))) {
        paths.push_back(absl::StrCat(folder, "/", word));
      }
    }
  }
  return paths;
}

}  // namespace drasim::docs

#endif  // DRASIM_TESTS_REPOSITORY_PAGES_H_
