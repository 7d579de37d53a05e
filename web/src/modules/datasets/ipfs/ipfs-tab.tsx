import type { Asset } from '@bakehouse/contract/assets';
import type { IpfsRevision, PinServiceName } from '@bakehouse/contract/ipfs';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Globe } from 'lucide-react';
import { useState } from 'react';
import { cx } from '../../../lib/cx.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { useUpdateAsset } from '../asset-calls.ts';
import { Cid } from './cid.tsx';
import { ipfsQuery } from './ipfs-calls.ts';
import { IpfsFiles } from './ipfs-files.tsx';
import { IPFS_HELP } from './ipfs-help.ts';
import { Pins } from './pins.tsx';

type Props = { asset: Asset; canChange: boolean };

/** The IPFS addresses of an asset's versions and their pins. */
export function IpfsTab({ asset, canChange }: Props) {
  if (!asset.use_ipfs) return <WithoutIpfs asset={asset} canChange={canChange} />;
  return <Addresses asset={asset} canChange={canChange} />;
}

function WithoutIpfs({ asset, canChange }: Props) {
  const update = useUpdateAsset(asset.dataset_id);
  return (
    <Card>
      <EmptyState
        icon={<Globe aria-hidden />}
        title="IPFS is off"
        description={IPFS_HELP}
        action={
          canChange && (
            <Button
              variant="primary"
              loading={update.isPending}
              onClick={() => update.mutate({ use_ipfs: true })}
            >
              Turn on IPFS
            </Button>
          )
        }
      />
    </Card>
  );
}

function Addresses({ asset, canChange }: Props) {
  const { dataset_id: id, revision_id: newest } = asset;
  const versions = useInfiniteQuery(ipfsQuery(id));
  const services = versions.data?.pages[0]?.services ?? [];
  const hasCid = versions.data?.pages[0]?.revisions[0]?.cid != null;
  return (
    <div className="flex flex-col gap-4">
      <Intro asset={asset} canChange={canChange} services={services} isKnown={versions.data !== undefined} />
      <ResourceTable
        title="Versions"
        label="Versions"
        query={versions}
        rows={(page) => page.revisions}
        rowKey={(version) => version.revision_id}
        columns={columnsFor(services)}
        failed="The IPFS addresses could not be loaded"
        skeletonRows={1}
        empty={{ title: 'No addresses yet', description: 'Each version gets one once it has files.' }}
      />
      {newest && hasCid && <IpfsFiles assetId={id} revisionId={newest} />}
    </div>
  );
}

type IntroProps = Props & { services: readonly PinServiceName[]; isKnown: boolean };

function Intro({ asset, canChange, services, isKnown }: IntroProps) {
  const [asking, setAsking] = useState(false);
  const update = useUpdateAsset(asset.dataset_id);
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="min-w-0 max-w-3xl flex-1 basis-60 text-compact text-muted leading-5">{IPFS_HELP}</p>
      <div className="flex items-center gap-2">
        {/* Invisible while loading, to avoid a layout shift. */}
        {services.length === 0 && <Badge className={cx(!isKnown && 'invisible')}>Not pinned</Badge>}
        {canChange && <Button onClick={() => setAsking(true)}>Turn off</Button>}
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Turn off IPFS?"
        description="Its versions are unpinned. Copies that others have made remain."
        action="Turn off"
        pending={update.isPending}
        onConfirm={() => update.mutate({ use_ipfs: false }, { onSettled: () => setAsking(false) })}
      />
    </div>
  );
}

function columnsFor(services: readonly PinServiceName[]): Column<IpfsRevision>[] {
  return [
    {
      id: 'number',
      header: 'Version',
      cell: ({ number }) => <span className="font-medium">{formatNumber(number)}</span>,
      width: '5.5rem',
    },
    {
      id: 'created',
      header: 'Added',
      cell: ({ created_at }) => (
        <span className="whitespace-nowrap text-muted">
          <RelativeTime at={created_at} />
        </span>
      ),
      width: '9rem',
      hideBelow: 'sm',
    },
    { id: 'cid', header: 'CID', cell: ({ cid, reason }) => <Address cid={cid} reason={reason} /> },
    ...(services.length === 0
      ? []
      : [{ id: 'pins', header: 'Pinned', cell: ({ pins }: IpfsRevision) => <Pins pins={pins} /> }]),
  ];
}

function Address({ cid, reason }: Pick<IpfsRevision, 'cid' | 'reason'>) {
  if (cid) return <Cid cid={cid} />;
  return <span className={reason ? 'text-bad' : 'text-muted'}>{reason ?? 'Computing…'}</span>;
}
