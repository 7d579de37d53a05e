import { onOwnConnections } from '../../../platform/db/own-connections.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { JobKind } from '../../../platform/jobs/jobs.ts';
import { PROOF_CONNECTIONS, proveIfOld } from '../verification/prove-ledger.ts';

export const proofJob: JobKind<object> = { name: 'credits.verify-ledger' };

/** Proves what was sealed since the last proof: each hour, and when an operator looks at the books. */
export const verifyLedgerJob = (databaseUrl: string) =>
  defineJob({
    ...proofJob,
    schedule: '17 * * * *',
    // The first proof is of all there is.
    timeoutSeconds: 3600,
    run: async ({ log }) => {
      const report = await onOwnConnections(databaseUrl, PROOF_CONNECTIONS, proveIfOld);
      if (report && !report.ok)
        log.error({ checks: report.checks.filter((check) => !check.ok) }, 'the ledger is not right');
    },
  });
