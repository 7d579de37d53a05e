import type { AssetFile } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download, Folder } from 'lucide-react';
import { Fragment } from 'react';
import { Button } from '../../../ui/button.tsx';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { ResourceList } from '../../../ui/resource/resource-list.tsx';
import { isDataFile } from '../files/data-file.ts';
import { downloadAssetFile } from '../files/file-calls.ts';
import { folderQuery } from './history-calls.ts';

type Props = {
  assetId: string;
  revisionId: string;
  /** True if the rows of data files can be displayed. */
  isDataset: boolean;
  /** Empty for the root. */
  folder: string;
  onFolder: (path: string) => void;
};

/** The files at a commit, including files that were deleted or replaced later, with downloads. */
export function CommitFiles({ folder, onFolder, ...of }: Props) {
  const { assetId, revisionId } = of;
  return (
    <ResourceList
      title="Files of this version"
      description={folder && <Folders path={folder} onFolder={onFolder} />}
      label="Files of this version"
      query={useInfiniteQuery(folderQuery({ assetId, revisionId, path: folder }))}
      rows={(page) => page.entries}
      rowKey={(entry) => entry.path}
      failed="The files could not be loaded"
      rowHeight={45}
      skeletonRows={3}
      empty={{ compact: true, title: 'No files', description: 'This version deleted the last file.' }}
      item={(entry) => (
        <div className="flex min-h-11 items-center gap-3 px-5 py-1.5">
          {entry.type === 'folder' ? (
            <button
              type="button"
              className="flex min-w-0 items-center gap-2 rounded text-left font-medium hover:underline"
              onClick={() => onFolder(entry.path)}
            >
              <Folder aria-hidden className="size-4 shrink-0 text-muted" />
              <span className="[overflow-wrap:anywhere]">{nameOf(entry.path)}</span>
            </button>
          ) : (
            <FileLine file={entry} {...of} />
          )}
        </div>
      )}
    />
  );
}

type FileProps = Pick<Props, 'assetId' | 'revisionId' | 'isDataset'> & { file: AssetFile };

function FileLine({ file: { path, size_bytes }, assetId, revisionId, isDataset }: FileProps) {
  const name = nameOf(path);
  return (
    <>
      <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">
        {isDataset && isDataFile(path) ? (
          <Link
            to="/dataset/$id/description"
            params={{ id: assetId }}
            search={{ tab: 'rows', file: path, revision: revisionId }}
            className="rounded hover:underline"
          >
            {name}
          </Link>
        ) : (
          name
        )}
      </span>
      <span className="whitespace-nowrap text-compact text-muted tabular-nums">
        {formatBytes(size_bytes)}
      </span>
      <Button
        variant="ghost"
        size="icon-sm"
        aria-label={`Download ${name}`}
        onClick={() => void downloadAssetFile(assetId, path, revisionId).catch(notifyFailure)}
      >
        <Download aria-hidden />
      </Button>
    </>
  );
}

/** Breadcrumbs of the folder. */
function Folders({ path, onFolder }: { path: string; onFolder: (path: string) => void }) {
  const names = path.split('/');
  return (
    <span className="flex flex-wrap items-center gap-x-1">
      <FolderButton name="All files" onClick={() => onFolder('')} />
      {names.map((name, at) => {
        const to = names.slice(0, at + 1).join('/');
        return (
          <Fragment key={to}>
            <span aria-hidden>/</span>
            {at === names.length - 1 ? name : <FolderButton name={name} onClick={() => onFolder(to)} />}
          </Fragment>
        );
      })}
    </span>
  );
}

function FolderButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <button type="button" className="rounded text-accent-text hover:underline" onClick={onClick}>
      {name}
    </button>
  );
}

function nameOf(path: string): string {
  return path.split('/').at(-1) ?? path;
}
