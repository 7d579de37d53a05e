import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  type ExportFormat,
  exportFormats,
  type listExports as listExportsEndpoint,
} from '@bakehouse/contract/exports';
import type { Context } from '../../../platform/context.ts';
import { AppError, forbidden, invalidParam } from '../../../platform/errors.ts';
import { readLineage } from '../../assets/lineage.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { quote } from '../../billing/prices/cost.ts';
import type { Price } from '../../billing/prices/prices.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { isWholeModel } from '../../models/weights/missing-parts.ts';
import {
  describeClassifier,
  findGguf,
  isClassifier,
  readModelJson,
} from '../../models/weights/model-files.ts';
import { selectMeasuredFlops } from '../measured-queries.ts';
import { findRun, type RunRow } from '../queries.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { runItems } from '../validation/estimate-run.ts';

const NEEDED = ['adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json'];

/**
 * Assumed speed until an export on this machine was measured. A laptop's disk and CPU are about this fast.
 */
const BYTES_PER_S = 40_000_000;

const LEAST_S = 30;

/** Bytes per weight. In GGUF's Q8_0, each block of 32 weights also has a two-byte scale. */
const BYTES_EACH = { gguf_f16: 2, gguf_q8_0: 34 / 32 };

const ADAPTER = 'adapter.gguf';

/** Label of an export's hours in a quote. */
export const exportPriceLabel = "Export on this machine's CPU, at the price of training there";

type ExportEstimate = {
  /** Approximate size of the result, by format. */
  sizes: Record<ExportFormat, number>;
  /** Bytes of weights that the export reads and writes, by format. They determine its duration. */
  work: Record<ExportFormat, number>;
  /** Bytes of `work` per second. */
  speed: number;
  price: Price;
};

/** Estimates the size of a fine-tune's export in each format, and the speed of exports on this machine. */
export async function estimateExports(ctx: Context, { base }: Exportable): Promise<ExportEstimate> {
  const weights = sumOf(listModelFiles(base.files), '.safetensors');
  const config = await readModelJson(ctx, base.files, 'config.json');
  const isWide = (config?.dtype ?? config?.torch_dtype) === 'float32';
  const numbers = weights / (isWide ? 4 : 2);
  const sizes = {
    safetensors: weights,
    gguf_f16: Math.round(numbers * BYTES_EACH.gguf_f16),
    gguf_q8_0: Math.round(numbers * BYTES_EACH.gguf_q8_0),
  };
  const gguf = sumOf(base.files, '.gguf');
  const work = Object.fromEntries(
    exportFormats.map((format) => [format, (format === 'safetensors' ? weights : gguf) + sizes[format]]),
  ) as Record<ExportFormat, number>;
  const price = (await readPrices(ctx.db, ctx.clock.now()))['training:CPU'];
  const measured = await selectMeasuredFlops(ctx.db, { priceId: price.id, kind: 'export' });
  return { sizes, work, speed: measured ?? BYTES_PER_S, price };
}

/** Returns the duration in seconds on a CPU with this slowdown. */
export function exportSeconds(
  { work, speed }: Pick<ExportEstimate, 'work' | 'speed'>,
  format: ExportFormat,
  slowdown: number,
): number {
  return Math.max(LEAST_S, work[format] / speed) * slowdown;
}

