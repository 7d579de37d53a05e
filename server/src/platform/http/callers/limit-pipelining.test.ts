import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { endpoint } from '@bakehouse/contract/endpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../testing/serve.ts';
import { bindPublic } from '../bind.ts';

const bread = endpoint({
  method: 'GET',
  path: '/api/v1/bread',
  access: 'public',
  summary: 'For tests',
  response: z.object({}),
});

/**
 * Sends `count` requests on one connection without waiting. Returns how many were in progress when the last
 * one was sent.
 */
async function pipeline(count: number) {
  let begun = 0;
  let bake: () => void = () => undefined;
  const baked = new Promise<void>((resolve) => (bake = resolve));
  const { url } = await serve([
    bindPublic(bread, async () => {
      begun += 1;
      await baked;
      return {};
    }),
  ]);
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  const request = (connection: string) =>
    `GET /api/v1/bread HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`;
  socket.write(request('keep-alive').repeat(count - 1) + request('close'));
  return { socket, begun: () => begun, bake };
}

test('a few requests may be sent before the first response', async () => {
  const { socket, begun, bake } = await pipeline(8);
  await expect.poll(begun).toBe(8);
  bake();
  expect((await text(socket)).match(/HTTP\/1.1 200/g)).toHaveLength(8);
});

test('a connection that pipelines too many requests is cut, and the rest is not handled', async () => {
  const { socket, begun } = await pipeline(500);
  await text(socket).catch(() => undefined);
  expect(socket.destroyed).toBe(true);
  expect(begun()).toBeLessThanOrEqual(8);
});

test('a connection is kept open for any number of sequential requests', async () => {
  const { url } = await serve([bindPublic(bread, async () => ({}))]);
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  for (let count = 0; count < 20; count += 1) {
    socket.write('GET /api/v1/bread HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 200/);
  }
  socket.destroy();
});
