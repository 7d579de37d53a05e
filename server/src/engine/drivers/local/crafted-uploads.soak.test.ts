import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Report } from '@bakehouse/contract/runtime/report';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../../config.ts';
import { findSandbox } from '../../../platform/sandbox/find-sandbox.ts';
import { noSandbox, type Sandbox } from '../../../platform/sandbox/sandbox.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { hasLayer } from '../../host/environment/environment.ts';
import { environmentOf } from '../../host/environment/layers.ts';
import { runtimeCommand } from '../../host/runtime-command.ts';
import type { WorkloadSpec } from '../../model/workload.ts';
import { testPlace } from '../../testing/test-place.ts';
import { testSpec } from '../../testing/test-spec.ts';
import { createLocalDriver, type Program } from './local-driver.ts';

// Runs the real runtime on malicious uploads, started by the driver. `sandbox.test.ts` tests the sandbox
// itself.
const config = readConfig({});

/** Secrets of the server and of another user; the runtime would quote their content if it could read them. */
const WORDS = 'words-of-somebody-else';
const secret = `${WORDS},${WORDS}`;
const neighbour = {
  'base_model/config.json': JSON.stringify({ quantization_config: { quant_method: WORDS } }),
  'model/model_index.json': JSON.stringify({ _class_name: WORDS }),
  'a1/adapter_model.safetensors': safetensors(WORDS),
};

/** Runs a program if it is unpickled without protection. */
const PICKLED = 'a-pickle-ran';
const pickle = `cposix\nsystem\n(S'echo ${PICKLED} | tee ${PICKLED}'\ntR.`;

const tokenizer = JSON.stringify({
  version: '1.0',
  added_tokens: [],
  model: { type: 'WordLevel', vocab: { a: 0 }, unk_token: 'a' },
});
const llama = {
  model_type: 'llama',
  hidden_size: 8,
  intermediate_size: 8,
  num_attention_heads: 2,
  num_hidden_layers: 1,
  vocab_size: 1,
};
const textParts = ['text_encoder', 'text_encoder_2', 'tokenizer', 'tokenizer_2'];
const flux = (parts: string[]) => ({
  'model/model_index.json': JSON.stringify({
    _class_name: 'FluxKontextPipeline',
    ...Object.fromEntries(parts.map((part) => [part, ['transformers', 'CLIPTextModel']])),
  }),
  ...Object.fromEntries(parts.map((part) => [`model/${part}/config.json`, '{}'])),
  'model/scheduler/scheduler_config.json': '{}',
  'model/transformer/config.json': JSON.stringify({ _class_name: 'FluxTransformer2DModel' }),
  'model/vae/config.json': '{}',
});
const adapter = {
  'base_model/model.gguf': 'none',
  'base_model/config.json': JSON.stringify(llama),
  'a1/adapter_config.json': JSON.stringify({ peft_type: 'LORA', r: 8, lora_alpha: 8 }),
};

/** Guards against hanging; training is slow on a busy machine. */
const ENDED_MS = 10 * 60_000;
const TEST_MS = 2 * ENDED_MS;

type Upload = { spec: WorkloadSpec; files: Record<string, string>; links?: Record<string, string> };
type Machine = Awaited<ReturnType<typeof makeMachine>>;

/** Links out of the upload, and their targets. */
const leaks: [string, (machine: Machine) => Upload][] = [
  [
    'rows that are the secret of the server',
    ({ secretFile }) => ({
      spec: training(),
      files: { 'base_model/config.json': JSON.stringify(llama), 'base_model/tokenizer.json': tokenizer },
      links: { 'dataset/rows.csv': secretFile },
    }),
  ],
  [
    'a base model that describes itself by the file of another user',
    ({ neighbourFile }) => ({
      spec: training(),
      files: { 'dataset/rows.csv': 'question,answer\na,a\n' },
      links: { 'base_model/config.json': neighbourFile('base_model/config.json') },
    }),
  ],
  [
    'an image model that is described by the file of another user',
    ({ neighbourFile }) => ({
      spec: pictures(),
      files: {},
      links: { 'model/model_index.json': neighbourFile('model/model_index.json') },
    }),
  ],
  [
    'an adapter whose weights are those of another user',
    ({ neighbourFile }) => ({
      spec: chat(),
      files: adapter,
      links: { 'a1/adapter_model.safetensors': neighbourFile('a1/adapter_model.safetensors') },
    }),
  ],
];

