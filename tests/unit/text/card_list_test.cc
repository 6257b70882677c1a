// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

using Entries = std::vector<std::string>;

TEST(SplitCardList, TakesOffBlanksAndQuotes) {
  EXPECT_EQ(split_card_list(" 0, 1 ,2"), (Entries{"0", "1", "2"}));
  EXPECT_EQ(split_card_list("\"0,1\""), (Entries{"0", "1"}));
  EXPECT_EQ(split_card_list("'GPU-a' , 'GPU-b'"), (Entries{"GPU-a", "GPU-b"}));
}

TEST(SplitCardList, KeepsEmptyEntriesForTheCallerToJudge) {
  EXPECT_EQ(split_card_list(""), Entries{""});
  EXPECT_EQ(split_card_list("0,,1,"), (Entries{"0", "", "1", ""}));
}

TEST(ParseCardName, KnowsNumbersUuidsAndMigParts) {
  EXPECT_EQ(parse_card_name("07"), (CardName{CardNameForm::Number, "7"}));
  EXPECT_EQ(parse_card_name("GPU-8f1c"), (CardName{CardNameForm::Uuid, "GPU-8f1c"}));
  EXPECT_EQ(parse_card_name("MIG-GPU-8f1c/1/0"), (CardName{CardNameForm::Mig, "MIG-GPU-8f1c/1/0"}));
}

TEST(ParseCardName, RefusesEverythingElse) {
  for (const char* entry : {"", "-1", "gpu0", "0-3", "1.5", "GPU-", "99999999999"}) {
    EXPECT_EQ(parse_card_name(entry), std::nullopt) << entry;
  }
}

}  // namespace
}  // namespace paddle_launch
