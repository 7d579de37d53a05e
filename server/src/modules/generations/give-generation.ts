import { type Transaction, toJson } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { lockStoredBytes } from '../../platform/storage/owner-queries.ts';
import { findOutputs } from './find-generations.ts';
import { insertGeneration, insertOutput, lockGeneration, nextId, removeGeneration } from './queries.ts';

/**
 * Step: moves a completed generation, made from a prompt alone, to another user at no charge. Returns its new
 * id, which makes it that user's newest; null if it is still running, and undefined if it does not exist or
 * has no output.
 */
export async function giveGeneration(
  tx: Transaction,
  { id, from, to }: { id: string; from: string; to: string },
): Promise<string | null | undefined> {
  const row = await lockGeneration(tx, { id, userId: from }, 'changes');
  if (!row) return undefined;
  if (row.ended_at === null) return null;
  if (row.state !== 'completed') return undefined;
  if (row.root_generation_id !== null || row.lora_revision_id !== null)
    throw new Error(`Generation ${id} has inputs besides its prompt`);
  for (const userId of [from, to].sort()) await lockStoredBytes(tx, userId);
  const newId = await nextId(tx);
  const { parameters, details, asked, upstream_job: _, ...columns } = row;
  await insertGeneration(tx, {
    ...{ ...columns, id: newId, user_id: to, key_id: null, charged_micro: 0n },
    ...{ parameters: toJson(parameters), details: toJson(details), asked: asked && toJson(asked) },
  });
  for (const output of (await findOutputs(tx, [id])).get(id) ?? []) {
    const { id: _id, ...made } = output;
    await insertOutput(tx, { ...made, generation_id: newId, user_id: to });
  }
  await removeGeneration(tx, id);
  await publishChange(tx, to, { topic: 'generation', id: newId });
  return newId;
}
