import type { filePreview } from '@bakehouse/contract/assets';
import { Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type * as z from 'zod';
import { Button } from '../../../../../ui/button.tsx';
import { Field } from '../../../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../../../ui/focus-first-invalid.ts';
import { Textarea } from '../../../../../ui/textarea.tsx';
import { type CellField, fieldOf, type RowChange, toJson } from './row-changes.ts';
import type { RowEditor } from './use-row-edits.ts';

type Preview = z.output<typeof filePreview>;

/** Longer names are truncated, so the server would not know them. */
const NAME_CHARS_MAX = 200;

export type EditProps = { editor: RowEditor; onDirty: (isDirty: boolean) => void; onEnd: () => void };

/** A new row, or one that was added before. */
export function NewRow({
  at,
  editor,
  columns,
  onDirty,
  onEnd,
}: EditProps & { at: number; columns: readonly string[] }) {
  const before = editor.changes.get(at)?.cells;
  const fields = columns
    .filter((name) => name.length <= NAME_CHARS_MAX)
    .map((name) => [name, fieldAt(editor, name, before?.[name], null, null)] as const);
  const change = (cells: RowChange['cells']) => {
    editor.change({ at, was: null, cells });
    onEnd();
  };
  return (
    <>
      {before && (
        <div>
          <Button onClick={() => change(null)}>
            <Trash2 aria-hidden />
            Delete row
          </Button>
        </div>
      )}
      <RowForm fields={new Map(fields)} onDirty={onDirty} onCancel={onEnd} onDone={change} />
    </>
  );
}

/** Returns the form's field of a column; a changed value is JSON text. */
function fieldAt(
  { types, isCsv }: RowEditor,
  name: string,
  changed: string | undefined,
  value: unknown,
  shown: Preview['rows'][number][number],
) {
  const column = { type: types.get(name), isCsv };
  return changed === undefined
    ? fieldOf(value, shown, column)
    : fieldOf(JSON.parse(changed), changed, column);
}

type EditRowProps = EditProps & { at: number; preview: Preview; whole: string };

/** A row of the file; `whole` is its JSON text. */
export function EditRow({ at, editor, preview, whole, onDirty, onEnd }: EditRowProps) {
  const [shown = []] = preview.rows;
  const values = JSON.parse(whole) as Record<string, unknown>;
  const change = editor.changes.get(at);
  const before = change?.was === whole ? change.cells : undefined;
  const fields = preview.columns
    .map((name, index) => {
      const field = fieldAt(editor, name, before?.[name], values[name], shown[index] ?? null);
      return [name, field] as const;
    })
    .filter(([name]) => name.length <= NAME_CHARS_MAX);
  const done = (cells: Record<string, string>) => {
    editor.change({ at, was: whole, cells });
    onEnd();
  };
  return <RowForm fields={new Map(fields)} onDirty={onDirty} onCancel={onEnd} onDone={done} />;
}

type Props = {
  /** Fields by column. */
  fields: ReadonlyMap<string, CellField>;
  onDirty: (isDirty: boolean) => void;
  /** Receives the changed values as JSON text, by column. */
  onDone: (cells: Record<string, string>) => void;
  onCancel: () => void;
};

/** Edits the values of a row. */
function RowForm({ fields, onDirty, onDone, onCancel }: Props) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [isChecked, setChecked] = useState(false);
  const typed = [...fields].flatMap(([name, { text, isJson }]) => {
    const now = texts[name] ?? text;
    return now === text ? [] : [{ name, json: toJson(now, isJson) }];
  });
  const write = (name: string, text: string) => {
    setTexts({ ...texts, [name]: text });
    onDirty(true);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setChecked(true);
    if (typed.some(({ json }) => json === null)) {
      focusFirstInvalid(event.currentTarget);
      return;
    }
    onDone(Object.fromEntries(typed.map(({ name, json }) => [name, json ?? 'null'])));
  };
  const isWrong = (name: string) => typed.some((one) => one.name === name && one.json === null);
  return (
    <form noValidate className="flex flex-col gap-4" onSubmit={submit}>
      {[...fields].map(([name, { text, isJson, isLocked }]) => (
        <Field
          key={name}
          label={<span dir="auto">{name}</span>}
          aside={isLocked ? 'Cannot be edited here' : isJson && 'JSON'}
          error={isChecked && isWrong(name) ? 'Enter valid JSON, such as 4, true, null or ["a"]' : undefined}
        >
          <Textarea
            dir="auto"
            className={isJson ? 'font-mono text-xs' : ''}
            readOnly={isLocked}
            value={texts[name] ?? text}
            onChange={(event) => write(name, event.target.value)}
          />
        </Field>
      ))}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={typed.length === 0}>
          Done
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
