"""Extract objects with Instructor: by a tool, by a schema, by several calls, and as a stream."""

import os
import sys
from collections.abc import Iterable

import instructor
from openai import OpenAI
from pydantic import BaseModel

name, question = sys.argv[1:]
client = OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"])
messages = [{"role": "user", "content": question}]


class Person(BaseModel):
    """A person."""

    name: str
    age: int


for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    extracting = instructor.from_openai(client, mode=mode)
    print(extracting.create(model=name, messages=messages, response_model=Person))

extracting = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
*_, last = extracting.create_partial(model=name, messages=messages, response_model=Person)
print(last)

extracting = instructor.from_openai(client, mode=instructor.Mode.PARALLEL_TOOLS)
for person in extracting.create(model=name, messages=messages, response_model=Iterable[Person]):
    print(person)
