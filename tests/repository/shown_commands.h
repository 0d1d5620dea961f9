// The commands that Markdown documents show, and whether the output beside them is what a run
// prints.
//
// A block whose language is `console` holds commands, each behind "$ ", with their output below:
//
//   ```console
//   $ drasim run busy.yaml | tail -1
//   fingerprint 697083f4ee2715c7
//   ```
//
// A line "..." stands for any lines. A command without output must succeed. `console slow` marks a
// block that takes seconds, ```yaml busy.yaml a block that is the file busy.yaml of the commands
// behind it. CONTRIBUTING.md, "Commands in documents", tells writers the same.
#ifndef DRASIM_TESTS_REPOSITORY_SHOWN_COMMANDS_H_
#define DRASIM_TESTS_REPOSITORY_SHOWN_COMMANDS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace drasim::docs {

// A command that documents show but no test runs: it begins with `begins`.
struct Unchecked {
  const char* begins;
  const char* why;
};

inline constexpr Unchecked kUnchecked[] = {
    {"make ", "builds, or runs the tests themselves"},
    {"cmake ", "builds"},
    {"drasim trace fetch ", "downloads a trace"},
    {"drasim-gui ", "needs the GUI and OpenGL; tests/gui/app/main_test.cc runs it"},
    {"kubectl ", "needs a cluster"},
    {"timeout ", "where a killed run stops depends on the machine; cli_resume_test.cc covers it"},
    {"drasim run --resume ", "goes on where the run before it was killed"},
    {"jupyter ", "opens a browser; make notebooks executes the notebooks"},
    {"drasim run SCENARIO.yaml [FLAGS]", "a form to fill in"},
    {"drasim run --set workload.generated.pods=1000", "how keys are written, not a result"},
    {"drasim run --mode replay --set workload.tenants=vision,speech ...", "shortened"},
};

// The reason why no test runs `command`; null if one does.
inline const Unchecked* UncheckedBy(absl::string_view command) {
  for (const Unchecked& unchecked : kUnchecked) {
    if (absl::StartsWith(command, unchecked.begins)) return &unchecked;
  }
  return nullptr;
}

// --- Blocks ---

// A fenced block. The words behind the fence are its language and its note.
struct Block {
  size_t line = 0;  // of the first line inside, from 1
  std::string language;
  std::string note;
  std::vector<std::string> lines;

  std::string Text() const { return absl::StrCat(absl::StrJoin(lines, "\n"), "\n"); }
  bool IsConsole() const { return language == "console"; }
  bool IsSlow() const { return IsConsole() && note == "slow"; }
  bool IsFile() const { return !IsConsole() && !note.empty(); }
};

// The fenced blocks of a page. Blocks in a list lose the indentation of their fence.
inline std::vector<Block> BlocksOf(absl::string_view page) {
  std::vector<Block> blocks;
  bool inside = false;
  size_t indentation = 0;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    ++number;
    const absl::string_view stripped = absl::StripLeadingAsciiWhitespace(line);
    if (absl::StartsWith(stripped, "```")) {
      inside = !inside;
      if (!inside) continue;
      indentation = line.size() - stripped.size();
      const std::vector<std::string> words =
          absl::StrSplit(stripped.substr(3), ' ', absl::SkipEmpty());
      blocks.push_back(
          {number + 1, words.empty() ? "" : words[0], words.size() < 2 ? "" : words[1], {}});
    } else if (inside) {
      const bool indented = absl::StartsWith(line, std::string(indentation, ' '));
      blocks.back().lines.emplace_back(indented ? line.substr(indentation) : stripped);
    }
  }
  return blocks;
}

struct ShownCommand {
  size_t line = 0;   // from 1
  std::string text;  // without "$ "; lines that end with a backslash go on in the next one
  std::vector<std::string> output;
};

// The commands of a console block.
inline std::vector<ShownCommand> CommandsOf(const Block& block) {
  std::vector<ShownCommand> commands;
  bool goes_on = false;
  for (size_t i = 0; i < block.lines.size(); ++i) {
    absl::string_view line = block.lines[i];
    if (goes_on) {
      absl::StrAppend(&commands.back().text, "\n", line);
    } else if (absl::ConsumePrefix(&line, "$ ")) {
      commands.push_back({block.line + i, std::string(line), {}});
    } else {
      if (!commands.empty()) commands.back().output.emplace_back(line);
      continue;
    }
    goes_on = absl::EndsWith(line, "\\");
  }
  return commands;
}

