// Whether the source tree keeps the rules of file_rules.h and tidy_rules.h (RepositoryTest), and
// whether those rules find what they are meant to find and nothing else (TidyRulesTest).
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/repository/cpp_text.h"
#include "tests/repository/file_rules.h"
#include "tests/repository/include_circles.h"
#include "tests/repository/one_definition.h"
#include "tests/repository/tidy_rules.h"

namespace drasim {
namespace tidy_test {

using tidy::Finding;
using tidy::Report;
using tidy::SourceFile;
using tidy::Token;

// --- The tree ---

// Build trees, results, and what tools leave behind in hidden folders.
bool IsSkipped(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (name == ".ci") return false;
  return name[0] == '.' || tidy::MatchesAny("build results __pycache__", name) ||
         std::filesystem::exists(folder / "CMakeCache.txt");
}

std::vector<SourceFile> ReadTree() {
  const std::filesystem::path root(DRASIM_SOURCE_DIR);
  std::map<std::string, std::string> texts;  // sorted by path
  for (auto it = std::filesystem::recursive_directory_iterator(root);
       it != std::filesystem::recursive_directory_iterator(); ++it) {
    if (it->is_symlink()) continue;
    if (it->is_directory()) {
      if (IsSkipped(it->path())) it.disable_recursion_pending();
      continue;
    }
    const std::string path = it->path().lexically_relative(root).generic_string();
    if (!it->is_regular_file() || tidy::MatchesAny(".git *.swp", path)) continue;
    std::ifstream file(it->path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (text.find('\0') == std::string::npos) texts.emplace(path, text);
  }
  std::vector<SourceFile> files;
  for (const auto& [path, text] : texts) files.push_back({path, text});
  return files;
}

// Every text file of the repository, sorted by path.
const std::vector<SourceFile>& Tree() {
  static const auto* const tree = new std::vector<SourceFile>(ReadTree());
  return *tree;
}

std::vector<Token> TokensOf(absl::string_view text) { return tidy::Tokenize(tidy::CodeOnly(text)); }

void ExpectNone(const std::vector<Finding>& findings) {
  if (!findings.empty()) ADD_FAILURE() << findings.size() << " findings:\n" << Report(findings);
}

TEST(RepositoryTest, TheTreeIsThere) {
  std::set<std::string> paths;
  for (const SourceFile& file : Tree()) paths.insert(file.path);
  for (const char* path : {"CMakeLists.txt", ".clang-format", "model/check.h", "sim/app/main.cc",
                           "tests/repository/tidy_test.cc"}) {
    EXPECT_EQ(paths.count(path), 1u) << path;
  }
  for (const std::string& path : paths) {
    EXPECT_FALSE(tidy::IsUnderAny(path, ".git build results")) << path;
  }
}

TEST(RepositoryTest, IncludesFollowTheArrows) {
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) {
    if (tidy::IsCpp(file.path)) tidy::Append(tidy::CheckIncludes(file), &findings);
  }
  ExpectNone(findings);
}

TEST(RepositoryTest, NoCircleAmongIncludes) { ExpectNone(tidy::CheckCircles(Tree())); }

TEST(RepositoryTest, EveryTypeHasOneDefinition) { ExpectNone(tidy::CheckOneDefinition(Tree())); }

TEST(RepositoryTest, NoBannedNames) {
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) {
    if (!tidy::IsCpp(file.path)) continue;
    tidy::Append(tidy::CheckBans(file.path, TokensOf(file.text)), &findings);
  }
  ExpectNone(findings);
}

TEST(RepositoryTest, NoTextDecides) {
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) {
    if (!tidy::IsCpp(file.path)) continue;
    tidy::Append(tidy::CheckComparedTexts(file.path, TokensOf(file.text)), &findings);
  }
  ExpectNone(findings);
}

