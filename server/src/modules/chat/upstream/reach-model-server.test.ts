import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Kysely, PostgresDialect } from 'kysely';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Context } from '../../../platform/context.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { readText } from '../../serving/ask/model-server-client.ts';
import { requestDeadline } from '../../serving/ask/request-deadline.ts';
import type { ChatParts } from '../chat-parts.ts';
import { promptSlotsByServer } from './prompt-slots.ts';
import { reachModelServer } from './reach-model-server.ts';
import { trackUnreachableServers } from './replicas/replicas.ts';
import { serverTurns } from './server-turns.ts';

/* Tests vLLM's retries, the use of llama.cpp's cache, and a router in front of replicas. */

type Body = Record<string, unknown>;
const asked: Body[] = [];
const routed: string[] = [];
/** The router's status. If null, it closes the connection without an answer. */
let answers: number | null = 200;
const KEY = 'one of all';
let refuses: (body: Body) => boolean;
const stub = createServer((request, response) => {
  void json(request).then((body) => {
    asked.push(body as Body);
    response.writeHead(refuses(body as Body) ? 400 : 200).end(`answer ${asked.length}`);
  });
});
const router = createServer((request, response) => {
  routed.push(request.headers.authorization ?? '');
  request.resume().on('end', () => {
    if (answers === null) response.destroy();
    else response.writeHead(answers).end('answer of the router');
  });
});
for (const server of [stub, router]) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
}
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
beforeEach(() => {
  asked.length = 0;
});

const workload = {
  ...{ id: 'workload', state: 'ready', server_key: null, adapter_names: [] },
  base_url: addressOf(stub),
};
const upstream = {
  ...{ server_id: 'server', engine: 'vllm', model_name: 'loaf', adapter: null, is_own: true },
  ...{ sleeping: false, revision_id: null, workload, replicas: [] },
} as unknown as Upstream;
const parts = {
  turns: serverTurns({ begin: () => () => undefined, sharers: () => 1 }),
  unreached: trackUnreachableServers(),
  replicas: { grow: () => undefined, keep: () => () => undefined },
  presence: { settled: async () => undefined, alone: () => null },
} as unknown as ChatParts;
const routers = new Map<string, string>();
let found: object;
const ctx = {
  ...{ caller: { userId: 'ada' }, config: { routing: { routers, key: KEY } } },
  log: { warn: () => undefined },
  // A retry looks up the servers again, in this fake database.
  events: { onSignal: () => () => undefined },
  db: new Kysely({ dialect: new PostgresDialect({ pool: {} as never }) }),
  pool: { query: async () => ({ rows: [found] }) },
} as unknown as Context;

type Asked = { of?: object; through?: object; onWait?: (reason: string) => void };

async function ask(
  more: object,
  { of, through, onWait = () => undefined }: Asked = {},
): Promise<{ status: number | undefined; text: string }> {
  const body = { model: 'loaf', messages: [{ role: 'user', content: 'Hi' }], ...more };
  found = { ...upstream, ...of };
  const deadline = requestDeadline('loaf', 'text');
  const { signal } = new AbortController();
  const used = { usage: { promptTokens: 0, completionTokens: 0 }, firstTokenMs: null };
  const call = {
    upstream: { ...upstream, ...of },
    signal,
    deadline,
    used,
    beganMs: 0,
    extend: async () => {},
  };
  const question = { path: '/v1/chat/completions', body, onWait } as const;
  const { promise, resolve } = Promise.withResolvers<{ status: number | undefined; text: string }>();
  const pass = async (answer: IncomingMessage) =>
    resolve({ status: answer.statusCode, text: await readText(answer) });
  await reachModelServer(ctx, { ...parts, ...through }, call, question, pass);
  deadline.stop();
  return promise;
}

test.each(['max_tokens', 'max_completion_tokens'])(
  'retries a request without its %s if that exceeds the remaining context',
  async (name) => {
    refuses = (body) => body.max_tokens === 4096;
    expect(await ask({ [name]: 4096, temperature: 0.5 })).toEqual({ status: 200, text: 'answer 2' });
    expect(asked).toMatchObject([
      { max_tokens: 4096, temperature: 0.5, cache_salt: 'ada' },
      { max_tokens: null, temperature: 0.5, cache_salt: 'ada' },
    ]);
  },
);

test('returns a rejection if the request has no maximum, or if the retry fails too', async () => {
  refuses = () => true;
  expect(await ask({})).toEqual({ status: 400, text: 'answer 1' });
  expect(await ask({ max_tokens: 5 })).toEqual({ status: 400, text: 'answer 3' });
});

