import type { filePreview } from '@bakehouse/contract/assets';
import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useState } from 'react';
import type * as z from 'zod';
import { useStepKeys } from '../../../../lib/device/use-step-keys.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Conversation } from '../../../../ui/conversation.tsx';
import { CopyButton } from '../../../../ui/copy-button.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { Sheet } from '../../../../ui/sheet.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { turnsOf } from './turns-of.ts';
import { type RevisionFile, rowQuery } from './viewer-calls.ts';

type Preview = z.output<typeof filePreview>;

type Props = {
  file: RevisionFile;
  /** Index of the row; null if closed. */
  at: number | null;
  /** Number of rows; null if unknown. */
  total: number | null;
  onAt: (at: number | null) => void;
};

/** One row in full. Arrow keys move to adjacent rows. */
export function RowSheet({ file, at, total, onAt }: Props) {
  // Keep the row during the closing animation.
  const [shown, setShown] = useState(at ?? 0);
  if (at !== null && at !== shown) setShown(at);
  const hasBefore = shown > 0;
  const hasAfter = total === null || shown + 1 < total;
  const isOpen = at !== null;
  const goBy = (step: number) => (step < 0 ? hasBefore : hasAfter) && onAt(shown + step);
  useStepKeys(['ArrowUp', 'ArrowDown'], goBy, { enabled: isOpen, onTop: true });
  return (
    <Sheet
      open={isOpen}
      onClose={() => onAt(null)}
      size="lg"
      title={`Row ${formatNumber(shown + 1)}`}
      description={total === null ? file.path : `of ${formatNumber(total)} in ${file.path}`}
    >
      <div className="flex flex-col gap-4">
        <RowContent
          file={file}
          at={shown}
          onBefore={hasBefore ? () => onAt(shown - 1) : null}
          onAfter={hasAfter ? () => onAt(shown + 1) : null}
        />
      </div>
    </Sheet>
  );
}

type ContentProps = {
  file: RevisionFile;
  at: number;
  onBefore: (() => void) | null;
  onAfter: (() => void) | null;
};

function RowContent({ file, at, onBefore, onAfter }: ContentProps) {
  const row = useQuery(rowQuery({ ...file, at }));
  const whole = row.data?.whole_row ?? null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        {/* aria-disabled instead of disabled: a disabled button would lose the focus and the arrow keys. */}
        <Button aria-disabled={!onBefore} onClick={() => onBefore?.()}>
          <ArrowUp aria-hidden />
          Row above
        </Button>
        <Button aria-disabled={!onAfter} onClick={() => onAfter?.()}>
          <ArrowDown aria-hidden />
          Row below
        </Button>
        {whole !== null && (
          <CopyButton withText label="Copy as JSON" text={JSON.stringify(JSON.parse(whole), null, 2)} />
        )}
      </div>
      <QueryView
        query={row}
        failed="This row cannot be shown"
        pending={
          <LoadingRegion className="flex flex-col gap-4">
            <Skeleton className="h-16 w-full" />
            <Skeleton className="h-16 w-full" />
          </LoadingRegion>
        }
        isEmpty={({ rows }) => rows.length === 0}
        empty={<p className="text-muted">The file ends before this row.</p>}
      >
        {(preview) => <Fields preview={preview} />}
      </QueryView>
    </>
  );
}

function Fields({ preview }: { preview: Preview }) {
  const { columns, rows, whole_row: whole, format, conversations } = preview;
  const values: Record<string, unknown> =
    whole === null
      ? Object.fromEntries(columns.map((name, at) => [name, rows[0]?.[at] ?? null]))
      : JSON.parse(whole);
  const [dialogue] = conversations;
  return (
    <>
      {whole === null && (
        <Callout title="This row is too long to show in full">
          Its cells are cut off. Download the file to see all of them.
        </Callout>
      )}
      <dl className="flex flex-col gap-4">
        {columns.map((name, at) => (
          <div key={at}>
            <dt dir="auto" className="text-muted text-xs">
              {name}
            </dt>
            <dd className="mt-0.5">
              {name === format?.input_column && dialogue && dialogue.turns.length > 0 ? (
                <Conversation turns={dialogue.turns} more={dialogue.turn_count - dialogue.turns.length} />
              ) : (
                // Falls back to the page's cell, because the column name may be truncated.
                <Value
                  value={Object.hasOwn(values, name) ? values[name] : (rows[0]?.[at] ?? null)}
                  isPreference={format?.format === 'preference'}
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Value({ value, isPreference }: { value: unknown; isPreference: boolean }) {
  const turns = isPreference ? turnsOf(value) : null;
  if (turns) return <Conversation turns={turns} />;
  if (value === null || value === undefined || value === '') return <span className="text-faint">empty</span>;
  if (typeof value === 'object') {
    return (
      <pre className="whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">
        {JSON.stringify(value, null, 2)}
      </pre>
    );
  }
  return (
    <p dir="auto" className="whitespace-pre-wrap text-[0.8125rem] [overflow-wrap:anywhere]">
      {typeof value === 'string' ? value : JSON.stringify(value)}
    </p>
  );
}
