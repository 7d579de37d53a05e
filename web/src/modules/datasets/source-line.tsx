import type { Asset } from '@bakehouse/contract/assets';

type SourceProps = { source: NonNullable<Asset['source']>; type: Asset['dataset_type'] };

/** The hub commit that it was cloned from. */
export function SourceLine({ source: { hub_url, repo_id, revision }, type }: SourceProps) {
  const folder = type === 'MODEL' ? '' : 'datasets/';
  return (
    <p className="text-compact text-muted [overflow-wrap:anywhere]">
      Cloned from{' '}
      <a
        href={`${hub_url}/${folder}${repo_id}/tree/${revision}`}
        target="_blank"
        rel="noreferrer"
        className="rounded text-accent-text underline underline-offset-2"
      >
        {repo_id}
      </a>{' '}
      at {revision.slice(0, 8)}
    </p>
  );
}
