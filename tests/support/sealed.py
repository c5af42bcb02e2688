"""Saved files that were changed and sealed anew: what a reader meets behind the checksum, which no accident passes."""

import io
import json
import zlib

from fastir.data.results.saved_files import BLANK_CHECKSUM, CHECKSUM_PREFIX, HEAD_BYTES, KEY, table_checksum


def sealed(content):
    """The bytes of a JSON or TSV file, with the checksum that they ask for, where there is room for one."""
    place = content.find(CHECKSUM_PREFIX, 0, HEAD_BYTES) + len(CHECKSUM_PREFIX)
    if place < len(CHECKSUM_PREFIX):
        return content
    blank = content[:place] + BLANK_CHECKSUM.encode() + content[place + len(BLANK_CHECKSUM) :]
    return blank[:place] + b"%08x" % zlib.crc32(blank.rstrip(b"\r\n")) + blank[place + len(BLANK_CHECKSUM) :]


def sealed_parquet(table, head):
    """The bytes of a Parquet file of a pyarrow.Table under a head, which is a dict."""
    from pyarrow import parquet

    text = json.dumps({**head, "crc32": BLANK_CHECKSUM})
    text = text.replace(
        f"{CHECKSUM_PREFIX.decode()}{BLANK_CHECKSUM}", CHECKSUM_PREFIX.decode() + table_checksum(text.encode(), table)
    )
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({KEY: text}), buffer)
    return buffer.getvalue()
