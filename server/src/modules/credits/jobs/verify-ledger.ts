import { onOwnConnections } from '../../../platform/db/own-connections.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { proveLedger } from '../verification/prove-ledger.ts';
import { PROOF_CONNECTIONS } from '../verification/verify-ledger.ts';

/** Proves each hour what was sealed since the last proof, so that nobody who looks at the books waits for long. */
export const verifyLedgerJob = (databaseUrl: string) =>
  defineJob({
    name: 'credits.verify-ledger',
    schedule: '17 * * * *',
    run: async ({ log }) => {
      const { ok, checks } = await onOwnConnections(databaseUrl, PROOF_CONNECTIONS, (db) =>
        proveLedger(db, { full: false }),
      );
      if (!ok) log.error({ checks: checks.filter((check) => !check.ok) }, 'the ledger is not right');
    },
  });
