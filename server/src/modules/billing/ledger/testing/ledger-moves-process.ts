import { parseArgs } from 'node:util';
import pino from 'pino';
import { createPool, openDatabase } from '../../../../platform/db/database.ts';
import { batchSends } from '../sends.ts';
import { applyMove } from './ledger-moves.ts';
import type { Move, Run } from './moves.ts';

/** A server process of ledger.property.test.ts. Runs the moves that it receives, concurrently. */
const { values } = parseArgs({ options: { url: { type: 'string' }, connections: { type: 'string' } } });
const pool = createPool(values.url ?? '', { poolSize: Number(values.connections) });
const db = openDatabase(pool);
const send = batchSends({ db, pool, log: pino({ level: 'silent' }) });

process.on('message', ({ id, run, move }: { id: number; run: Run; move: Move }) => {
  applyMove({ db, pool, send }, run, move).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
