import torch
torch.distributed.init_process_group("cpu:gloo,cuda:nccl")
