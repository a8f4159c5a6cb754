// Follows a stream until its last event, whatever the network does on the way, and says what it
// has seen: replay, open the socket, replay again, follow; after a cut from the beginning.

const { appURL, session, lastType, token } = await (await fetch("/task")).json();
const seen = { events: [], live: 0, sockets: 0 };
let text = "";

const applied = () => seen.events.at(-1)?.seq ?? 0;
const done = () => seen.events.at(-1)?.type === lastType;

function apply(event) {
  if (event.seq <= applied()) return false;
  seen.events.push(event);
  if (event.type.endsWith(".delta")) {
    text += event.data.text;
    document.querySelector("#text").textContent = text;
  }
  return true;
}

const LIMIT = 100;

async function replay() {
  for (let after = applied(); ; ) {
    const url = `${appURL}/sessions/${session}/events?after_seq=${after}&limit=${LIMIT}`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    const Refusal = response.status >= 400 && response.status < 500 ? Error : TypeError;
    if (!response.ok) throw new Refusal(`Replay answered ${response.status}.`);
    const events = await response.json();
    events.forEach(apply);
    // Had there been more, the page would be full. Until it is empty could be for ever.
    if (events.length < LIMIT) return;
    after = Number(response.headers.get("X-Next-Seq"));
    if (!after) throw new Error("The page may not read X-Next-Seq.");
  }
}

function opened() {
  const url = `${appURL.replace("http", "ws")}/ws/${session}?token=${token}`;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve(socket);
    socket.onclose = () => reject(new TypeError("The socket did not open."));
  });
}

async function follow() {
  await replay();
  const socket = await opened();
  seen.sockets += 1;
  const closed = new Promise((resolve) => (socket.onclose = resolve));
  // What comes meanwhile waits for the second replay, which brings what was before it.
  const waiting = [];
  socket.onmessage = ({ data }) => waiting.push(data);
  const take = (data) => {
    const event = JSON.parse(data);
    if (event.type !== "ping") seen.live += apply(event);
    if (done()) socket.close();
  };
  try {
    await replay();
    waiting.forEach(take);
    socket.onmessage = ({ data }) => take(data);
    if (!done()) await closed;
  } finally {
    socket.close();
  }
}

while (!done()) {
  try {
    await follow();
  } catch (error) {
    // A broken connection is a TypeError, or half an answer. Anything else is a fault.
    if (!(error instanceof TypeError || error instanceof SyntaxError)) {
      seen.error = String(error);
      break;
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
