import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../server/src/platform/db/database.ts';
import { Client } from '../client.ts';
import { findStarterModel, waitForMachine } from '../machine-ready.ts';
import { type OwnServer, startOwnServer } from '../own-server.ts';
import { type Answer, ask } from './ask.ts';
import { startLlamaServer } from './llama-server.ts';
import { type Measured, medianNeighbour, medianPair, type Pair } from './measured.ts';

const SPEED = { rounds: 15, tokens: 128 };
const FIRST_TOKEN = { rounds: 150, tokens: 4 };
const WARM_UP = { rounds: 40, tokens: 4 };
/** An answer's settlement comes after its end: it must not fall into the next measurement. */
const PAUSE_MS = 50;

type Ask = (tokens: number) => Promise<Answer>;

/**
 * Chat through the gateway, with its key check, hold and settlement: its speed against llama.cpp as a
 * person would start it without us, and what it adds to the model server that it asks.
 */
export async function measureChat(): Promise<Measured[]> {
  const llama = await startLlamaServer();
  try {
    const server = await startOwnServer();
    try {
      return await compare(server, llama.url);
    } finally {
      await server.stop();
    }
  } finally {
    await llama.stop();
  }
}

async function compare(server: OwnServer, llamaUrl: string): Promise<Measured[]> {
  const client = await Client.signUp(server.url, {
    name: 'Bench',
    email: 'bench@example.com',
    password: 'sourdough-starter',
  });
  await waitForMachine(client);
  const { modelName } = await findStarterModel(client);
  const throughGateway: Ask = (tokens) => ask(server.url, { 'x-api-key': client.apiKey }, modelName, tokens);
  // The first request wakes the model server.
  await throughGateway(1);
  const { url, key } = await findModelServer(server);
  const straight: Ask = (tokens) => ask(url, { authorization: `Bearer ${key}` }, modelName, tokens);
  const withoutUs: Ask = (tokens) => ask(llamaUrl, {}, modelName, tokens);
  // Warms the code and caches of all.
  await takeTurns(throughGateway, straight, WARM_UP);
  await withoutUs(SPEED.tokens);

  const first = await takeTurns(throughGateway, straight, FIRST_TOKEN);
  const speed = await takeTurns(throughGateway, withoutUs, SPEED);
  const tokens = medianPair(speed.map(pairOf('tokensPerSecond')));
  const firstToken = medianNeighbour(first.map(pairOf('firstTokenMs')));
  return [
    {
      name: 'chat',
      unit: 'tokens/s',
      ours: tokens.ours,
      reference: { what: 'llama.cpp alone', value: tokens.theirs },
      goal: { kind: 'ratio at least', value: 0.97 },
    },
    {
      name: 'time to first token',
      unit: 'ms',
      ours: firstToken.ours,
      reference: { what: 'model server', value: firstToken.theirs },
      goal: { kind: 'more by less than', value: 3 },
    },
  ];
}

type Round = { ours: Answer; theirs: Answer };

/** Asks both in turn, so that whatever else the machine does falls on both. */
async function takeTurns(
  ours: Ask,
  theirs: Ask,
  { rounds, tokens }: { rounds: number; tokens: number },
): Promise<Round[]> {
  const all: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const our = await ours(tokens);
    await pause(PAUSE_MS);
    all.push({ ours: our, theirs: await theirs(tokens) });
    await pause(PAUSE_MS);
  }
  return all;
}

function pairOf(field: keyof Answer): (round: Round) => Pair {
  return ({ ours, theirs }) => ({ ours: ours[field], theirs: theirs[field] });
}

async function findModelServer(server: OwnServer): Promise<{ url: string; key: string }> {
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
