"""How Starknet nodes are asked about themselves, and how their answers are read."""

from typing import Any

import pytest

from rpcbench.protocol import starknet
from rpcbench.protocol.block import Block


def test_versioned_paths_run_from_new_to_old() -> None:
    versions = [int(path.rpartition("_")[2]) for path in starknet.VERSIONED_PATHS]
    assert versions == sorted(versions, reverse=True)
    assert starknet.VERSIONED_PATHS[0] == "/rpc/v0_10"


def test_a_block_is_asked_for_by_height_or_as_the_latest() -> None:
    assert starknet.ask_block(5) == ("starknet_getBlockWithTxHashes", {"block_id": {"block_number": 5}})
    assert starknet.ask_block("latest")[1] == {"block_id": "latest"}


def test_equal_hashes_are_equal_however_they_are_written() -> None:
    padded = {"block_number": 7, "block_hash": "0x00AB", "timestamp": 1_700_000_000, "status": "ACCEPTED_ON_L2"}
    assert starknet.parse_block(padded) == Block(7, "0xab", 1_700_000_000)


@pytest.mark.parametrize(
    "reply", [None, [], {"block_number": 7}, {"block_number": True, "block_hash": "x", "timestamp": 1}]
)
def test_what_is_no_block_is_refused(reply: Any) -> None:
    with pytest.raises(ValueError, match=r"reply has no|hex string"):
        starknet.parse_block(reply)


def test_syncing_is_read_in_both_number_forms() -> None:
    assert starknet.parse_syncing(False) == (False, None)
    assert starknet.parse_syncing({"highest_block_num": 300}) == (True, 300)
    assert starknet.parse_syncing({"highest_block_num": "0x12c"}) == (True, 300)


def test_chain_ids_spell_names() -> None:
    assert starknet.chain_name("0x534e5f4d41494e") == "SN_MAIN"
    assert starknet.chain_name("0x534e5f5345504f4c4941") == "SN_SEPOLIA"
    assert starknet.chain_name("0x1") == "0x1"
    assert starknet.chain_name("odd") == "odd"


def test_patch_levels_of_the_specification_are_one_family() -> None:
    assert starknet.spec_family("0.10.2") == starknet.spec_family("v0.10.0") == "0.10"
    assert starknet.spec_family("0.9.0") != "0.10"
