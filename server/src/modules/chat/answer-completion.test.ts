import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { defaultPrices } from '../billing/prices/prices.ts';
import { completeChat } from './answer-completion.ts';

/* These tests run completions without an HTTP server or a database. */

let ending: 'whole' | 'cut' | 'none';
const model = http.createServer((_request, response) => {
  const usage = { prompt_tokens: 3, completion_tokens: 1 };
  const choice = { index: 0, text: 'Good', finish_reason: 'stop', logprobs: null };
  const chunk = { id: 'a', object: 'text_completion', created: 1, model: 'm', choices: [choice], usage };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  if (ending === 'whole') response.end('data: [DONE]\n\n');
  if (ending === 'cut') setTimeout(() => response.destroy(), 50);
});
await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
onFileEnd(async () => {
  model.closeAllConnections();
  model.close();
});
const base_url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;

const ctx = {
  ...{ caller: { kind: 'user', userId: 'ada', isOperator: false }, requestId: 'r', webProcesses: () => 1 },
  ...{ clock: { now: () => new Date() }, closing: new AbortController().signal, config: {} },
  log: { warn: () => undefined },
} as never;

const workload = { id: 'w', state: 'ready', base_url, server_key: 'k', adapter_names: [] };
const upstream = {
  ...{
    server_id: 's',
    engine: 'vllm',
    context_tokens: 4096,
    vision: false,
    model_name: 'm',
    pod_id: null,
    adapter: null,
  },
  ...{ last_request_at: new Date(), workload, is_own: true, replicas: [] },
};
const charged: boolean[] = [];
const nothing = () => undefined;
const parts = {
  ...{ recallUpstream: async () => upstream, recallPrices: async () => defaultPrices },
  insertRequest: async () => undefined,
  usage: {
    reserve: async ({ priceMicro }: { priceMicro: bigint }) => ({
      ...{ priceMicro, extend: async () => undefined },
      settle: (used: object | null) => charged.push(used !== null),
    }),
  },
  turns: { load: () => 0, places: () => 1, enter: async () => nothing },
  ...{ replicas: { grow: nothing, keep: () => nothing }, unreached: new Set() },
} as never;

beforeEach(() => void charged.splice(0));

function ask(stream: boolean, client = new AbortController()) {
  const body = { model: 'm', prompt: 'hi', max_tokens: 5, stream } as never;
  return completeChat(ctx, parts, { path: '/v1/completions', body }, client.signal);
}

test('returns a non-streamed answer only after it was charged', async () => {
  ending = 'whole';
  expect((await ask(false)).body).toMatchObject({ choices: [{ text: 'Good', finish_reason: 'stop' }] });
  expect(charged).toEqual([true]);
});

test('ends a stream with an error and without a charge if the model server breaks off', async () => {
  ending = 'cut';
  const { body, headers } = await ask(true);
  expect(headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
  expect(await text(body as Readable)).toMatch(/"text":"Good".*\n\ndata: .*stopped in the middle/);
  expect(charged).toEqual([false]);
});

test('destroys the stream and charges its tokens if the client disconnects', async () => {
  ending = 'none';
  const client = new AbortController();
  const body = (await ask(true, client)).body as Readable;
  await body[Symbol.asyncIterator]().next();
  client.abort();
  await expect.poll(() => [body.destroyed, charged]).toEqual([true, [true]]);
});
