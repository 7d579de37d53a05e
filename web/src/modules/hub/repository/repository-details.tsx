import { HUB_FILES_SHOWN_MAX, type HubRepositoryDetails } from '@bakehouse/contract/hub/public';
import { formatBytes } from '@bakehouse/contract/labels';
import type { ReactNode } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Badge, TagBadge } from '../../../ui/badge.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Figure } from '../../../ui/figure.tsx';

const TAGS_SHOWN = 6;

type Props = {
  details: HubRepositoryDetails;
  /** A button to enter an access token. */
  tokenAction: ReactNode;
};

/** Contents and size of a clone, and its possible uses here. */
export function RepositoryDetails({ details, tokenAction }: Props) {
  return (
    <div className="grid gap-5">
      {details.obstacle && (
        <Callout
          tone="bad"
          title="This repository cannot be cloned"
          action={details.gated ? tokenAction : undefined}
        >
          {details.obstacle}.
        </Callout>
      )}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
        <Figure label="License" note={details.gated ? 'gated' : undefined}>
          {details.licence ?? 'Not stated'}
        </Figure>
        <Figure label="Files">{formatNumber(details.file_count)}</Figure>
        <Figure label="Size">{formatBytes(details.size_bytes)}</Figure>
        <Figure label="Space left" note={diskNote(details)}>
          {details.quota_left_bytes === null ? 'No limit' : formatBytes(details.quota_left_bytes)}
        </Figure>
      </dl>
      {details.deploy && details.train && (
        <dl className="grid gap-4 sm:grid-cols-2">
          <Use label="Deploy" use={details.deploy} can="Can run on" />
          <Use label="Fine-tune" use={details.train} can="Can be trained on" />
        </dl>
      )}
      {details.left_out.file_count > 0 && (
        <Callout>
          {countOf(details.left_out.file_count, 'file')} with {formatBytes(details.left_out.size_bytes)} will
          be skipped: pickle files whose weights the repository also has as safetensors.
        </Callout>
      )}
      <Files details={details} />
      {details.tags.length > 0 && (
        <div className="flex flex-wrap gap-1">
          {details.tags.slice(0, TAGS_SHOWN).map((tag) => (
            <TagBadge key={tag} tag={tag} />
          ))}
        </div>
      )}
    </div>
  );
}

function diskNote({ disk_left_bytes: left }: HubRepositoryDetails): string | undefined {
  return left === null ? undefined : `${formatBytes(left)} on the disk`;
}

type UseProps = { label: string; use: NonNullable<HubRepositoryDetails['deploy']>; can: string };

function Use({ label, use, can }: UseProps) {
  return (
    <div>
      <dt className="flex items-center gap-2 font-medium">
        {label}
        <Badge tone={use.device ? 'good' : 'neutral'}>{use.device ? 'Possible here' : 'Not here'}</Badge>
      </dt>
      <dd className="mt-1 text-compact text-muted [overflow-wrap:anywhere]">
        {use.device ? `${can} ${use.device}.` : `${use.obstacle}.`}
      </dd>
    </div>
  );
}

function Files({ details: { files, file_count, left_out } }: { details: HubRepositoryDetails }) {
  const all = file_count + left_out.file_count;
  return (
    <Disclosure title={`Files (${formatNumber(all)})`}>
      <ul className="max-h-64 overflow-y-auto text-compact" tabIndex={0} aria-label="Files">
        {files.map((file) => (
          <li key={file.path} className="flex items-baseline justify-between gap-4 py-0.5">
            <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">
              {file.path}
              {file.left_out && <span className="font-sans text-muted"> skipped</span>}
            </span>
            <span className="shrink-0 text-muted tabular-nums">{formatBytes(file.size_bytes)}</span>
          </li>
        ))}
      </ul>
      {all > HUB_FILES_SHOWN_MAX && (
        <p className="mt-2 text-compact text-muted">And {formatNumber(all - HUB_FILES_SHOWN_MAX)} more.</p>
      )}
    </Disclosure>
  );
}
