"""RFC 9474: its published vectors, and signatures that another library accepts."""

import json
from pathlib import Path
from typing import Any

import pytest

from bruit.apps.web.admission import blind_signatures as rsa
from bruit.errors import ProtocolError

VECTORS = json.loads(Path(__file__).with_name("rfc9474.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_published_vectors(vector: Any) -> None:
    key = rsa.PublicKey(int(vector["n"], 16), int(vector["e"], 16))
    message, salt = bytes.fromhex(vector["prepared_msg"]), bytes.fromhex(vector["salt"])
    inverse = int(vector["inv"], 16)
    waiting = rsa.blind(key, message, salt=salt, factor=pow(inverse, -1, key.n))
    assert waiting.blinded.hex() == vector["blinded_msg"]
    assert waiting.inverse == inverse
    answer = rsa.blind_sign(key, int(vector["d"], 16), waiting.blinded)
    assert answer.hex() == vector["blind_sig"]
    signature = bytes.fromhex(vector["sig"])
    assert (int.from_bytes(answer, "big") * inverse % key.n).to_bytes(key.size, "big") == signature
    assert rsa.verify(key, message, signature, salt=len(salt))
    assert not rsa.verify(key, message + b"x", signature, salt=len(salt))
    forged = bytearray(signature)
    forged[-1] ^= 1
    assert not rsa.verify(key, message, bytes(forged), salt=len(salt))


def test_the_signer_sees_nothing_and_another_library_accepts_the_signature() -> None:
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    vector = VECTORS[0]
    key, private = rsa.PublicKey(int(vector["n"], 16), int(vector["e"], 16)), int(vector["d"], 16)
    prepared = rsa.prepare(b"one of the class")
    one, other = rsa.blind(key, prepared), rsa.blind(key, prepared)
    assert one.blinded != other.blinded  # the same message never looks the same
    signature = rsa.finalise(key, one, rsa.blind_sign(key, private, one.blinded))
    public = RSAPublicNumbers(key.e, key.n).public_key()
    public.verify(signature, prepared, padding.PSS(padding.MGF1(hashes.SHA384()), 48), hashes.SHA384())
    with pytest.raises(ProtocolError, match="does not verify"):
        rsa.finalise(key, one, rsa.blind_sign(key, private, other.blinded))
    with pytest.raises(ProtocolError, match="below the modulus"):
        rsa.blind_sign(key, private, b"\xff" * key.size)
