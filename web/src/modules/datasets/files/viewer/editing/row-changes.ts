import type { filePreview } from '@bakehouse/contract/assets';
import type { ColumnStatistics, RowEdit } from '@bakehouse/contract/data-files';
import type * as z from 'zod';

/** One change to a row. */
export type RowChange = {
  /** Index in the file; negative for a new row. */
  at: number;
  /** The row as the server sent it, as JSON text; null for a new row. */
  was: string | null;
  /** New values as JSON text, by column; null deletes the row. */
  cells: Record<string, string> | null;
};

/** Changes by row. */
export type RowChanges = ReadonlyMap<number, RowChange>;

/** Returns the combined effect of consecutive changes. A change without cells restores a deleted row. */
export function combine(steps: readonly RowChange[]): RowChanges {
  const changes = new Map<number, RowChange>();
  for (const step of steps) {
    const before = changes.get(step.at);
    // After another edit of the file, the index may be that of another row.
    const kept = before?.was === step.was ? before.cells : undefined;
    const cells = step.cells && { ...kept, ...step.cells };
    const isNothing = step.at < 0 ? cells === null : cells !== null && Object.keys(cells).length === 0;
    if (isNothing) changes.delete(step.at);
    else changes.set(step.at, { ...step, cells });
  }
  return changes;
}

/** Returns the edits to send to the server. */
export function toEdits(changes: RowChanges): RowEdit[] {
  return [...changes.values()].map(({ at, was, cells }) => {
    const pairs = Object.entries(cells ?? {}).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
    const text = cells && `{${pairs.join(',')}}`;
    return at < 0 ? { cells: text } : { at, was, cells: text };
  });
}

/** Returns a changed value as a table shows it. */
export function shownText(json: string): string | null {
  const value: unknown = JSON.parse(json);
  return value === null || value === '' ? null : typeof value === 'string' ? value : json;
}

/** A value in a form. Values other than text are typed as JSON. */
export type CellField = { text: string; isJson: boolean; isLocked: boolean };

type Column = {
  type: ColumnStatistics['type'] | undefined;
  /** The file is csv, where every value is text. */
  isCsv: boolean;
};

/** Returns the form's field for a value; `shown` is the table's cell, which has all digits of a number. */
export function fieldOf(
  value: unknown,
  shown: z.output<typeof filePreview>['rows'][number][number] | undefined,
  { type, isCsv }: Column,
): CellField {
  const isLocked = type === 'bytes' || type === 'picture';
  if (value === null || value === undefined) {
    const isJson = type === 'number' || type === 'boolean' || type === 'list' || type === 'object';
    return { text: '', isJson: isJson && !isCsv, isLocked };
  }
  if (typeof value === 'string') return { text: value, isJson: false, isLocked };
  if (typeof value !== 'object')
    return { text: String(shown ?? JSON.stringify(value)), isJson: true, isLocked };
  const text = JSON.stringify(value, null, 2);
  // JavaScript has rounded such a number, so it must not be sent back.
  const isRounded = /\d{16}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''));
  return { text, isJson: true, isLocked: isLocked || isRounded };
}

/** Returns the JSON text of what was typed; null if it is not valid JSON. */
export function toJson(text: string, isJson: boolean): string | null {
  if (!isJson) return JSON.stringify(text);
  if (text.trim() === '') return 'null';
  try {
    JSON.parse(text);
    return text.trim();
  } catch {
    return null;
  }
}
