import type { RowFilter } from '@bakehouse/contract/data-files';

/** Rows on a page. */
export const PREVIEW_ROWS = 100;

/** What of a dataset's files is in sight: it stands in the URL, so that Back, a reload and a link lead there. */
export type RowsPlace = {
  /** The first data file unless said. */
  file?: string | undefined;
  /** Which revision of the file; the newest unless said. */
  revision?: string | undefined;
  /** The rows unless said. */
  view?: 'columns' | undefined;
  /** From which row on, from 0. */
  offset?: number | undefined;
  /** Only rows with this text in a cell. */
  search?: string | undefined;
  /** Only rows that match all of these. */
  filters?: RowFilter[] | undefined;
};

/** Of the search parameters, those that the rows have for themselves. The offset is that of a whole page of rows. */
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
    // A number is one in the address too.
    ...((typeof search === 'string' || typeof search === 'number') &&
      search !== '' && { search: String(search) }),
    ...(Array.isArray(filters) && filters.some(isFilter) && { filters: filters.filter(isFilter) }),
  };
}

/** The server looks at it more closely, and says what is wrong. */
function isFilter(value: unknown): value is RowFilter {
  const { column, of } = Object(value) as Partial<RowFilter>;
  return typeof column === 'string' && (of === 'value' || of === 'length' || of === 'nothing');
}

/** The first row of the page that a row is on. */
export function pageStart(row: number): number {
  return Math.floor(row / PREVIEW_ROWS) * PREVIEW_ROWS;
}
