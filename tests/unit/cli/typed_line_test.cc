// SPDX-License-Identifier: Apache-2.0
// Where the launcher's words end and the script's begin.
#include "launcher/cli/typed_line.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

TypedLine cut(Words words) {
  words.insert(words.begin(), "paddle-launch");
  return read_typed_line(words);
}

// Name, value, name, value, …, in the table's order.
Words own(const TypedLine& line) {
  Words words;
  for (const TypedOption& typed : line.options) {
    for (const std::string& value : typed.values) words.insert(words.end(), {typed.name, value});
  }
  return words;
}

TEST(TypedLine, TakesTheFirstWordThatIsNoOptionForTheScript) {
  const TypedLine line = cut({"--gpus", "0,1", "--log_dir=out", "train.py", "--lr", "0.1"});
  EXPECT_EQ(own(line), (Words{"--log_dir", "out", "--gpus", "0,1"}));
  EXPECT_EQ(line.script, "train.py");
  EXPECT_EQ(line.script_args, (Words{"--lr", "0.1"}));
}

TEST(TypedLine, LeavesTheScriptsArgumentsUntouched) {
  const Words args = {"--gpus", "2", "--help", "-m", "x", "a b", "", "--", "--nonsense=1"};
  Words words = {"train.py"};
  words.insert(words.end(), args.begin(), args.end());
  const TypedLine line = cut(words);
  EXPECT_EQ(line.script_args, args);
  EXPECT_TRUE(line.options.empty());
  EXPECT_FALSE(line.asks_help);
}

TEST(TypedLine, SwallowsOneDoubleDashNextToTheScript) {
  EXPECT_EQ(cut({"--gpus=0", "--", "train.py", "x"}).script_args, Words{"x"});
  EXPECT_EQ(cut({"train.py", "--", "x"}).script_args, Words{"x"});
  EXPECT_EQ(cut({"--", "train.py", "--", "x"}).script_args, (Words{"--", "x"}));
  EXPECT_EQ(cut({"train.py", "--", "--", "x"}).script_args, (Words{"--", "x"}));
  EXPECT_EQ(cut({"train.py", "x", "--"}).script_args, (Words{"x", "--"}));
}

TEST(TypedLine, TakesAnyWordAfterADoubleDashForTheScript) {
  EXPECT_EQ(cut({"--", "-odd.py"}).script, "-odd.py");
  EXPECT_EQ(cut({"--"}).script, "");
}

TEST(TypedLine, GivesEverythingAfterAModuleToTheModule) {
  const TypedLine line = cut({"--quiet", "-m", "package.train", "--", "--gpus", "1"});
  EXPECT_TRUE(line.is_module);
  EXPECT_EQ(line.script, "package.train");
  EXPECT_EQ(line.script_args, (Words{"--", "--gpus", "1"}));
}

TEST(TypedLine, KeepsEmptyValuesAndEqualsSignsInValues) {
  EXPECT_EQ(own(cut({"--servers=", "--job_id=a=b", "t"})),
            (Words{"--job_id", "a=b", "--servers", ""}));
  EXPECT_EQ(own(cut({"--job_id=--quiet", "t"})), (Words{"--job_id", "--quiet"}));
}

TEST(TypedLine, TakesANegativeNumberForAValue) {
  EXPECT_EQ(own(cut({"--rank", "-1", "train.py"})), (Words{"--rank", "-1"}));
}

TEST(TypedLine, DoesNotFeedTheScriptToAnOptionThatStandsAlone) {
  EXPECT_EQ(cut({"--dry_run", "json"}).script, "json");
  EXPECT_EQ(cut({"--quiet", "train.py"}).script, "train.py");
  EXPECT_EQ(cut({"--assume_gpus", "train.py"}).script, "train.py");
}

TEST(TypedLine, TakesALoneDashForTheScript) { EXPECT_EQ(cut({"-"}).script, "-"); }

TEST(TypedLine, StopsAtHelpAndVersion) {
  EXPECT_TRUE(cut({"--gpus", "0", "-h", "--nonsense"}).asks_help);
  EXPECT_TRUE(cut({"--help"}).asks_help);
  EXPECT_FALSE(cut({"--help", "all"}).asks_full_help);
  EXPECT_TRUE(cut({"--help=all", "--nonsense"}).asks_full_help);
  EXPECT_TRUE(cut({"--version", "--help"}).asks_version);
}

