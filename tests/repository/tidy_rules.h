// The rules of this repository for C++ code, as functions from text to findings. Lists of words are
// those of file_rules.h.
#ifndef DRASIM_TESTS_REPOSITORY_TIDY_RULES_H_
#define DRASIM_TESTS_REPOSITORY_TIDY_RULES_H_

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tests/repository/cpp_text.h"
#include "tests/repository/file_rules.h"

namespace drasim::tidy {

// --- Arrows ---

// The arrows of docs/architecture.md. A file belongs to the room with the longest matching path.
struct Room {
  const char* path;
  const char* may_include;
  const char* except;
};

inline constexpr Room kArrows[] = {
    {"model", "model", "model/proto"},
    {"model/proto", "model", ""},
    {"model/text", "model", "model/kube"},
    {"model/kube", "model", ""},
    {"policies", "policies model", ""},
    {"policies/allocator", "policies/allocator policies/cel model", ""},
    {"policies/cel", "policies/cel model", ""},
    {"policies/choice", "policies/choice policies/allocator model", ""},
    {"policies/drivers", "policies/drivers policies/allocator model", ""},
    {"policies/framework", "policies/framework model", ""},
    {"policies/plugins", "policies/plugins policies/framework model", ""},
    {"policies/devices", "policies/devices policies/plugins policies/framework model", ""},
    {"traces", "traces model", ""},
    {"sim/core", "sim/core policies/framework model", ""},
    {"sim/control", "sim/control sim/core policies/framework model", ""},
    {"sim/dra/api", "sim/dra/api sim/core policies/framework model", ""},
    {"sim/dra/classic", "sim/dra/classic sim/dra/api sim/core policies/framework model", ""},
    {"sim/dra/structured",
     "sim/dra/structured sim/dra/api policies/dra policies/allocator policies/drivers "
     "policies/plugins policies/framework model",
     ""},
    {"sim/record", "sim/record model", ""},
    {"sim/scenario", "sim/scenario sim/record sim/core sim/control sim/dra policies traces model",
     ""},
    {"sim/run",
     "sim/run sim/extender sim/scenario sim/record sim/core sim/control sim/dra policies traces "
     "model",
     ""},
    {"sim/outputs", "sim/outputs sim/record model", ""},
    {"sim/compare",
     "sim/compare sim/outputs sim/run sim/scenario sim/record sim/core policies model", ""},
    {"sim/bench",
     "sim/bench sim/compare sim/outputs sim/run sim/scenario sim/record sim/sdra sim/core policies "
     "traces model",
     ""},
    {"sim/extender", "sim/extender sim/scenario sim/core policies/framework traces model", ""},
    {"sim/kube", "sim/kube sim/extender sim/scenario sim/core policies traces model", ""},
    {"sim/sdra", "sim/sdra policies traces model", ""},
    {"sim/perf",
     "sim/perf sim/bench sim/compare sim/kube sim/run sim/scenario sim/record sim/core policies "
     "traces model",
     ""},
    {"sim/explain",
     "sim/explain sim/kube sim/run sim/scenario sim/record sim/core sim/dra policies traces model",
     ""},
    {"sim/app", "sim gui/view policies traces model", ""},
    {"gui/view", "gui/view sim/record model", ""},
    {"gui/session",
     "gui/session gui/view sim/record sim/run sim/scenario sim/explain sim/compare model", ""},
    {"gui/app", "gui/app gui/session gui/view sim/app sim/scenario sim/record model", ""},
    {"bench", "*", ""},
    {"tests", "*", ""},
};

// Headers from elsewhere that only some rooms may include.
struct Library {
  const char* headers;
  const char* rooms;
  const char* why;
};

inline constexpr Library kLibraries[] = {
    {"yaml-cpp/*", "model/text bench tests", "model/text is the one YAML adapter"},
    {"google/protobuf/*", "model/text model/kube model/proto policies traces sim gui bench tests",
     "in model, only text and proto know protobuf"},
    {"imgui* GLFW/* GL/* EGL/*", "gui/app bench tests", "only gui/app draws"},
    {"re2/*", "policies/cel bench tests", "only CEL matches regular expressions"},
    {"coin/*", "sim/bench", "the bound of allocations alone solves linear programs"},
    {"absl/log/*", "", "Abseil 20220623 has no absl/log"},
    {"cassert assert.h", "", "use model/check.h, which NDEBUG does not turn off"},
    {"random", "", "use model/random.h, whose numbers are the same everywhere"},
    {"string_view", "", "use absl::string_view"},
};

// Other headers that may stand in quotes: the customs of Google's style, and a generated table.
inline constexpr char kQuotedElsewhere[] =
    "absl/* gtest/* gmock/* benchmark/* google/* imgui* GLFW/* Eigen/* re2/* go_random_table.inc";

inline const Room* RoomOf(absl::string_view path) {
  const Room* best = nullptr;
  for (const Room& room : kArrows) {
    const bool longer = best == nullptr ||
                        absl::string_view(room.path).size() > absl::string_view(best->path).size();
    if (longer && IsUnder(path, room.path)) best = &room;
  }
  return best;
}

struct Include {
  size_t line = 0;
  std::string header;
  bool quoted = false;
};

inline std::vector<Include> IncludesOf(absl::string_view text) {
  std::vector<Include> includes;
  const std::string code = CodeOnly(text);
  const std::vector<absl::string_view> code_lines = Lines(code);
  const std::vector<absl::string_view> lines = Lines(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    absl::string_view directive = absl::StripAsciiWhitespace(code_lines[i]);
    if (!absl::ConsumePrefix(&directive, "#")) continue;
    if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(directive), "include")) continue;
    const size_t open = lines[i].find_first_of("\"<");
    if (open == absl::string_view::npos) continue;
    const bool quoted = lines[i][open] == '"';
    const size_t close = lines[i].find(quoted ? '"' : '>', open + 1);
    if (close == absl::string_view::npos) continue;
    includes.push_back({i + 1, std::string(lines[i].substr(open + 1, close - open - 1)), quoted});
  }
  return includes;
}

