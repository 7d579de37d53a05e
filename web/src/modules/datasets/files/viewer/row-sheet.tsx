import type { filePreview } from '@bakehouse/contract/assets';
import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, Pencil, Trash2, Undo2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type * as z from 'zod';
import { useStepKeys } from '../../../../lib/device/use-step-keys.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Conversation } from '../../../../ui/conversation.tsx';
import { CopyButton } from '../../../../ui/copy-button.tsx';
import { firstField } from '../../../../ui/first-field.ts';
import { QueryView } from '../../../../ui/query-view.tsx';
import { Sheet } from '../../../../ui/sheet.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { type EditProps, EditRow, NewRow } from './editing/row-form.tsx';
import type { RowEditor } from './editing/use-row-edits.ts';
import { turnsOf } from './turns-of.ts';
import { type RevisionFile, rowQuery } from './viewer-calls.ts';

type Preview = z.output<typeof filePreview>;

type Props = {
  file: RevisionFile;
  /** Index of the row, negative for a new row; null if closed. */
  at: number | null;
  /** Number of rows; null if unknown. */
  total: number | null;
  onAt: (at: number | null) => void;
  /** Null if the rows cannot be edited. */
  editor?: RowEditor | null;
  /** The columns of a new row. */
  columns?: readonly string[];
};

/** One row in full, which can be edited. Arrow keys move to adjacent rows. */
export function RowSheet({ file, at, total, onAt, editor = null, columns = [] }: Props) {
  // Keep the row during the closing animation.
  const [shown, setShown] = useState(at ?? 0);
  const [isEditing, setEditing] = useState(false);
  const [isDirty, setDirty] = useState(false);
  const content = useRef<HTMLDivElement>(null);
  const endEdit = () => {
    setEditing(false);
    setDirty(false);
  };
  if (at !== null && at !== shown) {
    setShown(at);
    endEdit();
  }
  useEffect(() => {
    content.current?.parentElement?.scrollTo({ top: 0 });
  }, [shown]);
  const wasEditing = useRef(isEditing);
  useEffect(() => {
    if (wasEditing.current !== isEditing && at !== null) firstField(content.current)?.focus();
    wasEditing.current = isEditing;
  }, [at, isEditing]);
  const hasBefore = shown > 0;
  const hasAfter = total === null || shown + 1 < total;
  const isOpen = at !== null;
  const isNew = shown < 0;
  const goBy = (step: number) => (step < 0 ? hasBefore : hasAfter) && onAt(shown + step);
  useStepKeys(['ArrowUp', 'ArrowDown'], goBy, { enabled: isOpen && !isNew && !isEditing, onTop: true });
  const close = () => {
    endEdit();
    onAt(null);
  };
  return (
    <Sheet
      open={isOpen}
      onClose={close}
      size="lg"
      dirty={isDirty}
      title={isNew ? 'New row' : `Row ${formatNumber(shown + 1)}`}
      description={isNew || total === null ? file.path : `of ${formatNumber(total)} in ${file.path}`}
    >
      <div ref={content} className="flex flex-col gap-4">
        {isNew ? (
          editor && (
            <NewRow key={shown} {...{ at: shown, editor, columns, onDirty: setDirty, onEnd: close }} />
          )
        ) : (
          <RowContent
            file={file}
            at={shown}
            onBefore={hasBefore ? () => onAt(shown - 1) : null}
            onAfter={hasAfter ? () => onAt(shown + 1) : null}
            editor={editor}
            isEditing={isEditing}
            onEdit={() => setEditing(true)}
            onDirty={setDirty}
            onEnd={endEdit}
          />
        )}
      </div>
    </Sheet>
  );
}

type ContentProps = Omit<EditProps, 'editor'> & {
  file: RevisionFile;
  at: number;
  onBefore: (() => void) | null;
  onAfter: (() => void) | null;
  editor: RowEditor | null;
  isEditing: boolean;
  onEdit: () => void;
};

function RowContent({
  file,
  at,
  onBefore,
  onAfter,
  editor,
  isEditing,
  onEdit,
  onDirty,
  onEnd,
}: ContentProps) {
  const row = useQuery(rowQuery({ ...file, at }));
  const whole = row.data?.whole_row ?? null;
  const changeAt = editor?.changes.get(at);
  const change = changeAt?.was === whole ? changeAt : undefined;
  const isDeleted = change?.cells === null;
  if (editor && isEditing && row.data && whole !== null)
    return <EditRow {...{ at, editor, preview: row.data, whole, onDirty, onEnd }} />;
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
        {editor && whole !== null && !isDeleted && (
          <Button onClick={onEdit}>
            <Pencil aria-hidden />
            Edit row
          </Button>
        )}
        {editor && whole !== null && (
          <Button onClick={() => editor.change({ at, was: whole, cells: isDeleted ? {} : null })}>
            {isDeleted ? <Undo2 aria-hidden /> : <Trash2 aria-hidden />}
            {isDeleted ? 'Restore row' : 'Delete row'}
          </Button>
        )}
        {whole !== null && (
          <CopyButton withText label="Copy as JSON" text={JSON.stringify(JSON.parse(whole), null, 2)} />
        )}
      </div>
      {isDeleted && <Callout title="This row will be deleted when you save" />}
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
        {(preview) => <Fields preview={preview} cells={change?.cells ?? {}} />}
      </QueryView>
    </>
  );
}

function Fields({ preview, cells }: { preview: Preview; cells: Record<string, string> }) {
  const { columns, rows, whole_row: whole, format, conversations } = preview;
  const values: Record<string, unknown> =
    whole === null
      ? Object.fromEntries(columns.map((name, at) => [name, rows[0]?.[at] ?? null]))
      : JSON.parse(whole);
  for (const [name, json] of Object.entries(cells)) values[name] = JSON.parse(json);
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
              {Object.hasOwn(cells, name) && <span className="text-warn"> · changed</span>}
            </dt>
            <dd className="mt-0.5">
              {name === format?.input_column &&
              !Object.hasOwn(cells, name) &&
              dialogue &&
              dialogue.turns.length > 0 ? (
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
    <p dir="auto" className="whitespace-pre-wrap text-compact [overflow-wrap:anywhere]">
      {typeof value === 'string' ? value : JSON.stringify(value)}
    </p>
  );
}
