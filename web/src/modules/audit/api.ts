import { type AuditEntry, listAudit } from '@bakehouse/contract/audit';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';

export type { AuditEntry };
export type AuditFilter = { user?: string; noun?: string };

/** Who has changed what, newest first; for operators. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) =>
      call(
        listAudit,
        { query: { ...filter, cursor: pageParam ?? undefined } },
        { signal, operation: 'load the audit log' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 0,
  });