// The error of one include of a file in `from`; empty if there is none.
inline std::string IncludeMistake(absl::string_view file, const Room& from,
                                  const Include& include) {
  const std::string& header = include.header;
  for (const Library& library : kLibraries) {
    if (MatchesAny(library.headers, header)) {
      if (IsUnderAny(file, library.rooms)) return "";
      return absl::StrCat("must not include ", header, ": ", library.why);
    }
  }
  if (!IsUnderAny(header, kRoots)) {
    if (!include.quoted || MatchesAny(kQuotedElsewhere, header)) return "";
    return absl::StrCat("\"", header, "\" names no room: write the path from the repository root");
  }
  if (!include.quoted) return absl::StrCat("<", header, "> is ours: write it in quotes");
  if (RoomOf(header) == nullptr) return absl::StrCat("\"", header, "\" is in no known room");
  if (IsUnderAny(header, from.may_include) && !IsUnderAny(header, from.except)) return "";
  return absl::StrCat(from.path, " must not include ", header, " (it may include ",
                      from.may_include, *from.except == '\0' ? "" : " except ", from.except, ")");
}

inline std::vector<Finding> CheckIncludes(const SourceFile& file) {
  const Room* from = RoomOf(file.path);
  if (from == nullptr) return {Finding{file.path, 1, "stands in no known room"}};
  std::vector<Finding> findings;
  for (const Include& include : IncludesOf(file.text)) {
    const std::string mistake = IncludeMistake(file.path, *from, include);
    if (!mistake.empty()) findings.push_back({file.path, include.line, mistake});
  }
  return findings;
}

// --- Banned names and calls ---

enum class Use {
  kName,       // wherever the name stands
  kCall,       // a call of a free function, or any use behind std::
  kClockCall,  // as kCall, with the arguments of time() and clock()
};

struct Ban {
  const char* names;  // "std::x" is x behind std::, "x" is x behind anything
  Use use;
  const char* rooms;
  const char* why;
};

inline constexpr char kRandomWhy[] = "use model/random.h, whose numbers are the same everywhere";
inline constexpr char kClockWhy[] = "no wall clock here; time is virtual (model/time.h)";
inline constexpr char kClockRooms[] =
    "model policies sim/core sim/control sim/dra sim/record traces";

inline constexpr Ban kBans[] = {
    {"std::shuffle std::random_shuffle std::sample std::seed_seq "
     "std::random_device std::mt19937 std::mt19937_64 std::minstd_rand std::minstd_rand0 "
     "std::ranlux* std::knuth_b std::*_engine std::*_distribution absl::BitGen "
     "absl::InsecureBitGen",
     Use::kName, "*", kRandomWhy},
    {"rand rand_r srand srandom drand48 lrand48", Use::kCall, "*", kRandomWhy},
    {"system_clock steady_clock high_resolution_clock gettimeofday clock_gettime timespec_get "
     "absl::Now absl::GetCurrentTimeNanos",
     Use::kName, kClockRooms, kClockWhy},
    {"time clock", Use::kClockCall, kClockRooms, kClockWhy},
    {"exp expf exp2 expm1 log logf log2 log10 log1p pow powf sin sinf cos cosf tan asin acos atan "
     "atan2 sinh cosh tanh tanhf cbrt hypot erf erfc tgamma lgamma",
     Use::kCall, "model policies sim/core sim/dra", "libm's last bit differs between machines"},
    {"assert", Use::kCall, "*", "use DRASIM_CHECK (model/check.h), which NDEBUG does not turn off"},
    {"std::string_view", Use::kName, "*", "use absl::string_view, which Abseil's functions take"},
};

