import type { Asset } from '@bakehouse/contract/assets';
import { Pencil } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { CardEditor } from './card-editor.tsx';
import { CardMetadata } from './card-metadata.tsx';

/** The asset endpoint truncates the card to this size. */
const SHOWN_BYTES = 512 * 1024;

type Props = {
  asset: Asset;
  canChange: boolean;
  className?: string;
  /** Replaces the prompt to write a card, e.g. while other content loads. */
  empty?: ReactNode;
};

/** The card of a dataset or model: README.md with its metadata, editable by the owner. */
export function AssetCard({ asset, canChange, className, empty }: Props) {
  const [editing, setEditing] = useState(false);
  const noun = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
  const edit = (
    <Button size="sm" onClick={() => setEditing(true)}>
      <Pencil aria-hidden />
      {asset.card === null ? 'Write a card' : 'Edit card'}
    </Button>
  );
  const file = asset.files.find(({ path }) => path === 'README.md');
  return (
    <Card className={className}>
      {asset.card !== null ? (
        <>
          {canChange && <div className="float-right ml-4">{edit}</div>}
          {asset.card_metadata && <CardMetadata metadata={asset.card_metadata} />}
          <Markdown text={asset.card} />
          {file && file.size_bytes > SHOWN_BYTES && (
            <p className="mt-4 text-compact text-muted">
              Only the beginning is shown. Download README.md to see the rest.
            </p>
          )}
        </>
      ) : (
        (empty ?? (
          <EmptyState
            title={`No ${noun} card yet`}
            description={
              canChange
                ? `Describe what this ${noun} is, where it comes from and what it is for. Saved as README.md.`
                : `Its owner has not described this ${noun}.`
            }
            action={canChange && edit}
          />
        ))
      )}
      {editing && <CardEditor asset={asset} onClose={() => setEditing(false)} />}
    </Card>
  );
}