/** Uploads with a pickle instead of weights. */
const pickles: [string, Upload][] = [
  [
    'a text encoder whose weights are a pickle',
    {
      spec: pictures(),
      files: {
        ...flux(textParts),
        'model/text_encoder/config.json': JSON.stringify({ model_type: 'clip_text_model' }),
        'model/text_encoder/pytorch_model.bin': pickle,
      },
    },
  ],
  [
    'a transformer whose safetensors are a pickle',
    {
      spec: pictures(),
      files: { ...flux([]), 'model/transformer/diffusion_pytorch_model.safetensors': pickle },
    },
  ],
  [
    'an adapter whose safetensors are a pickle',
    { spec: chat(), files: { ...adapter, 'a1/adapter_model.safetensors': pickle } },
  ],
];

describe("an upload crafted to read the server's secret, or another user's file, from inside a workload", () => {
  let obstacle: string | null = 'The machine was not looked at.';
  let machine: Machine;

  beforeAll(async () => {
    if (await hasLayer(config, 'training')) {
      machine = await makeMachine();
      obstacle = machine.sandbox.kind === 'none' ? machine.line : null;
    } else obstacle = "The runtime's environment is not installed.";
  });

  test.for(leaks)('%s: fails and reveals nothing', { timeout: TEST_MS }, async ([, craft], { skip }) => {
    skip(obstacle !== null, obstacle ?? '');
    const seen = await machine.run(machine.sandbox, craft(machine));
    expectFailed(seen);
    expect(seen.everything).not.toContain(WORDS);
    // Control: without the sandbox, the same upload reveals the secret.
    const open = await machine.run(noSandbox(machine.sandbox.sharedDir), craft(machine));
    expect(open.everything).toContain(WORDS);
  });

  test.for(pickles)('%s: fails and runs nothing', { timeout: TEST_MS }, async ([, upload], { skip }) => {
    skip(obstacle !== null, obstacle ?? '');
    const seen = await machine.run(machine.sandbox, upload);
    expectFailed(seen);
    expect(seen.everything).not.toContain(PICKLED);
    // Control: unpickled without protection, the upload runs its program.
    const input = path.join(machine.dataDir, 'pickle');
    await writeFile(input, pickle);
    const read = `import pickle; pickle.load(open(${JSON.stringify(input)}, 'rb'))`;
    const [python = ''] = machine.program.argv;
    expect(execFileSync(python, ['-c', read], { cwd: machine.dataDir, encoding: 'utf8' })).toContain(PICKLED);
  });
});

