"""Remembers and recalls through the generated client."""

import os

from loci_client import AuthenticatedClient
from loci_client.api.memories import add_memory
from loci_client.api.recall import recall
from loci_client.models.identifiers import Identifiers
from loci_client.models.memory_write import MemoryWrite
from loci_client.models.new_memory_request import NewMemoryRequest
from loci_client.models.recall_answer import RecallAnswer
from loci_client.models.recall_request import RecallRequest

client = AuthenticatedClient(base_url=os.environ["LOCI_URL"], token=os.environ["LOCI_KEY"])
identifiers = Identifiers(user_id="python")

content = "The kettle of the office is in the third cupboard"
written = add_memory.sync(client=client, body=NewMemoryRequest(content=content, identifiers=identifiers))
assert isinstance(written, MemoryWrite), written
assert written.event.value == "ADD", written

found = recall.sync(client=client, body=RecallRequest(query="Where is the kettle?", identifiers=identifiers))
assert isinstance(found, RecallAnswer), found
assert [str(one.memory.id) for one in found.data] == [str(written.id)], found
assert found.data[0].memory.content == content, found