// Whether tokens[at] is the name of `pattern`, which may begin with a qualifier.
inline bool IsNamed(const std::vector<Token>& tokens, size_t at, absl::string_view pattern) {
  const size_t colons = pattern.find("::");
  if (colons == absl::string_view::npos) return Matches(pattern, tokens[at].text);
  return Matches(pattern.substr(colons + 2), tokens[at].text) && at >= 2 &&
         tokens[at - 1].text == "::" && tokens[at - 2].text == pattern.substr(0, colons);
}

// Whether the name at `at` is a free function that is called here, rather than a member, a function
// of another namespace, or a declaration.
inline bool IsFreeCall(const std::vector<Token>& tokens, size_t at, Use use) {
  static constexpr char kBeforeCalls[] = "return co_return co_yield throw case else do and or not";
  const absl::string_view before = at > 0 ? TextAt(tokens, at - 1) : absl::string_view();
  if (before == "." || before == "->") return false;
  if (before == "::") {
    const absl::string_view qualifier = at > 1 ? TextAt(tokens, at - 2) : absl::string_view();
    if (qualifier == "std") return true;
    if (IsName(qualifier) && !MatchesAny(kBeforeCalls, qualifier)) return false;
  } else if (IsName(before) && !MatchesAny(kBeforeCalls, before)) {
    return false;
  }
  if (TextAt(tokens, at + 1) != "(") return false;
  return use != Use::kClockCall || MatchesAny("nullptr NULL 0 & )", TextAt(tokens, at + 2));
}

inline std::vector<Finding> CheckBans(const std::string& path, const std::vector<Token>& tokens) {
  struct Names {
    const Ban* ban;
    std::vector<absl::string_view> names;
  };
  std::vector<Names> banned_here;
  for (const Ban& ban : kBans) {
    if (IsUnderAny(path, ban.rooms)) banned_here.push_back({&ban, Words(ban.names)});
  }
  std::vector<Finding> findings;
  for (size_t at = 0; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (token.text == "using" && TextAt(tokens, at + 1) == "namespace") {
      findings.push_back({path, token.line, "using namespace: name what is used instead"});
    }
    if (!IsName(token.text)) continue;
    for (const Names& banned : banned_here) {
      const Use use = banned.ban->use;
      for (const absl::string_view name : banned.names) {
        if (!IsNamed(tokens, at, name)) continue;
        if (use != Use::kName && !IsFreeCall(tokens, at, use)) continue;
        findings.push_back({path, token.line, absl::StrCat(token.text, ": ", banned.ban->why)});
      }
    }
  }
  return findings;
}

// Comparisons of a plugin's name, a reason or a message with a literal: name() == "best",
// reason != "Insufficient cpu".
inline std::vector<Finding> CheckComparedTexts(const std::string& path,
                                               const std::vector<Token>& tokens) {
  std::vector<Finding> findings;
  if (!IsUnderAny(path, "policies sim gui")) return findings;
  for (size_t at = 1; at < tokens.size(); ++at) {
    if (tokens[at].text != "==" && tokens[at].text != "!=") continue;
    if (!absl::StartsWith(TextAt(tokens, at + 1), "\"")) continue;
    const bool called = at >= 3 && tokens[at - 1].text == ")" && tokens[at - 2].text == "(";
    const std::string& name = tokens[called ? at - 3 : at - 1].text;
    if (!MatchesAny(called ? "name plugin reason message" : "plugin reason", name)) continue;
    findings.push_back({path, tokens[at].line,
                        absl::StrCat(name,
                                     ": texts are for people; use an id, a kind or a virtual "
                                     "function")});
  }
  return findings;
}

// --- Hash containers are not iterated ---

// The names that mean a hash container in a header and its source file.
struct HashNames {
  std::set<std::string> types = {"flat_hash_map",      "flat_hash_set",     "node_hash_map",
                                 "node_hash_set",      "unordered_map",     "unordered_set",
                                 "unordered_multimap", "unordered_multiset"};
  std::set<std::string> variables;  // and functions that return one
};

