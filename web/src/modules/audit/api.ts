import { type AuditEntry, listAudit } from '@bakehouse/contract/audit';
import { call } from '../../lib/api/api-client.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';

export type { AuditEntry };
export type AuditFilter = { user?: string; noun?: string };

/** Who has changed what, newest first; for operators. */
export const auditQuery = (filter: AuditFilter) =>
  pagedQuery({
    queryKey: ['audit', filter],
    rows: 'entries',
    id: 'entry_id',
    read: (cursor, signal) =>
      call(listAudit, { query: { ...filter, cursor } }, { signal, operation: 'load the audit log' }),
    staleTime: 0,
  });
