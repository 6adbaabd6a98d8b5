"""Junos `set class-of-service …` as XML of Juniper's YANG model, for yanglint.

Needs to know which nodes are lists, which have no value and which tags `set` leaves out; everything
else is a leaf with a value.
"""
import shlex
from xml.sax.saxutils import escape

ROOT = "http://yang.juniper.net/junos-qfx/conf/root"
COS = "http://yang.juniper.net/junos-qfx/conf/class-of-service"

LISTS = {  # path: keys
    "forwarding-classes/class": ["name"],
    "classifiers/dscp": ["name"],
    "classifiers/dscp/forwarding-class": ["name"],
    "classifiers/dscp/forwarding-class/loss-priority": ["name"],
    "classifiers/ieee-802.1": ["name"],
    "classifiers/ieee-802.1/forwarding-class": ["name"],
    "classifiers/ieee-802.1/forwarding-class/loss-priority": ["name"],
    "rewrite-rules/dscp": ["name"],
    "rewrite-rules/dscp/forwarding-class": ["name"],
    "rewrite-rules/dscp/forwarding-class/loss-priority": ["name"],
    "drop-profiles": ["name"],
    "shared-buffer/ingress/buffer-partition": ["name"],
    "shared-buffer/egress/buffer-partition": ["name"],
    "congestion-notification-profile": ["name"],
    "congestion-notification-profile/input/dscp/code-point": ["name"],
    "congestion-notification-profile/input/ieee-802.1/code-point": ["name"],
    "congestion-notification-profile/output/ieee-802.1/code-point": ["name"],
    "schedulers": ["name"],
    "schedulers/drop-profile-map": ["loss-priority", "protocol"],
    "scheduler-maps": ["name"],
    "scheduler-maps/forwarding-class": ["name"],
    "interfaces/interface": ["name"],
    "interfaces/interface/unit": ["name"],
    "interfaces/interface/unit/classifiers/dscp": ["name"],
    "interfaces/interface/unit/rewrite-rules/dscp": ["name"],
}
CONTAINERS = {
    "forwarding-classes", "classifiers", "rewrite-rules", "shared-buffer", "shared-buffer/ingress",
    "shared-buffer/egress", "dedicated-buffer", "dedicated-buffer/ingress",
    "dedicated-buffer/egress", "drop-profiles/interpolate",
    "congestion-notification-profile/pfc-watchdog", "congestion-notification-profile/input",
    "congestion-notification-profile/output", "congestion-notification-profile/input/dscp",
    "congestion-notification-profile/input/ieee-802.1",
    "congestion-notification-profile/output/ieee-802.1", "schedulers/transmit-rate",
    "interfaces", "interfaces/interface/unit/classifiers",
    "interfaces/interface/unit/rewrite-rules",
}
EMPTY = {"no-loss", "pfc", "explicit-congestion-notification"}
# `set` leaves these tags out: the container's value, unless the next word is a leaf's name.
VALUE_TAG = {
    "interfaces/interface/shaping-rate": "rate",
    "interfaces/interface/unit/classifiers/ieee-802.1": "classifier-name",
    "schedulers/shaping-rate": "rate",
}


class Node:
    def __init__(self, tag, key=None, text=None):
        self.tag, self.key, self.text, self.children = tag, key, text, []

    def child(self, tag, key=None):
        for one in self.children:
            if one.tag == tag and one.key == key and one.text is None:
                return one
        self.children.append(Node(tag, key))
        return self.children[-1]

    def leaf(self, tag, text):
        self.children.append(Node(tag, text=text))

    def xml(self):
        if self.text is not None:
            inside = escape(self.text)
            return f"<{self.tag}>{inside}</{self.tag}>" if inside else f"<{self.tag}/>"
        space = f' xmlns="{COS}"' if self.tag == "class-of-service" else ""
        inside = "".join(one.xml() for one in self.children)
        return f"<{self.tag}{space}>{inside}</{self.tag}>\n"


def add(root, words):
    node, path = root, []
    while words:
        word = words.pop(0)
        here = "/".join(path + [word])
        # `interfaces et-0/0/0`: the list has no word of its own.
        if path == ["interfaces"] and here not in LISTS:
            words.insert(0, word)
            word, here = "interface", "interfaces/interface"
        if here in LISTS:
            keys = []
            for key in LISTS[here]:
                if len(LISTS[here]) > 1 and words[0] == key:
                    words.pop(0)
                keys.append(words.pop(0))
            node = node.child(word, tuple(keys))
            if not node.children:
                for key, value in zip(LISTS[here], keys):
                    node.leaf(key, value)
            path.append(word)
        elif here in VALUE_TAG:
            tag = words.pop(0) if len(words) > 1 else VALUE_TAG[here]
            node.child(word).leaf(tag, words.pop(0))
        elif here in CONTAINERS:
            node = node.child(word)
            path.append(word)
        elif word in EMPTY:
            node.leaf(word, "")
        else:
            node.leaf(word, words.pop(0) if words else "")


def instance(text):
    """(data for yanglint, other statements' first words)."""
    root, without = Node("class-of-service"), set()
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] == ["set", "class-of-service"]:
            add(root, words[2:])
        elif words:
            without.add(" ".join(words[1:2]))
    return f'<configuration xmlns="{ROOT}">\n{root.xml()}</configuration>\n', sorted(without)
