import type { Driver } from '../drivers/driver.ts';
import { specKinds } from '../host/environment/needed-layer.ts';
import { type Offer, specName } from '../model/offer.ts';
import type { StartTrouble } from '../reconcile/start-watch.ts';

/** Reads the complete offer from a driver. */
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
