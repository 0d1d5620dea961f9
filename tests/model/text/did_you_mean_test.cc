#include "model/text/did_you_mean.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace drasim {
namespace did_you_mean_test {

using Names = std::vector<std::string>;

TEST(SuggestTest, NamesTheClosest) {
  const Names known = {"policy", "score", "device_chooser", "cache", "queue"};
  EXPECT_EQ(Suggest("polcy", known), " (did you mean 'policy'?)");    // one missing
  EXPECT_EQ(Suggest("pollicy", known), " (did you mean 'policy'?)");  // one too many
  EXPECT_EQ(Suggest("pokicy", known), " (did you mean 'policy'?)");   // one wrong
  EXPECT_EQ(Suggest("cahce", known), " (did you mean 'cache'?)");  // neighbours swapped: one edit
  EXPECT_EQ(Suggest("Queue", known), " (did you mean 'queue'?)");  // case does not count
  EXPECT_EQ(Suggest("deviceChooser", known), " (did you mean 'device_chooser'?)");
  EXPECT_EQ(Suggest("device-chooser", known), " (did you mean 'device_chooser'?)");
}

TEST(SuggestTest, SaysNothingWhenNoneIsClose) {
  const Names known = {"policy", "score", "x"};
  EXPECT_EQ(Suggest("timing", known), "");
  EXPECT_EQ(Suggest("", known), "");
  EXPECT_EQ(Suggest("y", known), "");  // one edit away from x, but nothing of it is left
  EXPECT_EQ(Suggest("policy", Names()), "");
  EXPECT_EQ(Suggest(std::string(100000, 'p'), known), "");
}

TEST(SuggestTest, AllowsAThirdOfTheLongerNameUpToThreeEdits) {
  EXPECT_EQ(Suggest("abcxx", Names{"abcde"}), "");                                      // 2 of 5
  EXPECT_EQ(Suggest("abcdxx", Names{"abcdef"}), " (did you mean 'abcdef'?)");           // 2 of 6
  EXPECT_EQ(Suggest("abcdefxxx", Names{"abcdefghi"}), " (did you mean 'abcdefghi'?)");  // 3 of 9
  EXPECT_EQ(Suggest("abcdefghxxxx", Names{"abcdefghijkl"}), "");                        // 4 of 12
}

TEST(SuggestTest, PrefersTheNearestThenTheFirst) {
  EXPECT_EQ(Suggest("start", Names{"smart", "stark", "starts"}), " (did you mean 'smart'?)");
  EXPECT_EQ(Suggest("starts", Names{"smarts", "start", "starts"}), " (did you mean 'starts'?)");
}

}  // namespace did_you_mean_test
}  // namespace drasim
