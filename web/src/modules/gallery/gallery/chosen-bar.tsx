import { CHOSEN_MAX } from '@bakehouse/contract/gallery';
import type { Generation } from '@bakehouse/contract/generations';
import { Columns2, Database, Download, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { useDownloadZip } from './reuse-calls.ts';
import { TrainingDialog } from './training-dialog.tsx';

type Props = {
  chosen: readonly Generation[];
  /** Number of selectable pictures. */
  shown: number;
  onChooseAll: () => void;
  onClear: () => void;
  onCompare: (ids: readonly string[]) => void;
};

/** A sticky bar with the actions on the selected pictures. */
export function ChosenBar({ chosen, shown, onChooseAll, onClear, onCompare }: Props) {
  const [asking, setAsking] = useState<'dataset' | 'delete' | null>(null);
  const close = () => setAsking(null);
  const zip = useDownloadZip();
  const drawn = chosen.filter(({ state }) => state === 'completed');
  const ids = drawn.map(({ id }) => id);
  const count = chosen.length;
  if (count === 0) return null;
  const tooMany = count > CHOSEN_MAX;
  return (
    <section
      aria-label="Selected pictures"
      className="sticky bottom-[calc(1rem+var(--toast-room,0px))] z-10 mx-auto mt-6 flex w-fit max-w-full flex-wrap items-center justify-center gap-2 rounded-xl border border-line bg-surface px-3 py-2.5 shadow-pop"
    >
      <Count count={count} drawn={ids.length} />
      {count < shown && (
        <Button size="sm" variant="ghost" onClick={onChooseAll}>
          Select all {shown}
        </Button>
      )}
      <Button size="sm" disabled={ids.length !== 2} onClick={() => onCompare(ids)}>
        <Columns2 aria-hidden />
        Compare
      </Button>
      <Button size="sm" disabled={tooMany || ids.length === 0} onClick={() => setAsking('dataset')}>
        <Database aria-hidden />
        Add to a dataset
      </Button>
      <Button
        size="sm"
        variant="primary"
        disabled={tooMany || ids.length === 0}
        loading={zip.isPending}
        onClick={() => zip.mutate(ids)}
      >
        <Download aria-hidden />
        Download zip
      </Button>
      <Button
        size="icon-sm"
        variant="ghost"
        disabled={tooMany}
        aria-label="Delete selected pictures"
        onClick={() => setAsking('delete')}
      >
        <Trash2 aria-hidden />
      </Button>
      <Button size="icon-sm" variant="ghost" aria-label="Clear selection" onClick={onClear}>
        <X aria-hidden />
      </Button>
      {asking === 'delete' && <DeleteDialog generations={chosen} onClose={close} />}
      {asking === 'dataset' && (
        <TrainingDialog
          generations={drawn}
          onClose={close}
          onAdded={() => {
            close();
            onClear();
          }}
        />
      )}
    </section>
  );
}

function Count({ count, drawn }: { count: number; drawn: number }) {
  return (
    <p role="status" className="px-1 text-compact tabular-nums">
      {count} selected
      {drawn < count && `, ${count - drawn} without a picture`}
      {count > CHOSEN_MAX && <span className="text-bad">, {CHOSEN_MAX} at most</span>}
    </p>
  );
}
