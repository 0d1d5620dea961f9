#include "policies/allocator/dra_features.h"

#include "gtest/gtest.h"

namespace drasim {
namespace {

TEST(DraFeaturesTest, DefaultsPickTheIncubatingVariantFrom134On) {
  for (const StructuredRelease release : {StructuredRelease::k1_34, StructuredRelease::k1_35,
                                          StructuredRelease::k1_36, StructuredRelease::k1_37}) {
    EXPECT_EQ(PickAllocatorVariant(DefaultDraFeatures(release), release),
              AllocatorVariant::kIncubating);
  }
}

TEST(DraFeaturesTest, VariantsCoverWhatTheyKnow) {
  DraFeatures features;
  EXPECT_EQ(PickAllocatorVariant(features, StructuredRelease::k1_34), AllocatorVariant::kStable);
  features.device_taints = true;
  EXPECT_EQ(PickAllocatorVariant(features, StructuredRelease::k1_34),
            AllocatorVariant::kIncubating);
  EXPECT_EQ(PickAllocatorVariant(features, StructuredRelease::k1_37), AllocatorVariant::kStable);
  features.consumable_capacity = true;
  EXPECT_EQ(PickAllocatorVariant(features, StructuredRelease::k1_35),
            AllocatorVariant::kExperimental);
  EXPECT_EQ(PickAllocatorVariant(features, StructuredRelease::k1_36),
            AllocatorVariant::kIncubating);
  ASSERT_TRUE(SetDraFeature("DerivedAttributes", true, &features).ok());
  EXPECT_EQ(PickAllocatorVariant(features, StructuredRelease::k1_37),
            AllocatorVariant::kExperimental);
}

TEST(DraFeaturesTest, UnknownNamesAreErrors) {
  DraFeatures features;
  EXPECT_EQ(SetDraFeature("Magic", true, &features).message(), "unknown feature 'Magic'");
  EXPECT_EQ(ParseAllocatorVariant("beta").status().message(),
            "found 'beta', expected a variant: stable, incubating or experimental");
  EXPECT_EQ(ParseStructuredRelease("1.33").status().message(),
            "found '1.33', expected a release: 1.34, 1.35, 1.36 or 1.37");
}

}  // namespace
}  // namespace drasim
