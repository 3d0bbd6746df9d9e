"""TLS without certificates, for a selftest that talks to itself over loopback."""

import ssl
from typing import Final

CIPHER: Final = "AECDH-AES128-SHA"


def anonymous_context(*, server: bool) -> ssl.SSLContext | None:
    """One side's context; None where this Python's OpenSSL was built without anonymous ciphers.

    Only TLS 1.2 has them. Nothing but the selftest's own server is ever reached with it.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        made.set_ciphers(f"{CIPHER}:@SECLEVEL=0")
    except ssl.SSLError:
        return None
    return made
