import type { TrainTextSpec } from '@bakehouse/contract/runtime/train-spec';
import type { FineTunePayload } from '@bakehouse/contract/training';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readLineage } from '../../assets/read-lineage.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { isRewardModel } from '../../models/reward/is-reward-model.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';

type File = AssetRevision['files'][number];

/** A reward model among the rewards: its asset and that of its base, and the files of the inputs that a run has for it. */
export type RewardModel = { assetIds: string[]; inputs: { name: string; files: File[] }[] };

/** PEFT's, and what the adapter was trained to read by. */
const ADAPTER = ['adapter_config.json', 'adapter_model.safetensors'];
const NEEDED = [...ADAPTER, 'tokenizer.json'];

/** The input of the reward of this number, from 0 on. */
function inputOf(at: number): string {
  return `reward_${at + 1}`;
}

/** The rewards as the runtime takes them. Pure. */
export function toRuntimeRewards(
  rewards: FineTunePayload['rewards'],
): TrainTextSpec['parameters']['rewards'] {
  return rewards.map((reward, at) => {
    switch (reward.type) {
      case 'model':
        return { type: 'model', model: inputOf(at), weight: reward.weight };
      case 'json_schema':
        return { ...reward, json_schema: JSON.stringify(reward.json_schema) };
      case 'string_check':
        return { ...reward, reference: reward.reference ?? null };
      default:
        return reward;
    }
  });
}

/** The reward models of a fine-tune with their bases, and why one cannot be used, with the number of its reward. */
export async function readRewardModels(
  ctx: Context,
  { objective, rewards }: Pick<FineTunePayload, 'objective' | 'rewards'>,
): Promise<{ models: RewardModel[]; faults: string[] }> {
  const models: RewardModel[] = [];
  const faults: string[] = [];
  for (const [at, reward] of rewards.entries()) {
    if (reward.type !== 'model' || (objective ?? 'grpo') !== 'grpo') continue;
    try {
      models.push(await readRewardModel(ctx, reward.model_id, inputOf(at)));
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      const said = error.code === 'not_found' ? 'you have no model of this id' : error.publicMessage;
      faults.push(`Reward ${at + 1} (reward model): ${said}`);
    }
  }
  return { models, faults };
}

async function readRewardModel(ctx: Context, assetId: string, name: string): Promise<RewardModel> {
  const { userId } = ctx.caller;
  const model = await readRevision(ctx.db, { assetId, userId, top: true });
  const { title, parentAssetId } = model.asset;
  if (!(await isRewardModel(ctx, model)) || !model.files.some(({ path }) => path === ADAPTER[0]))
    throw refused(`${title} is no reward model: choose one that was trained with the objective reward`);
  const missing = NEEDED.find((needed) => !model.files.some(({ path }) => path === needed));
  if (missing) throw refused(`${title} has no ${missing}`);
  const lineage = await readLineage(ctx.db, { assetId });
  const found = lineage?.baseModel ?? (parentAssetId ? { assetId: parentAssetId } : null);
  if (!found) throw refused(`nothing says of which model ${title} is an adapter`);
  const base = await readRevision(ctx.db, { ...found, userId, top: true }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'not_found')) throw error;
    throw refused(`the base of ${title} was deleted, or is not shared with you`, error);
  });
  const ofAdapter = new Set(model.files.filter(({ path }) => ADAPTER.includes(path)));
  const beside = listModelFiles(model.files).filter(({ path }) => !path.endsWith('.safetensors'));
  return {
    assetIds: [model.asset.id, base.asset.id],
    inputs: [
      { name, files: [...ofAdapter, ...beside] },
      { name: `${name}_base`, files: listModelFiles(base.files) },
    ],
  };
}

function refused(publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, cause });
}
