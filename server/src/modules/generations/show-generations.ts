import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { findRevisions } from '../assets/revisions/find-revisions.ts';
import { findOutputs } from './find-generations.ts';
import { findPositions, findPreviews, type GenerationRow } from './queries.ts';
import { findInputPictures } from './sources/picture-queries.ts';
import { toGeneration } from './to-generation.ts';

/**
 * Returns generations with their outputs, sources and previews for the API; five queries regardless of the
 * number of rows.
 */
export async function showGenerations(
  ctx: Pick<Context, 'blobs' | 'caller' | 'clock' | 'config'>,
  db: Database | Transaction,
  rows: GenerationRow[],
): Promise<Generation[]> {
  const ids = (state: GenerationRow['state']) =>
    rows.filter((row) => row.state === state).map(({ id }) => id);
  const outputs = await findOutputs(db, ids('completed'));
  const sources = await findInputPictures(
    db,
    rows.map(({ id }) => id),
  );
  const previews = await findPreviews(db, ids('running'));
  const positions = await findPositions(db, ids('queued'));
  const revisions = await findRevisions(db, {
    ids: [...new Set(rows.flatMap(revisionsOf))],
    userId: ctx.caller.userId,
  });
  return Promise.all(
    rows.map((row) =>
      toGeneration(ctx, row, {
        outputs: outputs.get(row.id) ?? [],
        source: sources.get(row.id) ?? null,
        preview: previews.get(row.id) ?? null,
        position: positions.get(row.id) ?? null,
        modelRevision: revisions.get(row.revision_id ?? '') ?? null,
        lora: revisions.get(row.lora_revision_id ?? '') ?? null,
      }),
    ),
  );
}

function revisionsOf({ revision_id, lora_revision_id }: GenerationRow): string[] {
  return [revision_id, lora_revision_id].filter((id) => id !== null);
}
