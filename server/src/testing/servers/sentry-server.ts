import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onFileEnd } from '../on-file-end.ts';
import { freePort } from '../ports/free-port.ts';

/** An event that was received, with the fields that tests check. */
type SentEvent = {
  event_id: string;
  platform: string;
  user?: { id: string };
  tags: Record<string, string>;
  exception: {
    values: {
      type: string;
      value: string;
      stacktrace: { frames: { filename: string; function?: string; lineno: number; in_app: boolean }[] };
    }[];
  };
};

/** For tests: a service that accepts Sentry envelopes. Its DSN names project 4. */
export async function sentryServer() {
  const service = {
    dsn: '',
    events: [] as SentEvent[],
    /** The envelopes as they were received. */
    bodies: [] as string[],
    requests: 0,
    /** Response to send instead of 200. */
    answer: (response: ServerResponse) => void response.end('{}'),
  };
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    service.requests += 1;
    const isWhole =
      request.method === 'POST' &&
      request.url === '/api/4/envelope/' &&
      /^Sentry sentry_version=7, .*sentry_key=s3cretkey$/.test(String(request.headers['x-sentry-auth']));
    if (!isWhole) return void response.writeHead(400).end();
    response.once('finish', () => {
      if (response.statusCode !== 200) return;
      const [header = '', item = '', event = '', end] = body.split('\n');
      const { event_id } = JSON.parse(header) as { event_id: string };
      const parsed = JSON.parse(event) as SentEvent;
      if (
        (JSON.parse(item) as { type: string }).type !== 'event' ||
        end !== '' ||
        parsed.event_id !== event_id
      )
        throw new Error(`Not an envelope: ${body}`);
      service.bodies.push(body);
      service.events.push(parsed);
    });
    service.answer(response);
  };
  const server = createServer((request, response) => void take(request, response));
  const port = await freePort();
  const start = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await start();
  service.dsn = `http://s3cretkey@127.0.0.1:${port}/4`;
  const stop = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onFileEnd(stop);
  return Object.assign(service, { stop, start });
}
