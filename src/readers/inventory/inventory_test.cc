#include "readers/inventory/inventory.h"

#include <fmt/format.h>

#include "base/testing.h"

namespace weir::readers {
namespace {

using Names = std::vector<std::string>;

TEST(Inventory, AnsibleIniHasRangesVariablesAndChildren) {
  COVERS("K3");
  const auto read = parse_inventory(
      "# site\nlogin ansible_host=10.0.0.9\n[gpu]\ngpu[01:03] ansible_user=ops # rack 1\n"
      "db-[a:c]:2222\n[gpu:vars]\nansible_become=yes\n[all_roce:children]\ngpu\n");
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->hosts.size(), 7U);
  EXPECT_EQ(read->find("login")->address, "10.0.0.9");
  EXPECT_EQ(read->find("gpu02")->user, "ops");
  EXPECT_EQ(read->find("db-c")->port, 2222U);
  EXPECT_EQ(read->hosts_of("all_roce")->size(), 6U);
}

TEST(Inventory, AnsibleYamlNestsGroups) {
  const auto read = parse_inventory(
      "all:\n  children:\n    gpu:\n      hosts:\n        gpu[01:02]:\n          ansible_host: "
      "10.0.0.1\n      children:\n        spare:\n          hosts:\n            gpu09:\n");
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->hosts_of("gpu"), (Names{"gpu01", "gpu02", "gpu09"}));
  EXPECT_EQ(read->hosts_of("all")->size(), 3U);
  EXPECT_EQ(read->find("gpu01")->address, "10.0.0.1");
}

TEST(Inventory, NetboxDevicesHaveAddressesAndGroups) {
  const auto read = parse_inventory(
      R"({"results": [{"name": "gpu01", "primary_ip": {"address": "10.0.0.1/24"},
          "role": {"slug": "gpu"}, "site": {"slug": "a"}, "status": {"value": "active"}},
          {"name": null}]})");
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->hosts.size(), 1U);
  EXPECT_EQ(read->hosts.front().address, "10.0.0.1");
  EXPECT_EQ(read->hosts_of("role:gpu"), Names{"gpu01"});
  EXPECT_EQ(read->hosts_of("status:active"), Names{"gpu01"});
}

TEST(Inventory, NamesOfOthersAreCheckedAndErrorsHaveAPlace) {
  EXPECT_NE(parse_inventory("a\n-oProxyCommand=x\n").error().what.find("line 2"),
            std::string::npos);
  EXPECT_FALSE(parse_inventory("a ansible_host=-oX\n").has_value());
  EXPECT_FALSE(parse_inventory("gpu[1:99999999]\n").has_value());
  EXPECT_FALSE(parse_inventory("").has_value());
  EXPECT_FALSE(parse_inventory("{\"a\": 1}").has_value());
  EXPECT_NE(parse_inventory("[{\"name\": \"a;b\"}]").error().what.find("device 1"),
            std::string::npos);
}

TEST(Inventory, AnUnusableWayToAHostIsAnErrorWithItsPlace) {
  const auto what = [](const char* text) { return parse_inventory(text).error().what; };
  EXPECT_EQ(what("a\nb ansible_port=99999\n"),
            "line 2: ansible_port: expected a port from 1 to 65535, found '99999'");
  EXPECT_EQ(what("a ansible_ssh_port='x'\n"),
            "line 1: ansible_ssh_port: expected a port from 1 to 65535, found 'x'");
  EXPECT_EQ(what("a:0\n"), "line 1: a: expected a port from 1 to 65535, found '0'");
  EXPECT_EQ(what("all:\n  hosts:\n    a:\n      ansible_user: ops\n      ansible_port: -1\n"),
            "line 5: ansible_port: expected a port from 1 to 65535, found '-1'");
  EXPECT_NE(what("a ansible_user=-oProxyCommand=x\n").find("line 1: ansible_user: "),
            std::string::npos);
  EXPECT_EQ(parse_inventory("a ansible_port='{{ p }}'\n")->find("a")->port, 0U) << "a template";
}

TEST(Inventory, GroupVariablesOfIniAreTheWayToTheirHosts) {
  COVERS("K3");
  const auto read = parse_inventory(
      "lone\n[gpu]\ngpu01\ngpu02 ansible_user=root ansible_port=22\n[gpu:vars]\n"
      "ansible_user = ops # of the rack\nansible_port=2222\nansible_host='10.0.0.7'\n"
      "[all:vars]\nansible_user=admin\n");
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->find("gpu01")->user, "ops");
  EXPECT_EQ(read->find("gpu01")->port, 2222U);
  EXPECT_EQ(read->find("gpu01")->address, "10.0.0.7");
  EXPECT_EQ(read->find("gpu02")->user, "root") << "the host's own";
  EXPECT_EQ(read->find("gpu02")->port, 22U);
  EXPECT_EQ(read->find("lone")->user, "admin") << "of all hosts";
  EXPECT_FALSE(read->hosts_of("all").has_value()) << "variables make no group";
}

