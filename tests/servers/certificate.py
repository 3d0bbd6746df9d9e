"""A certificate for localhost from an authority of our own, made afresh for each test that wants TLS."""

import ssl
from pathlib import Path

import trustme


def server_context(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS context, and the file of the authority that vouches for it."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    path = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return context, path
