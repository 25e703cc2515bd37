"""Sets in an object store: a real S3 protocol over 127.0.0.1, served by moto."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scale.sets import contents, planned, stored

from whybench.interfaces.stored.place import Place
from whybench.scale.generate import generate
from whybench.scale.recheck import recheck
from whybench.scale.shard import settled

pytestmark = pytest.mark.wire


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        boto3.client("s3").create_bucket(Bucket="sets")
        yield "s3://sets"
    server.stop()


def test_a_set_in_an_object_store_has_the_bytes_of_one_in_a_folder(
    bucket: str, tmp_path: Path
) -> None:
    place = Place(f"{bucket}/core")
    settled(planned(), place, {}, 2)
    generate(planned(), place)
    stored(tmp_path, planned())
    for name, data in contents(tmp_path).items():
        assert place.read(name) == data
    assert not any(shard.flaws for shard in recheck(place))


def test_what_is_there_is_seen_at_once_and_removed_at_once(bucket: str) -> None:
    place = Place(f"{bucket}/seen")
    assert not place.has("plan.json")
    place.commit("plan.json", b"{}")
    assert place.has("plan.json")
    place.remove("plan.json")
    assert not place.has("plan.json")
