"""The shipped proxy on this machine: nginx with deploy/nginx/nginx.conf, other addresses in it."""

import os
import re
import shutil
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from devserver.paths import ROOT
from devserver.ports import LOOPBACK, free_port, is_free
from devserver.processes import Process
from devserver.service import Service

CONFIGURATION = ROOT / "deploy" / "nginx" / "nginx.conf"
_AS_SHIPPED: Mapping[str, str] = MappingProxyType({})
PROGRAM = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
needs_nginx = pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed")


def directive(block: str, name: str) -> str:
    """The value of the first directive of that name after the beginning of a block."""
    _, _, text = CONFIGURATION.read_text().partition(block)
    found = re.search(rf"^\s*{name} ([^;]+);", text, re.MULTILINE)
    assert found, name
    return found[1]


@dataclass
class Proxy:
    """A running nginx. `tls` trusts its certificate."""

    port: int
    plain_port: int
    tls: ssl.SSLContext

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self.port}"

    @property
    def plain_url(self) -> str:
        return f"http://{LOOPBACK}:{self.plain_port}"


@contextmanager
def running_nginx(
    folder: Path, webs: Sequence[int], changed: Mapping[str, str] = _AS_SHIPPED
) -> Iterator[Proxy]:
    """nginx until the block ends, in front of two web processes at these ports. `changed` are
    other words of its configuration, by those that are shipped."""
    certificate = write_certificate(folder)
    plain_port = free_port()
    port = free_port(but={plain_port})
    assert PROGRAM is not None
    configuration = folder / "nginx.conf"
    configuration.write_text(_at_home(folder, webs, changed, port=port, plain_port=plain_port))
    command = (PROGRAM, "-c", str(configuration), "-g", "daemon off;")
    process = Process(
        Service(name="nginx", command=command, is_ready=lambda: not is_free(port)),
        log=folder / "nginx.log",
    )
    try:
        process.wait_until_ready(timeout=10)
        yield Proxy(port, plain_port, ssl.create_default_context(cafile=str(certificate)))
    finally:
        process.stop()


def _at_home(
    folder: Path, webs: Sequence[int], changed: Mapping[str, str], *, port: int, plain_port: int
) -> str:
    """The shipped configuration with the ports and the folders of this run."""
    text = CONFIGURATION.read_text()
    places = {
        "web-1:8000": f"{LOOPBACK}:{webs[0]}",
        "web-2:8000": f"{LOOPBACK}:{webs[1]}",
        "listen 8080": f"listen {LOOPBACK}:{plain_port}",
        "listen 8443": f"listen {LOOPBACK}:{port}",
        " /tmp/": f" {folder}/",
        "/etc/nginx/certificates/": f"{folder}/",
        "worker_processes auto": "worker_processes 1",
        **changed,
    }
    for shipped, here in places.items():
        assert shipped in text, shipped
        text = text.replace(shipped, here)
    # The container has a user without rights.
    return f"user root;\n{text}" if os.getuid() == 0 else text


def write_certificate(folder: Path) -> Path:
    """A certificate for this machine that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, LOOPBACK)])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "tls.crt"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path
