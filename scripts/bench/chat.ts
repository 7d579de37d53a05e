import http from 'node:http';
import { chatCompletions } from '@bakehouse/contract/chat';
import { connect } from '../../server/src/platform/db/database.ts';
import { eventStreamParser } from '../../web/src/lib/event-stream-parser.ts';
import { Client } from '../client.ts';
import { findStarterModel, waitForMachine } from '../machine-ready.ts';
import { type OwnServer, startOwnServer } from '../own-server.ts';
import { type Measured, median } from './measured.ts';

const ROUNDS = 15;
const TOKENS = 128;

type Answer = { tokensPerSecond: number; firstTokenMs: number };

/** Chat through the gateway, with its key check, hold and settlement, against the model server called directly. */
export async function measureChat(): Promise<Measured[]> {
  const server = await startOwnServer();
  try {
    const client = await Client.signUp(server.url, {
      name: 'Bench',
      email: 'bench@example.com',
      password: 'sourdough-starter',
    });
    await waitForMachine(client);
    const { modelName } = await findStarterModel(client);
    const throughGateway = () => ask(server.url, { 'x-api-key': client.apiKey }, modelName);
    // The first request wakes the model server; both warm its caches.
    await throughGateway();
    const direct = await findModelServer(server);
    const straight = () => ask(direct, {}, modelName);
    await straight();

    const ours: Answer[] = [];
    const theirs: Answer[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await throughGateway());
      theirs.push(await straight());
    }
    const middle = (answers: Answer[], field: keyof Answer) => median(answers.map((answer) => answer[field]));
    return [
      {
        name: 'chat',
        unit: 'tokens/s',
        ours: middle(ours, 'tokensPerSecond'),
        reference: { what: 'model server', value: middle(theirs, 'tokensPerSecond') },
        goal: { kind: 'ratio at least', value: 0.97 },
      },
      {
        name: 'time to first token',
        unit: 'ms',
        ours: middle(ours, 'firstTokenMs'),
        reference: { what: 'model server', value: middle(theirs, 'firstTokenMs') },
        goal: { kind: 'more by less than', value: 3 },
      },
    ];
  } finally {
    await server.stop();
  }
}

async function findModelServer(server: OwnServer): Promise<string> {
  const db = connect(await server.databaseUrl());
  try {
    const { base_url } = await db
      .selectFrom('workloads')
      .select('base_url')
      .where('base_url', 'is not', null)
      .executeTakeFirstOrThrow();
    return base_url ?? '';
  } finally {
    await db.destroy();
  }
}

const agent = new http.Agent({ keepAlive: true });

/** One streamed answer of a fixed length. */
function ask(url: string, headers: Record<string, string>, model: string): Promise<Answer> {
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Count from one to one hundred in words.' }],
    max_tokens: TOKENS,
    temperature: 0,
    stream: true,
  });
  return new Promise((resolve, reject) => {
    const start = performance.now();
    let first = 0;
    let last = 0;
    let tokens = 0;
    const parse = eventStreamParser();
    const request = http.request(
      new URL(chatCompletions.path, url),
      {
        method: chatCompletions.method,
        agent,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (answer) => {
        if (answer.statusCode !== 200)
          reject(new Error(`The question was refused with ${answer.statusCode}.`));
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => {
          for (const { data } of parse(piece)) {
            if (!/"content":"[^"]/.test(data)) continue;
            last = performance.now();
            first ||= last;
            tokens += 1;
          }
        });
        answer.once('error', reject);
        answer.once('end', () => {
          resolve({ tokensPerSecond: ((tokens - 1) * 1000) / (last - first), firstTokenMs: first - start });
        });
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}
