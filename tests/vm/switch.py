"""A switch for machines of QEMU: each connects to it (-netdev socket,connect=…) and sends frames
with their length in front. Nothing is lost between them however slow a machine is: a frame for one
that does not read waits. A multicast group of the loopback drops frames as soon as one is late.
"""
import socket
import threading

LENGTH = 4  # bytes before each frame, big endian (QEMU, net/socket.c)
BROADCAST_BIT = 1


class Switch:
    """A context: it forwards inside it; `address` is for QEMU."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.guard = threading.Lock()
        self.ports = {}  # connection to the lock of its writers
        self.learned = {}  # MAC address to connection

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        for port in list(self.ports):
            self._remove(port)

    def _accept(self):
        while True:
            try:
                port, _ = self.listener.accept()
            except OSError:
                return
            with self.guard:
                self.ports[port] = threading.Lock()
            threading.Thread(target=self._forward, args=(port,), daemon=True).start()

    def _forward(self, port):
        frames = port.makefile("rb")
        while True:
            try:
                head = frames.read(LENGTH)
                frame = frames.read(int.from_bytes(head, "big"))
            except OSError:
                frame = b""
            if len(frame) < 12:
                return self._remove(port)
            target, source = frame[:6], frame[6:12]
            with self.guard:
                self.learned[source] = port
                known = self.learned.get(target)
                is_for_all = target[0] & BROADCAST_BIT or known is None
                others = [other for other in self.ports if other is not port] if is_for_all else [
                    known] if known is not port else []
            for other in others:
                self._send(other, head + frame)

    def _send(self, port, data):
        writers = self.ports.get(port)
        if writers is None:
            return
        try:
            with writers:
                port.sendall(data)
        except OSError:
            self._remove(port)

    def _remove(self, port):
        with self.guard:
            self.ports.pop(port, None)
            self.learned = {mac: at for mac, at in self.learned.items() if at is not port}
        try:
            port.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        port.close()
