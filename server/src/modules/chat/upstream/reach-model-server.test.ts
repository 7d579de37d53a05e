import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../../../platform/context.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { readText } from '../../serving/ask/model-server-client.ts';
import { requestDeadline } from '../../serving/ask/request-deadline.ts';
import type { ChatParts } from '../chat-parts.ts';
import { slotsByAddress } from './prompt-slots.ts';
import { reachModelServer } from './reach-model-server.ts';
import { unreachedServers } from './replicas/unreached-servers.ts';
import { serverTurns } from './server-turns.ts';

/* What vLLM refuses, what of its cache llama.cpp may use, and a router in front of replicas. */

type Body = Record<string, unknown>;
const asked: Body[] = [];
const routed: string[] = [];
let refuses: (body: Body) => boolean;
const stub = createServer((request, response) => {
  void json(request).then((body) => {
    asked.push(body as Body);
    response.writeHead(refuses(body as Body) ? 400 : 200).end(`answer ${asked.length}`);
  });
});
const router = createServer((request, response) => {
  routed.push(request.headers.authorization ?? '');
  request.resume();
  response.end('answer of the router');
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
  unreached: unreachedServers(),
  replicas: { grow: () => undefined, keep: () => () => undefined },
  presence: { settled: async () => undefined, alone: () => null },
} as unknown as ChatParts;
const routers = new Map<string, string>();
const ctx = { caller: { userId: 'ada' }, config: { routers } } as unknown as Context;

type Asked = { of?: object; through?: object };

async function ask(
  more: object,
  { of, through }: Asked = {},
): Promise<{ status: number | undefined; text: string }> {
  const body = { model: 'loaf', messages: [{ role: 'user', content: 'Hi' }], ...more };
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
  const question = { path: '/v1/chat/completions', body, onWait: () => undefined } as const;
  const { promise, resolve } = Promise.withResolvers<{ status: number | undefined; text: string }>();
  const pass = async (answer: IncomingMessage) =>
    resolve({ status: answer.statusCode, text: await readText(answer) });
  await reachModelServer(ctx, { ...parts, ...through }, call, question, pass);
  deadline.stop();
  return promise;
}

test.each(['max_tokens', 'max_completion_tokens'])(
  'a %s beyond the room left is not sent again',
  async (name) => {
    refuses = (body) => body.max_tokens === 4096;
    expect(await ask({ [name]: 4096, temperature: 0.5 })).toEqual({ status: 200, text: 'answer 2' });
    expect(asked).toMatchObject([
      { max_tokens: 4096, temperature: 0.5, cache_salt: 'ada' },
      { max_tokens: null, temperature: 0.5, cache_salt: 'ada' },
    ]);
  },
);

test('what is refused without a maximum is the answer', async () => {
  refuses = () => true;
  expect(await ask({})).toEqual({ status: 400, text: 'answer 1' });
  expect(await ask({ max_tokens: 5 })).toEqual({ status: 400, text: 'answer 3' });
});

test('llama.cpp tells how far it has read where that takes more than a batch, and of what a slot holds nothing again', async () => {
  refuses = () => false;
  const slots = slotsByAddress(1);
  const through = { presence: { settled: async () => undefined, alone: () => 1 }, slots };
  const turn = (content: string) =>
    ask({ messages: [{ role: 'user', content }] }, { of: { engine: 'llamacpp', is_own: false }, through });
  await turn('Hi');
  await turn('rye '.repeat(200));
  await turn(`${'rye '.repeat(200)}and wheat`);
  expect(asked.map((body) => body.return_progress)).toEqual([undefined, true, undefined]);
});

test('beside another web process a server of its own reuses what its owner has asked, a shared one nothing', async () => {
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

test('a router is asked in the place of the replicas of its deployment, with their key', async () => {
  refuses = () => false;
  const ready = { ...workload, server_key: 'key of all' };
  const of = { pod_id: 'rye', workload: ready };
  routers.set('rye', addressOf(router));
  expect(await ask({}, { of })).toEqual({ status: 200, text: 'answer of the router' });
  expect(await ask({}, { of: { ...of, pod_id: 'wheat' } })).toEqual({ status: 200, text: 'answer 1' });
  expect(routed).toEqual(['Bearer key of all']);
});
