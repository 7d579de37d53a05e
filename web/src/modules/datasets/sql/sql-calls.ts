import { exportSql, listSqlTables, runSql, type SqlFormat } from '@bakehouse/contract/sql';
import { call, callRaw } from '../../../lib/api/api-client.ts';
import { saveAs } from '../../../lib/api/download.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';

/** Result rows per page. */
export const RESULT_ROWS = 100;
/** Slightly longer than the server's time limit for a query. */
const QUERY_MS = 70_000;

/** One revision of a dataset; its files never change. */
export type SqlPlace = { assetId: string; revisionId: string };

/** The tables that can be queried. */
export const tablesQuery = ({ assetId, revisionId }: SqlPlace) =>
  endpointQuery(
    ['asset', 'sql', { assetId, revisionId }],
    listSqlTables,
    { params: { id: assetId }, query: { revision_id: revisionId } },
    { staleTime: Number.POSITIVE_INFINITY },
  );

/** One page of a query's result. Cancelling it stops the query on the server. */
export const answerQuery = ({
  assetId,
  revisionId,
  query,
  offset,
}: SqlPlace & { query: string; offset: number }) => ({
  queryKey: ['asset', 'sql', { assetId, revisionId, query, offset }],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    call(
      runSql,
      { params: { id: assetId }, body: { query, revision_id: revisionId, offset, limit: RESULT_ROWS } },
      { signal, timeoutMs: QUERY_MS },
    ),
  retry: false,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Downloads all rows of a query as a file. */
export async function saveResult({
  assetId,
  revisionId,
  query,
  format,
}: SqlPlace & { query: string; format: SqlFormat }): Promise<void> {
  const answer = await callRaw(
    exportSql,
    { params: { id: assetId }, body: { query, revision_id: revisionId, format } },
    { timeoutMs: QUERY_MS },
  );
  saveAs(await answer.blob(), `result.${format}`);
}
