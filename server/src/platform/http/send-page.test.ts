import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { closeGracefully } from './graceful-close.ts';
import { type EventStream, openEventStream } from './send-page.ts';

const opened = Promise.withResolvers<EventStream>();
const app = Fastify();
closeGracefully(app);
app.get('/', (_request, reply) => opened.resolve(openEventStream(reply)));
await app.listen({ port: 0, host: '127.0.0.1' });
onFileEnd(() => app.close());

test('disconnects a client that does not read, before much data is buffered', async () => {
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  onFileEnd(async () => void client.destroy());
  client.pause().write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const stream = await opened.promise;
  const data = { text: 'x'.repeat(256 * 1024) };
  // Far more than the operating system buffers for a connection.
  for (let sent = 0; sent < 200 && !stream.closed.aborted; sent += 1) {
    stream.send('change', data);
    await turn();
  }
  expect(stream.closed.aborted).toBe(true);
  expect(app.openStreams.size).toBe(0);
});
