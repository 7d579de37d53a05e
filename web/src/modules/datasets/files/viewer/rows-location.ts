import type { RowFilter } from '@bakehouse/contract/data-files';
import { oneOf, text } from '../../../../lib/url-search.ts';

/** Rows per page. */
export const PREVIEW_ROWS = 100;

/** The displayed part of a dataset's files, stored in the URL for Back, reload and links. */
export type RowsLocation = {
  /** Defaults to the first data file. */
  file?: string | undefined;
  /** Defaults to the file's newest revision. */
  revision?: string | undefined;
  /** Defaults to the rows. */
  view?: 'columns' | undefined;
  /** Index of the first row. */
  offset?: number | undefined;
  /** Only rows with this text in a cell. */
  search?: string | undefined;
  /** Only rows that match all of these. */
  filters?: RowFilter[] | undefined;
};

export const rowsParams = {
  view: oneOf('columns'),
  /** Rounded down to a page. */
  offset: (value: unknown) =>
    (Number.isSafeInteger(value) && pageStart(Math.max(0, value as number))) || undefined,
  search: text,
  filters: (value: unknown) => {
    const filters = Array.isArray(value) ? value.filter(isFilter) : [];
    return filters.length > 0 ? filters : undefined;
  },
};

/** The server validates the rest and reports what is wrong. */
function isFilter(value: unknown): value is RowFilter {
  const { column, of } = Object(value) as Partial<RowFilter>;
  return typeof column === 'string' && (of === 'value' || of === 'length' || of === 'nothing');
}

/** Returns the first row of a row's page. */
export function pageStart(row: number): number {
  return Math.floor(row / PREVIEW_ROWS) * PREVIEW_ROWS;
}
