import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fault for a request or its response. */
type Fault =
  | { status: number; code: string; fields?: Record<string, string> }
  /** Number of bytes of the response's body after which the connection is reset. */
  | { resetAfter: number }
  | 'silence';

/** For tests: a proxy in front of an S3 server. `fault` chooses the fault for each request. */
export async function faultyProxy(target: string) {
  const proxy = {
    endpoint: '',
    fault: (_request: IncomingMessage): Fault | null => null,
    /** Method, path and range of each request that was received. */
    seen: [] as string[],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((from, to) => {
    proxy.seen.push(
      [from.method, from.url, from.headers.range, from.headers['if-match']].filter(Boolean).join(' '),
    );
    const fault = proxy.fault(from);
    if (fault === 'silence') return;
    if (fault && 'status' in fault) return sendFault(to, fault);
    pass(target, from, to, fault?.resetAfter ?? Number.POSITIVE_INFINITY);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

function sendFault(
  to: ServerResponse,
  { status, code, fields = {} }: Exclude<Fault, 'silence' | { resetAfter: number }>,
) {
  const more = Object.entries(fields).map(([name, value]) => `<${name}>${value}</${name}>`);
  to.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  to.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>A test</Message>${more.join('')}</Error>`);
}

function pass(target: string, from: IncomingMessage, to: ServerResponse, resetAfter: number) {
  // Preserve the Host header, because it is signed.
  const on = request(
    new URL(from.url ?? '/', target),
    { method: from.method, headers: from.headers },
    (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
      let passed = 0;
      answer.on('data', (chunk: Buffer) => {
        if (to.destroyed) return;
        to.write(chunk.subarray(0, resetAfter - passed));
        passed += chunk.length;
        if (passed >= resetAfter) to.socket?.end(() => to.destroy());
      });
      answer.once('end', () => to.end());
    },
  );
  on.once('error', () => to.destroy());
  from.pipe(on);
}
