import { Counter, Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { listOutcomes } from './queries.ts';

/** Adds the outcomes of jobs of all processes to the metrics of this process; read on demand. */
export function measureJobs(registry: Registry, db: Database): void {
  new Counter({
    name: 'bakehouse_jobs_failed_total',
    help: 'Attempts of background jobs that have failed, in all processes',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const outcomes = await listOutcomes(db);
      this.reset();
      for (const { job, failed } of outcomes) this.inc({ job }, Number(failed));
    },
  });
  new Gauge({
    name: 'bakehouse_job_last_success_timestamp_seconds',
    help: 'When a background job of this kind has last done its work, in any process',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const outcomes = await listOutcomes(db);
      this.reset();
      for (const { job, succeeded_at: at } of outcomes) if (at) this.set({ job }, at.getTime() / 1000);
    },
  });
}
