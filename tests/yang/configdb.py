"""SONiC's CONFIG_DB as data of SONiC's YANG models (RFC 7951), for yanglint.

A configuration is merged into what the box already has (`config load`): the box brings lanes, MAC
and its own name of itself, which a design does not know. `box` stands for that part.
"""
# table: module, list, keys, and for maps the list and leaves of an entry
TABLES = {
    "PORT": ("sonic-port", "PORT_LIST", ["name"], None),
    "DSCP_TO_TC_MAP": ("sonic-dscp-tc-map", "DSCP_TO_TC_MAP_LIST", ["name"],
                       ("DSCP_TO_TC_MAP", "dscp", "tc")),
    "DOT1P_TO_TC_MAP": ("sonic-dot1p-tc-map", "DOT1P_TO_TC_MAP_LIST", ["name"],
                        ("DOT1P_TO_TC_MAP", "dot1p", "tc")),
    "TC_TO_DSCP_MAP": ("sonic-tc-dscp-map", "TC_TO_DSCP_MAP_LIST", ["name"],
                       ("TC_TO_DSCP_MAP", "tc", "dscp")),
    "TC_TO_QUEUE_MAP": ("sonic-tc-queue-map", "TC_TO_QUEUE_MAP_LIST", ["name"],
                        ("TC_TO_QUEUE_MAP", "tc", "qindex")),
    "TC_TO_PRIORITY_GROUP_MAP": ("sonic-tc-priority-group-map", "TC_TO_PRIORITY_GROUP_MAP_LIST",
                                 ["name"], ("TC_TO_PRIORITY_GROUP_MAP", "tc", "pg")),
    "MAP_PFC_PRIORITY_TO_QUEUE": (
        "sonic-pfc-priority-queue-map", "MAP_PFC_PRIORITY_TO_QUEUE_LIST", ["name"],
        ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_priority", "qindex")),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": (
        "sonic-pfc-priority-priority-group-map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP_LIST",
        ["name"], ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_priority", "pg")),
    "CABLE_LENGTH": ("sonic-cable-length", "CABLE_LENGTH_LIST", ["name"],
                     ("CABLE_LENGTH", "port", "length")),
    "SCHEDULER": ("sonic-scheduler", "SCHEDULER_LIST", ["name"], None),
    "WRED_PROFILE": ("sonic-wred-profile", "WRED_PROFILE_LIST", ["name"], None),
    "PORT_QOS_MAP": ("sonic-port-qos-map", "PORT_QOS_MAP_LIST", ["ifname"], None),
    "QUEUE": ("sonic-queue", "QUEUE_LIST", ["ifname", "qindex"], None),
    "BUFFER_POOL": ("sonic-buffer-pool", "BUFFER_POOL_LIST", ["name"], None),
    "BUFFER_PROFILE": ("sonic-buffer-profile", "BUFFER_PROFILE_LIST", ["name"], None),
    "BUFFER_PG": ("sonic-buffer-pg", "BUFFER_PG_LIST", ["port", "pg_num"], None),
    "BUFFER_QUEUE": ("sonic-buffer-queue", "BUFFER_QUEUE_LIST", ["port", "qindex"], None),
    "BUFFER_PORT_INGRESS_PROFILE_LIST": ("sonic-buffer-port-ingress-profile-list",
                                         "BUFFER_PORT_INGRESS_PROFILE_LIST_LIST", ["port"], None),
    "BUFFER_PORT_EGRESS_PROFILE_LIST": ("sonic-buffer-port-egress-profile-list",
                                        "BUFFER_PORT_EGRESS_PROFILE_LIST_LIST", ["port"], None),
    "PFC_WD": ("sonic-pfcwd", "PFC_WD_LIST", ["ifname"], None),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": (
        "sonic-default-lossless-buffer-parameter", "DEFAULT_LOSSLESS_BUFFER_PARAMETER_LIST",
        ["name"], None),
    "LOSSLESS_TRAFFIC_PATTERN": ("sonic-lossless-traffic-pattern", "LOSSLESS_TRAFFIC_PATTERN_LIST",
                                 ["name"], None),
}
# yanglint must be given every module, or checks across modules are skipped with a warning.
MODULES = sorted({module for module, *_ in TABLES.values()} | {"sonic-device_metadata"})

# 64-bit leaves are texts in JSON, smaller ones numbers.
NUMBERS = {"speed", "mtu", "index", "dynamic_th", "weight", "priority", "detection_time",
           "restoration_time", "POLL_INTERVAL", "tc", "default_dynamic_th", "over_subscribe_ratio",
           "small_packet_percentage", "percentage", "cbs", "pbs"}
BOOLEANS = {"wred_green_enable", "wred_yellow_enable", "wred_red_enable"}


def typed(name, value):
    if name in NUMBERS and str(value).lstrip("-").isdigit():
        return int(value)
    if name in BOOLEANS and value in ("true", "false"):
        return value == "true"
    return value


def with_box(config):
    """What `config load` makes of it on a box that has these ports."""
    merged = {table: {key: dict(row) for key, row in rows.items()}
              for table, rows in config.items()}
    device = merged.setdefault("DEVICE_METADATA", {}).setdefault("localhost", {})
    for name, value in (("hwsku", "box"), ("platform", "x86_64-box-r0"),
                        ("mac", "02:00:00:00:00:01"), ("type", "ToRRouter")):
        device.setdefault(name, value)
    for number, row in enumerate(merged.get("PORT", {}).values()):
        row.setdefault("lanes", ",".join(str(8 * number + lane) for lane in range(1, 9)))
    return merged


def instance(config):
    """(data for yanglint, tables that no model is at hand for)."""
    data, without = {}, []
    for table, rows in with_box(config).items():
        if table == "DEVICE_METADATA":
            data["sonic-device_metadata:sonic-device_metadata"] = {table: rows}
            continue
        if table not in TABLES:
            without.append(table)
            continue
        module, entries, keys, entry = TABLES[table]
        out = []
        for key, fields in rows.items():
            row = dict(zip(keys, key.split("|", len(keys) - 1)))
            if entry:
                row[entry[0]] = [{entry[1]: typed(entry[1], name), entry[2]: typed(entry[2], value)}
                                 for name, value in fields.items()]
            else:
                row.update({name: value.split(",") if name == "profile_list" else typed(name, value)
                            for name, value in fields.items()})
            out.append(row)
        data[f"{module}:{module}"] = {table: {entries: out}}
    return data, without
