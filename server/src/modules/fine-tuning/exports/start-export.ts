import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  type ExportFormat,
  exportFormatLabels,
  type startExport as startExportEndpoint,
} from '@bakehouse/contract/exports';
import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { WorkloadSpec } from '../../../engine/model/workload.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { invalidParam } from '../../../platform/errors.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { nameRevision } from '../../assets/revisions/name-revision.ts';
import { assertQuotedCost, quote } from '../../billing/prices/cost.ts';
import { spendOnce } from '../../billing/spend-once.ts';
import { toModelName } from '../../models/names/model-name.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { isWholeModel } from '../../models/weights/missing-parts.ts';
import { findGguf } from '../../models/weights/model-files.ts';
import { createRun } from '../create-run.ts';
import { selectHeldOutAnswers } from '../held-out/queries.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { runCostMicro, runItems } from '../validation/estimate-run.ts';
import {
  type Exportable,
  estimateExports,
  exportPriceLabel,
  exportSeconds,
  findObstacle,
  readExportable,
} from './exports.ts';

/** The runtime needs these files to write a Modelfile for Ollama. */
const TOKENIZER_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];

/** Files of a fine-tune: the adapter and its tokenizer. */
const ADAPTER_FILES = ['adapter_config.json', 'adapter_model.safetensors', ...TOKENIZER_FILES];

/** Files of a base besides its GGUF. */
const BASE_FILES = ['config.json', 'generation_config.json'];

const pick = (files: AssetRevision['files'], names: string[]) =>
  files.filter(({ path }) => names.includes(path));

type Body = InputOf<typeof startExportEndpoint>['body'];

/**
 * Creates a model asset and a run that merges the fine-tune into its base, holds the quote and queues the
 * run, in one transaction. Throws the errors of `readExportable`, and AppError 'invalid_request' for an
 * unsupported format, 'conflict' if the price rose above the quote, 'insufficient_funds', 'budget_exceeded'
 * or 'idempotency_conflict'.
 */
export async function startExport(
  ctx: Context,
  parts: Pick<TrainingParts, 'usage' | 'runCpu'>,
  { params, body }: InputOf<typeof startExportEndpoint>,
): Promise<ResponseOf<typeof startExportEndpoint>> {
  const input = { id: params.id, format: body.format };
  return spendOnce(
    ctx,
    parts.usage,
    { operation: 'start-export', input },
    () => prepare(ctx, parts, params.id, body),
    (tx, prepared) => make(tx, ctx, body, prepared),
  );
}

async function prepare(
  ctx: Context,
  { runCpu }: Pick<TrainingParts, 'runCpu'>,
  assetId: string,
  { format }: Body,
) {
  const found = await readExportable(ctx, { assetId });
  const publicMessage = findObstacle(found, format);
  if (publicMessage !== null) throw invalidParam('format', publicMessage);
  const estimate = await estimateExports(ctx, found);
  const { slowdown } = await runCpu(ctx.db);
  const { repository } = await nameRevision(ctx, found.fineTune);
  const { card } = await nameRevision(ctx, found.base);
  const answers = (await selectHeldOutAnswers(ctx.db, [found.run.id])).get(found.run.id);
  const cardText = (key: string) => {
    const value = card?.[key];
    return typeof value === 'string' && value.length <= 500 ? value : null;
  };
  return {
    ...found,
    spec: toExportSpec({
      ...{ ...found, format, repository },
      license: {
        license: cardText('license'),
        license_name: cardText('license_name'),
        license_link: cardText('license_link'),
      },
      prompts: [...(answers?.questions ?? []), ...(answers?.rows ?? []).map(({ question }) => question)],
    }),
    price: estimate.price,
    work: estimate.work[format],
    seconds: exportSeconds(estimate, format, slowdown),
  };
}

async function make(
  tx: Transaction,
  ctx: Context,
  { format, cost_max: maxMicro }: Body,
  { fineTune, base, run, spec, price, work, seconds }: Awaited<ReturnType<typeof prepare>>,
): Promise<ResponseOf<typeof startExportEndpoint>> {
  const costMicro = runCostMicro(price, seconds, 1);
  assertQuotedCost({ micro: costMicro, maxMicro, what: 'this export', param: 'cost_max' });
  const { modelId, runId } = await createRun(tx, ctx, {
    body: {
      ...{ title: exportTitle(fineTune.asset.title, format), tags: fineTune.asset.tags, details: '' },
      ...{ category: '', price: 0n, is_published: false, use_ipfs: false },
    },
    ...{ base: fineTune, dataset: run.dataset, alsoReads: [base.asset.id], now: ctx.clock.now() },
    place: {
      ...{ placement: { accelerator: null, count: 0 }, gpu: null, devices: 1 },
      ...{ priceId: 'training:CPU', priceLabel: exportPriceLabel, description: '' },
    },
    spec,
    trained: { kind: 'export', fileName: null, parameters: { format } },
    ...{ price, seconds, flops: work, costMicro },
    quote: quote(runItems(price, seconds, 1, exportPriceLabel)),
    // The ceiling of an export is its quote; the user cannot choose another one.
    ceilingMicro: costMicro,
  });
  return { run_id: runId, model_id: modelId };
}

/** Returns the title of an export: 'My Bot' -> 'My Bot (GGUF Q8_0)'. */
function exportTitle(title: string, format: ExportFormat): string {
  const end = format === 'safetensors' ? ' (merged)' : ` (${exportFormatLabels[format]})`;
  return title.slice(0, NAME_LENGTH_MAX - end.length) + end;
}

type Asked = Exportable & {
  format: ExportFormat;
  repository: string | null;
  license: { license: string | null; license_name: string | null; license_link: string | null };
  prompts: string[];
};

/** Returns the runtime's spec of an export, without the fields that the engine adds. */
function toExportSpec({ fineTune, base, format, repository, license, prompts }: Asked): WorkloadSpec {
  const gguf = format === 'safetensors' ? [] : findGguf(base).files;
  const isWhole = isWholeModel(fineTune.files);
  const extraFiles = isWhole ? [...BASE_FILES, ...TOKENIZER_FILES] : BASE_FILES;
  const own = format === 'safetensors' ? listModelFiles(base.files) : pick(base.files, extraFiles);
  const told = {
    kind: 'export' as const,
    title: exportTitle(fineTune.asset.title, format),
    fine_tune_title: fineTune.asset.title,
    fine_tune_repository: repository,
    ...license,
    prompts,
    inputs: [
      { name: 'base_model', files: [...own, ...gguf].map(toInput) },
      ...(isWhole ? [] : [{ name: 'adapter', files: pick(fineTune.files, ADAPTER_FILES).map(toInput) }]),
    ],
  };
  if (format === 'safetensors') return { ...told, format };
  const quantization = format === 'gguf_f16' ? 'F16' : 'Q8_0';
  return {
    ...told,
    format: 'gguf',
    quantization,
    base_model_file: gguf[0]?.path ?? '',
    file_name: `${fileName(fineTune.asset.title)}-${quantization}`,
  };
}

/** Converts a title to the start of a file name and of an Ollama model name. */
function fileName(title: string): string {
  const plain = toModelName(title)
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return plain || 'model';
}

function toInput({ path, sha256, sizeBytes }: AssetRevision['files'][number]) {
  return { path, sha256, size_bytes: sizeBytes };
}
