"""Saved files that were changed and sealed anew: what a reader meets behind the checksum, which no accident passes."""

import io
import json
import zlib

from fastir.data.results.saved_files import BLANK, KEY, PEEKED, SEALED, seal_of_table


def sealed(content):
    """The bytes of a JSON or TSV file, with the checksum that they ask for, where there is room for one."""
    place = content.find(SEALED, 0, PEEKED) + len(SEALED)
    if place < len(SEALED):
        return content
    blank = content[:place] + BLANK.encode() + content[place + len(BLANK) :]
    return blank[:place] + b"%08x" % zlib.crc32(blank.rstrip(b"\r\n")) + blank[place + len(BLANK) :]


def sealed_parquet(table, head):
    """The bytes of a Parquet file of a pyarrow.Table under a head, which is a dict."""
    from pyarrow import parquet

    text = json.dumps({**head, "crc32": BLANK})
    text = text.replace(f"{SEALED.decode()}{BLANK}", SEALED.decode() + seal_of_table(text.encode(), table))
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({KEY: text}), buffer)
    return buffer.getvalue()
