"""Where models' files are: in a folder, or in a bucket."""

from typing import Any


def outputs_storage(
    *, folder: str, bucket: str, endpoint: str, region: str, access_key: str, secret_key: str
) -> dict[str, Any]:
    """The entry `outputs` of Django's STORAGES: the bucket, or the folder where there is none.

    Without `endpoint` the bucket is one of Amazon's; without keys, botocore looks for credentials
    where it usually does.
    """
    if not bucket:
        return folder_storage(folder)
    options = {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        "region_name": region or None,
        # Few of other services give each bucket a host name.
        "addressing_style": "path" if endpoint else "auto",
    }
    if access_key:
        options |= {"access_key": access_key, "secret_key": secret_key}
    return {"BACKEND": "media.files.object_storage.ObjectStorage", "OPTIONS": options}


def folder_storage(folder: str) -> dict[str, Any]:
    """An entry of Django's STORAGES for files in this folder."""
    return {"BACKEND": "media.files.folder.Folder", "OPTIONS": {"location": folder}}