TEST(Inventory, GroupVariablesOfYamlAreInheritedAChildBeforeItsParents) {
  COVERS("K3");
  const auto read = parse_inventory(
      "all:\n  vars:\n    ansible_user: admin\n    ansible_port: 22\n  children:\n    pod:\n"
      "      vars:\n        ansible_user: pod\n      children:\n        gpu:\n"
      "          vars:\n            ansible_port: 2222\n          hosts:\n"
      "            gpu01:\n              ansible_user: own\n            gpu02:\n"
      "      hosts:\n        login:\n");
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->find("gpu01")->user, "own");
  EXPECT_EQ(read->find("gpu02")->user, "pod");
  EXPECT_EQ(read->find("gpu02")->port, 2222U);
  EXPECT_EQ(read->find("login")->user, "pod");
  EXPECT_EQ(read->find("login")->port, 22U);
}

TEST(Inventory, OfGroupsAtOneDepthThePriorityDecidesAndThenTheName) {
  const auto user_of = [](const std::string& more) {
    const auto read = parse_inventory(
        "[a]\nh\n[b]\nh\n[deep]\nh\n[top:children]\ndeep\n"
        "[a:vars]\nansible_user=of_a\n" +
        more);
    EXPECT_TRUE(read.has_value()) << read.error().what;
    return read->find("h")->user;
  };
  EXPECT_EQ(user_of("[b:vars]\nansible_user=of_b\n"), "of_b");
  EXPECT_EQ(user_of("ansible_group_priority=10\n[b:vars]\nansible_user=of_b\n"), "of_a");
  EXPECT_EQ(user_of("[b:vars]\nansible_user=of_b\n[deep:vars]\nansible_user=of_deep\n"), "of_deep")
      << "it is below another group";
  EXPECT_EQ(user_of("[top:vars]\nansible_user=of_top\n"), "of_top") << "as deep as a, and later";
}

TEST(Inventory, GroupVariablesThatCannotBeUsedAreErrorsWithTheirPlace) {
  const auto what = [](const char* text) { return parse_inventory(text).error().what; };
  EXPECT_EQ(what("[g]\na\n[g:vars]\nansible_port=0\n"),
            "line 4: ansible_port: expected a port from 1 to 65535, found '0'");
  EXPECT_EQ(what("[g]\na\n[g:vars]\nansible_user\n"),
            "line 4: expected a variable, key=value, found 'ansible_user'");
  EXPECT_EQ(what("a\n[gpus:vars]\nansible_user=ops\n"),
            "line 3: variables of 'gpus', which is no group of this inventory");
  EXPECT_NE(what("[g]\na\n[g:vars]\nansible_host=-oX\n").find("line 4"), std::string::npos);
  EXPECT_NE(what("g:\n  hosts:\n    a:\n  vars: [x]\n").find("line 4"), std::string::npos);
  // A template of the host is not what its group says.
  const auto read =
      parse_inventory("[g]\na ansible_user='{{ u }}'\nb\n[g:vars]\nansible_user=ops\n");
  EXPECT_EQ(read->find("a")->user, "");
  EXPECT_EQ(read->find("b")->user, "ops");
  // Groups in a circle end.
  EXPECT_EQ(parse_inventory("[g]\na\n[g:children]\nh\n[h:children]\ng\n[g:vars]\n"
                            "ansible_user=ops\n")
                ->find("a")
                ->user,
            "ops");
}

TEST(Inventory, VariablesBesideItComeBeforeItsOwnAsAnsibleHasThem) {
  COVERS("K3");
  const VariableFiles beside{
      .groups = {{"all", {{"group_vars/all.yml", "---\nansible_user: of_all\n"}}},
                 {"gpu",
                  {{"group_vars/gpu/main.yml",
                    "# ours\n\"ansible_port\": '2200' # ssh\n"
                    "anything: &x [1, {a: b}]\nother: *x\n"
                    "nested:\n  ansible_user: nobody\n"}}},
                 {"elsewhere", {{"group_vars/elsewhere", "ansible_port: 0\n"}}}},
      .hosts = {{"b",
                 {{"host_vars/b.json", "{\"ansible_host\": \"10.0.0.2\", \"x\": [1]}"},
                  {"host_vars/b.yml", "ansible_user: !vault |\n  abc\n"}}},
                {"c", {{"host_vars/c", "$ANSIBLE_VAULT;1.1;AES256\nansible_port: 1\n"}}}}};
  const auto way_to = [&](std::string_view text, const char* name) {
    const auto read = parse_inventory(text, beside);
    EXPECT_TRUE(read.has_value()) << read.error().what;
    const InventoryHost& host = *read->find(name);
    return fmt::format("{} {} {}", host.address, host.user, host.port);
  };
  for (const std::string_view text :
       {"[gpu]\na\nb ansible_host=1.1.1.1 ansible_user=ops\nc ansible_user=own\n"
        "[gpu:vars]\nansible_user=of_gpu\nansible_port=22\n",
        "all:\n  children:\n    gpu:\n      hosts:\n        a:\n        b: {ansible_host: "
        "1.1.1.1}\n"
        "        c: {ansible_user: own}\n      vars: {ansible_user: of_gpu, ansible_port: 22}\n"}) {
    EXPECT_EQ(way_to(text, "a"), " of_all 2200")
        << "group_vars of all come before the file's groups";
    EXPECT_EQ(way_to(text, "b"), "10.0.0.2  2200") << "a vault is not known";
    EXPECT_EQ(way_to(text, "c"), " own 2200") << "the host's own come before those of groups";
  }
}

