import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../../server/src/platform/db/database.ts';
import { Client } from '../client/client.ts';
import { findStarterModel, waitForMachine } from '../client/machine-ready.ts';
import { type SeparateServer, startSeparateServer } from '../client/separate-server.ts';
import { type Answer, ask } from './ask.ts';
import { callTool } from './call-tool.ts';
import { readCpuTimes } from './cpu-time.ts';
import { startLlamaServer } from './llama-server.ts';
import { type Measured, medianNeighbour, medianPair, type Pair } from './measured.ts';

const SPEED = { rounds: 15, tokens: 128 };
const CALL = { rounds: 9 };
const CPU = { rounds: 30, tokens: 128 };
const FIRST_TOKEN = { rounds: 150, tokens: 4 };
/** Enough requests for Node to compile the server's code, which takes some minutes of normal use. */
const WARM_UP = { rounds: 200, tokens: 1 };
const BARE_PROXY = fileURLToPath(new URL('./bare-proxy.ts', import.meta.url));
/** Pause after an answer, because its charge must not overlap with the next measurement. */
const PAUSE_MS = 50;

type Ask = (tokens: number) => Promise<Answer>;

/**
 * Measures chat through the gateway, including key check, hold and charge. Compares its speed with a plain
 * llama.cpp, and measures its overhead compared to the model server itself.
 */
export async function measureChat(): Promise<Measured[]> {
  const llama = await startLlamaServer();
  try {
    const server = await startSeparateServer();
    try {
      return await compare(server, llama.url);
    } finally {
      await server.stop();
    }
  } finally {
    await llama.stop();
  }
}

async function compare(server: SeparateServer, llamaUrl: string): Promise<Measured[]> {
  const client = await Client.signUp(server.url, {
    name: 'Bench',
    email: 'bench@example.com',
    password: 'sourdough-starter',
  });
  await waitForMachine(client);
  const { modelName } = await findStarterModel(client);
  const throughGateway: Ask = (tokens) => ask(server.url, { 'x-api-key': client.apiKey }, modelName, tokens);
  // Wakes the model server.
  await throughGateway(1);
  const modelServer = await findModelServer(server);
  const straight: Ask = (tokens) =>
    ask(modelServer.url, { authorization: `Bearer ${modelServer.key}` }, modelName, tokens);
  const withoutUs: Ask = (tokens) => ask(llamaUrl, {}, modelName, tokens);
  const proxy = await startBareProxy(modelServer.url, modelServer.key);
  const throughProxy: Ask = (tokens) => ask(proxy.url, {}, modelName, tokens);
  try {
    // Warms up the code and the caches of all sides.
    await interleave([throughGateway, straight, throughProxy], { ...WARM_UP, pauseMs: 0 });
    await withoutUs(SPEED.tokens);

    const first = await interleave([throughGateway, straight, throughProxy], FIRST_TOKEN);
    const speed = await interleave([throughGateway, withoutUs], SPEED);
    const key = { 'x-api-key': client.apiKey };
    const calls = await interleave(
      [() => callTool(server.url, key, modelName), () => callTool(llamaUrl, {}, modelName)],
      { ...CALL, tokens: 0 },
    );
    const cpu = await measureCpu(server, () => throughGateway(CPU.tokens));
    return [...toLines(first, speed), speedLine('chat with a tool', calls), ...cpu];
  } finally {
    proxy.stop();
  }
}

/** Returns the CPU time per answer of each part of the server; nothing without /proc. */
async function measureCpu(server: SeparateServer, answer: () => Promise<Answer>): Promise<Measured[]> {
  const before = await readCpuTimes(server);
  for (let round = 0; round < CPU.rounds; round++) await answer();
  const after = await readCpuTimes(server);
  if (!before || !after) return [];
  return (['gateway', 'model server', 'database'] as const).map((part) => ({
    name: `  CPU time per answer: ${part}`,
    unit: 'ms',
    ours: (after[part] - before[part]) / CPU.rounds,
  }));
}

function speedLine(name: string, rounds: Answer[][]): Measured {
  const { ours, theirs } = medianPair(rounds.map(pairOf('tokensPerSecond', 0)));
  const reference = { what: 'llama.cpp alone', value: theirs };
  return { name, unit: 'tokens/s', ours, reference, goal: { kind: 'ratio at least', value: 0.97 } };
}

function toLines(first: Answer[][], speed: Answer[][]): Measured[] {
  const firstToken = medianNeighbour(first.map(pairOf('firstTokenMs', 0)));
  const proxied = medianNeighbour(first.map(pairOf('firstTokenMs', 2)));
  return [
    speedLine('chat', speed),
    {
      name: 'first token',
      unit: 'ms',
      ours: firstToken.ours,
      reference: { what: 'model server alone', value: firstToken.theirs },
      goal: { kind: 'more by less than', value: 1 },
    },
    {
      name: '  what a bare proxy adds',
      unit: 'ms',
      ours: proxied.ours - proxied.theirs,
    },
  ];
}

/** Asks all sides in turn, so that other load on the machine affects them equally. */
async function interleave(
  asks: Ask[],
  { rounds, tokens, pauseMs = PAUSE_MS }: { rounds: number; tokens: number; pauseMs?: number },
): Promise<Answer[][]> {
  const all: Answer[][] = [];
  for (let round = 0; round < rounds; round++) {
    const answers: Answer[] = [];
    for (const one of asks) {
      answers.push(await one(tokens));
      await pause(pauseMs);
    }
    all.push(answers);
  }
  return all;
}

/** Pairs the answers of one side with those of the second side, which is the reference. */
function pairOf(field: keyof Answer, which: number): (answers: Answer[]) => Pair {
  return (answers) => ({
    ours: answers[which]?.[field] ?? Number.NaN,
    theirs: answers[1]?.[field] ?? Number.NaN,
  });
}

/** Starts the proxy that shows the overhead of any second program. */
async function startBareProxy(url: string, key: string): Promise<{ url: string; stop: () => void }> {
  const proxy = spawn(process.execPath, [...process.execArgv, BARE_PROXY, url, key], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: proxy.stdout }).once('line', resolve);
    proxy.once('close', () => reject(new Error('The bare proxy ended before it listened.')));
  });
  return { url: address, stop: () => void proxy.kill() };
}

async function findModelServer(server: SeparateServer): Promise<{ url: string; key: string }> {
  const db = connect(await server.databaseUrl());
  try {
    const { base_url, server_key } = await db
      .selectFrom('workloads')
      .select(['base_url', 'server_key'])
      .where('base_url', 'is not', null)
      .executeTakeFirstOrThrow();
    return { url: base_url ?? '', key: server_key ?? '' };
  } finally {
    await db.destroy();
  }
}
