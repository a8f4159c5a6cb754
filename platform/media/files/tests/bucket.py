"""A bucket of a real S3 server on a real socket (moto's)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from media.files.storages import outputs_storage

NAME, REGION = "outputs", "us-east-1"
KEY = {"aws_access_key_id": "an id", "aws_secret_access_key": "a secret"}


@dataclass(frozen=True)
class Bucket:
    """A bucket at that address."""

    endpoint: str

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process of ours store outputs there."""
        return {
            "OUTPUTS_BUCKET": NAME,
            "OUTPUTS_BUCKET_ENDPOINT": self.endpoint,
            "OUTPUTS_BUCKET_REGION": REGION,
            "OUTPUTS_BUCKET_KEY_ID": KEY["aws_access_key_id"],
            "OUTPUTS_BUCKET_SECRET": KEY["aws_secret_access_key"],
        }

    @property
    def storage(self) -> dict[str, Any]:
        """The entry of STORAGES that makes this process store outputs there."""
        return outputs_storage(
            folder="",
            bucket=NAME,
            endpoint=self.endpoint,
            region=REGION,
            access_key=KEY["aws_access_key_id"],
            secret_key=KEY["aws_secret_access_key"],
        )


@contextmanager
def running_bucket() -> Iterator[Bucket]:
    """An empty bucket until the block ends."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        bucket = Bucket(f"http://{host}:{port}")
        client = boto3.client("s3", endpoint_url=bucket.endpoint, region_name=REGION, **KEY)
        client.create_bucket(Bucket=NAME)
        client.close()
        yield bucket
    finally:
        server.stop()