// The lines of blocks other than console that look like commands and are not kUnchecked, and the
// console blocks without any. One message each, "PAGE:LINE: ...".
inline std::vector<std::string> CommandsOutsideConsole(absl::string_view path,
                                                       absl::string_view page) {
  static constexpr absl::string_view kPrograms[] = {"$ ",     "drasim ",  "drasim-gui ", "make ",
                                                    "cmake ", "kubectl ", "git "};
  std::vector<std::string> findings;
  for (const Block& block : BlocksOf(page)) {
    const std::string place = absl::StrCat(path, ":", block.line);
    if (block.IsConsole()) {
      if (!block.note.empty() && !block.IsSlow()) {
        findings.push_back(absl::StrCat(place, ": console ", block.note, ": expected slow"));
      }
      if (CommandsOf(block).empty()) findings.push_back(absl::StrCat(place, ": no command"));
      continue;
    }
    for (size_t i = 0; i < block.lines.size(); ++i) {
      for (const absl::string_view program : kPrograms) {
        if (!absl::StartsWith(block.lines[i], program)) continue;
        if (UncheckedBy(block.lines[i]) != nullptr) continue;
        findings.push_back(absl::StrCat(
            path, ":", block.line + i, ": a command outside of a console block: ", block.lines[i]));
      }
    }
  }
  return findings;
}

// --- Output ---

// The lines of a terminal as documents show them: without white space at their ends, without blank
// lines before and behind, and without the lines of progress that a slow command writes ("drasim:
// compare: 88 %, 1 s left"), which depend on the machine.
inline std::vector<std::string> ShownLines(const std::vector<std::string>& lines) {
  std::vector<std::string> shown;
  for (const std::string& line : lines) {
    const bool progress = absl::StartsWith(line, "drasim: ") && absl::StrContains(line, " %, ") &&
                          absl::EndsWith(line, " left");
    if (progress) continue;
    std::string stripped(absl::StripTrailingAsciiWhitespace(line));
    if (shown.empty() && stripped.empty()) continue;
    shown.push_back(std::move(stripped));
  }
  while (!shown.empty() && shown.back().empty()) shown.pop_back();
  return shown;
}

inline bool StandsAt(const std::vector<std::string>& part, const std::vector<std::string>& lines,
                     size_t at) {
  if (at + part.size() > lines.size()) return false;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] != lines[at + i]) return false;
  }
  return true;
}

// The first difference between the output that a document shows and the one printed; empty if there
// is none.
inline std::string Difference(const std::vector<std::string>& shown_lines,
                              const std::vector<std::string>& printed_lines) {
  const std::vector<std::string> shown = ShownLines(shown_lines);
  const std::vector<std::string> printed = ShownLines(printed_lines);
  std::vector<std::vector<std::string>> parts(1);
  for (const std::string& line : shown) {
    if (line == "...") {
      parts.emplace_back();
    } else {
      parts.back().push_back(line);
    }
  }
  // The first part stands at the beginning, where each line can be told apart.
  for (size_t i = 0; i < parts[0].size(); ++i) {
    const std::string line = i < printed.size() ? printed[i] : "(nothing more)";
    if (parts[0][i] != line) return absl::StrCat("shown:   ", parts[0][i], "\nprinted: ", line);
  }
  size_t at = parts[0].size();
  if (parts.size() == 1) {
    return at == printed.size() ? "" : absl::StrCat("printed, not shown: ", printed[at]);
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (last && printed.size() >= at + parts[i].size()) at = printed.size() - parts[i].size();
    while (!last && at < printed.size() && !StandsAt(parts[i], printed, at)) ++at;
    if (!StandsAt(parts[i], printed, at)) {
      return absl::StrCat("shown, not printed", last ? " at the end" : "", ":\n",
                          absl::StrJoin(parts[i], "\n"));
    }
    at += parts[i].size();
  }
  return "";
}

}  // namespace drasim::docs

#endif  // DRASIM_TESTS_REPOSITORY_SHOWN_COMMANDS_H_
