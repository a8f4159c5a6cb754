import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** A client that has connected: it can be sent frames of text, closed with a code, or cut off. */
export class Connection {
  readonly query: URLSearchParams;
  readonly #stream: Duplex;

  constructor(request: IncomingMessage, stream: Duplex) {
    this.query = new URL(request.url!, 'http://service').searchParams;
    this.#stream = stream;
    stream.on('error', () => {});
    const key = createHash('sha1').update(request.headers['sec-websocket-key']! + GUID);
    const head = ['HTTP/1.1 101', 'Upgrade: websocket', 'Connection: Upgrade'];
    stream.write([...head, `Sec-WebSocket-Accept: ${key.digest('base64')}`, '', ''].join('\r\n'));
  }

  send(data: object): void {
    this.#frame(1, Buffer.from(JSON.stringify(data)));
  }

  close(code: number): void {
    this.#frame(8, Buffer.from([code >> 8, code & 255]));
    this.#stream.end();
  }

  cut(): void {
    this.#stream.destroy();
  }

  #frame(kind: number, payload: Buffer): void {
    const { length } = payload;
    const size = length < 126 ? [length] : [126, length >> 8, length & 255];
    this.#stream.write(Buffer.concat([Buffer.from([0x80 | kind, ...size]), payload]));
  }
}

/** A service of sockets alone: each connection in its turn. */
export async function socketServer() {
  const waiting: ((connection: Connection) => void)[] = [];
  const come: Connection[] = [];
  const streams = new Set<Duplex>();
  const server = createServer();
  server.on('upgrade', (request, stream) => {
    streams.add(stream);
    const connection = new Connection(request, stream);
    const next = waiting.shift();
    if (next) next(connection);
    else come.push(connection);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many connections nobody has asked for yet. */
    get pending() {
      return come.length;
    },
    connection(): Promise<Connection> {
      const connection = come.shift();
      if (connection) return Promise.resolve(connection);
      return new Promise((resolve) => waiting.push(resolve));
    },
    close() {
      for (const stream of streams) stream.destroy();
      server.close();
    }
  };
}
