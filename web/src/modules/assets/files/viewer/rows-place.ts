import type { RowFilter } from '@bakehouse/contract/data-files';

/** Rows per page. */
export const PREVIEW_ROWS = 100;

/** The displayed part of a dataset's files, stored in the URL for Back, reload and links. */
export type RowsPlace = {
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

/** Parses the search parameters of the rows. Rounds the offset down to a page. */
export function parseRowsPlace({
  view,
  offset,
  search,
  filters,
}: Record<string, unknown>): Pick<RowsPlace, 'view' | 'offset' | 'search' | 'filters'> {
  const first = Number.isSafeInteger(offset) ? pageStart(offset as number) : 0;
  return {
    ...(view === 'columns' && { view }),
    ...(first > 0 && { offset: first }),
    // The router parses digits as a number.
    ...((typeof search === 'string' || typeof search === 'number') &&
      search !== '' && { search: String(search) }),
    ...(Array.isArray(filters) && filters.some(isFilter) && { filters: filters.filter(isFilter) }),
  };
}

/** The server validates the rest and reports what is wrong. */
function isFilter(value: unknown): value is RowFilter {
  const { column, of } = Object(value) as Partial<RowFilter>;
  return typeof column === 'string' && (of === 'value' || of === 'length' || of === 'nothing');
}

/** Returns the first row of a row's page. */
export function pageStart(row: number): number {
  return Math.floor(row / PREVIEW_ROWS) * PREVIEW_ROWS;
}
