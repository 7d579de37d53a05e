import type { Deployment } from '@bakehouse/contract/deployments/text';

/** How many replicas there are, where there may be several. */
export function replicasNote({
  replicas,
  max_replicas,
}: Pick<Deployment, 'replicas' | 'max_replicas'>): string | undefined {
  return max_replicas > 1 ? `${replicas} of up to ${max_replicas} replicas` : undefined;
}

/** What the price per hour is for. */
export function priceNote({ max_replicas }: Pick<Deployment, 'max_replicas'>): string {
  return max_replicas > 1 ? 'for each replica' : 'while it is awake';
}
