#include "base/untrusted/secret.h"

#include "base/testing.h"

namespace weir {
namespace {

TEST(Secret, WhatStandsBehindAWordForASecretIsNotPrinted) {
  EXPECT_EQ(without_secret("username admin privilege 15 role network-admin secret sha512 $6$a$b"),
            "username admin privilege 15 role network-admin secret …");
  EXPECT_EQ(without_secret("enable password 5 abc"), "enable password …");
  EXPECT_EQ(without_secret("ntp authentication-key 1 md5 7 060506"), "ntp authentication-key …");
  EXPECT_EQ(without_secret("tacacs-server host 10.0.0.1 key 7 060506"),
            "tacacs-server host 10.0.0.1 key …");
  EXPECT_EQ(without_secret("snmp-server community public ro"), "snmp-server community …");
  EXPECT_EQ(without_secret("nv set system aaa user admin hashed-password '$6$x$y'"),
            "nv set system aaa user admin hashed-password …");
  EXPECT_EQ(without_secret("\"passkey\": \"abc\","), "\"passkey\": …");
  EXPECT_EQ(without_secret("hash $6$salt$text"), "hash …");
}

TEST(Secret, OtherLinesStayAsTheyAre) {
  for (const char* const line :
       {"route-map RM permit 10", "ip access-list noise", "qos map dscp 48 to traffic-class 3",
        "10 permit ip any any", "monitor session 1", ""})
    EXPECT_EQ(without_secret(line), line);
}

}  // namespace
}  // namespace weir