TEST(TypedLine, RefusesAnOptionWithoutItsValue) {
  EXPECT_EQ(missing_part(usage_error_of({"--gpus"}), {"--gpus needs a value", "--gpus=CARDS"}), "");
  EXPECT_EQ(missing_part(usage_error_of({"--gpus", "--log_dir", "x", "train.py"}),
                         {"--gpus needs a value", "--log_dir follows", "--gpus=CARDS"}),
            "");
}

TEST(TypedLine, RefusesAValueWhereNoneIsTaken) {
  EXPECT_EQ(usage_error_of({"--quiet=1", "train.py"}),
            "--quiet=1: --quiet takes no value; write --quiet alone, or leave it out");
  EXPECT_NE(usage_error_of({"--version=1"}).find("--version is not written with"),
            std::string::npos);
  for (const char* const word : {"--help=", "--help=al", "--help=allx"}) {
    EXPECT_EQ(usage_error_of({word}),
              std::string(word) + ": it takes all only; write --help, or --help=all");
  }
}

TEST(TypedLine, RefusesAModuleOptionWithoutAModule) {
  for (const Words& words : {Words{"-m"}, Words{"-m", "--gpus"}, Words{"-m", ""}}) {
    EXPECT_NE(usage_error_of(words).find("-m needs the name of a Python module"),
              std::string::npos);
  }
}

TEST(TypedLine, RefusesLettersBehindAShortOption) {
  for (const char* const word : {"-hx", "-mpackage.train", "---quiet", "-5"}) {
    EXPECT_EQ(usage_error_of({word, "x"}).find(std::string(word) + " is not an option"), 0U);
  }
  EXPECT_NE(usage_error_of({"-m=train"}).find("-m is not written with"), std::string::npos);
}

TEST(TypedLine, RefusesAnEmptyScript) {
  EXPECT_NE(usage_error_of({""}).find("training_script is an empty word"), std::string::npos);
}

TEST(Abbreviations, StandForTheOneOptionOfPaddlesThatTheyBegin) {
  const TypedLine line = cut({"--gpu", "0,1", "--nnode=2", "--selected_x=3", "train.py"});
  EXPECT_EQ(own(line), (Words{"--gpus", "0,1", "--selected_xpus", "3", "--nnodes", "2"}));
  EXPECT_EQ(line.notices, (Words{"--gpu is taken for --gpus", "--nnode is taken for --nnodes",
                                 "--selected_x is taken for --selected_xpus"}));
  EXPECT_EQ(parsed({"--gpu=0", "train.py"}).notices, Words{"--gpu is taken for --gpus"});
  EXPECT_TRUE(cut({"--hel"}).asks_help);
  // --start_port is Paddle's, --status and --stdin are ours.
  EXPECT_EQ(own(cut({"--sta", "6000", "train.py"})), (Words{"--start_port", "6000"}));
}

TEST(Abbreviations, AreRefusedWhereTheyBeginSeveralOptionsOrOneOfOurs) {
  for (const char* const typed : {"--log", "--server", "--dry", "--consol=all", "--versio", "-gpu",
                                  "--gpux", "--elastic_set=3"}) {
    EXPECT_THROW(cut({typed, "train.py"}), UsageError) << typed;
  }
}

TEST(Abbreviations, AreNeverLookedForBehindTheScript) {
  for (const Words& front : {Words{"train.py"}, {"--", "train.py"}, {"-m", "train"}}) {
    Words words = front;
    const Words args = {"--gpu", "0,1", "--nnode=2", "--log-dir", "x", "--nproc-per-node=4"};
    words.insert(words.end(), args.begin(), args.end());
    const TypedLine line = cut(words);
    EXPECT_EQ(line.script_args, args);
    EXPECT_TRUE(line.options.empty());
    EXPECT_TRUE(line.notices.empty());
  }
  // The reader begins again after --gpu, and stops at the script all the same.
  const TypedLine line = cut({"--gpu", "0", "train.py", "--gpu", "1"});
  EXPECT_EQ(own(line), (Words{"--gpus", "0"}));
  EXPECT_EQ(line.script_args, (Words{"--gpu", "1"}));
}

TEST(Dashes, MeanTheSameAsUnderscoresInsideNames) {
  const TypedLine line = cut({"--nproc-per-node", "2", "--log-dir=a-b", "--dry-run", "train.py"});
  EXPECT_EQ(own(line), (Words{"--log_dir", "a-b", "--nproc_per_node", "2", "--dry_run", "text"}));
  EXPECT_TRUE(line.notices.empty());
  EXPECT_EQ(own(cut({"--log-d", "x", "train.py"})), (Words{"--log_dir", "x"}));
}

}  // namespace
}  // namespace paddle_launch
