import type { IpfsFile } from '@bakehouse/contract/ipfs';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Column } from '../../../ui/data-table.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { Cid } from './cid.tsx';
import { ipfsFilesQuery } from './ipfs-calls.ts';

export function IpfsFiles({ assetId, revisionId }: { assetId: string; revisionId: string }) {
  return (
    <ResourceTable
      title="Files of the newest version"
      label="Files with their CIDs"
      query={useInfiniteQuery(ipfsFilesQuery(assetId, revisionId))}
      rows={(page) => page.files}
      rowKey={(file) => file.path}
      columns={columns}
      failed="The files could not be loaded"
      skeletonRows={3}
      empty={{ title: 'No files' }}
    />
  );
}

const columns: Column<IpfsFile>[] = [
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
];
