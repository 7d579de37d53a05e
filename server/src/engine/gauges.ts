import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../platform/db/database.ts';
import { sumCapacities } from './machines/join-installation.ts';
import { listMachines } from './machines/queries.ts';
import { countSlots, slotClasses } from './queue/queue.ts';

/** Time of each machine's last heartbeat; a working machine sends one every few seconds. */
function measureMachines(registry: Registry, db: Database): void {
  new Gauge({
    name: 'bakehouse_machine_last_seen_timestamp_seconds',
    help: 'When the server that runs the work of a machine was last seen',
    labelNames: ['machine', 'name'],
    registers: [registry],
    async collect() {
      const machines = await listMachines(db);
      this.reset();
      for (const { id, name, seen_at: at } of machines)
        if (at) this.set({ machine: id, name }, at.getTime() / 1000);
    },
  });
}

/** Adds the engine's metrics to this process; they are read from the database on demand. */
export function measureWorkloads(registry: Registry, db: Database): void {
  measureMachines(registry, db);
  new Gauge({
    name: 'bakehouse_workloads',
    help: 'Workloads that have not ended, by kind and state',
    labelNames: ['kind', 'state'],
    registers: [registry],
    async collect() {
      const rows = await db
        .selectFrom('workloads')
        .select(['kind', 'state', (build) => build.fn.countAll<bigint>().as('count')])
        .where('ended_at', 'is', null)
        .groupBy(['kind', 'state'])
        .execute();
      this.reset();
      for (const { kind, state, count } of rows) this.set({ kind, state }, Number(count));
    },
  });
  new Gauge({
    name: 'bakehouse_queue_seconds_max',
    help: 'How long the workload that has waited longest has waited',
    registers: [registry],
    async collect() {
      // Count from the last activity: a requeued workload retains its old `queued_at`.
      const { rows } = await sql<{ seconds: number | null }>`
        select extract(epoch from max(
          now() - greatest(queued_at, attempt_started_at, last_report_at)))::float8 as seconds
        from workloads where ended_at is null and state = 'queued'
      `.execute(db);
      this.set(rows[0]?.seconds ?? 0);
    },
  });
  new Gauge({
    name: 'bakehouse_slots',
    help: 'Slots of each class, and how many of them are taken',
    labelNames: ['class', 'is'],
    registers: [registry],
    async collect() {
      const machines = (await listMachines(db)).filter(({ isPresent }) => isPresent);
      const capacity = sumCapacities(machines.flatMap(({ offer }) => (offer ? [offer.capacity] : [])));
      this.reset();
      const rows = await db
        .selectFrom('workloads')
        .select(['behaviour', 'accelerator', 'accelerator_count'])
        .where('ended_at', 'is', null)
        .where('devices', 'is not', null)
        .where('state', '<>', 'queued')
        .execute();
      const taken = new Map<string, number>();
      for (const row of rows) {
        const name = row.accelerator ?? `cpu:${row.behaviour}`;
        taken.set(name, (taken.get(name) ?? 0) + Math.max(1, row.accelerator_count));
      }
      for (const name of slotClasses(capacity)) {
        this.set({ class: name, is: 'total' }, countSlots(name, capacity));
        this.set({ class: name, is: 'taken' }, taken.get(name) ?? 0);
      }
    },
  });
}