TEST(RepositoryTest, NoHashContainerIsIterated) {
  std::map<std::string, const std::string*> headers;
  for (const SourceFile& file : Tree()) {
    if (absl::EndsWith(file.path, ".h")) headers[file.path] = &file.text;
  }
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) {
    if (!tidy::IsCpp(file.path)) continue;
    tidy::HashNames names;
    const std::string stem = file.path.substr(0, file.path.rfind('.'));
    const auto header = headers.find(absl::StrCat(stem, ".h"));
    if (header != headers.end()) tidy::CollectHashNames(TokensOf(*header->second), &names);
    const std::vector<Token> tokens = TokensOf(file.text);
    tidy::CollectHashNames(tokens, &names);
    tidy::Append(tidy::CheckHashIteration(file.path, tokens, names), &findings);
  }
  ExpectNone(findings);
}

TEST(RepositoryTest, Layout) {
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) tidy::Append(tidy::CheckLayout(file), &findings);
  ExpectNone(findings);
}

TEST(RepositoryTest, HeadersAreGuardedAndSayWhatTheyAre) {
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) {
    if (absl::EndsWith(file.path, ".h")) tidy::Append(tidy::CheckHeader(file), &findings);
  }
  ExpectNone(findings);
}

TEST(RepositoryTest, NoForbiddenWords) {
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) tidy::Append(tidy::CheckWords(file), &findings);
  ExpectNone(findings);
}

TEST(RepositoryTest, EveryFileIsBuilt) {
  std::set<std::string> built;
  for (const SourceFile& file : Tree()) {
    if (tidy::MatchesAny("*CMakeLists.txt *.cmake", file.path))
      built.merge(tidy::PathsInCMake(file));
  }
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) tidy::Append(tidy::CheckBuilt(file.path, built), &findings);
  ExpectNone(findings);
}

TEST(RepositoryTest, TestsMirrorTheRooms) {
  std::set<std::string> folders;
  for (const SourceFile& file : Tree()) {
    std::string folder = tidy::FolderOf(file.path);
    while (!folder.empty() && folders.insert(folder).second) folder = tidy::FolderOf(folder);
  }
  std::vector<Finding> findings;
  for (const SourceFile& file : Tree()) {
    tidy::Append(tidy::CheckMirror(file.path, folders), &findings);
  }
  ExpectNone(findings);
}

// --- The rules on samples ---

TEST(TidyRulesTest, TypesOutsideUnnamedNamespaces) {
  const std::string text = R"(
namespace drasim {
class Declared;
struct A { struct Inner { int a; }; };
struct A::Later { int a; };
enum class B : uint8_t { kOne };
template <class T>
class C final : public D<T, int> { };
template <>
struct C<int> { };
void F(struct A* a, class Other& b) { struct Local { } local; }
namespace {
struct A { };
}  // namespace
namespace inner { class A { }; }
namespace other = inner;
}  // namespace drasim
)";
  std::vector<std::string> names;
  for (const tidy::TypeDefinition& type : tidy::TypesOf(TokensOf(text))) names.push_back(type.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"drasim::A", "drasim::B", "drasim::C", "drasim::inner::A"}));
  const std::vector<Finding> findings =
      tidy::CheckOneDefinition({{"model/a.h", "namespace n { struct A { }; }"},
                                {"policies/b.cc", "namespace n {\nclass A { };\n}"},
                                {"tests/c.cc", "namespace n { class A { }; }"}});
  ASSERT_EQ(findings.size(), 1u) << Report(findings);
  EXPECT_EQ(Report(findings), Report({{"policies/b.cc", 2, "n::A is defined in model/a.h:1 too"}}));
}

