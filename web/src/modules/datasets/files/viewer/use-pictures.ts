import type { FileColumns } from '@bakehouse/contract/data-files';
import { useQueries } from '@tanstack/react-query';
import { picturesQuery, type RevisionFile } from './viewer-calls.ts';

/** Pictures in a page of rows. */
export type Pictures = {
  /** Returns a row's thumbnail by column index; undefined while loading, null if there is none. */
  pictureOf: (column: number, row: number) => string | null | undefined;
  /** Rows with unreadable pictures: index, column and reason. */
  broken: { column: string; at: number; reason: string }[];
};

/** Returns the pictures in a page of rows. */
export function usePictures(
  file: RevisionFile,
  described: FileColumns | undefined,
  page: { offset: number; limit: number },
): Pictures {
  const columns = (described?.columns ?? []).flatMap(({ name, type }, at) =>
    type === 'picture' ? [{ name, at }] : [],
  );
  const found = useQueries({
    queries: columns.map(({ name }) => picturesQuery({ ...file, column: name, ...page })),
  });
  return {
    pictureOf: (column, row) => {
      const query = found[columns.findIndex(({ at }) => at === column)];
      if (!query || query.isError) return null;
      return query.data ? (query.data.pictures[row] ?? null) : undefined;
    },
    broken: found.flatMap(({ data }, at) =>
      (data?.broken ?? []).map((one) => ({ ...one, column: columns[at]?.name ?? '' })),
    ),
  };
}