// Adds the aliases, variables, parameters, members and functions that `tokens` declares.
inline void CollectHashNames(const std::vector<Token>& tokens, HashNames* names) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (names->types.count(tokens[i].text) == 0) continue;
    size_t begin = i;
    while (begin >= 2 && tokens[begin - 1].text == "::") begin -= 2;
    if (begin >= 3 && tokens[begin - 1].text == "=" && tokens[begin - 3].text == "using") {
      names->types.insert(tokens[begin - 2].text);
      continue;
    }
    size_t at = i + 1;
    if (TextAt(tokens, at) == "<") {
      int depth = 0;
      do {
        if (TextAt(tokens, at) == "<") ++depth;
        if (TextAt(tokens, at) == ">") --depth;
        ++at;
      } while (depth > 0 && at < tokens.size());
    }
    while (MatchesAny("& && const", TextAt(tokens, at)) || TextAt(tokens, at) == "*") ++at;
    if (IsName(TextAt(tokens, at))) names->variables.insert(tokens[at].text);
  }
}

// The last name of the range of the range-for whose `for` is tokens[at]; empty for other loops.
inline std::string RangeName(const std::vector<Token>& tokens, size_t at) {
  size_t depth = 0;
  size_t colon = 0;
  size_t semicolons = 0;
  size_t end = at + 1;
  for (; end < tokens.size(); ++end) {
    const std::string& text = tokens[end].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") {
      if (depth <= 1) break;
      --depth;
    }
    if (text == ";" && depth == 1) ++semicolons;
    if (text == ":" && depth == 1 && colon == 0) colon = end;
  }
  if (colon == 0 || semicolons > 1 || end == tokens.size()) return "";
  size_t last = end - 1;
  if (tokens[last].text == ")" && tokens[last - 1].text == "(") last -= 2;
  return last > colon ? tokens[last].text : std::string();
}

inline std::vector<Finding> CheckHashIteration(const std::string& path,
                                               const std::vector<Token>& tokens,
                                               const HashNames& names) {
  std::vector<Finding> findings;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string name;
    if (tokens[i].text == "for") name = RangeName(tokens, i);
    if (MatchesAny("begin cbegin", tokens[i].text) && TextAt(tokens, i + 1) == "(") {
      const bool member = i >= 2 && MatchesAny(". ->", tokens[i - 1].text);
      name = std::string(member ? TextAt(tokens, i - 2) : TextAt(tokens, i + 2));
    }
    if (names.variables.count(name) == 0) continue;
    findings.push_back({path, tokens[i].line,
                        absl::StrCat("iterates over ", name,
                                     ", a hash container: its order "
                                     "changes from run to run")});
  }
  return findings;
}

// --- Headers ---

// model/quantity.h -> DRASIM_MODEL_QUANTITY_H_
inline std::string GuardOf(absl::string_view path) {
  std::string guard = absl::StrCat("DRASIM_", absl::AsciiStrToUpper(path), "_");
  for (char& c : guard) {
    if (!IsNameChar(c)) c = '_';
  }
  return guard;
}

inline std::vector<Finding> CheckHeader(const SourceFile& file) {
  std::vector<Finding> findings;
  const std::vector<absl::string_view> lines = Lines(file.text);
  const std::string first(lines.empty() ? absl::string_view() : lines[0]);
  const bool says_something = absl::StartsWith(first, "// ") && Words(first).size() >= 4;
  if (!says_something || absl::StrContains(first, "Copyright")) {
    findings.push_back({file.path, 1, "does not begin with a comment that says what it is"});
  }
  const std::string code = CodeOnly(file.text);
  const std::vector<absl::string_view> code_lines = Lines(code);
  size_t at = 0;
  while (at < lines.size() && absl::StripAsciiWhitespace(code_lines[at]).empty()) ++at;
  const std::string guard = GuardOf(file.path);
  const bool begins = at + 1 < lines.size() && lines[at] == absl::StrCat("#ifndef ", guard) &&
                      lines[at + 1] == absl::StrCat("#define ", guard);
  const bool ends = absl::EndsWith(file.text, absl::StrCat("\n#endif  // ", guard, "\n"));
  if (!begins || !ends) {
    findings.push_back({file.path, std::min(at + 1, lines.size()),
                        absl::StrCat("is not wrapped in the include guard ", guard)});
  }
  return findings;
}

}  // namespace drasim::tidy

#endif  // DRASIM_TESTS_REPOSITORY_TIDY_RULES_H_