TEST(TidyRulesTest, ArrowsOfEveryRoom) {
  struct Row {
    const char* file;
    const char* may_include;
    const char* must_not_include;
  };
  const Row kRows[] = {
      {"model/a.cc", "model/b.h model/text/b.h model/kube/b.h",
       "model/proto/b.pb.h policies/framework/b.h traces/b.h sim/core/b.h gui/view/b.h tests/b.h"},
      {"model/text/a.cc", "model/b.h model/text/b.h model/proto/b.pb.h",
       "model/kube/b.h traces/b.h sim/app/b.h"},
      {"model/kube/a.cc", "model/b.h model/text/b.h model/proto/b.pb.h", "traces/b.h sim/run/b.h"},
      {"policies/a.cc", "policies/plugins/b.h policies/devices/b.h model/b.h", "sim/core/b.h"},
      {"policies/framework/a.h", "policies/framework/b.h model/b.h",
       "policies/b.h policies/plugins/b.h policies/devices/b.h sim/core/b.h traces/b.h"},
      {"policies/plugins/a.cc",
       "policies/plugins/b.h policies/plugins/b.inc policies/framework/b.h",
       "policies/devices/b.h policies/b.h sim/core/b.h"},
      {"policies/devices/a.cc", "policies/devices/b.h policies/plugins/b.h policies/framework/b.h",
       "policies/b.h sim/core/b.h"},
      {"traces/a.cc", "traces/b.h traces/tools/b.h model/b.h model/proto/b.pb.h",
       "sim/core/b.h policies/framework/b.h bench/b.h"},
      {"sim/core/a.cc", "sim/core/b.h policies/framework/b.h model/b.h",
       "policies/plugins/b.h policies/b.h sim/control/b.h sim/record/b.h sim/app/b.h traces/b.h"},
      {"sim/control/a.cc", "sim/control/b.h sim/core/b.h policies/framework/b.h model/b.h",
       "policies/devices/b.h sim/record/b.h sim/app/b.h traces/b.h"},
      {"sim/dra/api/a.cc", "sim/dra/api/b.h sim/core/b.h policies/framework/b.h model/b.h",
       "sim/dra/classic/b.h policies/devices/b.h sim/control/b.h sim/record/b.h sim/app/b.h"},
      {"sim/dra/classic/a.cc", "sim/dra/classic/b.h sim/dra/api/b.h sim/core/b.h model/b.h",
       "sim/dra/structured/b.h policies/devices/b.h sim/control/b.h sim/record/b.h"},
      {"sim/record/a.cc", "sim/record/b.h model/b.h model/proto/b.pb.h",
       "sim/core/b.h sim/control/b.h sim/app/b.h policies/framework/b.h traces/b.h"},
      {"sim/scenario/a.cc",
       "sim/scenario/b.h sim/core/b.h sim/dra/classic/b.h traces/b.h model/b.h",
       "sim/run/b.h sim/compare/b.h sim/explain/b.h sim/app/b.h gui/view/b.h"},
      {"sim/run/a.cc", "sim/run/b.h sim/scenario/b.h sim/record/b.h sim/dra/api/b.h traces/b.h",
       "sim/compare/b.h sim/explain/b.h sim/app/b.h"},
      {"sim/compare/a.cc", "sim/compare/b.h sim/run/b.h sim/scenario/b.h sim/record/b.h",
       "sim/explain/b.h sim/app/b.h traces/b.h"},
      {"sim/kube/a.cc", "sim/kube/b.h sim/scenario/b.h sim/core/b.h policies/b.h traces/b.h",
       "sim/run/b.h sim/explain/b.h sim/app/b.h"},
      {"sim/explain/a.cc",
       "sim/explain/b.h sim/run/b.h sim/scenario/b.h sim/record/b.h sim/dra/api/b.h",
       "sim/compare/b.h sim/app/b.h gui/view/b.h"},
      {"sim/app/a.cc",
       "sim/core/b.h sim/record/b.h policies/b.h policies/plugins/b.h traces/b.h gui/view/b.h",
       "gui/app/b.h bench/b.h tests/b.h"},
      {"gui/view/a.cc", "gui/view/b.h sim/record/b.h model/b.h",
       "gui/app/b.h sim/app/b.h sim/core/b.h traces/b.h"},
      {"gui/app/a.cc", "gui/app/b.h gui/view/b.h sim/app/b.h sim/record/b.h model/b.h",
       "sim/core/b.h policies/b.h traces/b.h"},
      {"bench/micro/a.cc", "traces/b.h sim/core/b.h policies/plugins/b.h model/proto/b.pb.h", ""},
      {"tests/sim/core/a.cc", "tests/b.h gui/view/b.h policies/plugins/b.h", "sim/b.h gui/b.h"},
  };
  for (const Row& row : kRows) {
    for (const absl::string_view header : tidy::Words(row.may_include)) {
      const SourceFile file{row.file, absl::StrCat("#include \"", header, "\"\n")};
      EXPECT_EQ(Report(tidy::CheckIncludes(file)), "");
    }
    for (const absl::string_view header : tidy::Words(row.must_not_include)) {
      const SourceFile file{row.file, absl::StrCat("#include \"", header, "\"\n")};
      EXPECT_EQ(tidy::CheckIncludes(file).size(), 1u) << row.file << " includes " << header;
    }
  }
}

