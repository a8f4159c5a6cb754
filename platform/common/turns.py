"""A queue in front of Django: a burst of requests waits for its turn, not for a connection.

Nearly all that Django does needs a connection to the database, of which a process has few. Who asks
for one is refused after a short while; and behind those who wait stand the replies that end
meanwhile.
"""

import asyncio

from common.asgi import Application, Message, Receive, Scope, Send

# Seconds. Who has waited so long goes on all the same, and learns from the database how it stands.
PATIENCE = 20.0


class Turns:
    """Lets `application` work on so many requests at a time, in the order in which they came.

    A turn begins when all of the request has come, and ends when the response begins: nobody takes
    one by sending or reading slowly.
    """

    def __init__(self, application: Application, *, turns: int, patience: float = PATIENCE) -> None:
        self._application = application
        self._free = asyncio.Semaphore(turns)
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_due, has_turn = True, False

        def end() -> None:
            nonlocal has_turn
            if has_turn:
                has_turn = False
                self._free.release()

        async def wait_at_the_end() -> Message:
            nonlocal is_due, has_turn
            message = await receive()
            if is_due and message["type"] == "http.request" and not message.get("more_body"):
                is_due, has_turn = False, await self._take()
            return message

        async def end_and_send(message: Message) -> None:
            end()
            await send(message)

        try:
            await self._application(scope, wait_at_the_end, end_and_send)
        finally:
            end()

    async def _take(self) -> bool:
        try:
            async with asyncio.timeout(self._patience):
                return await self._free.acquire()
        except TimeoutError:
            return False
