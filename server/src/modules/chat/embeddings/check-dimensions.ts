import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { listBaseFiles } from '../../deployments/servers/list-base-files.ts';
import { readModelJson } from '../../models/weights/read-model-json.ts';

/** Declares that prefixes of a model's vectors are valid vectors (Matryoshka). */
const config = z.object({
  hidden_size: z.int().optional().catch(undefined),
  is_matryoshka: z.boolean().optional().catch(undefined),
  matryoshka_dimensions: z.array(z.int()).optional().catch(undefined),
});

/** Rejects `dimensions` for models that were not trained for them: shortened vectors are meaningless. */
export async function checkDimensions(
  ctx: Context,
  upstream: Upstream<'embedding'>,
  dimensions: number | null | undefined,
): Promise<void> {
  if (dimensions === null || dimensions === undefined) return;
  const { db } = ctx;
  const files = await listBaseFiles(db, upstream.server_id);
  const said = config.safeParse((await readModelJson(ctx, files, 'config.json')) ?? {}).data ?? {};
  const { hidden_size: size, matryoshka_dimensions: allowed, is_matryoshka: isMatryoshka } = said;
  if (dimensions === size || allowed?.includes(dimensions)) return;
  if (isMatryoshka && !allowed && size !== undefined && dimensions < size) return;
  const name = upstream.model_name;
  const sentence = allowed?.length
    ? `${name} can be asked for ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(allowed.map(String))}`
    : `the vectors of ${name} cannot be shortened. Leave it out`;
  throw refused('dimensions', `dimensions: ${sentence}`);
}
