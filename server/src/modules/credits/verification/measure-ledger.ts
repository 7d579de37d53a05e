import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../../../platform/db/database.ts';
import { findUnsealedSeconds } from './chain-queries.ts';
import { findLastProof } from './proof-queries.ts';

/** Adds the ledger's gauges to the metrics; they are read from the database at each scrape. */
export function measureLedger(registry: Registry, db: Database): void {
  new Gauge({
    name: 'bakehouse_ledger_proof_ok',
    help: '1 where the last proof of the ledger has found nothing wrong, else 0; nothing before the first proof',
    registers: [registry],
    async collect() {
      const proof = await findLastProof(db);
      this.remove();
      if (proof) this.set(proof.report.checks.every(({ ok }) => ok) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bakehouse_oldest_unsealed_transfer_seconds',
    help: 'Age of the oldest transfer that has no place in the hash chain yet; 0 where all have one',
    registers: [registry],
    async collect() {
      this.set(await findUnsealedSeconds(db));
    },
  });
}
