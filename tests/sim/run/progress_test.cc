// The bar and the lines of progress, by a clock of the test's own.
#include "sim/run/progress.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/check.h"

namespace drasim {
namespace progress_test {

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() : out_(std::tmpfile()) { DRASIM_CHECK(out_ != nullptr); }
  ~ProgressTest() override { std::fclose(out_); }

  // The text printed since the last call.
  std::string Printed() {
    std::string text;
    std::fseek(out_, read_, SEEK_SET);
    for (int c = std::fgetc(out_); c != EOF; c = std::fgetc(out_)) {
      text.push_back(static_cast<char>(c));
    }
    read_ += static_cast<long>(text.size());
    std::fseek(out_, 0, SEEK_END);
    return text;
  }

  struct Step {
    double now_s;
    uint64_t done;
    const char* text;
  };
  // Updates at these times, and what each of them prints.
  void ExpectSteps(Progress* progress, const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      now_s_ = step.now_s;
      progress->Update(step.done);
      EXPECT_EQ(Printed(), step.text) << "at " << step.now_s << " s";
    }
  }

  std::FILE* out_;
  double now_s_ = 100;

 private:
  long read_ = 0;
};

TEST_F(ProgressTest, LinesComeEveryTenSeconds) {
  Progress progress("run", 200, Progress::Style::kLines, out_, [this] { return now_s_; });
  ExpectSteps(&progress, {{100, 0, ""},
                          {109.9, 10, ""},
                          {110, 50, "drasim: run: 25 %, 30 s left\n"},
                          {119, 60, ""},
                          {120, 0, "drasim: run: 0 %\n"}});
  progress.Clear();
  EXPECT_EQ(Printed(), "");
}

TEST_F(ProgressTest, NothingIsSaidToBeLeftWhenNobodyKnows) {
  Progress progress("run", 200, Progress::Style::kLines, out_, [this] { return now_s_; });
  ExpectSteps(&progress, {{150, 199, "drasim: run: 99 %, 0 s left\n"},
                          {160, 200, "drasim: run: finishing, 60 s so far\n"}});
  now_s_ = 170;
  progress.Update(200, [] { return std::string("all jobs have arrived"); });
  EXPECT_EQ(Printed(), "drasim: run: all jobs have arrived, 70 s so far\n");
}

TEST_F(ProgressTest, TheBarIsDrawnTenTimesASecondAndRemoved) {
  Progress progress("run", 4, Progress::Style::kBar, out_, [this] { return now_s_; });
  ExpectSteps(&progress,
              {{101, 1, "\rrun [########........................] 25 %, 3 s left\033[K"},
               {101.05, 2, ""},
               {102, 4, "\rrun [################################] finishing, 2 s so far\033[K"}});
  progress.Clear();
  EXPECT_EQ(Printed(), "\r\033[K");
}

TEST_F(ProgressTest, SilentWhenAskedTo) {
  Progress progress("run", 4, Progress::Style::kSilent, out_, [this] { return now_s_; });
  now_s_ = 200;
  progress.Update(1);
  progress.Clear();
  EXPECT_EQ(Printed(), "");
}

}  // namespace progress_test
}  // namespace drasim
