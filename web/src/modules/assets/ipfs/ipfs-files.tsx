import type { IpfsFile } from '@bakehouse/contract/ipfs';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { PagedTable } from '../../../ui/paged-table.tsx';
import { Cid } from './cid.tsx';
import { downloadCar, ipfsFilesQuery } from './ipfs-calls.ts';

type Props = { assetId: string; revisionId: string };

/** The files of a version with their CIDs. */
export function IpfsFiles({ assetId, revisionId }: Props) {
  return (
    <PagedTable
      title="Files of the newest version"
      label="Files with their CIDs"
      query={useInfiniteQuery(ipfsFilesQuery(assetId, revisionId))}
      rows={(page) => page.files}
      rowKey={(file) => file.path}
      columns={columnsFor({ assetId, revisionId })}
      failed="The files could not be loaded"
      skeletonRows={3}
      empty={<EmptyState title="No files" />}
    />
  );
}

function columnsFor({ assetId, revisionId }: Props): Column<IpfsFile>[] {
  return [
    {
      id: 'path',
      header: 'File and CID',
      cell: ({ path, cid }) => (
        <>
          <span className="font-medium [overflow-wrap:anywhere]">{path}</span>
          {cid && <Cid cid={cid} />}
        </>
      ),
    },
    {
      id: 'size',
      header: 'Size',
      cell: ({ size_bytes }) => formatBytes(size_bytes),
      numeric: true,
      width: '7rem',
      hideBelow: 'sm',
    },
    {
      id: 'car',
      header: <span className="sr-only">Download</span>,
      cell: ({ path, cid }) =>
        cid && (
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label={`Download ${path} as CAR`}
            onClick={() => void downloadCar(assetId, revisionId, path).catch(notifyFailure)}
          >
            <Download aria-hidden />
          </Button>
        ),
      width: '3.5rem',
    },
  ];
}
