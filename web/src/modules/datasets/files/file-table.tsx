import type { Asset } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Download, Eye, MoreHorizontal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { Pager } from '../../../ui/pager.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { hasRows } from './data-file.ts';
import { downloadAssetFile, filesQuery, useDeleteFile } from './file-calls.ts';

type File = Asset['files'][number];
type Props = {
  asset: Asset;
  canChange: boolean;
  onPreview?: (path: string) => void;
  onDeleted: (path: string) => void;
};

/** The files of the newest revision, with download and delete. */
export function FileTable({ asset, canChange, onPreview, onDeleted }: Props) {
  const [deleting, setDeleting] = useState<string | null>(null);
  const deletion = useDeleteFile(asset.dataset_id);
  const files = useInfiniteQuery(filesQuery(asset));
  const noun = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';

  return (
    <>
      <DataTable
        label="Files"
        columns={columnsFor({
          onPreview,
          onDownload: (path) => void downloadAssetFile(asset.dataset_id, path).catch(notifyFailure),
          onDelete: canChange ? setDeleting : undefined,
        })}
        rows={files.data.pages.flatMap((page) => page.files)}
        rowKey={(file) => file.path}
        more={files.hasNextPage}
      />
      <Pager pages={files} />
      <ConfirmDialog
        open={deleting !== null}
        onOpenChange={(open) => !open && setDeleting(null)}
        title="Delete this file?"
        description={
          `${deleting} is removed from the newest version. Runs that used it keep their copy. ` +
          `Earlier versions of a file count towards your storage until the ${noun} is deleted.`
        }
        action="Delete"
        pending={deletion.isPending}
        onConfirm={() =>
          deleting &&
          deletion.mutate(deleting, {
            onSuccess: () => onDeleted(deleting),
            onSettled: () => setDeleting(null),
          })
        }
      />
    </>
  );
}

/** Actions on a file by its path; absent actions are not offered. */
type Actions = {
  onPreview?: ((path: string) => void) | undefined;
  onDownload: (path: string) => void;
  onDelete?: ((path: string) => void) | undefined;
};

function columnsFor(actions: Actions): Column<File>[] {
  return [
    {
      id: 'path',
      header: 'File',
      cell: ({ path }) => <FileName path={path} onPreview={actions.onPreview} />,
    },
    {
      id: 'sha256',
      header: 'SHA-256',
      cell: (file) => (
        <code className="font-mono text-muted text-xs" title={file.sha256}>
          {file.sha256.slice(0, 12)}
        </code>
      ),
      width: '9rem',
      hideBelow: 'md',
    },
    {
      id: 'size',
      header: 'Size',
      cell: (file) => formatBytes(file.size_bytes),
      numeric: true,
      width: '7rem',
    },
    {
      id: 'uploaded',
      header: 'Added',
      cell: (file) => (
        <span className="whitespace-nowrap text-muted">
          <RelativeTime at={file.uploaded_at} />
        </span>
      ),
      width: '9rem',
      hideBelow: 'sm',
    },
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      cell: ({ path }) => <FileMenu path={path} {...actions} />,
      width: '3.5rem',
    },
  ];
}

function FileName({ path, onPreview }: { path: string } & Pick<Actions, 'onPreview'>) {
  if (!onPreview || !hasRows(path))
    return <span className="font-medium [overflow-wrap:anywhere]">{path}</span>;
  return (
    <button
      type="button"
      className="rounded text-left font-medium hover:underline [overflow-wrap:anywhere]"
      onClick={() => onPreview(path)}
    >
      {path}
    </button>
  );
}

function FileMenu({ path, onPreview, onDownload, onDelete }: { path: string } & Actions) {
  return (
    <div className="flex justify-end">
      <Menu
        trigger={
          <Button variant="ghost" size="icon-sm" aria-label={`Actions for ${path}`}>
            <MoreHorizontal aria-hidden />
          </Button>
        }
      >
        {onPreview && hasRows(path) && (
          <MenuItem icon={<Eye aria-hidden />} onSelect={() => onPreview(path)}>
            Show rows
          </MenuItem>
        )}
        <MenuItem icon={<Download aria-hidden />} onSelect={() => onDownload(path)}>
          Download
        </MenuItem>
        {onDelete && (
          <MenuItem icon={<Trash2 aria-hidden />} tone="danger" onSelect={() => onDelete(path)}>
            Delete
          </MenuItem>
        )}
      </Menu>
    </div>
  );
}
