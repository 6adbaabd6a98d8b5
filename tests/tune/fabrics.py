"""Small designs for the tests of `weir tune`: a run takes a millisecond."""


def star(hosts, speed="100G", nic="connectx6dx", model="sn4600c", asic="spectrum3", more=""):
    """One switch."""
    return f"""weir: 1
name: star{hosts}
hosts:
  gpu: {{ names: "gpu[1-{hosts}]", nic: {nic}, stack: ofed, rails: 1 }}
switches:
  leaf: {{ names: leaf1, system: cumulus, model: {model}, asic: {asic}, tier: 1 }}
links:
  - {{ from: gpu, to: leaf, wiring: block, speed: {speed}, cable: dac, length: 3m }}
addressing:
  subnets: 10.{{rail}}.{{leaf}}.0/24
watchdog:
  enabled: on
{more}"""
