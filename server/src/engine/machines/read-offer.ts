import type { Driver, SpecKind } from '../drivers/driver.ts';
import type { CpuLoad } from '../host/cpu-load.ts';
import { specKinds } from '../host/environment/needed-layer.ts';
import type { Capacity } from '../queue/queue.ts';
import type { StartTrouble } from '../reconcile/start-watch.ts';

/** What a machine offers to those who wait. Its server writes it; the servers of all machines read it. */
export type Offer = {
  capacity: Capacity;
  admission: Driver['admission'];
  /** Why specs of a kind cannot start there at present, as one sentence; null: they can. By `specName`. */
  blockers: Record<string, string | null>;
  cpu: { cores: number; memory_bytes: number };
  /** Why it starts nothing of what it is given; absent from what an earlier version wrote. */
  trouble?: string | null;
  /** What wants its processors now; absent from what an earlier version wrote. */
  load?: CpuLoad;
};

/** The name of a kind of specs in an offer. */
export function specName({ kind, engine }: SpecKind): string {
  return engine === null ? kind : `${kind} ${engine}`;
}

/** Asks a driver for all of it. */
export async function readOffer(
  driver: Driver,
  machine: Required<Pick<Offer, 'cpu' | 'load'>>,
  trouble: StartTrouble | null = null,
): Promise<Offer> {
  const rest = trouble?.isResting ? trouble.sentence : null;
  const blockers = await Promise.all(
    specKinds.map(async (spec) => [specName(spec), rest ?? (await driver.blocker(spec))] as const),
  );
  return {
    capacity: await driver.capacity(),
    admission: driver.admission,
    blockers: Object.fromEntries(blockers),
    trouble: trouble?.sentence ?? null,
    ...machine,
  };
}