function sumOf(files: Exportable['base']['files'], ending: string): number {
  return files.filter(({ path }) => path.endsWith(ending)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

type Files = { asset: { title: string }; files: { path: string }[] };

/** Returns why a fine-tune cannot be exported in this format, without a full stop; null if it can be. */
export function findObstacle(
  { fineTune, base }: { [Part in keyof Pick<Exportable, 'fineTune' | 'base'>]: Files },
  format: ExportFormat,
): string | null {
  const isWhole = isWholeModel(fineTune.files);
  if (format === 'safetensors') {
    return isWhole ? `${fineTune.asset.title} is already a whole model: download its files` : null;
  }
  const { title } = base.asset;
  const gguf = findGguf(base);
  if (gguf.files.length === 0) {
    const lack = `${title} has no GGUF file${isWhole ? '' : ' to merge into'}`;
    return `${lack}, and safetensors are not converted to GGUF here`;
  }
  if (gguf.fault !== null) return gguf.fault;
  if (gguf.files.length > 1)
    return `The GGUF of ${title} consists of several files, which cannot be merged into`;
  return isWhole || fineTune.files.some(({ path }) => path === ADAPTER)
    ? null
    : `llama.cpp does not support the adapter of ${fineTune.asset.title}`;
}

/**
 * Returns each export format of a model, with the reason if the model cannot be exported in it. Throws
 * AppError 'not_found' if the caller may not read the model.
 */
export async function listExports(
  ctx: Context,
  { runCpu }: Pick<TrainingParts, 'runCpu'>,
  { params }: InputOf<typeof listExportsEndpoint>,
): Promise<ResponseOf<typeof listExportsEndpoint>> {
  const found = await readExportable(ctx, { assetId: params.id }).catch((error: unknown) => {
    if (error instanceof AppError && error.code !== 'not_found') return error;
    throw error;
  });
  if (found instanceof AppError) return { obstacle: found.publicMessage, exports: [] };
  const estimate = await estimateExports(ctx, found);
  const { slowdown } = await runCpu(ctx.db);
  return {
    obstacle: null,
    exports: exportFormats.map((format) => ({
      format,
      size_bytes: estimate.sizes[format],
      quote: quote(runItems(estimate.price, exportSeconds(estimate, format, slowdown), 1, exportPriceLabel)),
      obstacle: findObstacle(found, format),
    })),
  };
}

/**
 * A fine-tune of the caller, the base of its adapter, and the run that produced it. A full fine-tune has no
 * adapter, so `base` is the fine-tune itself.
 */
export type Exportable = { fineTune: AssetRevision; base: AssetRevision; run: RunRow };

/**
 * Reads a fine-tune and its base. Throws AppError 'not_found' if the caller may not read the fine-tune,
 * 'forbidden' if it belongs to another user, and 'invalid_request' with the field `id` if it is no text
 * fine-tune or its base was deleted.
 */
export async function readExportable(ctx: Context, { assetId }: { assetId: string }): Promise<Exportable> {
  const { userId } = ctx.caller;
  const fineTune = await readRevision(ctx.db, { assetId, userId, top: true, param: 'id' });
  const { title, ownerUserId } = fineTune.asset;
  if (ownerUserId !== null && ownerUserId !== userId) throw forbidden('Only its owner can export this model');
  const lineage = await readLineage(ctx.db, { assetId });
  const run = lineage && (await findRun(ctx.db, lineage.runId));
  if (!lineage || !run)
    throw invalidParam('id', `${title} is not a fine-tune: only models trained here can be exported`);
  if (run.kind === 'pictures') {
    throw invalidParam(
      'id',
      `${title} is a LoRA for pictures: only fine-tunes of language models can be exported`,
    );
  }
  if (await isClassifier(ctx, fineTune)) throw invalidParam('id', describeClassifier(fineTune.asset));
  if (isWholeModel(fineTune.files)) return { fineTune, base: fineTune, run };
  const missing = NEEDED.find((name) => !fineTune.files.some(({ path }) => path === name));
  if (missing !== undefined) throw invalidParam('id', `${title} has no ${missing}, which an export needs`);
  const base = await readRevision(ctx.db, { ...lineage.baseModel, userId, top: true }).catch(
    (error: unknown) => {
      if (!(error instanceof AppError && (error.code === 'not_found' || error.code === 'conflict')))
        throw error;
      throw invalidParam(
        'id',
        `${lineage.baseModel.title}, which ${title} was trained on, was deleted or is no longer shared with you`,
        error,
      );
    },
  );
  return { fineTune, base, run };
}