TEST(TidyRulesTest, CirclesAmongIncludes) {
  const auto report = [](const std::vector<SourceFile>& files) {
    return Report(tidy::CheckCircles(files));
  };
  const SourceFile a{"model/a.h", "#include \"model/b.h\"\n"};
  const SourceFile b{"model/b.h", "#include \"model/c.h\"\n#include <vector>\n"};
  EXPECT_EQ(report({a, b, {"model/c.h", ""}, {"model/c.cc", "#include \"model/c.h\"\n"}}), "");
  EXPECT_EQ(report({a, b, {"model/c.h", "#include \"model/a.h\"\n"}}),
            "model/a:0: includes in a circle: model/a, model/b, model/c\n");
  // Through a source file.
  EXPECT_EQ(report({a, b, {"model/c.h", ""}, {"model/c.cc", "#include \"model/b.h\"\n"}}),
            "model/b:0: includes in a circle: model/b, model/c\n");
  EXPECT_EQ(report({{"tests/a.h", "#include \"tests/b.h\"\n"},
                    {"tests/b.h", "#include \"tests/a.h\"\n"}}),
            "");
}

TEST(TidyRulesTest, IncludesSayWhatIsWrong) {
  const auto report = [](const char* path, const char* text) {
    return Report(tidy::CheckIncludes({path, text}));
  };
  EXPECT_EQ(
      report("model/a.cc",
             "// #include \"traces/b.h\"\n#include <vector>\n\n"
             "#include \"absl/strings/str_cat.h\"\n#  include \"sim/core/event.h\"  // why\n"),
      "model/a.cc:5: model must not include sim/core/event.h "
      "(it may include model except model/proto)\n");
  EXPECT_EQ(report("sim/record/a.h", "#include \"sim/core/event.h\"\n"),
            "sim/record/a.h:1: sim/record must not include sim/core/event.h "
            "(it may include sim/record model)\n");
  EXPECT_EQ(
      report("traces/a.cc", "#include \"decimal.h\"\n"),
      "traces/a.cc:1: \"decimal.h\" names no room: write the path from the repository root\n");
  EXPECT_EQ(report("traces/a.cc", "#include <traces/decimal.h>\n"),
            "traces/a.cc:1: <traces/decimal.h> is ours: write it in quotes\n");
  EXPECT_EQ(report("tests/a.cc", "#include \"sim/event.h\"\n"),
            "tests/a.cc:1: \"sim/event.h\" is in no known room\n");
  EXPECT_EQ(report("sim/a.cc", ""), "sim/a.cc:1: stands in no known room\n");
  EXPECT_EQ(report("model/go_random.cc", "#include \"go_random_table.inc\"\n"), "");
  EXPECT_EQ(report("tests/a.cc", "const char* s = R\"(\n#include \"decimal.h\"\n)\";\n"), "");
}

TEST(TidyRulesTest, LibrariesHaveTheirRooms) {
  struct Row {
    const char* file;
    const char* header;
    size_t findings;
  };
  const Row kRows[] = {
      {"model/text/a.cc", "yaml-cpp/yaml.h", 0},
      {"sim/app/a.cc", "yaml-cpp/yaml.h", 1},
      {"model/text/a.cc", "google/protobuf/message.h", 0},
      {"traces/a.cc", "google/protobuf/message.h", 0},
      {"model/a.cc", "google/protobuf/message.h", 1},
      {"model/kube/a.cc", "google/protobuf/message.h", 0},
      {"gui/app/a.cc", "imgui.h", 0},
      {"gui/app/a.cc", "imgui_impl_glfw.h", 0},
      {"gui/view/a.cc", "imgui.h", 1},
      {"gui/view/a.cc", "GLFW/glfw3.h", 1},
      {"sim/bench/a.cc", "coin/ClpSimplex.hpp", 0},
      {"sim/run/a.cc", "coin/ClpSimplex.hpp", 1},
      {"sim/app/a.cc", "absl/log/log.h", 1},
      {"sim/app/a.cc", "absl/strings/str_cat.h", 0},
      {"tests/a.cc", "cassert", 1},
      {"tests/a.cc", "random", 1},
      {"tests/a.cc", "string_view", 1},
      {"tests/a.cc", "string", 0},
  };
  for (const Row& row : kRows) {
    const SourceFile file{row.file, absl::StrCat("#include <", row.header, ">\n")};
    EXPECT_EQ(tidy::CheckIncludes(file).size(), row.findings) << row.file << " " << row.header;
  }
}

