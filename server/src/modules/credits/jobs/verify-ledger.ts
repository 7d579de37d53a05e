import { onOwnConnections } from '../../../platform/db/own-connections.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { JobKind } from '../../../platform/jobs/jobs.ts';
import { PROOF_CONNECTIONS, proveIfOld } from '../verification/prove-ledger.ts';

export const proofJob: JobKind<object> = { name: 'credits.verify-ledger' };

/** Verifies the ledger if the last proof is old: every hour, and when an operator opens the ledger page. */
export const verifyLedgerJob = (databaseUrl: string) =>
  defineJob({
    ...proofJob,
    schedule: '17 * * * *',
    timeoutSeconds: 3600,
    run: async ({ log }) => {
      const report = await onOwnConnections(databaseUrl, PROOF_CONNECTIONS, proveIfOld);
      if (report && !report.ok)
        log.error({ checks: report.checks.filter((check) => !check.ok) }, 'ledger proof failed');
    },
  });
