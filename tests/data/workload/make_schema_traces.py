"""Writes schema.0.et and schema.1.et: execution traces of two ranks, by Chakra's public schema.

Google's protobuf encodes them, not Weir: et_def_pb2 is what protoc makes of
schema/protobuf/et_def.proto in github.com/mlcommons/chakra (commit 6dc63e1). They have nodes of most
kinds that ASTRA-sim knows, and attributes of every wire type: as PyTorch's traces and ASTRA-sim's
generators have them, and in others that the schema allows. No test runs this.
"""
from google.protobuf.internal.encoder import _VarintBytes
import et_def_pb2 as et


def write(stream, message):
    data = message.SerializeToString()
    stream.write(_VarintBytes(len(data)) + data)


def node(number, name, kind, after=(), data_after=(), micros=0, **attributes):
    out = et.Node(id=number, name=name, type=kind, duration_micros=micros)
    out.ctrl_deps.extend(after)
    out.data_deps.extend(data_after)
    for key, (field, value) in attributes.items():
        attribute = out.attr.add(name=key)
        if field.endswith("_list"):
            getattr(attribute, field).values.extend(value)
        else:
            setattr(attribute, field, value)
    return out


for rank in (0, 1):
    other = 1 - rank
    with open(f"schema.{rank}.et", "wb") as out:
        meta = et.GlobalMetadata(version="0.0.4")
        meta.attr.add(name="schema", string_val="1.1.1-chakra.0.0.4")
        meta.attr.add(name="pid", uint64_val=4000 + rank)
        write(out, meta)
        groups = node(1, "## process_group:init ##", et.METADATA_NODE, is_cpu_op=("bool_val", True))
        groups.inputs.values = ('["[{\\"pg_name\\": \\"0\\", \\"pg_desc\\": \\"default_pg\\", '
                                '\\"ranks\\": [0, 1], \\"group_size\\": 2}]"]')
        groups.inputs.shapes = "[[]]"
        groups.inputs.types = "['String']"
        write(out, groups)
        write(out, node(2, "load", et.MEM_LOAD_NODE, micros=7,
                        tensor_size=("uint64_val", 1 << 20), tensor_loc=("uint32_val", 1)))
        write(out, node(3, "aten::linear", et.COMP_NODE, after=[1], data_after=[2], micros=300,
                        is_cpu_op=("bool_val", True), num_ops=("int64_val", -1)))
        gpu = node(4, "gemm", et.COMP_NODE, data_after=[2, 3], micros=100,
                   is_cpu_op=("bool_val", False), num_ops=("int64_val", 1 << 40),
                   tensor_size=("uint64_val", 1 << 30), load=("double_val", 0.5),
                   ratio=("float_val", 0.25), stream=("sint32_val", -7),
                   shape=("int64_list", [4096, 4096]))
        gpu.start_time_micros = 1_731_000_000_000_000
        gpu.outputs.types = "['Tensor(c10::BFloat16)']"
        gpu.attr[0].doc_string = "whether the host computes it"
        write(out, gpu)
        write(out, node(5, "nccl:all_reduce", et.COMM_COLL_NODE, after=[4],
                        is_cpu_op=("bool_val", False), comm_type=("int64_val", et.ALL_REDUCE),
                        comm_size=("int64_val", 1_000_000),
                        involved_dim=("bool_list", [True, False]),
                        comm_priority=("int32_val", 0), pg_name=("string_val", "0")))
        write(out, node(6, "nccl:all_gather", et.COMM_COLL_NODE, data_after=[5],
                        comm_type=("uint64_val", et.ALL_GATHER), comm_size=("uint64_val", 300_000),
                        comm_group=("uint32_val", 0), note=("bytes_val", b"\xff\x00")))
        write(out, node(7, "step", et.BATCH_NODE, after=[6]))
        kind = et.COMM_SEND_NODE if rank == 0 else et.COMM_RECV_NODE
        write(out, node(8, "send" if rank == 0 else "recv", kind, after=[6, 7],
                        comm_src=("int32_val", 0), comm_dst=("sint32_val", 1),
                        comm_size=("fixed64_val", 250_000), comm_tag=("sfixed32_val", 300)))
        write(out, node(2**63 + 9, "barrier", et.COMM_COLL_NODE, after=[8],
                        comm_type=("int32_val", et.BARRIER), comm_size=("int64_val", 0)))
