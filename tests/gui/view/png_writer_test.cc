#include "gui/view/png_writer.h"

#include <png.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace png_writer_test {

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgb;
};

// By libpng's reader; an empty picture when it refuses the bytes.
Picture Decode(const std::string& bytes) {
  Picture picture;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) return picture;
  EXPECT_EQ(image.format, uint32_t{PNG_FORMAT_RGB});  // as stored: no alpha, 8 bits
  image.format = PNG_FORMAT_RGB;
  picture.rgb.resize(uint64_t{3} * image.width * image.height);
  EXPECT_NE(png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr), 0);
  picture.width = image.width;
  picture.height = image.height;
  return picture;
}

// Every byte of it differs from its neighbours in x, y and channel.
std::vector<uint8_t> Pattern(int width, int height) {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        rgb.push_back(static_cast<uint8_t>((7 * x + 31 * y + 101 * channel) % 256));
      }
    }
  }
  return rgb;
}

TEST(PngWriterTest, APartHasThePixelsOfItsPlace) {
  constexpr int kWidth = 9;
  constexpr int kHeight = 6;
  const std::vector<uint8_t> rgb = Pattern(kWidth, kHeight);
  EXPECT_EQ(PartOfPicture(kWidth, kHeight, rgb, 0, 0, kWidth, kHeight), rgb);
  const std::vector<uint8_t> part = PartOfPicture(kWidth, kHeight, rgb, 2, 1, 7, 5);
  ASSERT_EQ(part.size(), 7u * 5 * 3);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        EXPECT_EQ(part[static_cast<size_t>((y * 7 + x) * 3 + channel)],
                  (7 * (x + 2) + 31 * (y + 1) + 101 * channel) % 256);
      }
    }
  }
}

TEST(PngWriterTest, ReadsBackPixelByPixel) {
  for (const int width : {1, 2, 3, 17, 200}) {
    for (const int height : {1, 2, 5, 64}) {
      SCOPED_TRACE(testing::Message() << width << " x " << height);
      const std::vector<uint8_t> rgb = Pattern(width, height);
      const absl::StatusOr<std::string> bytes = EncodePng(width, height, rgb);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      const Picture picture = Decode(*bytes);
      EXPECT_EQ(picture.width, static_cast<uint32_t>(width));
      EXPECT_EQ(picture.height, static_cast<uint32_t>(height));
      EXPECT_EQ(picture.rgb, rgb);
    }
  }
}

TEST(PngWriterTest, WritesWhatItEncodes) {
  const TempDir dir;
  const std::vector<uint8_t> rgb = Pattern(9, 4);
  ASSERT_EQ(WritePng(dir.PathOf("picture.png"), 9, 4, rgb), absl::OkStatus());
  EXPECT_EQ(dir.Read("picture.png"), EncodePng(9, 4, rgb).value());
  EXPECT_EQ(dir.List(""), std::vector<std::string>{"picture.png"});
}

TEST(PngWriterTest, NamesThePathItCannotWrite) {
  const TempDir dir;
  const std::string path = dir.PathOf("no/such/folder/picture.png");
  const absl::Status status = WritePng(path, 1, 1, Pattern(1, 1));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), path)) << status;
}

TEST(PngWriterTest, FlipsRowsAndKeepsPixels) {
  std::vector<uint8_t> three_rows = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  FlipRows(2, 3, &three_rows);
  const std::vector<uint8_t> flipped = {13, 14, 15, 16, 17, 18, 7, 8, 9,
                                        10, 11, 12, 1,  2,  3,  4, 5, 6};
  EXPECT_EQ(three_rows, flipped);

  std::vector<uint8_t> two_rows = {1, 2, 3, 4, 5, 6};
  FlipRows(1, 2, &two_rows);
  EXPECT_EQ(two_rows, (std::vector<uint8_t>{4, 5, 6, 1, 2, 3}));

  std::vector<uint8_t> one_row = {1, 2, 3, 4, 5, 6};
  FlipRows(2, 1, &one_row);
  EXPECT_EQ(one_row, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

}  // namespace png_writer_test
}  // namespace drasim