// The lines and names of the findings, such as "1:exp 3:rand".
std::string Banned(const char* path, absl::string_view text) {
  std::string names;
  for (const Finding& finding : tidy::CheckBans(path, TokensOf(text))) {
    absl::StrAppend(&names, names.empty() ? "" : " ", finding.line, ":",
                    finding.what.substr(0, finding.what.find(':')));
  }
  return names;
}

TEST(TidyRulesTest, RandomnessOfTheLibraryIsBannedEverywhere) {
  EXPECT_EQ(Banned("tests/a.cc",
                   "int a = std::rand();\nint b = rand();\nsrand(1);\nstd::mt19937 c;\n"
                   "std::random_device d;\nstd::uniform_int_distribution<int> e(1, 2);\n"
                   "std::bernoulli_distribution f;\nstd::linear_congruential_engine g;\n"
                   "std::shuffle(v.begin(), v.end(), c);\nabsl::BitGen h;\n"),
            "1:rand 2:rand 3:srand 4:mt19937 5:random_device 6:uniform_int_distribution "
            "7:bernoulli_distribution 8:linear_congruential_engine 9:shuffle 10:BitGen");
  EXPECT_EQ(Banned("model/a.cc",
                   "// std::rand()\nconst char* s = \"std::mt19937\";\nRandom rand(7);\n"
                   "stream.rand();\nint my_distribution = 1;\nShuffle(v);\n"),
            "");
}

TEST(TidyRulesTest, WallClockIsBannedInTheSimulation) {
  const char* const kBad =
      "auto a = std::chrono::steady_clock::now();\nusing std::chrono::system_clock;\n"
      "time_t b = time(nullptr);\nauto c = std::time(&b);\nauto d = absl::Now();\n"
      "gettimeofday(&t, nullptr);\nclock_gettime(CLOCK_MONOTONIC, &t);\nreturn clock();\n"
      "high_resolution_clock::now();\n";
  const char* const kFound =
      "1:steady_clock 2:system_clock 3:time 4:time 5:Now 6:gettimeofday 7:clock_gettime 8:clock "
      "9:high_resolution_clock";
  for (const char* path : {"model/a.cc", "policies/plugins/a.cc", "sim/core/a.cc",
                           "sim/control/a.cc", "sim/record/a.cc", "traces/a.cc"}) {
    EXPECT_EQ(Banned(path, kBad), kFound) << path;
  }
  for (const char* path : {"sim/app/a.cc", "gui/app/a.cc", "bench/micro/a.cc", "tests/a.cc"}) {
    EXPECT_EQ(Banned(path, kBad), "") << path;
  }
  EXPECT_EQ(Banned("sim/core/a.cc",
                   "const SimTime time(5);\nEvent(SimTime t) : time(t) {}\nevent.time();\n"
                   "view->clock();\nSimTime time() const;\nqueue.Push(time, Now());\n"),
            "");
}

TEST(TidyRulesTest, NamesAndReasonsAreNotComparedAsTexts) {
  const char* const kBad =
      "if (sort->name() == \"PrioritySort\") return;\nbool a = plugin != \"MigFit\";\n"
      "return r.reason == \"Insufficient cpu\" || status.message() == \"x\";\n";
  const std::vector<Finding> found = tidy::CheckComparedTexts("sim/core/a.cc", TokensOf(kBad));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].line, 1u);
  EXPECT_EQ(found[1].line, 2u);
  EXPECT_EQ(found[3].line, 3u);
  EXPECT_TRUE(tidy::CheckComparedTexts("tests/a.cc", TokensOf(kBad)).empty());
  EXPECT_TRUE(tidy::CheckComparedTexts("sim/core/a.cc",
                                       TokensOf("if (name == \"cpu\") f(plugin->name() == other);\n"
                                                "// plugin == \"x\"\n"))
                  .empty());
}

