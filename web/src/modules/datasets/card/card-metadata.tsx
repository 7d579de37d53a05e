import type { Asset } from '@bakehouse/contract/assets';
import { TagBadge } from '../../../ui/badge.tsx';

type Metadata = NonNullable<Asset['card_metadata']>;

/** Metadata from the card's front matter; renders nothing if there is none. */
export function CardMetadata({ metadata }: { metadata: Metadata }) {
  const one = (name: string | null) => (name === null ? [] : [name]);
  const fields = [
    { label: 'License', names: one(metadata.license) },
    { label: 'Task', names: one(metadata.pipeline_tag) },
    { label: 'Library', names: one(metadata.library_name) },
    { label: 'Base model', names: metadata.base_models },
    { label: metadata.datasets.length === 1 ? 'Dataset' : 'Datasets', names: metadata.datasets },
    { label: metadata.languages.length === 1 ? 'Language' : 'Languages', names: metadata.languages },
    { label: 'Tags', names: metadata.tags },
  ].filter(({ names }) => names.length > 0);
  if (fields.length === 0) return null;
  return (
    <dl
      aria-label="Metadata"
      className="mb-5 flex flex-wrap gap-x-6 gap-y-3 border-line border-b pb-4 text-compact"
    >
      {fields.map(({ label, names }) => (
        <div key={label} className="min-w-0">
          <dt className="mb-1 text-muted text-xs">{label}</dt>
          <dd className="flex flex-wrap gap-1.5">
            {names.map((name) => (
              <TagBadge key={name} tag={name} />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
