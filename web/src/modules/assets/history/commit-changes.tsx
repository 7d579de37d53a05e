import type { AssetCommit, FileDifference } from '@bakehouse/contract/asset-commits';
import type { Asset } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
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
import { Select } from '../../../ui/select.tsx';
import { isDataFile } from '../files/data-file.ts';
import { downloadAssetFile } from '../files/file-calls.ts';
import { CommitFiles } from './commit-files.tsx';
import { CommitTags } from './commit-tags.tsx';
import { shortId, titleOf } from './commit-words.ts';
import { type CommitPair, comparisonQuery } from './history-calls.ts';
import { RowChanges } from './row-changes.tsx';

type Props = {
  asset: Asset;
  /** Those that it can be compared with. */
  commits: AssetCommit[];
  from: string | undefined;
  to: string;
  /** Which folder of the commit is in sight; none is the asset itself. */
  folder: string | undefined;
  onFolder: (path: string | undefined) => void;
  onFrom: (from: string | undefined) => void;
  onBack: () => void;
};

/** What differs between a commit and an earlier one, files and the rows of data files, and the files that it left. */
export function CommitChanges({ asset, commits, from, to, folder = '', onFolder, onFrom, onBack }: Props) {
  const pair = { assetId: asset.dataset_id, from, to };
  const comparison = useQuery(comparisonQuery(pair));
  return (
    <div className="flex flex-col gap-4">
      <Button variant="ghost" size="sm" className="-ml-2.5 self-start" onClick={onBack}>
        <ArrowLeft aria-hidden />
        All commits
      </Button>
      <QueryView
        query={comparison}
        failed="The changes could not be loaded"
        pending={<ListSkeleton rows={3} rowHeight={48} />}
        missing={
          <Missing
            title="There is no such commit"
            text="It may belong to something that was deleted."
            to={asset.dataset_type === 'MODEL' ? '/model' : '/dataset'}
            label="Go to the list"
          />
        }
      >
        {(found) => (
          <>
            <CommitHead commit={found.to} />
            <div className="flex max-w-md items-center gap-3">
              <span className="whitespace-nowrap text-[0.8125rem] text-muted">Compared with</span>
              <ComparedWith commits={commits} found={found} from={from} onFrom={onFrom} />
            </div>
            <Card flush title={summaryOf(found)}>
              {found.files.length === 0 ? (
                <EmptyState compact title="The same files" description="Nothing differs between the two." />
              ) : (
                <ul aria-label="Files" className="divide-y divide-line border-line border-t">
                  {found.files.map((file) => (
                    <FileChange key={file.path} file={file} pair={pair} before={found.from.revision_id} />
                  ))}
                </ul>
              )}
              {countAll(found) > found.files.length && (
                <p className="border-line border-t px-5 py-3 text-[0.8125rem] text-muted">
                  These are the first {found.files.length} of {countOf(countAll(found), 'file')}.
                </p>
              )}
            </Card>
            {found.to.revision_id !== null && (
              <CommitFiles
                assetId={asset.dataset_id}
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
      <p className="mt-1 flex flex-wrap items-center gap-x-2 text-[0.8125rem] text-muted">
        <span>
          {commit.author !== null && `${commit.author}, `}
          <RelativeTime at={commit.created_at} inSentence={commit.author !== null} />
        </span>
        <span className="flex items-center">
          <code className="font-mono text-xs">{shortId(commit)}</code>
          <CopyButton text={commit.commit_id} label="Copy the commit's id" />
        </span>
        <CommitTags tags={commit.tags} />
      </p>
    </div>
  );
}

type Found = {
  from: AssetCommit;
  to: AssetCommit;
  added_count: number;
  removed_count: number;
  changed_count: number;
};

type ComparedProps = Pick<Props, 'commits' | 'from' | 'onFrom'> & { found: Found };

function ComparedWith({ commits, found, from, onFrom }: ComparedProps) {
  const others = commits.filter(({ commit_id }) => commit_id !== found.to.commit_id);
  const all = others.some(({ commit_id }) => commit_id === found.from.commit_id)
    ? others
    : [found.from, ...others];
  return (
    <Select
      aria-label="Compared with"
      size="sm"
      className="min-w-0 flex-1"
      value={found.from.commit_id}
      onChange={(id) => onFrom(from === undefined && id === found.from.commit_id ? undefined : id)}
      options={all.map((commit) => ({
        value: commit.commit_id,
        label:
          commit.revision_id === null ? 'Before the first file' : `${shortId(commit)} ${titleOf(commit)}`,
      }))}
    />
  );
}

function countAll({ added_count, removed_count, changed_count }: Found): number {
  return added_count + removed_count + changed_count;
}

function summaryOf({ added_count, removed_count, changed_count }: Found): string {
  const parts = [
    ...(added_count > 0 ? [`${countOf(added_count, 'file')} added`] : []),
    ...(removed_count > 0 ? [`${countOf(removed_count, 'file')} removed`] : []),
    ...(changed_count > 0 ? [`${countOf(changed_count, 'file')} changed`] : []),
  ];
  return parts.join(', ') || 'No file differs';
}

const tones: Record<FileDifference['change'], Tone> = { added: 'good', removed: 'bad', changed: 'info' };
const changeWords = { added: 'Added', removed: 'Removed', changed: 'Changed' } as const;

type ChangeProps = {
  file: FileDifference;
  pair: CommitPair;
  /** The revision that it is compared with. */
  before: string | null;
};

function FileChange({ file, pair, before: earlier }: ChangeProps) {
  const [open, setOpen] = useState(false);
  const { path, change, size_before: before, size_after: after } = file;
  return (
    <li className="px-5 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Badge tone={tones[change]}>{changeWords[change]}</Badge>
        <span className="min-w-0 flex-1 basis-40 font-medium [overflow-wrap:anywhere]">{path}</span>
        <span className="whitespace-nowrap text-[0.8125rem] text-muted tabular-nums">
          {[before, after]
            .filter((size) => size !== null)
            .map(formatBytes)
            .join(' → ')}
        </span>
        {change === 'removed' && earlier !== null && (
          <Button
            size="sm"
            onClick={() => void downloadAssetFile(pair.assetId, path, earlier).catch(notifyFailure)}
          >
            Download
          </Button>
        )}
        {isDataFile(path) && (
          <Button size="sm" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide rows' : 'Compare rows'}
          </Button>
        )}
      </div>
      {open && <RowChanges pair={pair} path={path} />}
    </li>
  );
}