TEST(TidyRulesTest, LibmIsBannedWhereThingsAreDecided) {
  const char* const kBad =
      "return std::exp(x) + log(y);\nf = a * pow(a, 2) - ::sin(a);\nfloat c = std::cos;\n"
      "#define T(x) tanh(x)\n";
  const char* const kFound = "1:exp 1:log 2:pow 2:sin 3:cos 4:tanh";
  for (const char* path : {"model/a.cc", "policies/plugins/a.cc", "sim/core/a.cc"}) {
    EXPECT_EQ(Banned(path, kBad), kFound) << path;
  }
  for (const char* path : {"sim/app/a.cc", "gui/view/a.cc", "tests/a.cc"}) {
    EXPECT_EQ(Banned(path, kBad), "") << path;
  }
  EXPECT_EQ(Banned("model/a.cc",
                   "std::sqrt(x) + sqrt(x);\ndouble exp(double x);\nint log = 1;\n"
                   "table.exp(x);\nexact::pow(2, 3);\nint64_t power = 1'000 + exp10_table(3);\n"),
            "");
}

TEST(TidyRulesTest, NamesBannedForGoodStyle) {
  EXPECT_EQ(Banned("sim/app/a.cc",
                   "using namespace std;\nassert(x);\nstd::string_view s;\n"
                   "using std::string_view;\n"),
            "1:using namespace 2:assert 3:string_view 4:string_view");
  EXPECT_EQ(Banned("sim/app/a.cc",
                   "namespace drasim {\nusing absl::string_view;\nstatic_assert(true);\n"
                   "absl::string_view s;\nusing std::string;\n"),
            "");
  EXPECT_EQ(Report(tidy::CheckBans("model/a.cc", TokensOf("\n/* a\n */ rand();\n"))),
            "model/a.cc:3: rand: use model/random.h, whose numbers are the same everywhere\n");
}

std::string HashIteration(absl::string_view header, absl::string_view source) {
  tidy::HashNames names;
  tidy::CollectHashNames(TokensOf(header), &names);
  const std::vector<Token> tokens = TokensOf(source);
  tidy::CollectHashNames(tokens, &names);
  return Report(tidy::CheckHashIteration("model/a.cc", tokens, names));
}

TEST(TidyRulesTest, HashContainersAreNotIterated) {
  const auto finding = [](size_t line, absl::string_view name) {
    return absl::StrCat("model/a.cc:", line, ": iterates over ", name,
                        ", a hash container: its order changes from run to run\n");
  };
  const char* const kHeader =
      "class A {\n  const absl::flat_hash_map<int, std::vector<int>>& Rows() const;\n"
      "  using Index = absl::node_hash_set<std::pair<int, int>>;\n"
      "  absl::flat_hash_map<int, std::vector<int>> rows_;\n  Index index_;\n"
      "  std::vector<int> order_;\n};\n";
  EXPECT_EQ(HashIteration(kHeader, "for (const auto& [k, v] : rows_) f(k);\n"),
            finding(1, "rows_"));
  EXPECT_EQ(HashIteration(kHeader, "\nfor (auto x : this->index_) f(x);\n"), finding(2, "index_"));
  EXPECT_EQ(HashIteration(kHeader, "for (int i = 0; auto x : a.Rows()) f(x);\n"),
            finding(1, "Rows"));
  EXPECT_EQ(HashIteration(kHeader, "auto it = rows_.begin();\n"), finding(1, "rows_"));
  EXPECT_EQ(HashIteration(kHeader, "auto it = std::begin(rows_);\n"), finding(1, "rows_"));
  EXPECT_EQ(
      HashIteration("", "void F(const std::unordered_set<int>& seen) {\n  for (int x : seen)\n"),
      finding(2, "seen"));
  EXPECT_EQ(HashIteration(kHeader,
                          "for (int x : order_) f(x);\nauto it = rows_.find(1);\n"
                          "if (it == rows_.end()) return;\nfor (int x : rows_.at(3)) f(x);\n"
                          "for (int i = 0; i < n; i += rows_.empty() ? 1 : 2) g(i);\n"
                          "for (int x : rows_[7]) f(x);\nauto b = order_.begin();\n"),
            "");
}