TEST(Inventory, VariablesBesideItThatCannotBeUsedAreErrorsWithTheirPlace) {
  const auto what = [](std::string text) {
    const auto read =
        parse_inventory("a\n", {.hosts = {{"a", {{"host_vars/a.yml", std::move(text)}}}}});
    return read ? std::string() : read.error().what;
  };
  EXPECT_EQ(what("x: 1\nansible_port: ssh\n"),
            "host_vars/a.yml: line 2: ansible_port: expected a port from 1 to 65535, found 'ssh'");
  EXPECT_EQ(
      what("ansible_host:\n  - 10.0.0.1\n"),
      "host_vars/a.yml: line 1: ansible_host: expected one plain value on the same line, found "
      "''");
  EXPECT_NE(what("ansible_host: -oProxyCommand=x\n").find("host_vars/a.yml: line 1"),
            std::string::npos);
  EXPECT_NE(what("{\"ansible_port\": ").find("host_vars/a.yml"), std::string::npos);
  EXPECT_EQ(what("ansible_ssh_private_key_file: [x]\nansible_user: '{{ me }}'\n"), "");
}

TEST(Inventory, VariablesBesideItAreThoseOfTheFilesThatAnsibleReads) {
  EXPECT_EQ(owner_of_variables("gpu.yml"), "gpu");
  EXPECT_EQ(owner_of_variables("gpu01.example.com"), "gpu01.example.com");
  EXPECT_EQ(owner_of_variables("gpu01.example.com.yaml"), "gpu01.example.com");
  EXPECT_EQ(owner_of_variables(".gpu.yml.swp"), "");
  EXPECT_EQ(owner_of_variables("gpu.yml~"), "");
}

TEST(Inventory, WhatAFileCostsIsBoundedByItsSize) {
  // A chain of groups: resolved one by one it is the square of the file, and a call per link.
  std::string chain = "[g0]\nhost\n";
  constexpr int kLinks = 30'000;
  for (int i = 0; i < kLinks; ++i)
    chain += "[g" + std::to_string(i + 1) + ":children]\ng" + std::to_string(i) + "\n[g" +
             std::to_string(i) + ":vars]\nansible_user=u" + std::to_string(i) + "\n";
  const auto read = parse_inventory(chain);
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->hosts_of("g" + std::to_string(kLinks)), Names{"host"});
  EXPECT_EQ(read->find("host")->user, "u0");
  // Ranges nest the calls, and a short line makes many names.
  std::string brackets = "a";
  for (int i = 0; i < 100'000; ++i)
    brackets += "[1:1]";
  EXPECT_FALSE(parse_inventory(brackets).has_value());
  std::string again;
  for (int i = 0; i < 5; ++i)
    again += "a[1:100000]\n";
  EXPECT_NE(parse_inventory(again).error().what.find("line 5: "), std::string::npos);
}

TEST(Inventory, GroupFilesOfClusterShell) {
  const auto yaml = parse_group_yaml("roles:\n  gpu: 'gpu[01-16]'\n  io: [a, b]\n");
  ASSERT_TRUE(yaml.has_value()) << yaml.error().what;
  EXPECT_EQ(yaml->at("roles").at("gpu"), "gpu[01-16]");
  EXPECT_EQ(yaml->at("roles").at("io"), "a,b");
  const auto lines = parse_group_lines("gpu: gpu[01-04]  # all\n\nio: a,b\n");
  EXPECT_EQ(lines->at("gpu"), "gpu[01-04]");
  EXPECT_FALSE(parse_group_lines("nothing\n").has_value());
  const auto conf = parse_group_settings(
      "[Main]\ndefault: roles\nautodir: $CFGDIR/groups.d /srv/g\n[slurm]\nmap: sinfo -h -p "
      "$GROUP\n");
  EXPECT_EQ(conf->default_source, "roles");
  EXPECT_EQ(conf->folders.size(), 2U);
  EXPECT_EQ(conf->upcalls, Names{"slurm"});
}

}  // namespace
}  // namespace weir::readers
