#include "sim/extender/extender_log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace {

using ::testing::HasSubstr;

// Answers "VERB of BODY"; the verb "fail" fails.
class EchoChannel : public ExtenderChannel {
 public:
  explicit EchoChannel(std::string more = "") : more_(std::move(more)) {}
  absl::StatusOr<std::string> Call(const ExtenderSpec&, absl::string_view verb,
                                   absl::string_view body) override {
    if (verb == "fail") return absl::UnavailableError(absl::StrCat("no ", body));
    return absl::StrCat(verb, " of ", body, more_);
  }

 private:
  const std::string more_;
};

ExtenderSpec SpecOf(const std::string& url) {
  ExtenderSpec spec;
  spec.url_prefix = url;
  return spec;
}

std::string Text(const absl::StatusOr<std::string>& answer) {
  return answer.ok() ? *answer : std::string(answer.status().message());
}

class ExtenderLogTest : public ::testing::Test {
 protected:
  // Two calls, of which one fails.
  std::vector<ExtenderCall> Record() {
    auto recording = RecordingChannel::Open(dir_.PathOf("log"), std::make_unique<EchoChannel>());
    EXPECT_TRUE(recording.ok());
    EXPECT_EQ(Text((*recording)->Call(SpecOf("u"), "filter", "abc")), "filter of abc");
    EXPECT_EQ(Text((*recording)->Call(SpecOf("v"), "fail", "x\n")), "no x\n");
    EXPECT_TRUE((*recording)->Finish().ok());
    absl::StatusOr<std::vector<ExtenderCall>> calls = ReadExtenderLog(dir_.Read("log"), "log");
    EXPECT_TRUE(calls.ok()) << calls.status();
    return calls.ok() ? *std::move(calls) : std::vector<ExtenderCall>();
  }

  TempDir dir_;
};

TEST_F(ExtenderLogTest, ReadsBackWhatItWrites) {
  const std::vector<ExtenderCall> calls = Record();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].request_sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(calls[0].failed);
  EXPECT_TRUE(calls[1].failed);
  EXPECT_EQ(ExtenderLogHeader() + ExtenderLogLine(1, calls[0]) + ExtenderLogLine(2, calls[1]),
            dir_.Read("log"));
  EXPECT_EQ(ExtenderLogHeader(), "{\"schema\": \"drasim.extender-calls/v1\"}\n");
}

TEST_F(ExtenderLogTest, RepeatsAnswersAndErrors) {
  ReplayChannel replay(Record(), nullptr);
  EXPECT_EQ(Text(replay.Call(SpecOf("u"), "filter", "abc")), "filter of abc");
  const absl::StatusOr<std::string> failed = replay.Call(SpecOf("v"), "fail", "x\n");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(Text(failed), "no x\n");
  EXPECT_TRUE(replay.status().ok());
  EXPECT_TRUE(replay.Finish().ok());
  EXPECT_EQ(Text(replay.Call(SpecOf("u"), "filter", "abc")),
            "extender call 3, filter of u: the recording ends after 2 calls");
  EXPECT_EQ(replay.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ExtenderLogTest, NamesWhatDiffers) {
  const std::vector<ExtenderCall> calls = Record();
  ReplayChannel request(calls, nullptr);
  EXPECT_THAT(Text(request.Call(SpecOf("u"), "filter", "abd")),
              HasSubstr("extender call 1, filter of u: the request differs"));
  // A divergence stays.
  EXPECT_FALSE(request.Call(SpecOf("v"), "fail", "x\n").ok());
  EXPECT_THAT(std::string(request.Finish().message()), HasSubstr("extender call 1, "));

  ReplayChannel verb(calls, nullptr);
  EXPECT_EQ(Text(verb.Call(SpecOf("w"), "bind", "abc")),
            "extender call 1, bind of w: the recorded call is filter of u");

  ReplayChannel unfinished(calls, nullptr);
  EXPECT_TRUE(unfinished.Call(SpecOf("u"), "filter", "abc").ok());
  EXPECT_EQ(std::string(unfinished.Finish().message()),
            "extender call 2, fail of v: not made; the recording has 2 calls");

  ReplayChannel same(calls, std::make_unique<EchoChannel>());
  EXPECT_TRUE(same.Call(SpecOf("u"), "filter", "abc").ok());
  EXPECT_FALSE(same.Call(SpecOf("v"), "fail", "x\n").ok());
  EXPECT_TRUE(same.Finish().ok());

  ReplayChannel answer(calls, std::make_unique<EchoChannel>("!"));
  EXPECT_EQ(Text(answer.Call(SpecOf("u"), "filter", "abc")),
            "extender call 1, filter of u: the extender answers differently: answer filter of "
            "abc!; recorded: answer filter of abc");
}

// As a run does that goes on from a checkpoint.
TEST_F(ExtenderLogTest, GoesOnBehindEarlierCalls) {
  const std::vector<ExtenderCall> calls = Record();
  const std::string whole = dir_.Read("log");
  ASSERT_OK_AND_ASSIGN(
      std::unique_ptr<RecordingChannel> recording,
      RecordingChannel::Open(dir_.PathOf("log"), std::make_unique<ReplayChannel>(calls, nullptr),
                             ExtenderLogLine(1, calls[0])));
  recording->SkipTo(1);
  EXPECT_EQ(Text(recording->Call(SpecOf("v"), "fail", "x\n")), "no x\n");
  EXPECT_EQ(recording->calls(), 2u);
  EXPECT_EQ(recording->Finish(), absl::OkStatus());
  EXPECT_EQ(dir_.Read("log"), whole);
}

TEST_F(ExtenderLogTest, RecordsToAFunctionAndTellsOfDivergences) {
  const std::vector<ExtenderCall> calls = Record();
  std::string lines;
  RecordingChannel recording(std::make_unique<ReplayChannel>(calls, nullptr),
                             [&lines](absl::string_view line) { absl::StrAppend(&lines, line); });
  EXPECT_EQ(Text(recording.Call(SpecOf("u"), "filter", "abc")), "filter of abc");
  EXPECT_EQ(lines, ExtenderLogLine(1, calls[0]));
  EXPECT_EQ(recording.status(), absl::OkStatus());
  EXPECT_FALSE(recording.Call(SpecOf("v"), "other", "x\n").ok());
  EXPECT_EQ(recording.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(recording.Finish().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ExtenderLogTest, OtherFilesAreErrors) {
  const std::string header = ExtenderLogHeader();
  const auto error = [](const std::string& text) {
    return std::string(ReadExtenderLog(text, "f").status().message());
  };
  EXPECT_EQ(error(""), "f:1: no JSON object");
  EXPECT_EQ(error("{}\n"), "f:1: no recording of calls to extenders");
  EXPECT_THAT(error(header + "{\"call\": 1}\n"), HasSubstr("f:2: no call with"));
  EXPECT_EQ(error(header + ExtenderLogLine(2, {})), "f:2: call 1 is missing");
  EXPECT_EQ(error(header), "");
}

}  // namespace
}  // namespace drasim