TEST(TidyRulesTest, Layout) {
  const auto report = [](const char* path, const std::string& text) {
    return Report(tidy::CheckLayout({path, text}));
  };
  EXPECT_EQ(report("model/a.cc", "int a;\n"), "");
  EXPECT_EQ(report("model/a.cc", ""), "");
  EXPECT_EQ(report("model/a.cc", "int a;\nint b;"),
            "model/a.cc:2: no line end at the end of the file\n");
  EXPECT_EQ(report("docs/a.md", "a \n\tb\r\n"),
            "docs/a.md:1: white space at the end of the line\ndocs/a.md:2: a tab\n"
            "docs/a.md:2: white space at the end of the line\n");
  EXPECT_EQ(report("Makefile", "all:\n\tmake \n"),
            "Makefile:2: white space at the end of the line\n");
  EXPECT_EQ(report("traces/data/a.csv", "a\tb \nc"), "");
  EXPECT_EQ(report("tests/fuzz/corpus/a.yaml", "a:\t1 "), "");

  const std::string umlauts = [] {
    std::string text = "//";
    for (int i = 0; i < 98; ++i) text += "\xC3\xBC";
    return text;
  }();
  EXPECT_EQ(report("model/a.h", umlauts + "\n"), "");
  EXPECT_EQ(report("model/a.h", "\n" + umlauts + "x\n"),
            "model/a.h:2: a line of 101 characters; 100 are the limit\n");
  EXPECT_EQ(report("model/a.h", umlauts + " https://example.org\n"), "");
  EXPECT_EQ(report("docs/a.md", umlauts + "x\n"), "");
}

TEST(TidyRulesTest, Headers) {
  const std::string guard = "DRASIM_MODEL_TEXT_JSON_WRITER_H_";
  const std::string wrapped =
      absl::StrCat("#ifndef ", guard, "\n#define ", guard, "\nint a;\n#endif  // ", guard, "\n");
  const auto report = [](const std::string& text) {
    return Report(tidy::CheckHeader({"model/text/json_writer.h", text}));
  };
  EXPECT_EQ(tidy::GuardOf("model/text/json_writer.h"), guard);
  EXPECT_EQ(report("// JSON, key by key.\n//\n// More.\n" + wrapped), "");

  const std::string kNoComment =
      "model/text/json_writer.h:1: does not begin with a comment that says what it is\n";
  EXPECT_EQ(report(wrapped), kNoComment);
  EXPECT_EQ(report("// JSON.\n" + wrapped), kNoComment);
  EXPECT_EQ(report("// Copyright 2024 by its authors\n" + wrapped), kNoComment);

  const auto no_guard = [&](int line) {
    return absl::StrCat("model/text/json_writer.h:", line, ": is not wrapped in the include guard ",
                        guard, "\n");
  };
  EXPECT_EQ(report("// JSON, key by key.\n#pragma once\nint a;\n"), no_guard(2));
  EXPECT_EQ(report("// JSON, key by key.\n\nint b;\n" + wrapped), no_guard(3));
  EXPECT_EQ(report("// JSON, key by key.\n" + wrapped + "int b;\n"), no_guard(2));
  EXPECT_EQ(report("// JSON, key by key.\n#ifndef A_H_\n#define A_H_\n#endif  // A_H_\n"),
            no_guard(2));
}

