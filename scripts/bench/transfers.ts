import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { transferTokens } from '@bakehouse/contract/credits';
import { sql } from 'kysely';
import { userAccount } from '../../server/src/modules/billing/ledger/accounts.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { Client } from '../client/client.ts';
import { startSeparateServer } from '../client/separate-server.ts';
import { PlainError } from '../plain-error.ts';
import { type Measured, median } from './measured.ts';

const run = promisify(execFile);
const USERS = 32;
const CONNECTIONS = 16;
const ROUNDS = 3;
const SECONDS = 4;
const AMOUNT_BGL = '0.000001';

/** Measures transfers over HTTP, compared with pgbench calling the same SQL function and PostgreSQL. */
export async function measureTransfers(): Promise<Measured[]> {
  const server = await startSeparateServer({ BAKEHOUSE_PREPARE: 'false' });
  try {
    const clients: Client[] = [];
    for (let number = 0; number < USERS; number++) {
      const email = `bench-${number}@example.com`;
      clients.push(await Client.signUp(server.url, { name: 'Bench', email, password: 'sourdough-starter' }));
    }
    const databaseUrl = await server.databaseUrl();
    await fundSenders(databaseUrl, clients);
    // Warms up the server's code. The database needs no warm-up.
    await transferOverHttp(clients);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await pgbench(databaseUrl, clients));
      ours.push(await transferOverHttp(clients));
    }
    return [
      {
        name: 'transfers over HTTP',
        unit: 'per s',
        ours: median(ours),
        reference: { what: 'pgbench', value: median(theirs) },
        goal: { kind: 'ratio at least', value: 1 },
      },
    ];
  } finally {
    await server.stop();
  }
}

/** Starting credits cannot be sent to others, so grant more. */
async function fundSenders(databaseUrl: string, clients: Client[]): Promise<void> {
  const db = connect(databaseUrl);
  try {
    for (const { userId } of clients) {
      await sql`select ledger_transfer('payments', ${userAccount(userId)}, 125000000, 'purchase', 'Purchase', '{}', null)`.execute(
        db,
      );
    }
  } finally {
    await db.destroy();
  }
}

/** Each connection sends one transfer after the other, between random users. */
async function transferOverHttp(clients: Client[]): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const until = performance.now() + SECONDS * 1000;
  let done = 0;
  const sendUntilEnd = async () => {
    while (performance.now() < until) {
      const [from, to] = draw(clients);
      await transfer(agent, from, to.userId);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendUntilEnd));
  agent.destroy();
  return done / SECONDS;
}

function draw(clients: Client[]): [Client, Client] {
  const from = Math.floor(Math.random() * clients.length);
  const to = (from + 1 + Math.floor(Math.random() * (clients.length - 1))) % clients.length;
  const [a, b] = [clients[from], clients[to]];
  if (!a || !b) throw new Error('There are not enough users.');
  return [a, b];
}

function transfer(agent: http.Agent, from: Client, recipientId: string): Promise<void> {
  const body = JSON.stringify({ user_id: from.userId, recipient_id: recipientId, amount: AMOUNT_BGL });
  return new Promise((resolve, reject) => {
    const request = http.request(
      new URL(transferTokens.path, from.url),
      {
        method: transferTokens.method,
        agent,
        headers: {
          'x-api-key': from.apiKey,
          'idempotency-key': randomUUID(),
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (answer) => {
        answer.resume();
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve();
          else reject(new Error(`A transfer was refused with ${answer.statusCode}.`));
        });
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

/** Returns the transactions per second of pgbench, with the same number of connections. */
async function pgbench(databaseUrl: string, clients: Client[]): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  try {
    const script = path.join(folder, 'transfer.sql');
    const ids = clients.map(({ userId }) => `'${userId}'`).join(', ');
    const user = (variable: string) => `array[(array[${ids}])[:${variable}]]`;
    const draws = [
      `\\set from random(1, ${USERS})`,
      `\\set to 1 + (:from + random(0, ${USERS} - 2)) % ${USERS}`,
    ];
    await writeFile(
      script,
      `${draws.join('\n')}\nselect * from ledger_send(${user('from')}, ${user('to')}, array[1], array[gen_random_uuid()::text], true);\n`,
    );
    const options = ['--no-vacuum', '--protocol=prepared', `--client=${CONNECTIONS}`, `--time=${SECONDS}`];
    const { stdout } = await run('pgbench', [...options, `--file=${script}`, databaseUrl]).catch(
      (error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
        throw new PlainError(
          "The transfers are compared with pgbench: install PostgreSQL's client programs (Debian: apt install postgresql-contrib).",
        );
      },
    );
    const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
    if (!tps) throw new Error(`pgbench printed no rate:\n${stdout}`);
    return Number(tps);
  } finally {
    await rm(folder, { recursive: true });
  }
}
