// The command line's grammar: flags, their values, their help, lists of seeds and policies.
#include "sim/app/flags.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "sim/app/scenario_flags.h"
#include "sim/compare/contenders.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace flags_test {

const std::vector<FlagSpec>& Specs() {
  static const auto* const specs = new std::vector<FlagSpec>{
      {"seed", "seed", "N", "of every random choice"},
      {"policy", "scheduler.policy", "NAME", "who goes where"},
      {"set", "", "KEY=VALUE", "any key"},
      {"mode", "mode", "MODE", "use of time", "fill,replay"},
      {"force", "", "", "even so"},
      {"a-flag-with-a-long-name", "", "VALUE", "its help is on a line of its own"},
      {"help", "", "", "this text"},
  };
  return *specs;
}

using Given = std::vector<std::pair<std::string, std::string>>;
using Words = std::vector<std::string>;

ParsedFlags Parsed(const Words& args) {
  absl::StatusOr<ParsedFlags> parsed = ParseFlags(Specs(), args);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : ParsedFlags();
}

Given GivenTo(const ParsedFlags& flags) {
  Given given;
  for (const GivenFlag& flag : flags.given()) {
    given.emplace_back(flag.spec.name, flag.value);
  }
  return given;
}

absl::Status ErrorOf(const Words& args) { return ParseFlags(Specs(), args).status(); }

TEST(ParseFlagsTest, EveryForm) {
  const ParsedFlags flags = Parsed({"--seed=7", "a.yaml", "--policy", "fgd", "--force", "--seed",
                                    "8", "--mode=replay", "b", "-", "--set", "x.y=1=2", "--set="});
  EXPECT_EQ(GivenTo(flags), (Given{{"seed", "7"},
                                   {"policy", "fgd"},
                                   {"force", "true"},
                                   {"seed", "8"},
                                   {"mode", "replay"},
                                   {"set", "x.y=1=2"},
                                   {"set", ""}}));
  EXPECT_EQ(flags.positional(), (Words{"a.yaml", "b", "-"}));
  EXPECT_EQ(flags.GetOr("seed", "no"), "8");  // the last one counts
  EXPECT_EQ(flags.All("seed"), (Words{"7", "8"}));
  EXPECT_EQ(flags.All("set"), (Words{"x.y=1=2", ""}));
  EXPECT_TRUE(flags.Has("force"));
  EXPECT_FALSE(flags.Has("help"));
  EXPECT_FALSE(flags.Get("help").has_value());
  EXPECT_EQ(flags.GetOr("help", "no"), "no");
  EXPECT_EQ(flags.GetOr("policy", "no"), "fgd");
  EXPECT_TRUE(flags.All("help").empty());
}

TEST(ParseFlagsTest, AValueMayLookLikeAFlag) {
  const ParsedFlags flags = Parsed({"--policy", "--seed", "--set", "-1"});
  EXPECT_EQ(GivenTo(flags), (Given{{"policy", "--seed"}, {"set", "-1"}}));
}

TEST(ParseFlagsTest, TwoDashesEndTheFlags) {
  const ParsedFlags flags = Parsed({"--force", "--", "--seed", "7", "--"});
  EXPECT_EQ(GivenTo(flags), (Given{{"force", "true"}}));
  EXPECT_EQ(flags.positional(), (Words{"--seed", "7", "--"}));
  EXPECT_TRUE(Parsed({}).positional().empty());
  EXPECT_TRUE(Parsed({"--"}).positional().empty());
}

TEST(ParseFlagsTest, ShortHelp) { EXPECT_TRUE(Parsed({"-h"}).Has("help")); }

TEST(ParseFlagsTest, ASwitchMayBeSpelledOut) {
  EXPECT_FALSE(Parsed({"--force=false"}).Has("force"));
  EXPECT_FALSE(Parsed({"--force", "--force=false"}).Has("force"));
  EXPECT_TRUE(Parsed({"--force=false", "--force"}).Has("force"));
  EXPECT_EQ(Parsed({"--force=true"}).GetOr("force", "no"), "true");
}

TEST(ParseFlagsTest, ExplainsWhatIsWrong) {
  EXPECT_EQ(ErrorOf({"--sede", "7"}),
            absl::InvalidArgumentError("unknown flag --sede (did you mean '--seed'?)"));
  for (const auto& [input, expected] : TestRows<2>("ExplainsWhatIsWrong")) {
    EXPECT_EQ(ErrorOf({input}), absl::InvalidArgumentError(expected)) << input;
  }
  // The first error is the one that is told.
  EXPECT_EQ(ErrorOf({"--seed=1", "--sede", "--polici"}),
            absl::InvalidArgumentError("unknown flag --sede (did you mean '--seed'?)"));
}

TEST(FlagHelpTest, ToTheByte) { EXPECT_EQ(FlagHelp(Specs()), TestText("ToTheByte")); }

// An empty list would read like a flag that is not there.
TEST(ListFlagsTest, AreNotEmpty) {
  const std::vector<FlagSpec> specs = {{"policies", "", "A", ""},
                                       {"queues", "", "A", ""},
                                       {"seeds", "", "A", ""},
                                       {"queue", "", "A", ""}};
  const auto error = [&specs](const char* arg) {
    return std::string(CheckListFlags(ContenderFlagsOf(*ParseFlags(specs, {arg}))).message());
  };
  EXPECT_EQ(error("--policies="),
            "--policies: found '', expected names with commas between, or all");
  EXPECT_EQ(error("--queues="), "--queues: found '', expected names with commas between, or all");
  EXPECT_EQ(error("--seeds="),
            "--seeds: found '', expected numbers and ranges such as 42 or 42..51 or 1,2,7..9");
  EXPECT_EQ(error("--policies=fgd"), "");
  const ParsedFlags queue = *ParseFlags(specs, {"--queue=fifo"});
  EXPECT_EQ(CheckQueueFlag(ContenderFlagsOf(queue), true), absl::OkStatus());
  EXPECT_EQ(CheckQueueFlag(ContenderFlagsOf(queue), false),
            absl::InvalidArgumentError(
                "--queue: found 'fifo', expected mode: replay beside it; a fill tries each job "
                "once, so that none queues"));
}

}  // namespace flags_test
}  // namespace drasim
