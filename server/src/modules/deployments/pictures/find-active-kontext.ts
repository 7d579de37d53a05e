import type { Context } from '../../../platform/context.ts';
import type { DeploymentState } from '../kinds/deployment-state.ts';
import { listDeployments } from '../list-deployments.ts';

/** More of one kind nobody keeps awake at once. */
const MAX = 100;

/** It answers, or wakes to. */
const usable = new Set<DeploymentState>(['running', 'degraded', 'sleeping']);

/** The name of the caller's Kontext deployment that edits: the newest that answers, else one that will; null where there is none. */
export async function findActiveKontext(ctx: Context): Promise<string | null> {
  const wanted = { kind: 'flux-kontext', includeTerminated: false, limit: MAX } as const;
  const { deployments } = await listDeployments(ctx, wanted);
  const active = deployments.find(({ state }) => usable.has(state)) ?? deployments[0];
  return active?.model_name ?? null;
}
