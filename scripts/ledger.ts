import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatBgl } from '@bakehouse/contract/money';
import { PROOF_CONNECTIONS, proveLedger } from '../server/src/modules/billing/verification/verify-ledger.ts';
import type { Database } from '../server/src/platform/db/database.ts';
import { withSeparateConnections } from '../server/src/platform/db/in-transaction.ts';
import { startEmbeddedPostgres } from '../server/src/platform/postgres/embedded-postgres.ts';
import { readSettings } from './client/settings.ts';
import type { Command } from './command.ts';
import { PlainError } from './plain-error.ts';

/** `ledger verify` proves the ledger from the database, whether or not the server runs. */
export const ledger: Command = async ({ words }) => {
  if (words.join(' ') !== 'verify') throw new PlainError('Usage: ./bakehouse ledger verify');
  return (await withDatabase(printProof)) ? 0 : 1;
};

/** Prints every check of the ledger. Returns true if all passed. */
export async function printProof(db: Database): Promise<boolean> {
  const report = await proveLedger(db, () =>
    console.log('Another verification of the ledger is running. Waiting for it to end.'),
  );
  for (const { ok, name, detail } of report.checks) {
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(12)} ${detail}`);
  }
  console.log(
    `${report.transfers} transfers over ${report.accounts} accounts, ${report.openHolds} open holds, ` +
      `sum of balances ${formatBgl(report.sumOfBalances)} BGL`,
  );
  console.log(`chain head   ${report.head?.hash ?? '(nothing sealed yet)'}`);
  return report.ok;
}

/** Calls `work` with the server's database. Starts the embedded database if it is not running. */
export async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = readSettings();
  if (databaseUrl) return withSeparateConnections(databaseUrl, PROOF_CONNECTIONS, work);
  const dir = path.join(dataDir, 'postgres');
  if (!existsSync(dir))
    throw new PlainError(
      `There is no database in ${dataDir} yet. Start './bakehouse up' to create it, or choose another folder with --data-dir.`,
    );
  const postgres = await startEmbeddedPostgres({ dir });
  try {
    return await withSeparateConnections(postgres.url, PROOF_CONNECTIONS, work);
  } finally {
    await postgres.stop({ isCommand: true });
  }
}