TEST(TidyRulesTest, ForbiddenWords) {
  const auto report = [](const char* text) {
    return Report(tidy::CheckWords({"docs/a.md", tidy::Joined(text)}));
  };
  EXPECT_EQ(report("fine\n- TO~DO(me): more\nHA~CK\nFIX~ME\nXX~X"),
            tidy::Joined("docs/a.md:2: TO~DO: finish it or drop it\n"
                         "docs/a.md:3: HA~CK: finish it or drop it\n"
                         "docs/a.md:4: FIX~ME: finish it or drop it\n"
                         "docs/a.md:5: XX~X: finish it or drop it\n"));
  EXPECT_EQ(report("cd /wo~rk/main\n'/ho~me/me'\n"),
            tidy::Joined("docs/a.md:1: /wo~rk/: a path of one machine\n"
                         "docs/a.md:2: /ho~me/: a path of one machine\n"));
  EXPECT_EQ(report("http://Deb.Deb~ian.org/debian\nhttps://py~pi.org/simple\n"),
            tidy::Joined("docs/a.md:1: deb.deb~ian.org: a package registry's host\n"
                         "docs/a.md:2: py~pi.org: a package registry's host\n"));
  EXPECT_EQ(report("https://example.org/wo~rk/a ./ho~me/b /workloads/ $x/work\n"
                   "mkstemp(\"/tmp/a_XXXXXX\") kTO~DOList hacks debian.org\n"),
            "");
}

TEST(TidyRulesTest, DeadFiles) {
  const std::vector<SourceFile> lists = {
      {"CMakeLists.txt", "add(x \"${CMAKE_CURRENT_SOURCE_DIR}/sim/a.cc\")\n"},
      {"cmake/install.cmake", "install(FILES model/b.h)\n"},
      {"model/CMakeLists.txt",
       "add(dead SRCS c.cc text/d.cc\n  ${CMAKE_SOURCE_DIR}/sim/e.cc HDRS c.h)  # old.cc\n"},
      {"policies/CMakeLists.txt", "set(FILES\n  plugins/f)\n"},
      {"tests/fuzz/CMakeLists.txt",
       "foreach(name g h)\n  add(${name}_fuzz "
       "${name}_fuzz.cc)\nendforeach()\nadd(${name}_end.cc)\n"},
  };
  std::set<std::string> built;
  for (const SourceFile& list : lists) built.merge(tidy::PathsInCMake(list));
  for (const absl::string_view path : tidy::Words(
           "sim/a.cc model/b.h model/c.cc model/c.h model/text/d.cc sim/e.cc policies/plugins/f.h "
           "policies/plugins/f.cc tests/policies/plugins/f_test.cc tests/fuzz/g_fuzz.cc "
           "tests/fuzz/h_fuzz.cc tests/fixture.h bench/fixture.h model/table.inc docs/a.md")) {
    EXPECT_EQ(Report(tidy::CheckBuilt(std::string(path), built)), "");
  }
  for (const absl::string_view path : tidy::Words(
           "model/old.cc model/d.cc model/e.h model/dead.cc tests/model/c_test.cc "
           "tests/fuzz/i_fuzz.cc tests/fuzz/g_end.cc bench/micro/a_bench.cc policies/f.cc")) {
    EXPECT_EQ(Report(tidy::CheckBuilt(std::string(path), built)),
              absl::StrCat(path, ":0: no CMakeLists.txt names this file\n"));
  }
}

TEST(TidyRulesTest, MirroredTests) {
  const std::set<std::string> folders = {"model", "model/text", "sim", "sim/core"};
  for (const char* path :
       {"tests/model/a_test.cc", "tests/model/text/a_test.cc", "tests/sim/core/a_test.cc",
        "tests/docs/a_test.cc", "tests/golden/a_test.cc", "tests/fuzz/deep/a_test.cc",
        "tests/model/helper.h", "tests/nowhere/helper.cc", "bench/micro/a_test.cc"}) {
    EXPECT_EQ(Report(tidy::CheckMirror(path, folders)), "") << path;
  }
  EXPECT_EQ(Report(tidy::CheckMirror("tests/sim/app/a_test.cc", folders)),
            "tests/sim/app/a_test.cc:0: mirrors no room: there is no folder 'sim/app'\n");
  EXPECT_EQ(tidy::CheckMirror("tests/nowhere/a_test.cc", folders).size(), 1u);
  EXPECT_EQ(tidy::CheckMirror("tests/a_test.cc", folders).size(), 1u);
}

}  // namespace tidy_test
}  // namespace drasim
