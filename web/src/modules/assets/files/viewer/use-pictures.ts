import type { FileColumns } from '@bakehouse/contract/data-files';
import { useQueries } from '@tanstack/react-query';
import { picturesQuery, type RevisionFile } from './viewer-calls.ts';

/** What is shown of the pictures in a page of rows. */
export type Pictures = {
  /** The thumbnail of a row by the place of its column; undefined while it is made, null where there is none. */
  pictureOf: (column: number, row: number) => string | null | undefined;
  /** The rows whose pictures cannot be read, from 0, each with its column and the reason. */
  broken: { column: string; at: number; reason: string }[];
};

/** The pictures of a page of rows, of those columns that hold pictures. */
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
