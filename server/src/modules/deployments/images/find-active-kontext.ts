import type { Context } from '../../../platform/context.ts';
import { selectDeployments } from '../find-deployments.ts';

/** The name of the caller's Kontext deployment that edits: the newest that answers, else one that will; null where there is none. */
export async function findActiveKontext({ db, caller }: Context): Promise<string | null> {
  const { userId } = caller;
  const live = { userId, kinds: ['flux-kontext'], includeTerminated: false, limit: 1 } as const;
  const [usable] = await selectDeployments(db, { ...live, usable: true });
  const [newest] = usable ? [usable] : await selectDeployments(db, live);
  return newest?.model_name ?? null;
}
