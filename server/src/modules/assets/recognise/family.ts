import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { PIPELINE_INDEX } from './pipelines.ts';

/** The file in which a Transformers model describes itself. */
export const MODEL_CONFIG = 'config.json';

const modelConfig = z.object({ model_type: z.string().regex(/^[\w-]{1,50}$/) });
const pipelineIndex = z.object({ _class_name: z.string().regex(/^\w{1,100}$/) });

/** The common name for the versions of a family. */
const FAMILIES: Record<string, string> = {
  qwen2: 'qwen',
  qwen2_moe: 'qwen',
  qwen3: 'qwen',
  qwen3_moe: 'qwen',
};

/** The file usually has a few kilobytes, but a user may upload any file under this name. */
const BYTES_MAX = 1024 * 1024;

/** Returns the model family that an uploaded file names; null if it names none. */
export async function readFamilyOf(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { path, blob }: { path: string; blob: Blob },
): Promise<string | null> {
  if ((path !== MODEL_CONFIG && path !== PIPELINE_INDEX) || blob.sizeBytes > BYTES_MAX) return null;
  try {
    return readFamily(JSON.parse(await text(await readBlob(services, { sha256: blob.sha256, path }))));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Step: records the family that a file of a model names. A fine-tune keeps the family of its base, and a
 * Diffusers model keeps that of its pipeline.
 */
export async function saveFamily(
  tx: Transaction,
  assetId: string,
  { path, family }: { path: string; family: string },
): Promise<void> {
  await sql`
    update assets set family = ${family}
    where id = ${assetId} and not exists (select from asset_lineage where asset_id = assets.id)
      and (${path} = ${PIPELINE_INDEX} or not exists (
        select from asset_files f where f.asset_id = assets.id and f.path = ${PIPELINE_INDEX} and f.last_number is null
      ))`.execute(tx);
}

/**
 * Returns the family from the content of a model's file: the model type in Transformers' config.json
 * ('llama', 'qwen', 'mistral'), or the pipeline in Diffusers' model_index.json ('flux', 'flux-kontext',
 * 'stable-diffusion-xl'). Null if it contains neither.
 */
export function readFamily(content: unknown): string | null {
  const pipeline = pipelineIndex.safeParse(content).data?._class_name;
  if (pipeline?.endsWith('Pipeline')) return toWords(pipeline.slice(0, -'Pipeline'.length));
  const type = modelConfig.safeParse(content).data?.model_type.toLowerCase();
  return type === undefined ? null : (FAMILIES[type] ?? type);
}

/** Converts FluxKontext to flux-kontext, and StableDiffusionXL to stable-diffusion-xl. */
function toWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();
}
