// SPDX-License-Identifier: Apache-2.0
// Users, passwords and certificates, with real servers.
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/etcd/etcd.h"
#include "launcher/text/bytes_as_text.h"
#include "tests/unit/etcd/etcd_server.h"
#include "tests/unit/etcd/observer.h"

namespace paddle_launch {
namespace {

constexpr const char* kPassword = "s3cret-word";

void switch_auth_on(const EtcdServer& server) {
  const auto ask = [&](const std::string& path, const std::string& body) {
    const std::string answer = server.ask(path, body);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << path << ": " << answer;
  };
  ask("/v3/auth/user/add", fmt::format(R"({{"name":"root","password":"{}"}})", kPassword));
  ask("/v3/auth/user/add", fmt::format(R"({{"name":"joe","password":"{}"}})", kPassword));
  ask("/v3/auth/role/add", R"({"name":"root"})");
  ask("/v3/auth/role/add", R"({"name":"jobs"})");
  ask("/v3/auth/role/grant",
      fmt::format(
          R"({{"name":"jobs","perm":{{"permType":"READWRITE","key":"{}","range_end":"{}"}}}})",
          to_base64("/jobs/"), to_base64("/jobs0")));
  ask("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  ask("/v3/auth/user/grant", R"({"user":"joe","role":"jobs"})");
  ask("/v3/auth/enable", "{}");
}

EtcdSpec as(const EtcdServer& server, const std::string& user, const std::string& password) {
  EtcdSpec spec = server.spec();
  spec.user = user;
  spec.password = password;
  return spec;
}

TEST(EtcdAccess, UsersWithTheirPasswordAreLetInAndOthersAreToldWhatIsMissing) {
  NEEDS_ETCD();
  EtcdServer server;
  Observer early(as(server, "joe", kPassword), "/jobs/");
  ASSERT_TRUE(early.is_connected()) << "a user where nobody needs one";
  switch_auth_on(server);

  Observer joe(as(server, "joe", kPassword), "/jobs/a/");
  EXPECT_TRUE(joe.put("a", "1").done);
  EXPECT_TRUE(joe.sees("a", "1"));
  const EtcdAnswer answer = early.put("b", "1");
  EXPECT_TRUE(answer.done) << answer.problem;

  const std::string before = server.address() + ": ";
  Observer nobody(server.spec(), "/jobs/");
  EXPECT_EQ(nobody.problem(),
            before +
                "it lets only known users in; give one with --etcd_user=NAME and the password "
                "in the variable PADDLE_ETCD_PASSWORD");
  Observer wrong(as(server, "joe", "another-word"), "/jobs/");
  EXPECT_EQ(wrong.problem(),
            before +
                "user joe: authentication failed, wrong user or password; check --etcd_user and "
                "the variable PADDLE_ETCD_PASSWORD");
  Observer unknown(as(server, "jim", kPassword), "/jobs/");
  EXPECT_EQ(
      unknown.problem().find(before + "user jim: authentication failed, wrong user or password"),
      0U);
  Observer denied(as(server, "joe", kPassword), "/others/");
  EXPECT_EQ(denied.problem(), before +
                                  "user joe: permission denied; the user must be allowed to "
                                  "read and write the keys that begin with /others/");

  // A server that was started again knows no token of before.
  server.stop();
  EXPECT_EQ(joe.problem(), before + "connection refused");
  server.start();
  ASSERT_TRUE(joe.is_connected());
  EXPECT_TRUE(joe.put("a", "2").done);
  EXPECT_TRUE(joe.sees("a", "2"));
}

// A CA, a certificate for 127.0.0.1 and one for a client.
class Certificates {
 public:
  Certificates() {
    run(
        fmt::format("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
                    "/CN=test-ca -keyout {} -out {}",
                    file("ca.key"), file("ca.crt")));
    make("server", "subjectAltName=IP:127.0.0.1");
    make("client", "extendedKeyUsage=clientAuth");
    make("elsewhere", "subjectAltName=IP:127.0.0.77");
  }

  std::string file(const std::string& name) const { return folder_.path(name); }
  bool are_made() const { return are_made_; }

 private:
  void run(const std::string& arguments) {
    const std::string command = fmt::format("openssl {} >>{} 2>&1", arguments, folder_.path("log"));
    are_made_ = are_made_ && std::system(command.c_str()) == 0;
  }
  void make(const std::string& name, const std::string& extension) {
    const std::string base = file(name);
    run(
        fmt::format("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={} -keyout "
                    "{}.key -out {}.csr",
                    name, base, base));
    if (std::system(fmt::format("echo {} >{}.ext", extension, base).c_str()) != 0) return;
    run(
        fmt::format("x509 -req -in {}.csr -CA {} -CAkey {} -CAcreateserial -days 2 -extfile "
                    "{}.ext -out {}.crt",
                    base, file("ca.crt"), file("ca.key"), base, base));
  }

  TempFolder folder_;
  bool are_made_ = true;
};

TEST(EtcdAccess, WithTlsBothSidesMustShowACertificateOfTheRightAuthority) {
  NEEDS_ETCD();
  const Certificates certificates;
  ASSERT_TRUE(certificates.are_made()) << "openssl";
  const EtcdServer server({"--cert-file=" + certificates.file("server.crt"),
                           "--key-file=" + certificates.file("server.key"), "--client-cert-auth",
                           "--trusted-ca-file=" + certificates.file("ca.crt")});
  EtcdSpec good = server.spec();
  good.tls = true;
  good.cacert = certificates.file("ca.crt");
  good.cert = certificates.file("client.crt");
  good.key = certificates.file("client.key");
  Observer one(good);
  EXPECT_TRUE(one.put("a", "1").done);
  EXPECT_TRUE(one.sees("a", "1"));

  EtcdSpec no_authority = good;
  no_authority.cacert.clear();
  Observer doubtful(no_authority);
  EXPECT_NE(doubtful.problem().find("certificate"), std::string::npos) << doubtful.problem();
  EtcdSpec no_client = good;
  no_client.cert.clear();
  no_client.key.clear();
  Observer anonymous(no_client);
  EXPECT_NE(anonymous.problem().find("certificate"), std::string::npos) << anonymous.problem();
  Observer plain(server.spec());
  EXPECT_NE(plain.problem().find("speaks TLS, write https://"), std::string::npos)
      << plain.problem();
}

TEST(EtcdAccess, ACertificateForAnotherAddressIsRefused) {
  NEEDS_ETCD();
  const Certificates certificates;
  ASSERT_TRUE(certificates.are_made()) << "openssl";
  const EtcdServer server({"--cert-file=" + certificates.file("elsewhere.crt"),
                           "--key-file=" + certificates.file("elsewhere.key")});
  EtcdSpec spec = server.spec();
  spec.tls = true;
  spec.cacert = certificates.file("ca.crt");
  Observer one(spec);
  EXPECT_NE(one.problem().find("127.0.0.1"), std::string::npos) << one.problem();
  EXPECT_EQ(one.pictures, 0);
}

}  // namespace
}  // namespace paddle_launch
