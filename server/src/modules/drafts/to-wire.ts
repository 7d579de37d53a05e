import type { Draft, DraftDocument, DraftRow as WireRow } from '@bakehouse/contract/drafts';
import { formatBgl, smallerAmount } from '@bakehouse/contract/money';
import { type DraftRow, isRunning } from './drafts-table.ts';
import type { Counted, DocumentRow } from './queries.ts';
import type { SourcedRow } from './rows/row-queries.ts';

/** Returns a draft for the API. */
export function toDraft(row: DraftRow, documents: DocumentRow[], counted: Counted | undefined): Draft {
  return {
    draft_id: row.id,
    status: statusOf(row),
    documents: documents.map(toDocument),
    settings: row.settings,
    chunks: row.chunks,
    chunks_done: row.chunks_done,
    chunks_failed: row.chunks_failed,
    current_document: isRunning(row) ? (counted?.current ?? null) : null,
    rows: counted?.rows ?? 0,
    rows_saved: counted?.saved ?? 0,
    dropped: row.dropped,
    error: row.error,
    held: formatBgl(isRunning(row) ? row.held_micro : 0n),
    cost_so_far: formatBgl(row.charged_micro + smallerAmount(row.cost_micro, row.held_micro)),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

function statusOf({ started_at: startedAt, cancelled_at: cancelledAt, outcome }: DraftRow): Draft['status'] {
  if (startedAt === null) return 'open';
  return outcome ?? (cancelledAt ? 'cancelling' : 'running');
}

export function toDocument({
  id,
  name,
  pages,
  empty_pages,
  characters,
}: Omit<DocumentRow, 'draft_id'>): DraftDocument {
  return { document_id: id, name, pages, empty_pages, characters };
}

export function toWireRow({ id, ...row }: SourcedRow): WireRow {
  return { row_id: id, ...row };
}
