import { Missing } from '../../ui/missing.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';

/** Parent pages of a dataset or model. */
export const parents = {
  dataset: [{ label: 'My Datasets', to: '/dataset' }],
  model: [{ label: 'My Models', to: '/model' }],
} as const;

/** Shown if a dataset or model does not exist or is not readable. */
export function MissingAsset({ kind }: { kind: keyof typeof parents }) {
  const [{ label, to }] = parents[kind];
  return (
    <Missing
      title={kind === 'dataset' ? 'Dataset not found' : 'Model not found'}
      text="It may have been deleted, or its owner does not share it with you."
      to={to}
      label={`Go to ${label}`}
    />
  );
}

export function AssetPageSkeleton() {
  return (
    <LoadingRegion>
      <Skeleton className="mb-2 h-4 w-24" />
      <Skeleton className="mb-3 h-7 w-64 max-w-full" />
      <Skeleton className="mb-8 h-4 w-48 max-w-full" />
      <Skeleton className="mb-5 h-10 w-full" />
      <Skeleton className="h-64 w-full" />
    </LoadingRegion>
  );
}
