import type { Asset } from '@bakehouse/contract/assets';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Pencil, Trash2, Users } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { countOf } from '../../lib/format/count-of.ts';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Badge, TagBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { MarkdownLines } from '../../ui/markdown.tsx';
import { errorMessage, notify } from '../../ui/notify.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useUser } from '../accounts/session.ts';
import { useDeleteAsset } from './asset-calls.ts';
import { assetQuery } from './asset-queries.ts';
import { AssetPageSkeleton, MissingAsset, parents } from './asset-states.tsx';
import { EditAssetDialog } from './edit-asset-dialog.tsx';
import { SharedAssetNotice } from './sharing/shared-asset-notice.tsx';
import { SharingDialog } from './sharing/sharing-dialog.tsx';
import { VisibilityBadge } from './sharing/visibility-badge.tsx';
import { UseAsset } from './snippets/use-asset.tsx';
import { SourceLine } from './source-line.tsx';

type Props = {
  id: string;
  kind: 'dataset' | 'model';
  /** Shown next to the title. */
  badge?: ReactNode;
  /** Buttons before Edit and Delete. */
  actions?: (asset: Asset) => ReactNode;
  /** Buttons after Edit and Delete. */
  more?: (asset: Asset) => ReactNode;
  /** A sentence about what uses the asset and so blocks its deletion, if known. */
  usedBy?: ReactNode;
  children: (asset: Asset, canChange: boolean) => ReactNode;
};

/** Common parts of dataset and model pages: title, edit, delete, loading and error states. */
export function AssetPage({ id, ...rest }: Props) {
  return (
    <QueryView
      query={useQuery(assetQuery(id))}
      failed={`This ${rest.kind} cannot be shown`}
      pending={<AssetPageSkeleton />}
      missing={<MissingAsset kind={rest.kind} />}
    >
      {(asset) => <LoadedPage key={id} asset={asset} {...rest} />}
    </QueryView>
  );
}

function LoadedPage({
  asset,
  kind,
  badge,
  actions,
  more,
  usedBy,
  children,
}: Omit<Props, 'id'> & { asset: Asset }) {
  const user = useUser();
  const deletion = useDeleteAsset(asset.dataset_id);
  const [open, setOpen] = useState<'edit' | 'share' | 'delete' | null>(null);
  const canChange = asset.user_id === user.id;
  const close = () => setOpen(null);
  const openDeleteDialog = () => {
    deletion.reset();
    setOpen('delete');
  };
  return (
    <>
      <PageHeader
        title={asset.title}
        description={<RepositoryName name={asset.repo_id} />}
        parents={parents[kind]}
        badge={<Badges asset={asset} kind={kind} isOwn={canChange} more={badge} />}
        actions={
          <>
            {actions?.(asset)}
            <UseAsset asset={asset} />
            {canChange && (
              <div className="flex gap-2">
                <Button onClick={() => setOpen('share')}>
                  <Users aria-hidden />
                  Share
                </Button>
                <Button size="icon" aria-label="Edit" onClick={() => setOpen('edit')}>
                  <Pencil aria-hidden />
                </Button>
                <Button size="icon" aria-label="Delete" onClick={openDeleteDialog}>
                  <Trash2 aria-hidden />
                </Button>
                {more?.(asset)}
              </div>
            )}
            {!canChange && more?.(asset)}
          </>
        }
      />
      {!canChange && !asset.is_starter && (
        <div className="-mt-4 mb-5">
          <SharedAssetNotice asset={asset} list={parents[kind][0].to} />
        </div>
      )}
      <AssetWords asset={asset} />
      {children(asset, canChange)}
      {open === 'share' && <SharingDialog asset={asset} kind={kind} onClose={close} />}
      {open === 'edit' && <EditAssetDialog asset={asset} onClose={close} />}
      <DeleteAssetDialog
        asset={asset}
        kind={kind}
        usedBy={usedBy}
        deletion={deletion}
        open={open === 'delete'}
        onClose={close}
      />
    </>
  );
}

/** The repository name for the hub's clients. */
function RepositoryName({ name }: { name: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{name}</code>
      <CopyButton text={name} label="Copy the repository's name" />
    </span>
  );
}

type BadgesProps = { asset: Asset; kind: Props['kind']; isOwn: boolean; more: ReactNode };

function Badges({ asset, kind, isOwn, more }: BadgesProps) {
  if (asset.is_starter) return <Badge tone="accent">Starter {kind}</Badge>;
  return (
    <>
      <VisibilityBadge asset={asset} isOwn={isOwn} />
      {more}
    </>
  );
}

/** Description, source, download count, category and tags. */
function AssetWords({ asset }: { asset: Asset }) {
  const labels = [...new Set([asset.category, ...asset.tags].filter(Boolean))];
  if (!asset.details && labels.length === 0 && !asset.source && asset.downloads === 0) return null;
  return (
    <div className="-mt-3 mb-5 flex flex-col gap-3">
      {asset.details && (
        <div className="text-muted">
          <MarkdownLines text={asset.details} />
        </div>
      )}
      {asset.source && <SourceLine source={asset.source} type={asset.dataset_type} />}
      {asset.downloads > 0 && (
        <p className="text-compact text-muted" title="Counted once per user per hour">
          {countOf(asset.downloads, 'download', 'downloads')}
        </p>
      )}
      {labels.length > 0 && (
        <ul aria-label="Category and tags" className="flex flex-wrap gap-1.5">
          {labels.map((label) => (
            <li key={label} className="max-w-full">
              <TagBadge tag={label} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

type DeleteProps = {
  asset: Asset;
  kind: Props['kind'];
  usedBy: ReactNode;
  deletion: ReturnType<typeof useDeleteAsset>;
  open: boolean;
  onClose: () => void;
};

/** Confirms the deletion, deletes, and navigates to the list. Shows what blocks it. */
function DeleteAssetDialog({ asset, kind, usedBy, deletion, open, onClose }: DeleteProps) {
  const navigate = useNavigate();
  const remove = () =>
    deletion.mutate(undefined, {
      onSuccess: () => {
        notify.success(`${asset.title} was deleted`);
        void navigate({ to: parents[kind][0].to });
      },
    });
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={`Delete ${asset.title}?`}
      description={
        usedBy || deletion.error ? (
          <Callout tone="bad" title={`This ${kind} cannot be deleted`}>
            {usedBy || errorMessage(deletion.error)}
          </Callout>
        ) : (
          deletionSentence(asset)
        )
      }
      action="Delete"
      pending={deletion.isPending}
      disabled={Boolean(usedBy)}
      onConfirm={remove}
    />
  );
}

function deletionSentence({ file_count: files }: Asset): string {
  if (files === 0) return 'This cannot be undone.';
  return `${files === 1 ? 'Its file is' : `Its ${formatNumber(files)} files are`} deleted too. This cannot be undone.`;
}