/** A data folder like a server's, with a secret and another user's upload. */
async function makeMachine() {
  const dataDir = await temporaryFolder();
  await chmod(dataDir, 0o755);
  const { command, args, env, reads } = await runtimeCommand(config, environmentOf('training'));
  const program: Program = { argv: [command, ...args], env: env as Program['env'], reads, pull: null };
  const sharedDir = path.join(dataDir, 'lent');
  const { sandbox, line } = await findSandbox({ sharedDir, reads, hidden: [dataDir] });
  const secretFile = path.join(dataDir, 'secret');
  await writeFile(secretFile, secret, { mode: 0o600 });
  const server = await listen();
  const workloadsDir = path.join(dataDir, 'workloads');

  /** Runs the runtime on an upload until it ends; returns what it reported, printed and left behind. */
  async function run(within: Sandbox, { spec, files, links = {} }: Upload) {
    const driver = createLocalDriver({
      host: '127.0.0.1',
      workloadsDir,
      sandbox: within,
      capacity: async () => ({}),
      program: async () => program,
    });
    const workloadId = randomUUID();
    onFileEnd(() => driver.remove(workloadId));
    const folder = path.join(workloadsDir, workloadId);
    const place = async (file: string) => {
      const at = path.join(folder, 'inputs', file);
      await mkdir(path.dirname(at), { recursive: true });
      return at;
    };
    for (const [file, content] of Object.entries(files))
      await writeFile(await place(file), content, { mode: 0o444 });
    for (const [file, target] of Object.entries(links)) await symlink(target, await place(file));
    await driver.start({
      workloadId,
      attempt: 1,
      behaviour: spec.kind === 'serve' ? 'deployment' : 'run',
      spec,
      server: { base_url: server.url, token: 'token' },
      serverKey: 'key',
      ...testPlace,
    });
    const ended = await vi.waitFor(
      async () => {
        const observed = await driver.observe(workloadId, 1);
        if (observed.state !== 'ended') throw new Error(`It is ${observed.state}`);
        return observed;
      },
      { timeout: ENDED_MS },
    );
    const told = server.told.get(workloadId) ?? [];
    const left = await readAll(path.join(folder, 'work'));
    const printed = await driver.logs(workloadId, 10_000);
    const everything = [...told, ...printed, ...left].join('\n');
    return { workloadId, exitCode: ended.exitCode, told, printed, everything };
  }

  // This spec fails without PyTorch, which is fine: the test needs only the workload's files.
  const { workloadId } = await run(sandbox, { spec: chat(), files: neighbour });
  const neighbourFile = (file: keyof typeof neighbour) => path.join(workloadsDir, workloadId, 'inputs', file);
  return { dataDir, sandbox, line, program, secretFile, neighbourFile, run };
}

/** A server that accepts reports and artefacts, and records the reports of each workload. */
async function listen() {
  const told = new Map<string, string[]>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [, id = '', kind] = /^\/runtime\/v1\/workloads\/([^/]+)\/(\w+)/.exec(request.url ?? '') ?? [];
    const body = await text(request);
    const all = told.get(id) ?? [];
    told.set(id, [...all, body]);
    if (kind !== 'reports') return response.writeHead(204).end();
    const reports = [...all, body].flatMap(reportsIn);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    return response.end(JSON.stringify({ accepted_seq: reports.length, command: 'continue' }));
  };
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onFileEnd(async () => void http.close());
  return { told, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

function reportsIn(body: string): Report[] {
  return (JSON.parse(body) as { reports: Report[] }).reports;
}

/**
 * Expects that the workload failed and gave the reason in one sentence: in its report, or in its log if the
 * machine may be the cause.
 */
function expectFailed({ exitCode, told, printed }: Awaited<ReturnType<Machine['run']>>) {
  expect(exitCode).toBe(1);
  const failed = told.flatMap(reportsIn).filter((report) => report.type === 'failed');
  const sentences = failed.length > 0 ? failed.map((report) => report.message) : printed.slice(-1);
  expect(sentences).toEqual([expect.stringMatching(/^.+\.$/)]);
}

async function readAll(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (file) => `${file}\n${await readFile(file, 'latin1')}`));
}

/** A file with one tensor of four bytes. */
function safetensors(name: string): string {
  const header = JSON.stringify({ [name]: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } });
  return `${String.fromCharCode(header.length)}${'\0'.repeat(7)}${header}${'\0'.repeat(4)}`;
}

function inputs(...names: string[]) {
  return names.map((name) => ({ name, files: [] }));
}

function training(): WorkloadSpec {
  return testSpec('Crafted', inputs('base_model', 'dataset'));
}

function pictures(): WorkloadSpec {
  return {
    kind: 'serve',
    task: 'image',
    engine: 'kontext',
    inputs: inputs('model'),
    port: 0,
    parallel_requests: 1,
    gpus: 0,
  };
}

function chat(): WorkloadSpec {
  return {
    kind: 'serve',
    task: 'text',
    engine: 'llamacpp',
    inputs: inputs('base_model', 'a1'),
    model_name: 'crafted',
    model_file: 'model.gguf',
    adapters: [{ name: 'adapter', input: 'a1', file: '', rank: 8 }],
    ...{ lora_rank: 0, projector_file: '', pictures_max: 0 },
    port: 0,
    context_tokens: 128,
    parallel_requests: 1,
    gpus: 0,
  };
}
