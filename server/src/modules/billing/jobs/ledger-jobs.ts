import { inTransaction, withSeparateConnections } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { JobKind } from '../../../platform/jobs/jobs.ts';
import { collectDebts, expireGiven } from '../ledger/given-credits.ts';
import { expireHolds } from '../ledger/holds/holds.ts';
import { sealTransfers } from '../verification/chain.ts';
import { findUnsealedSeconds } from '../verification/chain-queries.ts';
import { PROOF_CONNECTIONS, verifyLedgerIfStale } from '../verification/verify-ledger.ts';

/** Users per transaction, so that no account stays locked for long. */
const BATCH = 200;

/** Collects debts of reversed payments from the credits that users have received since. */
export const collectDebtsJob = defineJob({
  name: 'credits.collect-debts',
  schedule: '* * * * *',
  run: async ({ db }) => {
    for (;;) {
      const collected = await inTransaction(db, (tx) => collectDebts(tx, { limit: BATCH }));
      if (collected.length === 0) return;
    }
  },
});

/** Holds per transaction, so that no account stays locked for long. */
const EXPIRE_HOLDS_BATCH = 200;

/** Releases expired holds, for example holds of processes that were killed. */
export const expireHoldsJob = defineJob({
  name: 'credits.expire-holds',
  schedule: '* * * * *',
  run: async ({ db, clock, log }) => {
    const now = clock.now();
    for (;;) {
      const expired = await inTransaction(db, (tx) => expireHolds(tx, { now, limit: EXPIRE_HOLDS_BATCH }));
      if (expired > 0)
        log.warn({ holds: expired }, 'holds expired before their work settled or released them');
      if (expired < EXPIRE_HOLDS_BATCH) return;
    }
  },
});

/**
 * Sealing waits for older transactions. If the oldest unsealed transfer is older than this, something is
 * wrong.
 */
const WAIT_S_MAX = 600;

/** Appends new transfers to the hash chain. */
export const sealTransfersJob = defineJob({
  name: 'credits.seal-transfers',
  schedule: '* * * * *',
  run: async ({ db, log }) => {
    await sealTransfers(db);
    const seconds = await findUnsealedSeconds(db);
    if (seconds > WAIT_S_MAX)
      log.warn({ minutes: Math.round(seconds / 60) }, 'sealing is blocked by a long-running transaction');
  },
});

export const proofJob: JobKind<object> = { name: 'credits.verify-ledger' };

/**
 * Verifies the ledger if the last proof is old. Runs every hour, and when an operator opens the ledger page.
 */
export const verifyLedgerJob = (databaseUrl: string) =>
  defineJob({
    ...proofJob,
    schedule: '17 * * * *',
    timeoutSeconds: 3600,
    run: async ({ log }) => {
      const report = await withSeparateConnections(databaseUrl, PROOF_CONNECTIONS, verifyLedgerIfStale);
      if (report && !report.ok)
        log.error({ checks: report.checks.filter((check) => !check.ok) }, 'ledger proof failed');
    },
  });

/** Accounts per transaction, so that no account stays locked for long. */
const EXPIRE_GIVEN_BATCH = 200;

/** Withdraws expired given credits. */
export const expireGivenJob = defineJob({
  name: 'credits.expire-given',
  schedule: '* * * * *',
  run: async ({ db, clock }) => {
    const now = clock.now();
    for (;;) {
      const expired = await inTransaction(db, (tx) => expireGiven(tx, { now, limit: EXPIRE_GIVEN_BATCH }));
      if (expired.length === 0) return;
    }
  },
});
