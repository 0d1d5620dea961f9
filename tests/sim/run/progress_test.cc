// The bar and the lines of progress, by a clock of the test's own.
#include "sim/run/progress.h"

#include <cstdio>
#include <string>

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

  std::FILE* out_;
  double now_s_ = 100;

 private:
  long read_ = 0;
};

TEST_F(ProgressTest, LinesComeEveryTenSeconds) {
  Progress progress("run", 200, Progress::Style::kLines, out_, [this] { return now_s_; });
  progress.Update(0);
  now_s_ = 109.9;
  progress.Update(10);
  EXPECT_EQ(Printed(), "");
  now_s_ = 110;
  progress.Update(50);
  EXPECT_EQ(Printed(), "drasim: run: 25 %, 30 s left\n");
  now_s_ = 119;
  progress.Update(60);
  EXPECT_EQ(Printed(), "");
  now_s_ = 120;
  progress.Update(0);
  EXPECT_EQ(Printed(), "drasim: run: 0 %\n");
  progress.Clear();
  EXPECT_EQ(Printed(), "");
}

TEST_F(ProgressTest, NothingIsSaidToBeLeftWhenNobodyKnows) {
  Progress progress("run", 200, Progress::Style::kLines, out_, [this] { return now_s_; });
  now_s_ = 150;
  progress.Update(199);
  EXPECT_EQ(Printed(), "drasim: run: 99 %, 0 s left\n");
  now_s_ = 160;
  progress.Update(200);
  EXPECT_EQ(Printed(), "drasim: run: finishing, 60 s so far\n");
  now_s_ = 170;
  progress.Update(200, [] { return std::string("all jobs have arrived"); });
  EXPECT_EQ(Printed(), "drasim: run: all jobs have arrived, 70 s so far\n");
}

TEST_F(ProgressTest, TheBarIsDrawnTenTimesASecondAndRemoved) {
  Progress progress("run", 4, Progress::Style::kBar, out_, [this] { return now_s_; });
  now_s_ = 101;
  progress.Update(1);
  EXPECT_EQ(Printed(), "\rrun [########........................] 25 %, 3 s left\033[K");
  now_s_ = 101.05;
  progress.Update(2);
  EXPECT_EQ(Printed(), "");
  now_s_ = 102;
  progress.Update(4);
  EXPECT_EQ(Printed(), "\rrun [################################] finishing, 2 s so far\033[K");
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