test('requests progress events from llama.cpp if more than one batch of the prompt is not cached', async () => {
  refuses = () => false;
  const slots = promptSlotsByServer(1);
  const through = { presence: { settled: async () => undefined, alone: () => 1 }, slots };
  const turn = (content: string) =>
    ask({ messages: [{ role: 'user', content }] }, { of: { engine: 'llamacpp', is_own: false }, through });
  await turn('Hi');
  await turn('rye '.repeat(200));
  await turn(`${'rye '.repeat(200)}and wheat`);
  expect(asked.map((body) => body.return_progress)).toEqual([undefined, true, undefined]);
});

test('reads a prompt with a picture as a long one', async () => {
  refuses = () => false;
  const read = vi.fn<typeof parts.turns.read>(async () => () => undefined);
  const content = [{ type: 'image_url', image_url: { url: 'a' } }];
  const pictures = { a: { url: 'data:image/png;base64,', tokensMax: 9_000 } };
  const asking = { of: { engine: 'llamacpp', is_own: false }, through: { turns: { ...parts.turns, read } } };
  await ask({ messages: [{ role: 'user', content }], pictures }, asking);
  expect(read.mock.calls[0]?.[2]).toBeGreaterThan(9_000);
});

test('tells what a request waits for, until it has a place at the server', async () => {
  refuses = () => false;
  const server = { id: 'server', isOwn: true, engine: 'llamacpp' } as const;
  const enter = () => parts.turns.enter(server, 'bob', new AbortController().signal);
  const leaving = await Promise.all([enter(), enter(), enter(), enter()]);
  const reasons: string[] = [];
  const answer = ask({}, { of: { engine: 'llamacpp' }, onWait: (reason) => reasons.push(reason) });
  await vi.waitFor(() => expect(reasons).toEqual(['Up to 4 questions are answered before yours']));
  for (const leave of leaving) leave();
  expect(await answer).toMatchObject({ status: 200 });
  expect(reasons.at(-1)).toBe('');
});

test("while another web process runs, reuses only the cache of a user's own server", async () => {
  refuses = () => false;
  const isSettled = vi.fn(async () => undefined);
  const through = { presence: { settled: isSettled, alone: () => null } };
  await ask({}, { of: { engine: 'llamacpp', is_own: true }, through });
  expect(isSettled).not.toHaveBeenCalled();
  await ask({}, { of: { engine: 'llamacpp', is_own: false }, through });
  expect(isSettled).toHaveBeenCalledOnce();
  expect(asked.map(({ cache_prompt, id_slot }) => ({ cache_prompt, id_slot }))).toEqual([
    { cache_prompt: true, id_slot: undefined },
    { cache_prompt: false, id_slot: undefined },
  ]);
});

describe("a router in front of a deployment's replicas", () => {
  const behind = { pod_id: 'rye', workload: { ...workload, server_key: KEY } };
  const ofRouter = { status: 200, text: 'answer of the router' };
  beforeEach(() => {
    refuses = () => false;
    routed.length = 0;
    answers = 200;
    routers.set('rye', addressOf(router));
  });

  test('is used instead of the replicas, with the key that they share', async () => {
    expect(await ask({}, { of: behind })).toEqual(ofRouter);
    expect(routed).toEqual([`Bearer ${KEY}`]);
  });

  test.each([
    ['of another deployment', { ...behind, pod_id: 'wheat' }],
    ['with another key', { ...behind, workload: { ...workload, server_key: 'own' } }],
    [
      'next to one with another key',
      { ...behind, replicas: [{ server_id: 'other', workload: { ...workload, server_key: 'own' } }] },
    ],
  ])('is not used for a server %s', async (_what, of) => {
    expect(await ask({}, { of })).toMatchObject({ status: 200, text: 'answer 1' });
    expect(routed).toEqual([]);
  });

  test.each([502, 503, 504])('falls back to the replicas if it answers with %i', async (status) => {
    answers = status;
    const through = { unreached: trackUnreachableServers() };
    expect(await ask({}, { of: behind, through })).toEqual({ status: 200, text: 'answer 1' });
    // Later requests skip the router for some time.
    expect(await ask({}, { of: behind, through })).toEqual({ status: 200, text: 'answer 2' });
    expect(routed).toHaveLength(1);
  });

  test('falls back to a replica if it closes the connection without an answer', async () => {
    answers = null;
    expect(await ask({}, { of: behind })).toEqual({ status: 200, text: 'answer 1' });
  });
});
