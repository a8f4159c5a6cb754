"""Follows a stream until its last event, whatever the network does on the way, and prints what it
has seen: replay, open the socket, replay again, follow; after a cut from the beginning."""

import asyncio
import json
import os
from contextlib import suppress

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, InvalidMessage, WebSocketException

APP_URL, SESSION, LAST_TYPE, TOKEN = (
    os.environ[name] for name in ("APP_URL", "SESSION", "LAST_TYPE", "TOKEN")
)
REPLAY = f"{APP_URL}/sessions/{SESSION}/events"
SOCKET = f"{APP_URL.replace('http', 'ws', 1)}/ws/{SESSION}"
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}
LIMIT = 100
CUT = (httpx.TransportError, WebSocketException, InvalidHandshake, InvalidMessage, OSError)


class Follower:
    def __init__(self):
        self.events = []
        self.live = 0
        self.sockets = 0

    @property
    def applied(self):
        return self.events[-1]["seq"] if self.events else 0

    @property
    def done(self):
        return bool(self.events) and self.events[-1]["type"] == LAST_TYPE

    def apply(self, event):
        """True unless it has been applied before."""
        if event["seq"] <= self.applied:
            return False
        self.events.append(event)
        return True

    async def replay(self, http):
        after_seq = self.applied
        while True:
            answer = await http.get(REPLAY, params={"after_seq": after_seq, "limit": LIMIT})
            answer.raise_for_status()
            events = answer.json()
            for event in events:
                self.apply(event)
            # Had there been more, the page would be full. Until it is empty could be for ever.
            if len(events) < LIMIT:
                return
            after_seq = int(answer.headers["X-Next-Seq"])

    async def follow(self, http):
        await self.replay(http)
        async with connect(SOCKET, additional_headers=AUTHORIZATION) as socket:
            self.sockets += 1
            await self.replay(http)
            while not self.done:
                event = json.loads(await socket.recv())
                if event["type"] != "ping":
                    self.live += self.apply(event)


async def main():
    follower = Follower()
    # A connection for each request: on a bad network an old one is no good sign.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(headers=AUTHORIZATION, timeout=20, limits=limits) as http:
        while not follower.done:
            with suppress(*CUT):
                await follower.follow(http)
            await asyncio.sleep(0.02)
    seen = {"events": follower.events, "live": follower.live, "sockets": follower.sockets}
    print(json.dumps(seen))


asyncio.run(main())
