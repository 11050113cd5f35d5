"""Certificates: files to an SSL context."""

from __future__ import annotations

import ssl

from rpcbench.errors import UsageError
from rpcbench.model.route import Tls


def tls_context(tls: Tls) -> ssl.SSLContext:
    """What a client needs to open TLS connections. Raises UsageError for files that cannot be used."""
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
    except OSError:  # ssl.SSLError is one
        raise UsageError(f"cannot read certificates from {tls.ca_file}: give a readable PEM file") from None
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_file is not None:
        _load_own(context, tls.cert_file, tls.key_file)
    return context


def _load_own(context: ssl.SSLContext, cert_file: str, key_file: str | None) -> None:
    try:
        # An empty passphrase, or OpenSSL would ask for one on the terminal.
        context.load_cert_chain(cert_file, key_file, password="")
    except OSError:
        files = f"{cert_file} and {key_file}" if key_file else cert_file
        advice = "give PEM files that belong together, the key without a passphrase"
        raise UsageError(f"cannot use {files} as a client certificate and its key: {advice}") from None
