/** A node of an attempt in tests: talks to the other nodes only, and exits with 0 when all have connected. */

import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const { PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR = '', PET_MASTER_PORT } = process.env;
const port = Number(PET_MASTER_PORT);

/** Waits for all other nodes and confirms their connections. */
function lead(): void {
  const there = new Map<string, Socket>();
  createServer((socket) => {
    socket.once('data', (said) => {
      there.set(said.toString(), socket);
      if (there.size < Number(PET_NNODES) - 1) return;
      for (const other of there.values()) other.end('met');
      process.exitCode = 0;
      setImmediate(() => process.exit());
    });
  }).listen(port, PET_MASTER_ADDR);
}

async function follow(): Promise<void> {
  for (;;) {
    const answer = await ask().catch(() => '');
    if (answer === 'met') process.exit(0);
    await sleep(50);
  }
}

async function ask(): Promise<string> {
  const socket = connect(port, PET_MASTER_ADDR);
  socket.write(String(PET_NODE_RANK));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

if (PET_NODE_RANK === '0') lead();
else await follow();
