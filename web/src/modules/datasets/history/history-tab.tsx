import type { AssetCommit } from '@bakehouse/contract/asset-commits';
import type { Asset } from '@bakehouse/contract/assets';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { ResourceList } from '../../../ui/resource/resource-list.tsx';
import type { Tab } from '../../../ui/tabs.tsx';
import { CommitChanges } from './commit-changes.tsx';
import { CommitTags } from './commit-tags.tsx';
import { shortId, titleOf } from './commit-words.ts';
import { commitsQuery } from './history-calls.ts';

/** The open commit and its open folder. */
export type HistoryLocation = {
  commit?: string | undefined;
  folder?: string | undefined;
};

type Props = { asset: Asset; place: HistoryLocation; onPlace: (place: HistoryLocation) => void };

/** The tab with the commits of a dataset or model. */
export const historyTab = (
  asset: Asset,
  place: HistoryLocation,
  onPlace: (place: HistoryLocation) => void,
): Tab => ({
  value: 'history',
  label: 'History',
  content: <HistoryTab asset={asset} place={place} onPlace={onPlace} />,
});

/** All commits of a dataset or model with their changes. */
export function HistoryTab({ asset, place, onPlace }: Props) {
  const commits = useInfiniteQuery(commitsQuery({ assetId: asset.dataset_id, newest: asset.revision_id }));
  if (place.commit !== undefined)
    return (
      <CommitChanges
        asset={asset}
        to={place.commit}
        folder={place.folder}
        onFolder={(folder) => onPlace({ ...place, folder })}
        onBack={() => onPlace({})}
      />
    );
  return (
    <ResourceList
      label="Versions"
      query={commits}
      rows={(page) => page.commits.filter(({ revision_id }) => revision_id !== null)}
      rowKey={(commit) => commit.commit_id}
      failed="The history could not be loaded"
      rowHeight={57}
      empty={{ title: 'No versions yet', description: 'Each change to the files appears here as a version.' }}
      item={(commit) => <CommitLine commit={commit} onOpen={() => onPlace({ commit: commit.commit_id })} />}
    />
  );
}

function CommitLine({ commit, onOpen }: { commit: AssetCommit; onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      className="flex w-full items-center gap-4 px-5 py-2.5 text-left hover:bg-subtle focus-visible:outline-offset-[-2px]"
    >
      <span className="min-w-0 flex-1">
        <span className="line-clamp-2 font-medium [overflow-wrap:anywhere]">{titleOf(commit)}</span>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-compact text-muted">
          <span>
            {commit.author !== null && `${commit.author}, `}
            <RelativeTime at={commit.created_at} inSentence={commit.author !== null} />
          </span>
          <CommitTags tags={commit.tags} />
        </span>
      </span>
      <code className="font-mono text-muted text-xs max-sm:hidden">{shortId(commit)}</code>
      <ChevronRight aria-hidden className="size-4 shrink-0 text-muted" />
    </button>
  );
}
