#include "base/siphash.h"

#include <string>

#include "base/testing.h"

namespace weir {

TEST(SipHash, GivesTheValuesOfThePaper) {
  // Appendix A of the paper, and the first of its authors' test vectors: key 00 01 … 0f.
  const SipKey key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
  std::string message;
  EXPECT_EQ(siphash(key, message), 0x726fdb47dd0e0e31U);
  for (char c = 0; c < 15; ++c)
    message += c;
  EXPECT_EQ(siphash(key, message), 0xa129ca6149be45e5U);
}

TEST(SipHash, MakesAnotherKeyOfOtherWords) {
  EXPECT_EQ(sip_key_of("weir").first, sip_key_of("weir").first);
  EXPECT_NE(sip_key_of("weir").first, sip_key_of("Weir").first);
  EXPECT_NE(sip_key_of("weir").first, sip_key_of("weir").second);
}

}  // namespace weir
