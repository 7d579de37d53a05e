import type { AssetCommit, FileDifference } from '@bakehouse/contract/asset-commits';
import type { Asset } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { countOf } from '../../../lib/format/count-of.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { downloadAssetFile } from '../files/file-calls.ts';
import { CommitFiles } from './commit-files.tsx';
import { CommitTags } from './commit-tags.tsx';
import { shortId, titleOf } from './commit-words.ts';
import { comparisonQuery } from './history-calls.ts';

type Props = {
  asset: Asset;
  /** A commit id, a tag, or `main`. */
  to: string;
  /** The displayed folder of the commit; undefined for the root. */
  folder: string | undefined;
  onFolder: (path: string | undefined) => void;
  onBack: () => void;
};

/** The files changed by a commit, and all its files. */
export function CommitChanges({ asset, to, folder = '', onFolder, onBack }: Props) {
  const assetId = asset.dataset_id;
  const comparison = useQuery(comparisonQuery({ assetId, to }));
  return (
    <div className="flex flex-col gap-4">
      <Button variant="ghost" size="sm" className="-ml-2.5 self-start" onClick={onBack}>
        <ArrowLeft aria-hidden />
        All versions
      </Button>
      <QueryView
        query={comparison}
        failed="The changes could not be loaded"
        pending={<ListSkeleton rows={3} rowHeight={48} />}
        missing={
          <Missing
            title="Version not found"
            text="It may be a version of a deleted dataset or model."
            to={asset.dataset_type === 'MODEL' ? '/model' : '/dataset'}
            label="Go to the list"
          />
        }
      >
        {(found) => (
          <>
            <CommitHead commit={found.to} />
            <Card flush title={summaryOf(found)}>
              {found.files.length === 0 ? (
                <EmptyState compact title="No changes" description="This version changed no files." />
              ) : (
                <ul aria-label="Files" className="divide-y divide-line border-line border-t">
                  {found.files.map((file) => (
                    <FileChange
                      key={file.path}
                      file={file}
                      assetId={assetId}
                      before={found.from.revision_id}
                    />
                  ))}
                </ul>
              )}
              {countAll(found) > found.files.length && (
                <p className="border-line border-t px-5 py-3 text-compact text-muted">
                  These are the first {found.files.length} of {countOf(countAll(found), 'file')}.
                </p>
              )}
            </Card>
            {found.to.revision_id !== null && (
              <CommitFiles
                assetId={assetId}
                revisionId={found.to.revision_id}
                isDataset={asset.dataset_type === 'RAW'}
                folder={folder}
                onFolder={(path) => onFolder(path || undefined)}
              />
            )}
          </>
        )}
      </QueryView>
    </div>
  );
}

function CommitHead({ commit }: { commit: AssetCommit }) {
  const more = commit.message.split('\n').slice(1).join('\n').trim();
  return (
    <div>
      <h2 className="font-semibold text-base [overflow-wrap:anywhere]">{titleOf(commit)}</h2>
      {more && <p className="mt-1 whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">{more}</p>}
      <p className="mt-1 flex flex-wrap items-center gap-x-2 text-compact text-muted">
        <span>
          {commit.author !== null && `${commit.author}, `}
          <RelativeTime at={commit.created_at} inSentence={commit.author !== null} />
        </span>
        <span className="flex items-center">
          <code className="font-mono text-xs">{shortId(commit)}</code>
          <CopyButton text={commit.commit_id} label="Copy the version ID" />
        </span>
        <CommitTags tags={commit.tags} />
      </p>
    </div>
  );
}

type Found = {
  added_count: number;
  removed_count: number;
  changed_count: number;
};

function countAll({ added_count, removed_count, changed_count }: Found): number {
  return added_count + removed_count + changed_count;
}

function summaryOf({ added_count, removed_count, changed_count }: Found): string {
  const parts = [
    ...(added_count > 0 ? [`${countOf(added_count, 'file')} added`] : []),
    ...(removed_count > 0 ? [`${countOf(removed_count, 'file')} removed`] : []),
    ...(changed_count > 0 ? [`${countOf(changed_count, 'file')} changed`] : []),
  ];
  return parts.join(', ') || 'No files changed';
}

const tones: Record<FileDifference['change'], Tone> = { added: 'good', removed: 'bad', changed: 'info' };
const changeWords = { added: 'Added', removed: 'Removed', changed: 'Changed' } as const;

type ChangeProps = {
  file: FileDifference;
  assetId: string;
  /** The revision before the commit; null for the first one. */
  before: string | null;
};

function FileChange({ file, assetId, before: earlier }: ChangeProps) {
  const { path, change, size_before: before, size_after: after } = file;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-5 py-2.5">
      <Badge tone={tones[change]}>{changeWords[change]}</Badge>
      <span className="min-w-0 flex-1 basis-40 font-medium [overflow-wrap:anywhere]">{path}</span>
      <span className="whitespace-nowrap text-compact text-muted tabular-nums">
        {[before, after]
          .filter((size) => size !== null)
          .map(formatBytes)
          .join(' → ')}
      </span>
      {change === 'removed' && earlier !== null && (
        <Button size="sm" onClick={() => void downloadAssetFile(assetId, path, earlier).catch(notifyFailure)}>
          Download
        </Button>
      )}
    </li>
  );
}
