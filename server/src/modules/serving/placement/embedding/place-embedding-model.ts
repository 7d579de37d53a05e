import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Context } from '../../../../platform/context.ts';
import { conflict } from '../../../../platform/errors.ts';
import { type AssetRevision, readRevision } from '../../../assets/read-revision.ts';
import { readModelContext } from '../../../models/context/model-context.ts';
import { isEmbeddingModel } from '../../../models/embedding/is-embedding-model.ts';
import { listModelFiles } from '../../../models/weights/list-model-files.ts';
import { findGguf, findSafetensors } from '../../../models/weights/model-files.ts';
import type { EmbeddingEngine } from '../../embedding-spec.ts';
import type {
  PlacedModel,
  ReadCapacity,
  RequestedInstance,
  ServedContext,
  ServingPlacement,
} from '../../served-model.ts';
import { chooseContext, choosePlacement } from '../choose-placement.ts';
import { isForeignModel } from '../create-serving-predictor.ts';
import { hashFiles } from '../describe-pipeline.ts';
import { checkEncoder } from './check-encoder.ts';

type Files = AssetRevision['files'];

/**
 * Returns the placement and files of an embedding model. Safetensors are served by vLLM on GPUs that fit
 * them, else by the runtime's encoder on the CPU; a GGUF is served by llama.cpp. Null for an unknown instance
 * type. Throws AppError 'not_found', and 'conflict' if the model is incomplete or no embedding model.
 */
export async function placeEmbeddingModel(
  ctx: Context,
  parts: ReadCapacity,
  assetId: string,
  asked: RequestedInstance,
): Promise<PlacedModel | null> {
  const wanted = { assetId, userId: ctx.caller.userId };
  const model = await readRevision(ctx.db, { ...wanted, top: true });
  const { title } = model.asset;
  const capacity = await parts.capacity();
  if (!choosePlacement(asked, capacity, 0)) return null;
  if (!(await isEmbeddingModel(ctx, model)))
    throw conflict(`${title} is no embedding model: nothing in its files says how a text becomes a vector`);
  const known = await readModelContext(ctx, model.files);
  const context = chooseContext(title, known, asked.contextTokens);
  const weights = await findSafetensors(ctx, model);
  if (weights.fault) throw conflict(weights.fault);
  const cpu = { accelerator: null, count: 0 };
  if (weights.files.length === 0) {
    const gguf = findGguf(model);
    if (gguf.fault) throw conflict(gguf.fault);
    if (gguf.files.length === 0) throw conflict(`${title} has neither safetensors weights nor a GGUF file`);
    return placed(ctx, model, { engine: 'llamacpp', files: gguf.files }, { placement: cpu, context });
  }
  const bytes = weights.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const onGpu = choosePlacement(asked, capacity, bytes);
  const modules = await checkEncoder(ctx, model, { onCpu: onGpu?.engine !== 'vllm' });
  const { files: otherFiles } = await readRevision(ctx.db, { ...wanted, paths: modules });
  const named = new Set(weights.files);
  const top = listModelFiles(model.files).filter(
    (file) => named.has(file) || !file.path.endsWith('.safetensors'),
  );
  const files = [...top, ...otherFiles];
  return onGpu?.engine === 'vllm'
    ? placed(ctx, model, { engine: 'vllm', files }, { placement: onGpu, context })
    : placed(ctx, model, { engine: 'encoder', files }, { placement: cpu, context });
}

function placed(
  { caller: { userId } }: Context,
  { asset, revision }: AssetRevision,
  { engine, files }: { engine: EmbeddingEngine; files: Files },
  { placement, context }: { placement: ServingPlacement; context: ServedContext },
): PlacedModel {
  const inputs: InputFile[] = files
    .map(({ path, sha256, sizeBytes }) => ({ path, sha256, size_bytes: sizeBytes }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    model: {
      assetId: asset.id,
      revisionId: revision.id,
      title: asset.title,
      baseAssetId: asset.id,
      baseTitle: asset.title,
      base: { engine, files: inputs, filesSha256: hashFiles(inputs) },
      adapter: null,
      isForeign: isForeignModel({ asset }, userId),
    },
    placement: { accelerator: placement.accelerator, count: placement.count },
    context,
  };
}
